/* SPDX-License-Identifier: BSD-3-Clause */
/* Text on its way into a file, by a thread of its own: a disk that stalls holds up nobody else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct hy_writeback;

/*
 * Begins to replace what is in a file by a text, which is freed in any case; then closes the file,
 * if it is the last text. A file that has not its name any more fails with -ENOENT, and keeps what is
 * in it. Returns 0; or a negative errno if there is no memory or thread for it, and the file is open.
 */
int hy_writeback_start(int fd, const char *name, bool last, char *text, size_t size,
	struct hy_writeback **writeback);

/* Whether it has ended; if so it is freed, and *rc is 0 or the negative errno that it failed with. */
bool hy_writeback_ended(struct hy_writeback *writeback, int *rc);

/*
 * Waits until it has ended, and frees it. Returns 0; the negative errno that it failed with; or
 * -ETIMEDOUT if the file took nothing for seconds: the thread is left behind with the file, which
 * must not be closed.
 */
int hy_writeback_wait(struct hy_writeback *writeback);
