/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals are noted when they come, and acted upon by the main thread. */
#ifndef L3FWD_SIGNALS_H
#define L3FWD_SIGNALS_H

#include <stdatomic.h>
#include <stdbool.h>

/* It is time to stop: after SIGINT, SIGTERM, SIGQUIT or SIGXCPU, or whatever else sets it. */
extern atomic_bool signals_stop;

/*
 * From now on. Other signals, such as SIGPIPE and SIGUSR2, are ignored; none stays blocked. Called
 * before there are threads.
 */
void signals_catch(void);

/* Whether SIGHUP or SIGUSR1 has come since it was asked last; several count as one. */
bool signals_take(int signal);

#endif
