/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads for work that may have to wait, such as for a disk. */
#ifndef L3FWD_THREAD_H
#define L3FWD_THREAD_H

/*
 * Starts a thread of that name, of 15 characters at most, which nobody waits for and which takes no
 * signals. Returns 0 or a negative errno.
 */
int thread_start(void *(*run)(void *arg), void *arg, const char *name);

#endif
