/* SPDX-License-Identifier: BSD-3-Clause */
/* Signal handlers: they may do little, so that all they do is set a flag. */

#include <assert.h>
#include <signal.h>
#include <stddef.h>

#include "signals.h"

atomic_bool signals_stop;
static atomic_bool hup, usr1;

static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a handler may not wait for a lock");

static void
on_signal(int signal)
{
	if (signal == SIGHUP)
		hup = true;
	else if (signal == SIGUSR1)
		usr1 = true;
	else
		signals_stop = true;
}

/*
 * What would end the program if nobody caught it. Not among these: signals of faults and SIGABRT,
 * whose core dump is of use, and SIGKILL and SIGSTOP, which nobody can catch.
 */
static const int stops_at[] = { SIGINT, SIGTERM, SIGQUIT, SIGXCPU };
static const int ignored[] = { SIGPIPE, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR,
	SIGSTKFLT };

void
signals_catch(void)
{
	const struct sigaction stops = { .sa_handler = on_signal };
	/* These interrupt nothing: who reads or writes meanwhile goes on. */
	const struct sigaction asks = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	sigset_t none;

	for (size_t i = 0; i < sizeof(stops_at) / sizeof(stops_at[0]); i++)
		sigaction(stops_at[i], &stops, NULL);
	sigaction(SIGHUP, &asks, NULL);
	sigaction(SIGUSR1, &asks, NULL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		signal(i, SIG_IGN);
	/* The program that started this one may have blocked them, which is inherited. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

bool
signals_take(int signal)
{
	return atomic_exchange(signal == SIGHUP ? &hup : &usr1, false);
}
