/* SPDX-License-Identifier: BSD-3-Clause */
/* See writeback.h. Writer and waiter each leave once; the last one frees. */

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
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
	char *name; /* a copy */
	bool last;  /* it is closed then, which may have to wait for the disk, too */
	char *text;
	size_t size;
	atomic_size_t written; /* also shows that it goes on */
	int rc;                /* once left */
	atomic_bool left;      /* by the writer or the waiter */
};

/*
 * Whether the file has its name still: nobody finds what is written to one that was removed, and one
 * that was renamed may have been put aside with what is in it. Another user, as with --user, may not
 * be allowed to look.
 */
static int
name_check(const struct hy_writeback *w)
{
	struct stat st, named;

	if (fstat(w->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (st.st_nlink == 0)
		return -ENOENT;
	if (lstat(w->name, &named) < 0)
		return errno == EACCES ? 0 : -errno;
	return st.st_dev == named.st_dev && st.st_ino == named.st_ino ? 0 : -ENOENT;
}

static int
text_write(struct hy_writeback *w)
{
	int rc = name_check(w);

	if (rc == 0)
		rc = hy_output_empty(w->fd);
	if (rc < 0)
		return rc;
	for (size_t at = 0; at < w->size;) {
		const ssize_t n = pwrite(w->fd, w->text + at, RTE_MIN(w->size - at, CHUNK),
			(off_t)at);

		if (n == 0)
			return -EIO;
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n < 0 ? 0 : (size_t)n;
		w->written = at;
	}
	return name_check(w);
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
	free(w->name);
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
hy_writeback_start(int fd, const char *name, bool last, char *text, size_t size,
	struct hy_writeback **writeback)
{
	struct hy_writeback *w = calloc(1, sizeof(*w));
	int rc = -ENOMEM;

	if (w == NULL) {
		free(text);
		return rc;
	}
	*w = (struct hy_writeback){ .fd = fd, .last = last, .text = text, .size = size };
	w->name = strdup(name);
	if (w->name != NULL)
		rc = hy_file_thread(writer_main, w, "hy-write");
	if (rc < 0) {
		writeback_free(w);
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

int
hy_writeback_wait(struct hy_writeback *writeback)
{
	size_t written = writeback->written;
	size_t ticks = 0;
	int rc = 0;

	while (!hy_writeback_ended(writeback, &rc)) {
		const size_t now = writeback->written;
		/* To close a file may be to write all of it: 1 MiB/s is slow. */
		const size_t closing = writeback->last && now == writeback->size ? now / 1024 : 0;

		ticks = now == written ? ticks + 1 : 0;
		written = now;
		if (ticks > STALL_TICKS + closing && !leave(writeback))
			return -ETIMEDOUT;
		rte_delay_us_sleep(TICK_US);
	}
	return rc;
}
