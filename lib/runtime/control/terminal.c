/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams over file descriptors 1 and 2 that wait no longer than they are told to. */

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_log.h>

#include <hy_file.h>
#include <hy_signals.h>
#include <hy_terminal.h>

#include "terminal_file.h"

#define TICK_MS 100
#define HURRY_MS 1000
#define STOP_MS 10000

/* What changes is under the lock that stdio has for the stream. */
struct channel {
	int fd;
	struct hy_terminal_file *file; /* NULL: a pipe or a terminal, say */
	bool raw;                      /* may carry a report, and passes unchanged */
	bool stuck;                    /* the reader was waited for, and has taken nothing since */
	int error;                     /* of the first write that failed */
};

static struct channel out = { .fd = STDOUT_FILENO, .raw = true }, err = { .fd = STDERR_FILENO };
static atomic_bool hurried;
static const char *name; /* the program's */
/* Both may be one pipe: the thread that finds room in it is the next to write. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* In milliseconds. */
static uint64_t
patience(const struct channel *channel)
{
	if (channel->stuck)
		return 0;
	if (hy_stopping())
		return STOP_MS;
	return hurried ? HURRY_MS : UINT64_MAX;
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Writes some bytes if it need not wait for that; else fails with EAGAIN. */
static ssize_t
write_now(const struct channel *channel, const char *bytes, size_t size)
{
	struct pollfd room = { .fd = channel->fd, .events = POLLOUT };
	ssize_t n = -1;

	if (channel->file != NULL)
		return hy_terminal_file_try(channel->file, bytes, size);
	pthread_mutex_lock(&turn);
	errno = EAGAIN;
	if (poll(&room, 1, 0) > 0)
		n = write(channel->fd, bytes, size);
	pthread_mutex_unlock(&turn);
	return n;
}

/*
 * Waits a moment for room. Signals interrupt it, and may change the channel's patience. There may
 * be room already, but too little.
 */
static void
wait_for_reader(const struct channel *channel)
{
	struct pollfd room = { .fd = channel->fd, .events = POLLOUT };

	/* To ask a file whether it has room may wait for its disk. */
	if (channel->file != NULL || poll(&room, 1, TICK_MS) > 0)
		poll(NULL, 0, 1);
}

/*
 * Writes a piece, and adds to *done how much of it was written. Returns whether that was all; if not,
 * errno says why.
 */
static bool
piece_write(struct channel *channel, const char *piece, size_t size, size_t *done)
{
	uint64_t since = now_ms();
	size_t at = 0;

	do {
		const ssize_t n = write_now(channel, piece + at, size - at);

		if (n >= 0) {
			at += (size_t)n;
			*done += (size_t)n;
			channel->stuck = false;
			since = now_ms();
		} else if (errno != EINTR && errno != EAGAIN) {
			return false;
		} else if (now_ms() - since >= patience(channel)) {
			if (channel->file != NULL)
				hy_terminal_file_forget(channel->file);
			channel->stuck = true;
			errno = ETIMEDOUT;
			return false;
		} else {
			wait_for_reader(channel);
		}
	} while (at < size);
	return true;
}

static ssize_t
stream_write(void *cookie, const char *bytes, size_t size)
{
	struct channel *channel = cookie;
	char piece[HY_TERMINAL_PIECE]; /* a pipe that has room at all has room for so much */

	static_assert(HY_TERMINAL_PIECE <= PIPE_BUF, "more might wait");
	for (size_t done = 0; done < size;) {
		size_t n = RTE_MIN(size - done, sizeof(piece));

		if (channel->raw)
			memcpy(piece, bytes + done, n);
		else
			n = hy_printable_copy(piece, sizeof(piece), bytes + done, size - done);
		if (!piece_write(channel, piece, n, &done)) {
			channel->error = channel->error == 0 ? errno : channel->error;
			return (ssize_t)done; /* an error, by errno */
		}
	}
	return (ssize_t)size;
}

/*
 * A file gets a thread that writes to it. A terminal that has room may have too little, and so may a
 * pipe with other writers: a write would then block. So open a description of our own that does not
 * block; the one shared with other processes must stay as it is. Where opening it is not permitted,
 * writes may block.
 */
static int
own(struct channel *channel)
{
	char path[32];
	struct stat st;
	int fd;

	if (fstat(channel->fd, &st) < 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return hy_terminal_file_start(channel->fd, &channel->file);
	if (!S_ISFIFO(st.st_mode) && !isatty(channel->fd))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", channel->fd);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		channel->fd = fd;
	return 0;
}

static int
stream_open(struct channel *channel, FILE **stream)
{
	const int rc = own(channel);

	if (rc < 0)
		return rc;
	*stream = fopencookie(channel, "w", (cookie_io_functions_t){ .write = stream_write });
	return *stream == NULL ? -ENOMEM : 0;
}

void
hy_terminal_error(const char *format, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	/* At once: other processes may write to the same file. */
	fprintf(stderr, "%s%s%s\n", name == NULL ? "" : name, name == NULL ? "" : ": ",
		text == NULL ? "out of memory" : text);
	free(text);
}

int
hy_terminal_report(const char *what, int rc)
{
	return rc < 0 ? hy_terminal_refuse(rc, "%s: %s%s", what, strerror(-rc),
				rc == -ENOMEM ? "; see EAL's -m for memory" : "")
		      : rc;
}

const char *
hy_terminal_program(void)
{
	return name;
}

int
hy_terminal_begin(const char *program)
{
	FILE *to_out, *to_err;
	int rc = stream_open(&out, &to_out);

	name = program;
	if (rc == 0)
		rc = stream_open(&err, &to_err);
	if (rc < 0)
		return hy_terminal_refuse(rc, "standard output and error: %s", strerror(-rc));
	if (isatty(STDOUT_FILENO))
		setvbuf(to_out, NULL, _IOLBF, 0);
	setvbuf(to_err, NULL, _IONBF, 0);
	stdout = to_out;
	stderr = to_err;
	rte_openlog_stream(to_err); /* only there: syslog(3) waits for a daemon that has stalled */
	return 0;
}

void
hy_terminal_hurry(bool hurry)
{
	hurried = hurry;
}

/* Returns whether all that was written to a stream is out; reports it if not. */
static bool
finish(FILE *stream, struct channel *channel, const char *what)
{
	size_t none = 0;
	int error;

	fflush(stream);
	flockfile(stream);
	/* Some file systems write, and say that they cannot, when a descriptor is closed: any. */
	if (channel->file != NULL && channel->error == 0 && !piece_write(channel, "", 0, &none))
		channel->error = errno;
	error = channel->error;
	funlockfile(stream);
	if (error == ETIMEDOUT)
		hy_terminal_error("%s: %s took nothing, and output was lost", what,
			channel->file != NULL ? "the file" : "its reader");
	else if (error != 0)
		hy_terminal_error("%s: %s", what, strerror(error));
	return error == 0;
}

int
hy_terminal_end(void)
{
	const bool both = finish(stdout, &out, "standard output");

	return finish(stderr, &err, "standard error") && both ? 0 : -EIO;
}
