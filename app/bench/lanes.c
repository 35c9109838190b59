/* SPDX-License-Identifier: BSD-3-Clause */
/* See lanes.h. */

#include <sched.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "bench.h"
#include "lanes.h"

/*
 * Binds the calling thread to the CPU of that number among its allowed CPUs, so that threads that run
 * at once do not share one. Returns the allowed CPUs. A thread with a single allowed CPU stays there.
 */
static cpu_set_t
bind_to(unsigned int number)
{
	cpu_set_t all, one;

	CPU_ZERO(&all);
	CPU_ZERO(&one);
	sched_getaffinity(0, sizeof(all), &all);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &all) && number-- == 0)
			CPU_SET(cpu, &one);
	if (CPU_COUNT(&one) > 0)
		sched_setaffinity(0, sizeof(one), &one);
	return all;
}

struct job {
	void (*run)(void *arg, unsigned int lane);
	void *arg;
	unsigned int lane;
};

static int
job_run(void *arg)
{
	const struct job *job = arg;
	const cpu_set_t before = bind_to(job->lane);

	job->run(job->arg, job->lane);
	sched_setaffinity(0, sizeof(before), &before);
	return 0;
}

void
lanes_run(void (*run)(void *arg, unsigned int lane), void *arg, unsigned int first, unsigned int n)
{
	struct job jobs[LANES] = { { run, arg, 0 }, { run, arg, 1 } };
	const unsigned int other = rte_get_next_lcore(-1, 1, 0);

	if (first + n > 1)
		rte_eal_remote_launch(job_run, &jobs[1], other);
	if (first == 0)
		job_run(&jobs[0]);
	/* A thread that spins could keep the other one from the CPU, for ever under SCHED_FIFO. */
	while (first + n > 1 && rte_eal_get_lcore_state(other) == RUNNING)
		rte_delay_us_sleep(100);
	rte_eal_mp_wait_lcore();
}

static void
lane_laps(void *arg, unsigned int lane)
{
	struct laps *l = arg;

	for (unsigned int i = 0; i < l->n; i++) {
		l->prepare(l->arg, lane);
		bench_meet(&l->arrived, (2 * i + 1) * l->lanes);
		l->spans[lane].start[i] = rte_rdtsc_precise();
		l->run(l->arg, lane);
		l->spans[lane].stop[i] = rte_rdtsc_precise();
		bench_meet(&l->arrived, (2 * i + 2) * l->lanes);
		l->check(l->arg, lane);
	}
}

void
laps_run(struct laps *laps, unsigned int lanes, unsigned int n)
{
	laps->lanes = lanes;
	laps->n = n;
	atomic_store(&laps->arrived, 0);
	lanes_run(lane_laps, laps, 0, lanes);
}

double
laps_median(const struct laps *laps, unsigned int first, unsigned int n)
{
	double took[LAPS_MAX] = { 0 };

	for (unsigned int i = 0; i < laps->n; i++) {
		uint64_t start = UINT64_MAX, stop = 0;

		for (unsigned int l = first; l < first + n; l++) {
			start = RTE_MIN(start, laps->spans[l].start[i]);
			stop = RTE_MAX(stop, laps->spans[l].stop[i]);
		}
		took[i] = (double)(stop - start);
	}
	qsort(took, laps->n, sizeof(took[0]), bench_by_value);
	return took[(laps->n - 1) / 2];
}
