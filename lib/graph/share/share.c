/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that shares its graphs: the folder, and when descriptions are written there. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>

#include <hy_file.h>

#include "lib/graph/common/memory.h"
#include "lib/graph/internal/log.h"
#include "share.h"

/* Under the registry's lock. */
static struct {
	bool on;
	int folder;
	int lock;
	char path[PATH_MAX]; /* for the log */
} share;

uint64_t
hy_share_serial(void)
{
	static uint64_t serial;

	return ++serial;
}

static int
failed(const char *what)
{
	const int rc = -errno;

	return HY_REFUSE(rc, "share: %s: %s: %s", share.path, what, strerror(errno));
}

/*
 * The lock marks a folder in which a process shares, and disappears with that process. Only sharers
 * take it; readers test whether it is taken.
 */
static int
lock_take(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	share.lock = openat(share.folder, HY_SHARE_LOCK,
		O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (share.lock < 0)
		return failed(HY_SHARE_LOCK);
	if (!hy_share_file_trusted(share.lock, geteuid())) {
		errno = EPERM;
		return failed(HY_SHARE_LOCK " is not a regular file of the user, or has two names");
	}
	if (fcntl(share.lock, F_OFD_SETLK, &lock) == 0)
		return 0;
	if (errno != EAGAIN && errno != EACCES)
		return failed(HY_SHARE_LOCK);
	return HY_REFUSE(-EBUSY,
		"share: %s: another program shares its graphs there; each needs its own folder",
		share.path);
}

static int
folder_open(bool parents)
{
	int rc;

	share.folder = hy_share_folder_make(share.path, parents);
	if (share.folder < 0)
		return share.folder;
	rc = lock_take();
	if (rc == 0)
		rc = hy_share_folder_clear(share.folder, share.path);
	if (rc < 0) {
		if (share.lock >= 0)
			close(share.lock);
		close(share.folder);
	}
	return rc;
}

static void
path_of(const struct hy_graph *graph, char path[HY_SHARE_PATH])
{
	snprintf(path, HY_SHARE_PATH, HY_SHARE_PREFIX "%s", graph->control->name);
}

void
hy_share_forget(const struct hy_graph *graph)
{
	char path[HY_SHARE_PATH];

	if (!share.on)
		return;
	path_of(graph, path);
	unlinkat(share.folder, path, 0);
}

/* Writes a description, and replaces the previous one by it. */
static int
describe(const struct hy_graph *graph, const char *path)
{
	char *text = NULL;
	size_t size;
	FILE *out;
	int fd, rc;

	if (unlinkat(share.folder, HY_SHARE_NEW, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(share.folder, HY_SHARE_NEW,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	out = open_memstream(&text, &size);
	rc = out == NULL ? -ENOMEM : hy_share_describe(graph, out);
	if (out != NULL && fclose(out) != 0 && rc == 0)
		rc = -ENOMEM;
	if (rc == 0)
		rc = hy_output_write(fd, text, size);
	free(text);
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && renameat(share.folder, HY_SHARE_NEW, share.folder, path) == 0)
		return 0;
	rc = rc == 0 ? -errno : rc;
	unlinkat(share.folder, HY_SHARE_NEW, 0);
	return rc;
}

void
hy_share_publish(const struct hy_graph *graph)
{
	char path[HY_SHARE_PATH];
	int rc;

	if (!share.on)
		return;
	path_of(graph, path);
	rc = describe(graph, path);
	if (rc < 0) {
		HY_LOG(ERR, "graph '%s': not shared until its next change: %s/%s: %s",
			graph->control->name, share.path, path, strerror(-rc));
		hy_share_forget(graph); /* better none than an old one */
	}
}

static int
start_locked(const char *folder)
{
	int rc;

	if (share.on)
		return HY_REFUSE(-EALREADY, "share: graphs are shared already, in %s", share.path);
	if (rte_eal_process_type() == RTE_PROC_SECONDARY)
		return HY_REFUSE(-EPERM, "share: a secondary process has no graphs to share");
	share.lock = -1;
	rc = hy_share_path(folder, share.path);
	if (rc == 0)
		rc = folder_open(folder == NULL);
	if (rc < 0)
		return rc;
	share.on = true;
	hy_memory_keep(true);
	for (struct hy_graph *g = hy_graph_next(NULL); g != NULL; g = hy_graph_next(g))
		hy_share_publish(g);
	return 0;
}

int
hy_share_start(const char *folder)
{
	int rc;

	hy_registry_lock();
	rc = start_locked(folder);
	hy_registry_unlock();
	return rc;
}

void
hy_share_stop(void)
{
	hy_registry_lock();
	if (share.on) {
		for (struct hy_graph *g = hy_graph_next(NULL); g != NULL; g = hy_graph_next(g))
			hy_share_forget(g);
		share.on = false; /* memory stays kept: a reader may be copying it */
		close(share.lock);
		close(share.folder);
	}
	hy_registry_unlock();
}
