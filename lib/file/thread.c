/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>
#include <signal.h>

#include <hy_file.h>

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
