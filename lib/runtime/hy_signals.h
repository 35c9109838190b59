/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Signals of a program that runs until it is told to stop. Handlers only set flags; the program's
 * control thread acts on them when it gets to it.
 *
 * SIGINT, SIGTERM, SIGQUIT and SIGXCPU ask the program to stop. SIGHUP and SIGUSR1 ask for what the
 * program defines, such as a reload of its files; they interrupt no system call. All other signals
 * that would end the process, such as SIGPIPE and SIGUSR2, are ignored, except for those that leave
 * a core dump of use (SIGSEGV, SIGABRT and the like), those that no process can catch, and, until EAL is
 * initialised, real-time signals.
 */
#pragma once

#include <stdbool.h>

#include <hy_api.h>

HY_API_BEGIN

/** Private: public only so that a worker can ask hy_stopping() in every walk at the cost of a load. */
extern bool hy_stop_flag;

/** Whether the program is to stop. Any thread; also in signal handlers. */
static inline bool
hy_stopping(void)
{
	return __atomic_load_n(&hy_stop_flag, __ATOMIC_RELAXED);
}

/** Asks the program to stop, as SIGTERM does. There is no way back. Any thread. */
void hy_stop(void);

/**
 * Installs the handlers and unblocks all signals, which a parent process may have blocked. To be
 * called on the main thread before there are others, and before anything that takes long: a signal
 * at any later time leads to a clean stop.
 */
void hy_signals_catch(void);

/**
 * Ignores the real-time signals that nobody handles. To be called when EAL has been initialised: net_tap
 * takes one that is neither handled nor ignored.
 */
void hy_signals_ignore_rest(void);

/**
 * Takes a request.
 *
 * @param signal SIGHUP or SIGUSR1.
 * @return Whether the signal came since the last call for it; several count as one. Any thread.
 */
bool hy_signals_take(int signal);

HY_API_END
