/* SPDX-License-Identifier: BSD-3-Clause */
/* See internal/job.h. The thread that waits may be the one that looks after signals and ports. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file/internal/job.h"
#include "read.h"
#include "refuse.h"

/* Worker and waiter each leave once; the last one frees. */
struct running {
	const struct hy_file_job *job;
	atomic_uint steps;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool left; /* by the worker or the waiter; with the lock */
	int rc;    /* once the worker has left */
	char error[HY_FILE_ERROR_SIZE];
	_Alignas(max_align_t) char arg[];
};

static atomic_uint behind; /* workers that have been left and go on */

static void
running_free(struct running *r)
{
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void *
worker_main(void *arg)
{
	struct running *r = arg;
	bool alone;

	r->rc = r->job->run(r->arg, &r->steps, r->error);
	pthread_mutex_lock(&r->lock);
	alone = r->left;
	r->left = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	if (!alone)
		return NULL;
	if (r->job->drop != NULL)
		r->job->drop(r->arg);
	running_free(r);
	behind--;
	return NULL;
}

/* Waits for the worker to leave. Returns 0 if it has; else the waiter has, and the worker goes on. */
static int
worker_wait(struct running *r, char *error)
{
	unsigned int steps = 0, ticks = 0;
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	while (!r->left && rc == 0) {
		const unsigned int now = r->steps;

		hy_file_tick(&r->changed, &r->lock);
		ticks = now == steps ? ticks + 1 : 0;
		steps = now;
		if (r->left || ticks == 0)
			continue;
		if (!r->job->final && hy_file_stops()) {
			rc = -EINTR;
			snprintf(error, HY_FILE_ERROR_SIZE, "stopped while it was %s",
				r->job->what);
		} else if (ticks * HY_FILE_TICK_MS > HY_FILE_STALL_MS) {
			rc = hy_file_refuse(-ETIMEDOUT, "its file system does not answer", error);
		}
	}
	behind += !r->left; /* before the worker can take it off */
	r->left = true;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

int
hy_file_job(const struct hy_file_job *job, void *arg, size_t size, char *error)
{
	struct running *r;
	int rc;

	if (behind >= HY_FILE_BEHIND_MOST && !job->final)
		return hy_file_refuse(-EBUSY,
			"not opened, since earlier files still wait for their disks", error);
	r = calloc(1, sizeof(*r) + size);
	if (r == NULL)
		return hy_file_fail(-ENOMEM, error);
	r->job = job;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	memcpy(r->arg, arg, size);
	rc = hy_file_thread(worker_main, r, job->thread);
	if (rc < 0) {
		running_free(r);
		return hy_file_fail(rc, error);
	}
	rc = worker_wait(r, error);
	if (rc < 0)
		return rc;
	rc = r->rc;
	if (rc < 0)
		hy_file_refuse(rc, r->error, error);
	memcpy(arg, r->arg, size);
	running_free(r);
	return rc;
}
