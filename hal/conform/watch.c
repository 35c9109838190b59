/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Catches faults and endless loops of a call: the signal handler jumps out of it. Suitable for code
 * that holds no locks and allocates nothing, such as a node's process function.
 */

#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "conform.h"

#define PATIENCE_SECONDS 5 /* for one burst */

static const int caught[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM };

static _Thread_local sigjmp_buf leave;
static _Thread_local volatile bool watching;
static _Thread_local volatile uintptr_t at;

static void
on_signal(int signal, siginfo_t *info, void *context __rte_unused)
{
	if (!watching) { /* of another thread, or not in the call: default action */
		struct sigaction by_default = { .sa_handler = SIG_DFL };

		sigaction(signal, &by_default, NULL);
		raise(signal);
		return;
	}
	watching = false;
	at = (uintptr_t)info->si_addr;
	siglongjmp(leave, signal);
}

/* Starts a timer that signals only this thread. */
static bool
timer_begin(timer_t *timer)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	const struct itimerspec when = { .it_value.tv_sec = PATIENCE_SECONDS };

	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, timer) < 0)
		return false;
	timer_settime(*timer, 0, &when, NULL);
	return true;
}

/* A signal returns to this frame, whose variables do not change during the call. */
static int
guarded(int (*call)(void *arg), void *arg, int *rc)
{
	const int signal = sigsetjmp(leave, 1);

	if (signal == 0) {
		watching = true;
		*rc = call(arg);
	}
	watching = false;
	return signal;
}

int
conform_watch(int (*call)(void *arg), void *arg, int *rc, uintptr_t *address)
{
	struct sigaction before[RTE_DIM(caught)];
	const struct sigaction mine = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	timer_t timer;
	const bool timed = timer_begin(&timer);
	int signal;

	for (size_t i = 0; i < RTE_DIM(caught); i++)
		sigaction(caught[i], &mine, &before[i]);
	signal = guarded(call, arg, rc);
	if (timed)
		timer_delete(timer);
	for (size_t i = 0; i < RTE_DIM(caught); i++)
		sigaction(caught[i], &before[i], NULL);
	*address = at;
	return signal;
}
