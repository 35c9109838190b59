/* SPDX-License-Identifier: BSD-3-Clause */
/* Signal handlers may do little: these only set flags. */

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include <hy_signals.h>

bool hy_stop_flag;
static atomic_bool hup, usr1;

static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a handler may not wait for a lock");

void
hy_stop(void)
{
	__atomic_store_n(&hy_stop_flag, true, __ATOMIC_RELAXED);
}

static void
on_signal(int signal)
{
	if (signal == SIGHUP)
		hup = true;
	else if (signal == SIGUSR1)
		usr1 = true;
	else
		hy_stop();
}

static const int stops_at[] = { SIGINT, SIGTERM, SIGQUIT, SIGXCPU };
static const int ignored[] = { SIGPIPE, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR,
	SIGSTKFLT };

void
hy_signals_catch(void)
{
	const struct sigaction stops = { .sa_handler = on_signal };
	const struct sigaction asks = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	sigset_t none;

	for (size_t i = 0; i < sizeof(stops_at) / sizeof(stops_at[0]); i++)
		sigaction(stops_at[i], &stops, NULL);
	sigaction(SIGHUP, &asks, NULL);
	sigaction(SIGUSR1, &asks, NULL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void
hy_signals_ignore_rest(void)
{
	struct sigaction now;

	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		if (sigaction(i, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
			now.sa_handler == SIG_DFL)
			signal(i, SIG_IGN);
}

bool
hy_signals_take(int signal)
{
	return atomic_exchange(signal == SIGHUP ? &hup : &usr1, false);
}
