/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs that other processes read (hy_share.h), inside.
 *
 * A description is a file in memory for each graph. A link in the folder leads to it, by way of what
 * the process has open, so that nothing is written to a disk, and nothing is left of a process that
 * is killed. A graph that changes gets another file, and the link another target in one step: whoever
 * opens it has all of a description, and of one moment. It names what there is (share_describe.c,
 * share_parse.c), and the places of memory where the counters are (share_map.c). As numbers of open
 * files are used again, a reader that comes late may have opened anything: it looks again then.
 *
 * Memory at a place may have been freed, and have become another image's, since the description was
 * written. It is never unmapped (memory.h), and says in its serial what it is: 0 as soon as it is
 * freed. A reader copies, looks at the serial again, and begins anew if that has changed.
 *
 * A graph that changes is described with both of its images from when the second is published until
 * the first is retired. What the worker has counted is the sum, whichever it walks.
 */
#ifndef HY_GRAPH_SHARE_H
#define HY_GRAPH_SHARE_H

#include <dirent.h>
#include <limits.h>
#include <sys/types.h>

#include <hy_share.h>

#include "control.h"

/* The sharing process's part, under the registry's lock; nothing happens while it does not share. */

/* Describes a graph anew: whenever it has another image, or another trace. */
void hy_share_publish(const struct hy_graph *graph);
/* Takes the description away, before the graph is destroyed. */
void hy_share_forget(const struct hy_graph *graph);

/* A number for an image or a trace that no other ever had. */
uint64_t hy_share_serial(void);

/* Before memory is freed: what readers copy of it from here on is void. */
static inline void
hy_share_void(uint64_t *serial)
{
	__atomic_store_n(serial, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* The files of a folder that is shared. */
#define HY_SHARE_LOCK "lock"
#define HY_SHARE_PREFIX "graph-"
#define HY_SHARE_PATH (sizeof(HY_SHARE_PREFIX) + HY_NAME_SIZE)

/* The path of the folder, by default EAL's. Returns 0 or -EINVAL. */
int hy_share_folder(const char *folder, char path[PATH_MAX]);

/* Opens a folder that is open, to read it; NULL with errno. */
DIR *hy_share_opendir(int folder);
/* The next of its entries that is called as descriptions are; NULL: there are no more, or errno. */
const char *hy_share_readdir(DIR *folder);

/* Writes a description. Returns 0 or a negative errno. */
int hy_share_describe(const struct hy_graph *graph, FILE *out);

/* Part of a file of a process's memory. */
struct hy_share_extent {
	uint64_t length;
	uint64_t fd; /* of the process */
	uint64_t offset;
	uint64_t device;
	uint64_t inode;
};

#define HY_SHARE_EXTENTS_MAX 4096

/* A block of memory, and the files that it lies in, whole pages one behind the other. */
struct hy_share_place {
	uint64_t address; /* in the process */
	uint64_t size;
	uint64_t page;  /* bytes */
	uint64_t start; /* of the block, in the first extent */
	unsigned int nb_extents;
	struct hy_share_extent *extents;
};

/* Finds where a block of DPDK's heap lies. Returns 0, -ENOTSUP or -ENOMEM. */
int hy_share_locate(const void *block, size_t size, struct hy_share_place *place);
void hy_share_place_free(struct hy_share_place *place);

/* A place, mapped for reading. */
struct hy_share_view {
	const void *block;
	void *mapped;
	size_t length;
};

/* Returns 0; -EAGAIN what the place tells of is not there; -EACCES; -ENOMEM. */
int hy_share_map(pid_t pid, const struct hy_share_place *place, struct hy_share_view *view);
void hy_share_unmap(struct hy_share_view *view);

/* An image as it was described: compiled anew, without counters. */
struct hy_share_image {
	uint64_t serial;
	struct hy_share_place place;
	struct hy_image *image;
};

#define HY_SHARE_IMAGES 2

/* What a description says. */
struct hy_share_description {
	pid_t pid;
	struct hy_share_place graph;
	uint64_t trace_serial; /* 0: it was never traced */
	struct hy_share_place trace;
	unsigned int nb_images;
	struct hy_share_image images[HY_SHARE_IMAGES]; /* the one walked first */
	struct hy_reg_node **regs; /* of all images' nodes: nobody else has them */
	unsigned int nb_regs;
	struct hy_graph *copy; /* without an image yet */
	void *memory;          /* that it lies in */
};

/* Reads the description of a graph. Returns 0, -EPROTO it is none, or -ENOMEM. */
int hy_share_parse(const char *name, const void *bytes, size_t size,
	const struct hy_object_ops *ops, struct hy_share_description *d);
void hy_share_description_free(struct hy_share_description *d);

#endif
