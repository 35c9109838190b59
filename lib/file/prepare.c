/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares a process before it uses files. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hy_file.h>

#include "refuse.h"

static FILE *output;
static int output_error; /* that the first write to it failed with */

int
hy_file_output_error(const FILE *stream)
{
	return stream == output ? output_error : 0;
}

static ssize_t
output_write(void *cookie, const char *bytes, size_t size)
{
	const int rc = hy_output_write(STDOUT_FILENO, bytes, size);

	(void)cookie;
	if (rc == 0)
		return (ssize_t)size;
	if (output_error == 0)
		output_error = rc;
	errno = -rc;
	return 0;
}

/* Keeps messages from sending commands to a terminal. */
static ssize_t
error_write(void *cookie, const char *bytes, size_t size)
{
	char copy[1024];

	(void)cookie;
	for (size_t done = 0; done < size;) {
		const size_t n = hy_printable_copy(copy, sizeof(copy), bytes + done, size - done);
		const int rc = hy_output_write(STDERR_FILENO, copy, n);

		if (rc < 0) {
			errno = -rc;
			return (ssize_t)done;
		}
		done += n;
	}
	return (ssize_t)size;
}

static int
streams_replace(void)
{
	FILE *error = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = error_write });

	output = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = output_write });
	if (error == NULL || output == NULL)
		return -ENOMEM;
	if (isatty(STDOUT_FILENO))
		setvbuf(output, NULL, _IOLBF, 0);
	setvbuf(error, NULL, _IONBF, 0);
	stdout = output;
	stderr = error;
	return 0;
}

/* A library may end the program, as EAL does after its --help: with 0, whatever became of the output. */
static void
on_end(int status, void *arg __attribute__((unused)))
{
	const int rc = status == EXIT_SUCCESS ? hy_output_flush(stdout) : 0;

	if (rc == 0)
		return;
	fprintf(stderr, "%s: standard output: %s\n", program_invocation_short_name, strerror(-rc));
	_exit(EXIT_FAILURE);
}

/* On descriptor 2 itself: there may be no stream. */
static void
complain(int rc)
{
	char text[256];

	snprintf(text, sizeof(text), "%.100s: standard input, output and error: %s\n",
		program_invocation_short_name, strerror(-rc));
	hy_printable_lines(text, strlen(text));
	hy_output_write(STDERR_FILENO, text, strlen(text));
}

static int
prepare(void)
{
	if (on_exit(on_end, NULL) != 0)
		return -ENOMEM;
	signal(SIGXFSZ, SIG_IGN);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* The lowest number that is free: this one. */
		if (open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) < 0)
			return -errno;
	}
	return streams_replace();
}

int
hy_file_prepare(void)
{
	const int rc = prepare();

	if (rc < 0)
		complain(rc);
	return rc;
}
