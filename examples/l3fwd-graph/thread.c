/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>
#include <signal.h>

#include "thread.h"

int
thread_start(void *(*run)(void *arg), void *arg, const char *name)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all); /* signals are for the main thread */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, &attr, run, arg);
	if (rc == 0)
		pthread_setname_np(thread, name);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}
