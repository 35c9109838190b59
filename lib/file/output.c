/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are written. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <hy_file.h>
#include "refuse.h"

#define HOW (O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Whether an existing file may be written to. */
static int
file_check(const struct stat *st, unsigned int flags, char *error)
{
	if (S_ISLNK(st->st_mode))
		return hy_file_refuse(-ELOOP, "is a symbolic link, which is not followed", error);
	if ((flags & HY_OUTPUT_FIFO) != 0)
		return S_ISFIFO(st->st_mode) ? 0 : hy_file_refuse(-EINVAL, "is not a FIFO", error);
	if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3)) /* /dev/null */
		return 0;
	if (!S_ISREG(st->st_mode))
		return hy_file_refuse(-EINVAL, "is not a regular file", error);
	if (st->st_uid != geteuid())
		return hy_file_refuse(-EPERM, "belongs to another user", error);
	return 0;
}

/*
 * Whether the process has the file open as another descriptor, too: for itself, or for its drivers.
 * Returns 0, 1, or why that cannot be found out.
 */
static int
is_open_elsewhere(int fd, const struct stat *st)
{
	DIR *const all = opendir("/proc/self/fd");
	const struct dirent *d;
	struct stat other;
	char own[16];
	int rc;

	if (all == NULL) /* without /proc this is unknown */
		return errno == ENOENT ? 0 : -errno;
	snprintf(own, sizeof(own), "%d", fd);
	do {
		errno = 0;
		d = readdir(all);
		rc = d == NULL ? -errno
			       : d->d_name[0] != '.' && strcmp(d->d_name, own) != 0 &&
				fstatat(dirfd(all), d->d_name, &other, 0) == 0 &&
				other.st_dev == st->st_dev && other.st_ino == st->st_ino;
	} while (d != NULL && rc == 0);
	closedir(all);
	return rc;
}

/* Locks a regular file. Returns whether nobody else uses it, as far as is known. */
static int
file_take(int fd, char *error)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return hy_file_fail(-errno, error);
	if (!S_ISREG(st.st_mode))
		return 0;
	rc = is_open_elsewhere(fd, &st);
	if (rc < 0)
		return hy_file_fail(rc, error);
	if (rc > 0)
		return hy_file_refuse(-EBUSY,
			"this program has it open already, as another file of its own or a port's",
			error);
	/* Where links to files of others may be made, whoever may write to the folder made this one. */
	if (st.st_nlink > 1)
		return hy_file_refuse(-EMLINK, "has other names, too (hard links)", error);
	/* Any other error: a file system without locks. */
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0 && (errno == EAGAIN || errno == EACCES))
		return hy_file_refuse(-EBUSY, "another program writes to it", error);
	return 0;
}

/* Called before opening, since opening a device may have an effect; and for the opened file. */
static int
old_open(const char *path, unsigned int flags, int *fd, char *error)
{
	struct stat st;
	int rc;

	if (lstat(path, &st) < 0)
		return hy_file_fail(-errno, error);
	rc = file_check(&st, flags, error);
	if (rc < 0)
		return rc;
	*fd = open(path, HOW);
	if (*fd < 0 && errno == ENXIO)
		return hy_file_refuse(-ENXIO, "no program reads from this FIFO", error);
	if (*fd < 0)
		return hy_file_fail(-errno, error);
	rc = fstat(*fd, &st) < 0 ? hy_file_fail(-errno, error) : file_check(&st, flags, error);
	if (rc < 0)
		close(*fd);
	return rc;
}

static int
any_open(const char *path, unsigned int flags, int *fd, char *error)
{
	int rc;

	if ((flags & HY_OUTPUT_FIFO) != 0)
		return old_open(path, flags, fd, error);
	/* Retries if it disappears between the two calls, but not for ever, as that may be an attack. */
	for (unsigned int i = 0; i < 10; i++) {
		*fd = open(path, HOW | O_CREAT | O_EXCL, 0600);
		if (*fd >= 0) {
			fchmod(*fd, 0600); /* the umask may have taken some of it */
			return 0;
		}
		if (errno != EEXIST)
			return hy_file_fail(-errno, error);
		rc = old_open(path, flags, fd, error);
		if (rc != -ENOENT)
			return rc;
	}
	return hy_file_fail(-EBUSY, error);
}

int
hy_output_open(const char *path, unsigned int flags, int *fd, char *error)
{
	int rc = any_open(path, flags, fd, error);

	if (rc < 0)
		return rc;
	rc = file_take(*fd, error);
	if (rc < 0)
		close(*fd);
	return rc;
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
hy_output_write(int fd, const char *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		const ssize_t n = write(fd, bytes + at, size - at);

		if (n == 0) /* it takes nothing, and would for ever */
			return -EIO;
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

int
hy_output_flush(FILE *out)
{
	const int rc = fflush(out) == 0 ? 0 : -errno, first = hy_file_output_error(out);

	if (first < 0)
		return first;
	return rc == 0 && ferror(out) ? -EIO : rc;
}

int
hy_output_end(const char *program)
{
	int rc = hy_output_flush(stdout), fd;

	/* Some file systems write, and report errors, only when any descriptor is closed. */
	if (rc == 0 && (fd = dup(STDOUT_FILENO)) >= 0 && close(fd) < 0)
		rc = -errno;
	if (rc < 0)
		fprintf(stderr, "%s: standard output: %s\n", program, strerror(-rc));
	return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
