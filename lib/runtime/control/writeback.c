/* SPDX-License-Identifier: BSD-3-Clause */
/* See writeback.h. Writer and waiter each leave once; whoever is the last frees. */

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include <hy_file.h>

#include "writeback.h"

#define CHUNK (1ul << 20)
#define TICK_US 1000
#define STALL_TICKS 3000 /* for a file that takes nothing */

struct hy_writeback {
	int fd;
	bool last; /* it is closed then, which may have to wait for the disk, too */
	char *text;
	size_t size;
	atomic_size_t written; /* also shows that it goes on */
	int rc;                /* once left */
	atomic_bool left;      /* by the writer or the waiter */
};

/* Whether the file has a name still: nobody finds what is written to one that was removed. */
static int
name_check(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && st.st_nlink == 0 ? -ENOENT : 0;
}

static int
text_write(struct hy_writeback *w)
{
	const int rc = hy_output_empty(w->fd);

	if (rc < 0)
		return rc;
	for (size_t at = 0; at < w->size;) {
		const ssize_t n = pwrite(w->fd, w->text + at, RTE_MIN(w->size - at, CHUNK),
			(off_t)at);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n < 0 ? 0 : (size_t)n;
		w->written = at;
	}
	return name_check(w->fd);
}

/* Returns whether the other has left before. */
static bool
leave(struct hy_writeback *w)
{
	return atomic_exchange(&w->left, true);
}

static void
writeback_free(struct hy_writeback *w)
{
	free(w->text);
	free(w);
}

static void *
writer_main(void *arg)
{
	struct hy_writeback *w = arg;

	w->rc = text_write(w);
	if (w->last && close(w->fd) < 0 && w->rc == 0)
		w->rc = -errno;
	if (leave(w))
		writeback_free(w);
	return NULL;
}

int
hy_writeback_start(int fd, bool last, char *text, size_t size, struct hy_writeback **writeback)
{
	struct hy_writeback *w = calloc(1, sizeof(*w));
	int rc = -ENOMEM;

	if (w != NULL) {
		*w = (struct hy_writeback){ .fd = fd, .last = last, .text = text, .size = size };
		rc = hy_file_thread(writer_main, w, "hy-write");
	}
	if (rc < 0) {
		free(text);
		free(w);
		return rc;
	}
	*writeback = w;
	return 0;
}

bool
hy_writeback_ended(struct hy_writeback *writeback, int *rc)
{
	if (!writeback->left)
		return false;
	*rc = writeback->rc;
	writeback_free(writeback);
	return true;
}

/* To close a file may be to write all of it: 1 MiB/s is slow. */
static size_t
most_ticks(const struct hy_writeback *w, size_t written)
{
	return STALL_TICKS + (w->last && written == w->size ? written / 1024 : 0);
}

int
hy_writeback_wait(struct hy_writeback *writeback)
{
	size_t written = writeback->written;
	size_t ticks = 0;
	int rc = 0;

	while (!hy_writeback_ended(writeback, &rc)) {
		const size_t now = writeback->written;

		ticks = now == written ? ticks + 1 : 0;
		written = now;
		if (ticks > most_ticks(writeback, now) && !leave(writeback))
			return -ETIMEDOUT;
		rte_delay_us_sleep(TICK_US);
	}
	return rc;
}
