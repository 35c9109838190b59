/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that shares its graphs: the folder, and when what is written there. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>

#include "log.h"
#include "memory.h"
#include "share.h"

#define NEW "new" /* what the link to a description is called until it takes another's place */

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

int
hy_share_folder(const char *folder, char path[PATH_MAX])
{
	const int n = folder == NULL
		? snprintf(path, PATH_MAX, "%s/halyard", rte_eal_get_runtime_dir())
		: snprintf(path, PATH_MAX, "%s", folder);

	if (n > 0 && n < PATH_MAX)
		return 0;
	HY_LOG(ERR, "share: the path of the folder has %d bytes; 1 to %d are accepted", n,
		PATH_MAX - 1);
	return -EINVAL;
}

static int
failed(const char *what)
{
	const int rc = -errno;

	HY_LOG(ERR, "share: %s: %s: %s", share.path, what, strerror(errno));
	return rc;
}

/*
 * The lock says that somebody shares here, and is gone as soon as its process is. Only those take it
 * who share: a reader asks whether it is taken.
 */
static int
lock_take(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	share.lock = openat(share.folder, HY_SHARE_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		0600);
	if (share.lock < 0)
		return failed(HY_SHARE_LOCK);
	if (fcntl(share.lock, F_OFD_SETLK, &lock) == 0)
		return 0;
	if (errno != EAGAIN && errno != EACCES)
		return failed(HY_SHARE_LOCK);
	HY_LOG(ERR, "share: %s: another program shares its graphs there; each needs its own folder",
		share.path);
	return -EBUSY;
}

DIR *
hy_share_opendir(int folder)
{
	const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL && fd >= 0) {
		const int why = errno;

		close(fd);
		errno = why;
	}
	return dir;
}

const char *
hy_share_readdir(DIR *folder)
{
	const struct dirent *d;

	errno = 0;
	do
		d = readdir(folder);
	while (d != NULL && strncmp(d->d_name, HY_SHARE_PREFIX, strlen(HY_SHARE_PREFIX)) != 0);
	return d == NULL ? NULL : d->d_name;
}

/* Takes away what one left behind that was killed. */
static int
folder_clear(void)
{
	DIR *folder = hy_share_opendir(share.folder);
	const char *left;
	int rc;

	if (folder == NULL)
		return failed("opendir");
	while ((left = hy_share_readdir(folder)) != NULL)
		unlinkat(share.folder, left, 0);
	rc = errno == 0 ? 0 : failed("readdir");
	closedir(folder);
	return rc;
}

static int
folder_open(void)
{
	int rc;

	if (mkdir(share.path, 0700) < 0 && errno != EEXIST)
		return failed("mkdir");
	share.folder = open(share.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (share.folder < 0)
		return failed("open");
	rc = lock_take();
	if (rc == 0)
		rc = folder_clear();
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

/* Closes a description that no link leads to any more. */
static void
description_close(struct hy_control *control)
{
	if (control->description != NULL)
		fclose(control->description);
	control->description = NULL;
}

void
hy_share_forget(const struct hy_graph *graph)
{
	char path[HY_SHARE_PATH];

	if (!share.on)
		return;
	path_of(graph, path);
	unlinkat(share.folder, path, 0);
	description_close(graph->control);
}

/* Leads the graph's link to an open file, in one step. */
static int
link_to(const char *path, FILE *description)
{
	char target[64];

	snprintf(target, sizeof(target), "/proc/%d/fd/%d", (int)getpid(), fileno(description));
	unlinkat(share.folder, NEW, 0);
	return symlinkat(target, share.folder, NEW) < 0 ||
			renameat(share.folder, NEW, share.folder, path) < 0
		? -errno
		: 0;
}

/* Writes a description, and shows it in place of the one before. */
static int
describe(const struct hy_graph *graph, const char *path)
{
	const int fd = memfd_create("halyard", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int rc;

	if (out == NULL) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = hy_share_describe(graph, out);
	if (rc == 0 && (fflush(out) != 0 || ferror(out)))
		rc = -EIO;
	if (rc == 0)
		rc = link_to(path, out);
	if (rc < 0) {
		fclose(out);
		return rc;
	}
	description_close(graph->control);
	graph->control->description = out;
	return 0;
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

	if (share.on) {
		HY_LOG(ERR, "share: graphs are shared already, in %s", share.path);
		return -EALREADY;
	}
	if (rte_eal_process_type() == RTE_PROC_SECONDARY) {
		HY_LOG(ERR, "share: a secondary process has no graphs to share");
		return -EPERM;
	}
	share.lock = -1;
	rc = hy_share_folder(folder, share.path);
	if (rc == 0)
		rc = folder_open();
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
		share.on = false;
		hy_memory_keep(false);
		close(share.lock);
		close(share.folder);
	}
	hy_registry_unlock();
}
