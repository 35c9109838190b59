/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock that ThreadSanitizer sees, as it does not see rte_spinlock's assembly. Zero is unlocked. */
#ifndef LOCK_H
#define LOCK_H

#include <stdbool.h>

#include <rte_pause.h>

struct lock {
	bool taken;
};

static inline bool
lock_try(struct lock *lock)
{
	return !__atomic_test_and_set(&lock->taken, __ATOMIC_ACQUIRE);
}

static inline void
lock_take(struct lock *lock)
{
	while (!lock_try(lock))
		rte_pause();
}

static inline void
lock_give(struct lock *lock)
{
	__atomic_clear(&lock->taken, __ATOMIC_RELEASE);
}

#endif
