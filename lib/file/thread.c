/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "lib/file/internal/job.h"

int
hy_file_thread(void *(*run)(void *arg), void *arg, const char *name)
{
	sigset_t all, before;
	pthread_t thread;
	int rc;

	sigfillset(&all); /* signals are for the main thread */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, run, arg);
	if (rc == 0) {
		/* In this order: a detached one may have ended, and then has no name any more. */
		pthread_setname_np(thread, name);
		pthread_detach(thread);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

void
hy_file_tick(pthread_cond_t *changed, pthread_mutex_t *lock)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += HY_FILE_TICK_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	pthread_cond_clockwait(changed, lock, CLOCK_MONOTONIC, &until);
}
