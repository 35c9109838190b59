/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams over file descriptors 1 and 2 that ask before each write whether it would wait. */

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

#include <hy_file.h>
#include <hy_signals.h>
#include <hy_terminal.h>

#define TICK_MS 100
#define HURRY_MS 1000
#define STOP_MS 10000

/* What changes is under the lock that stdio has for the stream. */
struct channel {
	int fd;
	bool raw;   /* may carry a report, and passes unchanged */
	bool stuck; /* the reader was waited for, and has taken nothing since */
	int error;  /* of the first write that failed */
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

	if (poll(&room, 1, TICK_MS) > 0)
		poll(NULL, 0, 1);
}

/* Writes a piece. Returns how much of it: less is an error, by errno. */
static size_t
piece_write(struct channel *channel, const char *piece, size_t size)
{
	uint64_t since = now_ms();

	for (size_t at = 0; at < size;) {
		const ssize_t n = write_now(channel, piece + at, size - at);

		if (n >= 0) {
			at += (size_t)n;
			channel->stuck = false;
			since = now_ms();
		} else if (errno != EINTR && errno != EAGAIN) {
			return at;
		} else if (now_ms() - since >= patience(channel)) {
			channel->stuck = true;
			errno = ETIMEDOUT;
			return at;
		} else {
			wait_for_reader(channel);
		}
	}
	return size;
}

static ssize_t
stream_write(void *cookie, const char *bytes, size_t size)
{
	struct channel *channel = cookie;
	char piece[PIPE_BUF]; /* a pipe that has room at all has room for so much */

	for (size_t done = 0; done < size;) {
		size_t n = RTE_MIN(size - done, sizeof(piece)), written;

		if (channel->raw)
			memcpy(piece, bytes + done, n);
		else
			n = hy_printable_copy(piece, sizeof(piece), bytes + done, size - done);
		written = piece_write(channel, piece, n);
		done += written;
		if (written < n) {
			channel->error = channel->error == 0 ? errno : channel->error;
			return (ssize_t)done; /* an error, by errno */
		}
	}
	return (ssize_t)size;
}

/*
 * A terminal that has room may have too little, and so may a pipe with other writers: a write would
 * then block. So open a description of our own that does not block; the one shared with other
 * processes must stay as it is. Where opening it is not permitted, writes may block.
 */
static void
own(struct channel *channel)
{
	char path[32];
	struct stat st;
	int fd;

	if (fstat(channel->fd, &st) < 0 || (!S_ISFIFO(st.st_mode) && !isatty(channel->fd)))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", channel->fd);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		channel->fd = fd;
}

static FILE *
stream_open(struct channel *channel)
{
	own(channel);
	return fopencookie(channel, "w", (cookie_io_functions_t){ .write = stream_write });
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

const char *
hy_terminal_program(void)
{
	return name;
}

int
hy_terminal_begin(const char *program)
{
	FILE *const to_out = stream_open(&out), *const to_err = stream_open(&err);

	name = program;
	if (to_out == NULL || to_err == NULL) {
		hy_terminal_error("out of memory");
		return -ENOMEM;
	}
	if (isatty(STDOUT_FILENO))
		setvbuf(to_out, NULL, _IOLBF, 0);
	setvbuf(to_err, NULL, _IONBF, 0);
	stdout = to_out;
	stderr = to_err;
	return 0;
}

void
hy_terminal_hurry(bool hurry)
{
	hurried = hurry;
}

/* Returns whether all that was written to a stream is out; reports it if not. */
static bool
finish(FILE *stream, const struct channel *channel, const char *what)
{
	int error;

	fflush(stream);
	flockfile(stream);
	error = channel->error;
	funlockfile(stream);
	if (error != 0)
		hy_terminal_error("%s: %s", what,
			error == ETIMEDOUT ? "its reader took nothing, and output was lost"
					   : strerror(error));
	return error == 0;
}

int
hy_terminal_end(void)
{
	const bool both = finish(stdout, &out, "standard output");

	return finish(stderr, &err, "standard error") && both ? 0 : -EIO;
}
