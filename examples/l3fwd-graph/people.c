/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream over file descriptor 1 that is asked before each write whether it would wait. */

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "people.h"
#include "signals.h"

#define TICK_MS 100
#define HURRY_TICKS 10
#define STOP_TICKS 100

static struct {
	atomic_bool hurry;
	bool stuck; /* the reader was waited for, and took nothing since */
	int error;  /* that the first write failed with */
} people;

/* Of 100 ms. */
static unsigned int
patience(void)
{
	if (people.stuck)
		return 0;
	if (signals_stop)
		return STOP_TICKS;
	return people.hurry ? HURRY_TICKS : UINT_MAX;
}

/* Waits until something can be written. Signals interrupt it, and may change how long it waits. */
static bool
wait_for_reader(void)
{
	struct pollfd fd = { .fd = STDOUT_FILENO, .events = POLLOUT };
	unsigned int ticks = 0;

	while (poll(&fd, 1, ticks < patience() ? TICK_MS : 0) <= 0)
		if (ticks++ >= patience()) {
			people.stuck = true;
			errno = ETIMEDOUT;
			return false;
		}
	people.stuck = false;
	return true;
}

static ssize_t
stream_write(void *cookie, const char *bytes, size_t size)
{
	size_t written = 0;

	(void)cookie;
	while (written < size) {
		/* A pipe that has room at all has room for so much. */
		const size_t most = size - written < PIPE_BUF ? size - written : PIPE_BUF;
		const ssize_t n = wait_for_reader() ? write(STDOUT_FILENO, bytes + written, most)
						    : -1;

		if (n >= 0) {
			written += (size_t)n;
		} else if (errno != EINTR && errno != EAGAIN) {
			people.error = people.error == 0 ? errno : people.error;
			break;
		}
	}
	return (ssize_t)written; /* fewer: an error, by errno */
}

int
people_begin(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = stream_write });

	if (stream == NULL)
		return -ENOMEM;
	if (isatty(STDOUT_FILENO))
		setvbuf(stream, NULL, _IOLBF, 0);
	stdout = stream;
	return 0;
}

void
people_hurry(bool hurry)
{
	people.hurry = hurry;
}

int
people_end(void)
{
	fflush(stdout);
	if (people.error == 0)
		return 0;
	fprintf(stderr, "l3fwd-graph: standard output: %s\n",
		people.error == ETIMEDOUT ? "its reader took nothing, and output was lost"
					  : strerror(people.error));
	return -1;
}
