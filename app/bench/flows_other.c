/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread on another core than the one that is measured. It has no real-time priority, even if the
 * program has, so that it can starve nothing; and whoever measures waits for it only to end.
 */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "flows.h"

static struct {
	pthread_t thread;
	cpu_set_t before; /* CPUs of the thread that is measured */
	void (*turn)(void *arg);
	void *arg;
	atomic_bool stop;
} other;

static void *
other_main(void *arg)
{
	(void)arg;
	while (!atomic_load_explicit(&other.stop, memory_order_relaxed))
		other.turn(other.arg);
	return NULL;
}

/* The first CPU of a set from a number on; -1: none. */
static int
cpu_from(const cpu_set_t *set, int cpu)
{
	for (; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set))
			return cpu;
	return -1;
}

static int
thread_create(int cpu)
{
	const struct sched_param usual = { 0 };
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &usual);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	atomic_store(&other.stop, false);
	rc = pthread_create(&other.thread, &attr, other_main, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

int
flows_other_start(void (*turn)(void *arg), void *arg)
{
	cpu_set_t own;
	int first, second, rc;

	if (sched_getaffinity(0, sizeof(other.before), &other.before) < 0)
		return bench_cannot("the CPUs of the program are not known");
	first = cpu_from(&other.before, 0);
	second = cpu_from(&other.before, first + 1);
	if (second < 0)
		return bench_cannot("2 lcores are needed, there is one");
	CPU_ZERO(&own);
	CPU_SET(first, &own);
	other.turn = turn;
	other.arg = arg;
	rc = thread_create(second);
	if (rc != 0)
		return bench_cannot("a thread: %s", strerror(rc));
	sched_setaffinity(0, sizeof(own), &own);
	return 0;
}

void
flows_other_stop(void)
{
	atomic_store(&other.stop, true);
	pthread_join(other.thread, NULL);
	sched_setaffinity(0, sizeof(other.before), &other.before);
}
