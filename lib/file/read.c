/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files are read in a thread: a disk or a server that does not answer holds up only that. The waiting
 * thread may be the one that looks after signals and ports.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "read.h"
#include "refuse.h"

#define TICK_MS 100

/* Reader and waiter each leave once; whoever is the last frees. */
struct reading {
	char *path;
	size_t max;
	atomic_uint steps;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool left; /* by the reader or the waiter; with the lock */
	int rc;    /* once the reader has left, */
	char error[HY_FILE_ERROR_SIZE];
	struct hy_file file;
};

static void
reading_free(struct reading *r)
{
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	hy_file_free(&r->file);
	free(r->path);
	free(r);
}

static void *
reader_main(void *arg)
{
	struct reading *r = arg;
	bool alone;

	r->rc = hy_file_read_here(r->path, r->max, &r->file, &r->steps, r->error);
	pthread_mutex_lock(&r->lock);
	alone = r->left;
	r->left = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	if (alone)
		reading_free(r);
	return NULL;
}

/* Waits a tick, or until the reader has left. With the lock. */
static void
tick_wait(struct reading *r)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += TICK_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	pthread_cond_clockwait(&r->changed, &r->lock, CLOCK_MONOTONIC, &until);
}

/* Waits for the reader to leave. Returns 0 if it has; else the waiter has, and the reader goes on. */
static int
reader_wait(struct reading *r, char *error)
{
	unsigned int steps = 0, ticks = 0;
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	while (!r->left && rc == 0) {
		const unsigned int now = r->steps;

		tick_wait(r);
		ticks = now == steps ? ticks + 1 : 0;
		steps = now;
		if (r->left || ticks == 0)
			continue;
		if (hy_file_stops())
			rc = hy_file_refuse(-EINTR, "stopped while it was read", error);
		else if (ticks * TICK_MS > HY_FILE_STALL_MS)
			rc = hy_file_refuse(-ETIMEDOUT, "its file system does not answer", error);
	}
	r->left = true;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

static int
reader_start(const char *path, size_t max, struct reading **reading)
{
	struct reading *r = calloc(1, sizeof(*r));
	int rc = -ENOMEM;

	if (r == NULL)
		return rc;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	r->max = max;
	r->path = strdup(path);
	if (r->path != NULL)
		rc = hy_file_thread(reader_main, r, "hy-file-read");
	if (rc < 0)
		reading_free(r);
	else
		*reading = r;
	return rc;
}

int
hy_file_read(const char *path, size_t max, struct hy_file *file, char *error)
{
	struct reading *r;
	int rc = reader_start(path, max, &r);

	*file = (struct hy_file){ 0 };
	if (rc < 0)
		return hy_file_fail(rc, error);
	rc = reader_wait(r, error);
	if (rc < 0)
		return rc;
	rc = r->rc;
	if (rc < 0)
		hy_file_refuse(rc, r->error, error);
	*file = r->file;
	r->file = (struct hy_file){ 0 };
	reading_free(r);
	return rc;
}
