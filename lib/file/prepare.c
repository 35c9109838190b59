/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process needs before it touches a file. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <hy_file.h>

static ssize_t
error_write(void *cookie, const char *bytes, size_t size)
{
	char copy[1024];

	(void)cookie;
	for (size_t done = 0; done < size;) {
		const size_t n = hy_printable_copy(copy, sizeof(copy), bytes + done, size - done);

		for (size_t at = 0; at < n;) {
			const ssize_t out = write(STDERR_FILENO, copy + at, n - at);

			if (out < 0 && errno != EINTR)
				return (ssize_t)(done + at); /* an error, by errno */
			at += out < 0 ? 0 : (size_t)out;
		}
		done += n;
	}
	return (ssize_t)size;
}

/* What goes to a terminal as a message is no command to it. */
static int
error_replace(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = error_write });

	if (stream == NULL)
		return -ENOMEM;
	setvbuf(stream, NULL, _IONBF, 0);
	stderr = stream;
	return 0;
}

int
hy_file_prepare(void)
{
	signal(SIGXFSZ, SIG_IGN);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* The lowest number that is free: this one. */
		if (open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) < 0)
			return -errno;
	}
	return error_replace();
}
