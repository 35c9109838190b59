/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output or error that is a file: poll() says that it has room, even if its disk stalls. */
#pragma once

#include <sys/types.h>

#define HY_TERMINAL_PIECE 4096 /* bytes of a write, at most; PIPE_BUF */

struct hy_terminal_file;

/* Starts the thread that writes to a file. Returns 0 or a negative errno. */
int hy_terminal_file_start(int fd, struct hy_terminal_file **file);

/*
 * Has the thread write some bytes, at most HY_TERMINAL_PIECE; or, if size is 0, close a duplicate of
 * the descriptor, since some file systems write only then. Waits a tenth of a second at most.
 *
 * Returns size, or -1 with errno: EAGAIN the disk has not answered yet, and the caller calls again
 * with the same bytes, or hy_terminal_file_forget(); or what writing or closing failed with.
 */
ssize_t hy_terminal_file_try(struct hy_terminal_file *file, const char *bytes, size_t size);

/* Gives up the bytes of the last call. They may yet be written. */
void hy_terminal_file_forget(struct hy_terminal_file *file);
