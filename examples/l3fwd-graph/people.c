/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams over file descriptors 1 and 2 that ask before each write whether it would wait. */

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hy_file.h>

#include "people.h"
#include "signals.h"

#define TICK_MS 100
#define HURRY_TICKS 10
#define STOP_TICKS 100

/* What changes is under the lock that stdio has for the stream. */
struct channel {
	int fd;
	bool raw;   /* what is written may be the content of a file: it stays as it is */
	bool stuck; /* the reader was waited for, and took nothing since */
	int error;  /* that the first write failed with */
};

static struct channel out = { .fd = STDOUT_FILENO, .raw = true }, err = { .fd = STDERR_FILENO };
static atomic_bool hurried;
/* Both may be one pipe: whoever asked whether it has room is then the next to write. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* In units of 100 ms. */
static unsigned int
patience(const struct channel *channel)
{
	if (channel->stuck)
		return 0;
	if (signals_stop)
		return STOP_TICKS;
	return hurried ? HURRY_TICKS : UINT_MAX;
}

/* Waits until something can be written. Signals interrupt it, and may change how long it waits. */
static bool
wait_for_reader(struct channel *channel)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLOUT };
	unsigned int ticks = 0;

	while (poll(&fd, 1, ticks < patience(channel) ? TICK_MS : 0) <= 0)
		if (ticks++ >= patience(channel)) {
			channel->stuck = true;
			errno = ETIMEDOUT;
			return false;
		}
	channel->stuck = false;
	return true;
}

/* Writes some bytes if it need not wait for that; else fails with EAGAIN. */
static ssize_t
write_now(const struct channel *channel, const char *bytes, size_t size)
{
	struct pollfd room = { .fd = channel->fd, .events = POLLOUT };
	char copy[PIPE_BUF]; /* a pipe that has room at all has room for so much */
	ssize_t n = -1;

	size = size < sizeof(copy) ? size : sizeof(copy);
	memcpy(copy, bytes, size);
	if (!channel->raw)
		hy_printable_lines(copy, size);

	pthread_mutex_lock(&turn);
	errno = EAGAIN;
	if (poll(&room, 1, 0) > 0)
		n = write(channel->fd, copy, size);
	pthread_mutex_unlock(&turn);
	return n;
}

static ssize_t
stream_write(void *cookie, const char *bytes, size_t size)
{
	struct channel *channel = cookie;
	size_t written = 0;

	while (written < size) {
		const ssize_t n = wait_for_reader(channel)
			? write_now(channel, bytes + written, size - written)
			: -1;

		if (n >= 0) {
			written += (size_t)n;
		} else if (errno != EINTR && errno != EAGAIN) {
			channel->error = channel->error == 0 ? errno : channel->error;
			break;
		}
	}
	return (ssize_t)written; /* fewer: an error, by errno */
}

static FILE *
stream_open(struct channel *channel)
{
	return fopencookie(channel, "w", (cookie_io_functions_t){ .write = stream_write });
}

int
people_begin(void)
{
	FILE *const to_out = stream_open(&out), *const to_err = stream_open(&err);

	if (to_out == NULL || to_err == NULL) {
		fprintf(stderr, "l3fwd-graph: out of memory\n");
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
people_hurry(bool hurry)
{
	hurried = hurry;
}

/* Returns whether all that was written to a stream is out; says so if not. */
static bool
finish(FILE *stream, const struct channel *channel, const char *name)
{
	int error;

	fflush(stream);
	flockfile(stream);
	error = channel->error;
	funlockfile(stream);
	if (error != 0)
		fprintf(stderr, "l3fwd-graph: %s: %s\n", name,
			error == ETIMEDOUT ? "its reader took nothing, and output was lost"
					   : strerror(error));
	return error == 0;
}

int
people_end(void)
{
	const bool both = finish(stdout, &out, "standard output");

	return finish(stderr, &err, "standard error") && both ? 0 : -1;
}
