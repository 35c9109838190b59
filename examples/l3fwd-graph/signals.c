/* SPDX-License-Identifier: BSD-3-Clause */
/* Signal handlers: they may do little, so that all they do is set a flag. */

#include <assert.h>
#include <signal.h>

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

void
signals_catch(void)
{
	const struct sigaction stops = { .sa_handler = on_signal };
	/* These interrupt nothing: who reads or writes meanwhile goes on. */
	const struct sigaction asks = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigaction(SIGINT, &stops, NULL);
	sigaction(SIGTERM, &stops, NULL);
	sigaction(SIGHUP, &asks, NULL);
	sigaction(SIGUSR1, &asks, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool
signals_take(int signal)
{
	return atomic_exchange(signal == SIGHUP ? &hup : &usr1, false);
}
