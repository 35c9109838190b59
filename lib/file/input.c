/* SPDX-License-Identifier: BSD-3-Clause */
/* Text files, read as a whole, so that all of the content was there at one time. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <hy_file.h>

#include "read.h"
#include "refuse.h"

#define TICK_MS 20        /* the longest there is, twice */
#define CHUNK (1ul << 20) /* bytes between two checks of the condition to stop */

static bool (*stop_when)(void);

void
hy_file_stop_when(bool (*stop)(void))
{
	__atomic_store_n(&stop_when, stop, __ATOMIC_RELAXED);
}

bool
hy_file_stops(void)
{
	bool (*const stop)(void) = __atomic_load_n(&stop_when, __ATOMIC_RELAXED);

	return stop != NULL && stop();
}

static int
kind_check(const struct stat *st, size_t max, char *error)
{
	if (S_ISDIR(st->st_mode))
		return hy_file_fail(-EISDIR, error);
	if (!S_ISREG(st->st_mode))
		return hy_file_refuse(-EINVAL, "is not a regular file", error);
	if (st->st_size <= (off_t)max)
		return 0;
	snprintf(error, HY_FILE_ERROR_SIZE, "more than %zu bytes", max);
	return -EFBIG;
}

/*
 * A write within the same tick as the last one leaves the time of the file as it is, where file
 * systems know no finer one: then it could not be noticed. So let that tick go by; a program that
 * writes all the time is noticed by the times that follow.
 */
static int
tick_pass(int fd, struct stat *st)
{
	for (unsigned int i = 0; i < TICK_MS; i++) {
		const struct timespec *at = &st->st_mtim;
		struct timespec now;

		if (fstat(fd, st) < 0)
			return -errno;
		clock_gettime(CLOCK_REALTIME_COARSE, &now); /* as of the tick */
		if (at->tv_sec < now.tv_sec ||
			(at->tv_sec == now.tv_sec && at->tv_nsec < now.tv_nsec))
			break;
		if (at->tv_sec > now.tv_sec + 1) /* it was set, and a write changes it */
			break;
		usleep(1000);
	}
	return 0;
}

/* Opens regular files only: opening another file may wait, or have an effect. */
static int
file_open(const char *path, size_t max, struct stat *st, char *error)
{
	int rc = stat(path, st) < 0 ? hy_file_fail(-errno, error) : kind_check(st, max, error);
	int fd;

	if (rc < 0)
		return rc;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return hy_file_fail(-errno, error);
	rc = tick_pass(fd, st);
	rc = rc < 0 ? hy_file_fail(rc, error) : kind_check(st, max, error);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Reads until the end, at most a byte more than the file had. */
static int
bytes_read(int fd, size_t size, struct hy_file *file, atomic_uint *steps, char *error)
{
	while (file->size <= size) {
		const size_t rest = size + 1 - file->size;
		ssize_t n;

		if (hy_file_stops())
			return hy_file_refuse(-EINTR, "stopped while it was read", error);
		n = read(fd, file->text + file->size, rest < CHUNK ? rest : CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hy_file_fail(-errno, error);
		if (n == 0)
			break;
		file->size += (size_t)n;
		++*steps;
	}
	return 0;
}

int
hy_file_read_here(const char *path, size_t max, struct hy_file *file, atomic_uint *steps,
	char *error)
{
	struct stat before, after = { 0 };
	int fd, rc;

	*file = (struct hy_file){ 0 };
	fd = file_open(path, max, &before, error);
	if (fd < 0)
		return fd;
	++*steps;
	file->text = malloc((size_t)before.st_size + 2);
	rc = file->text == NULL ? hy_file_fail(-ENOMEM, error)
				: bytes_read(fd, (size_t)before.st_size, file, steps, error);
	if (rc == 0 && fstat(fd, &after) < 0)
		rc = hy_file_fail(-errno, error);
	close(fd);
	if (rc != 0)
		return rc;
	if (file->size != (size_t)before.st_size || after.st_size != before.st_size ||
		after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
		after.st_mtim.tv_nsec != before.st_mtim.tv_nsec)
		return hy_file_refuse(-EAGAIN,
			"changed while it was read; replace files by renaming", error);
	file->text[file->size] = '\0';
	return 0;
}

int
hy_file_line(struct hy_file *file, char **line, char *error)
{
	char *const begin = file->text + file->at, *end;
	size_t n = file->size - file->at;

	if (hy_file_stops())
		return hy_file_refuse(-EINTR, "stopped while it was read", error);
	if (n == 0)
		return 0;
	file->line++;
	end = memchr(begin, '\n', n < HY_FILE_LINE_MAX + 1 ? n : HY_FILE_LINE_MAX + 1);
	if (end == NULL && n > HY_FILE_LINE_MAX) {
		snprintf(error, HY_FILE_ERROR_SIZE, "longer than %d bytes", HY_FILE_LINE_MAX);
		return -EINVAL;
	}
	if (end != NULL)
		n = (size_t)(end - begin);
	if (memchr(begin, '\0', n) != NULL)
		return hy_file_refuse(-EINVAL, "has a NUL byte", error);
	begin[n] = '\0';
	file->at += n + (end != NULL);
	*line = begin;
	return 1;
}

void
hy_file_free(struct hy_file *file)
{
	free(file->text);
	*file = (struct hy_file){ 0 };
}
