/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that may have to wait for a disk, on a thread that can be left behind with it. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <hy_file.h>

/* Threads that disks may hold at a time: each may be asked again and again. */
#define HY_FILE_BEHIND_MOST 4

struct hy_file_job {
	const char *thread; /* its name */
	const char *what;   /* "read": what is done with the file */
	/* Returns 0, or a negative errno with the reason. *steps grows with each answer of the disk. */
	int (*run)(void *arg, atomic_uint *steps, char *error);
	/* Frees what run() has left in arg, if the thread was left behind; or NULL. */
	void (*drop)(void *arg);
	bool final; /* cannot be taken back: a stop does not leave the thread behind */
};

/*
 * Has a thread run a job on a copy of arg, and copies that back when it has ended. Returns what it
 * returned. Leaves the thread behind, and arg as it is, if the file system does not answer for
 * HY_FILE_STALL_MS, with -ETIMEDOUT, or if the condition of hy_file_stop_when() holds meanwhile and the
 * job is not final, with -EINTR. -EBUSY, not for a final one: HY_FILE_BEHIND_MOST threads that were left
 * behind still wait.
 * -ENOMEM, -EAGAIN: there is no thread. Errors come with their reason.
 */
int hy_file_job(const struct hy_file_job *job, void *arg, size_t size, char *error);

#define HY_FILE_TICK_MS 100

/* Waits a tick, or until changed is signalled, and now and then for less. With the lock. */
void hy_file_tick(pthread_cond_t *changed, pthread_mutex_t *lock);
