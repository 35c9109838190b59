/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader: from the descriptions in a folder to copies of graphs. */

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/graph/internal/log.h"
#include "lib/graph/observe/trace.h"
#include "lib/graph/stats/stats.h"
#include "share.h"

#define DESCRIPTION_MAX (64 << 20) /* bytes; 10,000 nodes have less */

/*
 * Attempts to read a changing graph, a millisecond apart: a change takes less. Fewer for large
 * descriptions, which take long to parse.
 */
#define LOOKS 200
#define LOOK_US 1000
#define LOOKS_BYTES DESCRIPTION_MAX

struct hy_share {
	int folder;
	int lock;
	uid_t owner; /* of the folder, and so of all that is read */
	const struct hy_object_ops *ops;
};

/* Whether a process shares here: tests the lock without taking it. */
static bool
is_alive(const struct hy_share *share)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(share->lock, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int
nobody(const char *what)
{
	return HY_REFUSE(-ESRCH, "share: %s: no program shares its graphs there", what);
}

/* Opens the folder and its lock. -ENOENT: no process ever shared there. */
static int
folder_open(struct hy_share *share, const char *path)
{
	share->folder = hy_share_folder_look(path, &share->owner);
	if (share->folder < 0)
		return share->folder;
	/* Without waiting, as it may be anything. */
	share->lock = openat(share->folder, HY_SHARE_LOCK,
		O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (share->lock < 0)
		return -errno;
	return hy_share_file_trusted(share->lock, share->owner) ? 0 : -EINVAL;
}

int
hy_share_attach(const char *folder, const struct hy_object_ops *ops, struct hy_share **out)
{
	char path[PATH_MAX];
	struct hy_share *share;
	int rc = hy_share_path(folder, path);

	if (rc < 0)
		return rc;
	share = calloc(1, sizeof(*share));
	if (share == NULL)
		return HY_REFUSE(-ENOMEM, "share: not enough memory");
	share->ops = ops;
	share->folder = share->lock = -1;
	rc = folder_open(share, path);
	if (rc == -ENOENT || (rc == 0 && !is_alive(share)))
		rc = nobody(path);
	else if (rc == -EINVAL)
		HY_LOG(ERR, "share: %s/" HY_SHARE_LOCK ": not a regular file of the folder's owner",
			path);
	else if (rc < 0 && rc != -EPERM)
		HY_LOG(ERR, "share: %s: %s", path, strerror(-rc));
	if (rc < 0) {
		hy_share_detach(share);
		return rc == -EINVAL ? -EPERM : rc;
	}
	*out = share;
	return 0;
}

void
hy_share_detach(struct hy_share *share)
{
	if (share == NULL)
		return;
	if (share->lock >= 0)
		close(share->lock);
	if (share->folder >= 0)
		close(share->folder);
	free(share);
}

int
hy_share_next(const struct hy_share *share, const char *after, char name[HY_NAME_SIZE])
{
	DIR *folder = hy_share_opendir(share->folder);
	char next[HY_NAME_SIZE] = "";
	const char *found;
	int rc;

	while (folder != NULL && (found = hy_share_readdir(folder)) != NULL) {
		found += strlen(HY_SHARE_PREFIX);
		if (hy_name_valid(found) && (after == NULL || strcmp(found, after) > 0) &&
			(next[0] == '\0' || strcmp(found, next) < 0))
			strcpy(next, found);
	}
	rc = -errno;
	if (folder != NULL)
		closedir(folder);
	if (rc < 0)
		return HY_REFUSE(rc, "share: its folder cannot be read: %s", strerror(-rc));
	if (!is_alive(share))
		return nobody("the program has ended");
	strcpy(name, next);
	return next[0] == '\0' ? -ENOENT : 0;
}

/* Opens a description, which may be anything until it is looked at. */
static int
description_open(const struct hy_share *share, const char *name)
{
	char path[HY_SHARE_PATH];
	int fd;

	snprintf(path, sizeof(path), HY_SHARE_PREFIX "%s", name);
	fd = openat(share->folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno == EACCES || errno == EPERM)
		return -EACCES;
	return errno == ENOENT ? -ENOENT : -EPROTO;
}

/* Reads a whole description: it never changes. */
static int
file_read(const struct hy_share *share, const char *name, char **bytes, size_t *size)
{
	const int fd = description_open(share, name);
	struct stat st;
	int rc = 0;

	if (fd < 0)
		return fd;
	/* One that another has replaced meanwhile has no name any more. */
	if (!hy_share_file_trusted(fd, share->owner) || fstat(fd, &st) < 0) {
		rc = -EAGAIN;
	} else if (st.st_size > DESCRIPTION_MAX) {
		rc = -EPROTO;
	} else {
		*size = (size_t)st.st_size;
		*bytes = malloc(*size + 1);
		rc = *bytes == NULL ? -ENOMEM : 0;
	}
	if (rc == 0 && pread(fd, *bytes, *size, 0) != st.st_size) {
		free(*bytes);
		rc = -EAGAIN;
	}
	close(fd);
	return rc;
}

/* What was looked at so far. */
struct looks {
	unsigned int n;
	size_t bytes; /* of descriptions */
};

static int
description_read(const struct hy_share *share, const char *name, struct hy_share_description *d,
	struct looks *looks)
{
	char *bytes = NULL;
	size_t size = 0;
	int rc = hy_name_valid(name) ? file_read(share, name, &bytes, &size) : -ENOENT;

	looks->n++;
	if (rc < 0)
		return rc;
	looks->bytes += size;
	rc = hy_share_parse(name, bytes, size, share->ops, d);
	free(bytes);
	return rc;
}

/* The same address in an image with the same layout. */
static const void *
beside(const struct hy_image *image, const struct hy_image *from, const void *part)
{
	return RTE_PTR_ADD(from, RTE_PTR_DIFF(part, image));
}

static void
node_copy(struct hy_image *image, const struct hy_image *from, unsigned int rank)
{
	struct hy_image_node *cold = &image->nodes[rank];
	const struct hy_image_node *from_cold = beside(image, from, cold);
	struct hy_node *node = &image->hot[rank];
	const struct hy_node *from_node = beside(image, from, node);

	node->calls = from_node->calls;
	node->objs = from_node->objs;
	node->waiting = from_node->waiting;
	memcpy(cold->bursts, from_cold->bursts, sizeof(cold->bursts));
	cold->sampled_objs = from_cold->sampled_objs;
	cold->sampled_cycles = from_cold->sampled_cycles;
	cold->sampled_idle = from_cold->sampled_idle;
	for (int e = -(int)hy_image_slots_before(cold->reg); e < cold->nb_edges; e++) {
		const struct hy_edge *edge = beside(image, from, &node->edges[e]);

		node->edges[e].objs = edge->objs;
	}
}

/* Copies the counters of an image. */
static void
image_copy(struct hy_image *image, const struct hy_image *from)
{
	const uint16_t *budgets = beside(image, from, image->plan.budgets);

	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		node_copy(image, from, r);
	for (unsigned int s = 0; s < image->plan.nb_sources; s++)
		image->plan.budgets[s] = budgets[s];
}

static int
image_read(const struct hy_share *share, const struct hy_share_description *d, unsigned int i)
{
	const struct hy_share_image *shared = &d->images[i];
	/* Room for the image to begin at a cache line. */
	void *memory = malloc(shared->place.size + RTE_CACHE_LINE_SIZE);
	void *block = RTE_PTR_ALIGN_CEIL(memory, RTE_CACHE_LINE_SIZE);
	uint64_t serial = 0;
	int rc = -ENOMEM;

	if (memory != NULL)
		rc = hy_share_read(d->pid, share->owner, &shared->place, 0, block,
			shared->place.size);
	/* Serials are unique: if it is still there, it was there all the time. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (rc == 0)
		rc = hy_share_read(d->pid, share->owner, &shared->place,
			offsetof(struct hy_image, serial), &serial, sizeof(serial));
	if (rc == 0 && serial != shared->serial)
		rc = -EAGAIN;
	if (rc == 0)
		image_copy(shared->image, block);
	free(memory);
	return rc;
}

/* Reads the worker's state: its walks, and which of the images it walks. */
static int
graph_read(const struct hy_share *share, const struct hy_share_description *d, unsigned int *walked)
{
	const struct hy_image *image = NULL;
	int rc = hy_share_read(d->pid, share->owner, &d->graph, offsetof(struct hy_graph, walks),
		&d->copy->walks, sizeof(d->copy->walks));

	if (rc == 0)
		rc = hy_share_read(d->pid, share->owner, &d->graph,
			offsetof(struct hy_graph, image), &image, sizeof(image));
	if (rc < 0)
		return rc;
	/* First: it no longer counts in images that it has left by now. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	*walked = 0;
	for (unsigned int i = 1; i < d->nb_images; i++)
		if ((uintptr_t)image == d->images[i].place.address)
			*walked = i;
	return 0;
}

/* Makes a copy from a description. Images that were left become its history. */
static int
copy_fill(const struct hy_share *share, struct hy_share_description *d)
{
	struct hy_graph *copy = d->copy;
	struct hy_control *control = copy->control;
	unsigned int walked = 0;
	int rc = graph_read(share, d, &walked);

	/* All images: if one was freed meanwhile, the worker now walks another. */
	for (unsigned int i = 0; i < d->nb_images && rc == 0; i++)
		rc = image_read(share, d, i);
	for (unsigned int i = 0; i < walked && rc == 0; i++)
		rc = hy_stats_add(control->history, d->images[i].image, HY_STATS_COUNTERS);
	if (rc < 0)
		return rc;
	hy_stats_bury(control->history);
	copy->image = control->current = d->images[walked].image;
	copy->plan = copy->image->plan;
	control->burst = copy->plan.burst;
	control->stream_cap = copy->plan.stream_cap;
	control->copied = d;
	return 0;
}

/* One look at a graph. */
static int
graph_look(const struct hy_share *share, const char *name, struct hy_share_description *d,
	struct looks *looks)
{
	int rc = description_read(share, name, d, looks);

	if (rc < 0)
		return rc;
	rc = copy_fill(share, d);
	if (rc < 0)
		hy_share_description_free(d);
	return rc;
}

/* Says why a graph cannot be read, after the last look. */
static int
refuse(const struct hy_share *share, const char *name, int rc, unsigned int looks)
{
	if (rc == -ENOMEM)
		HY_LOG(ERR, "graph '%s': not enough memory for a copy, or too many open files",
			name);
	else if (rc == -EACCES)
		HY_LOG(ERR, "graph '%s': only its program's user and root may look into it", name);
	else if (!is_alive(share))
		return nobody("the program has ended");
	else if (rc == -EAGAIN)
		HY_LOG(ERR, "graph '%s': it changed each of %u times that it was looked at", name,
			looks);
	else if (rc == -EPROTO)
		HY_LOG(ERR,
			"graph '%s': its program is of another version of Halyard than this reader, "
			"or what it shares is damaged",
			name);
	return rc;
}

/* Whether to retry after a pause. A bad description may have been replaced meanwhile. */
static bool
look_again(const struct hy_share *share, int rc, const struct looks *looks)
{
	if ((rc != -EAGAIN && rc != -EPROTO) || looks->n == LOOKS || looks->bytes >= LOOKS_BYTES ||
		!is_alive(share))
		return false;
	usleep(LOOK_US);
	return true;
}

int
hy_share_graph(const struct hy_share *share, const char *name, struct hy_graph **graph)
{
	struct hy_share_description *d = calloc(1, sizeof(*d));
	struct looks looks = { 0 };
	int rc = d == NULL ? -ENOMEM : 0;

	if (rc == 0)
		do
			rc = graph_look(share, name, d, &looks);
		while (look_again(share, rc, &looks));
	if (rc < 0) {
		free(d);
		return refuse(share, name, rc, looks.n);
	}
	*graph = d->copy; /* which has d, for hy_share_free() */
	/* cppcheck-suppress memleak */
	return 0;
}

void
hy_share_free(struct hy_graph *graph)
{
	struct hy_share_description *d;

	if (graph == NULL)
		return;
	d = graph->control->copied;
	hy_share_description_free(d);
	free(d);
}

static int
graph_add(struct hy_stats *stats, const struct hy_share *share, const char *name)
{
	struct hy_stats *of = NULL;
	struct hy_graph *copy;
	int rc = hy_share_graph(share, name, &copy);

	if (rc < 0)
		return rc == -ENOENT ? 0 : rc; /* destroyed since its name was read */
	rc = hy_stats_of(copy, &of);
	if (rc == 0)
		rc = hy_stats_merge(stats, of);
	hy_stats_free(of);
	hy_share_free(copy);
	stats->nb_graphs++;
	return rc;
}

int
hy_share_stats(const struct hy_share *share, const char *pattern, struct hy_stats **out)
{
	char name[HY_NAME_SIZE] = "";
	struct hy_stats *stats;
	int rc = hy_stats_new(&stats);

	while (rc == 0 && (rc = hy_share_next(share, name, name)) == 0)
		if (fnmatch(pattern, name, 0) == 0)
			rc = graph_add(stats, share, name);
	if (rc == -ENOENT && stats->nb_graphs > 0)
		rc = 0;
	if (rc < 0) {
		hy_stats_free(stats);
		return rc;
	}
	*out = stats;
	return 0;
}

/* Whether a record can be looked at: it is as another process wrote it. */
static bool
record_valid(const struct hy_trace_record *record)
{
	return record->nb_lanes <= HY_LANES_MAX && record->size <= HY_TRACE_DATA &&
		hy_name_valid(record->name) &&
		(record->drop[0] == '\0' || strcmp(record->drop, HY_TRACE_UNSURE) == 0 ||
			hy_name_valid(record->drop));
}

/* Copies records from a ring, which may end in between. */
static int
records_read(const struct hy_share *share, const struct hy_share_description *d, uint32_t head,
	struct hy_trace_record *records, unsigned int n)
{
	const size_t size = sizeof(records[0]);
	const uint32_t ring = (uint32_t)((d->trace.size - sizeof(struct hy_trace)) / size);
	const uint32_t first = head & (ring - 1), before = RTE_MIN(n, ring - first);
	int rc = hy_share_read(d->pid, share->owner, &d->trace,
		offsetof(struct hy_trace, ring) + first * size, records, before * size);

	if (rc == 0)
		rc = hy_share_read(d->pid, share->owner, &d->trace, offsetof(struct hy_trace, ring),
			records + before, (n - before) * size);
	for (unsigned int i = 0; i < n && rc == 0; i++)
		if (!record_valid(&records[i]))
			rc = -EPROTO;
	return rc;
}

static int
header_read(const struct hy_share *share, const struct hy_share_description *d,
	struct hy_trace *trace)
{
	/* The worker's private part follows. */
	const int rc = hy_share_read(d->pid, share->owner, &d->trace, 0, trace,
		offsetof(struct hy_trace, image));

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return rc == 0 && trace->serial != d->trace_serial ? -EAGAIN : rc;
}

/* Leaves out records that may have been overwritten meanwhile. */
static int
trace_copy(const struct hy_share *share, const struct hy_share_description *d,
	struct hy_trace_state *state, struct hy_trace_record *records, unsigned int n)
{
	struct hy_trace trace, after;
	int rc = header_read(share, d, &trace);

	if (rc < 0)
		return rc;
	/* Nonsense: another program's, or another's block by now. */
	if (trace.tail - trace.head >
		(d->trace.size - sizeof(trace)) / sizeof(struct hy_trace_record))
		return -EAGAIN;
	if (state != NULL)
		hy_trace_state_read(&trace, state);
	n = RTE_MIN(n, trace.tail - trace.head);
	rc = records_read(share, d, trace.head, records, n);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (rc == 0 || rc == -EPROTO) {
		const int again = header_read(share, d, &after);

		if (again < 0 || after.head != trace.head)
			rc = -EAGAIN;
	}
	return rc < 0 ? rc : (int)n;
}

static int
trace_look(const struct hy_share *share, const char *name, struct hy_trace_state *state,
	struct hy_trace_record *records, unsigned int n, struct looks *looks)
{
	struct hy_share_description d;
	int rc = description_read(share, name, &d, looks);

	if (rc < 0)
		return rc;
	rc = d.trace_serial == 0 ? -ENOENT : trace_copy(share, &d, state, records, n);
	hy_share_description_free(&d);
	return rc;
}

int
hy_share_trace(const struct hy_share *share, const char *name, struct hy_trace_state *state,
	struct hy_trace_record *records, unsigned int n)
{
	struct looks looks = { 0 };
	int rc;

	n = RTE_MIN(n, (unsigned int)HY_TRACE_RECORDS_MAX);
	do
		rc = trace_look(share, name, state, records, n, &looks);
	while (look_again(share, rc, &looks));
	return rc < 0 ? refuse(share, name, rc, looks.n) : rc;
}
