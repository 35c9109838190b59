/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process needs before it touches a file. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "hy_file.h"

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
	return 0;
}
