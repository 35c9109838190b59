/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are written. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "hy_file.h"

#define HOW (O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static int
refuse(int rc, const char *why, char *error)
{
	snprintf(error, HY_FILE_ERROR_SIZE, "%s", why);
	return rc;
}

static int
fail(int rc, char *error)
{
	return refuse(rc, strerror(-rc), error);
}

static bool
is_null(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/* Whether a file that was there may be written to. */
static int
file_check(const struct stat *st, unsigned int flags, char *error)
{
	if (S_ISLNK(st->st_mode))
		return refuse(-ELOOP, "is a symbolic link, which is not followed", error);
	if ((flags & HY_OUTPUT_FIFO) != 0)
		return S_ISFIFO(st->st_mode) ? 0 : refuse(-EINVAL, "is not a FIFO", error);
	if (is_null(st))
		return 0;
	if (!S_ISREG(st->st_mode))
		return refuse(-EINVAL, "is not a regular file", error);
	if (st->st_uid != geteuid())
		return refuse(-EPERM, "belongs to another user", error);
	return 0;
}

/* Before it is opened, since to open a device may do something; and then what was opened. */
static int
old_open(const char *path, unsigned int flags, int *fd, char *error)
{
	struct stat st;
	int rc;

	if (lstat(path, &st) < 0)
		return fail(-errno, error);
	rc = file_check(&st, flags, error);
	if (rc < 0)
		return rc;
	*fd = open(path, HOW);
	if (*fd < 0 && errno == ENXIO)
		return refuse(-ENXIO, "no program reads from this FIFO", error);
	if (*fd < 0)
		return fail(-errno, error);
	rc = fstat(*fd, &st) < 0 ? fail(-errno, error) : file_check(&st, flags, error);
	if (rc < 0)
		close(*fd);
	return rc;
}

int
hy_output_open(const char *path, unsigned int flags, int *fd, char *error)
{
	int rc;

	if ((flags & HY_OUTPUT_FIFO) != 0)
		return old_open(path, flags, fd, error);
	/* Again if it goes away between the two calls; not for ever, should that be on purpose. */
	for (unsigned int i = 0; i < 10; i++) {
		*fd = open(path, HOW | O_CREAT | O_EXCL, 0600);
		if (*fd >= 0)
			return 0;
		if (errno != EEXIST)
			return fail(-errno, error);
		rc = old_open(path, flags, fd, error);
		if (rc != -ENOENT)
			return rc;
	}
	return fail(-EBUSY, error);
}

int
hy_output_empty(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (!S_ISREG(st.st_mode) || ftruncate(fd, 0) == 0))
		return 0;
	return -errno;
}

int
hy_output_flush(FILE *out)
{
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return errno != 0 ? -errno : -EIO;
}
