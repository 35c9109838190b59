/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs that other processes read (hy_share.h), inside.
 *
 * A description is a file in the folder for each graph. When a graph changes, another file takes
 * its name in one step: whoever opens it has all of a description, and of one moment. It names the
 * nodes and their edges (share_describe.c, share_parse.c), and the places of memory where the
 * counters are (share_place.c). A process that is killed leaves its files behind: readers ask
 * whether the lock is taken, and the next process that shares in the folder removes them
 * (share_folder.c).
 *
 * Memory at a place may have been freed, and have become another image's, since the description was
 * written. It never becomes anything but an image, even after sharing has stopped (memory.h), and
 * its serial says which one it is: 0 as soon as it is freed. A reader copies, reads the serial
 * again, and begins anew if that has changed.
 *
 * A reader trusts nothing that it reads, and never maps it: a file may be cut at any time, and
 * touching a mapping beyond the end of its file is a SIGBUS.
 *
 * A graph that changes is described with all of its images, from when one is published until those
 * before it are left. What the worker has counted is the sum, whichever it walks.
 */
#pragma once

#include <dirent.h>
#include <limits.h>
#include <sys/types.h>

#include <hy_share.h>

#include "lib/graph/update/control.h"

/* The sharing process's part, under the registry's lock; nothing happens while it does not share. */

/* Describes a graph again: called whenever it has another image or another trace. */
void hy_share_publish(const struct hy_graph *graph);
/* Takes the description away, before the graph is destroyed. */
void hy_share_forget(const struct hy_graph *graph);

/* A number for an image or a trace that no other ever had. */
uint64_t hy_share_serial(void);

/* Before memory is freed: invalidates later copies of readers. */
static inline void
hy_share_void(uint64_t *serial)
{
	__atomic_store_n(serial, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* The files of a folder that is shared (share_folder.c). */
#define HY_SHARE_LOCK "lock"
#define HY_SHARE_NEW ".halyard-new" /* a description until it takes its name */
#define HY_SHARE_PREFIX "graph-"
#define HY_SHARE_PATH (sizeof(HY_SHARE_PREFIX) + HY_NAME_SIZE)

/* The start of a description. */
#define HY_SHARE_MAGIC UINT64_C(0x6572616873207968) /* "hy share" */

/* The path of the folder, by default that of the process's own prefix. As hy_share_folder(). */
int hy_share_path(const char *folder, char path[PATH_MAX]);

/*
 * Opens the folder to share in, and makes it if it is not there, with those above it if asked to.
 * Every folder on the way belongs to the user or root, and nobody else can rename what is in it.
 * Returns a descriptor or a negative errno (logged).
 */
int hy_share_folder_make(const char *path, bool parents);
/* Opens a folder to read; root may read another user's. Likewise; only -EPERM is logged. */
int hy_share_folder_look(const char *path, uid_t *owner);
/* Removes the descriptions of a killed process. Returns 0 or a negative errno (logged). */
int hy_share_folder_clear(int folder, const char *path);

/* Whether a file is a regular one of that user, by one name only. */
bool hy_share_file_trusted(int fd, uid_t owner);

/* Opens a folder that is open, to read it; NULL with errno. */
DIR *hy_share_opendir(int folder);
/* The next entry with a description's name; NULL: no more entries, or errno. */
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

/* A block of memory and its files, as consecutive extents. */
struct hy_share_place {
	uint64_t address; /* in the process */
	uint64_t size;
	uint64_t start; /* of the block, in the first extent */
	unsigned int nb_extents;
	struct hy_share_extent *extents;
};

/* Finds where a block of DPDK's heap lies. Returns 0, -ENOTSUP or -ENOMEM. */
int hy_share_locate(const void *block, size_t size, struct hy_share_place *place);
void hy_share_place_free(struct hy_share_place *place);

/*
 * Copies part of a block of another process. A number of 64 bits that the process writes meanwhile
 * is copied as it was before or after. Returns 0; -EAGAIN the files are not those described, or are
 * shorter, or not the user's; -EACCES; -ENOMEM too many files are open.
 */
int hy_share_read(pid_t pid, uid_t owner, const struct hy_share_place *place, uint64_t offset,
	void *to, size_t size);

/* An image from a description: recompiled, without counters. */
struct hy_share_image {
	uint64_t serial;
	struct hy_share_place place;
	struct hy_image *image;
};

#define HY_SHARE_IMAGES 3 /* left, being switched to, published */

/* The contents of a description. */
struct hy_share_description {
	pid_t pid;
	struct hy_share_place graph;
	uint64_t trace_serial; /* 0: it was never traced */
	struct hy_share_place trace;
	unsigned int nb_images;
	struct hy_share_image images[HY_SHARE_IMAGES]; /* in order; see control.h */
	struct hy_reg_node **regs; /* of all images' nodes: nobody else has them */
	unsigned int nb_regs;
	struct hy_graph *copy; /* without an image yet */
	void *memory;          /* that it lies in */
};

/* Reads the description of a graph. Returns 0, -EPROTO it is none, or -ENOMEM. */
int hy_share_parse(const char *name, const void *bytes, size_t size,
	const struct hy_object_ops *ops, struct hy_share_description *d);
void hy_share_description_free(struct hy_share_description *d);
