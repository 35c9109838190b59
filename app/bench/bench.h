/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The harness of hy-bench. Contenders for the same work run in turn, round after round, so that
 * what the machine does to one it does to all; a figure is the median of its rounds, and only
 * ratios within one run mean anything.
 */
#ifndef HY_BENCH_H
#define HY_BENCH_H

#include <stdbool.h>
#include <stdint.h>

struct contender {
	const char *name;
	void *arg;
	/* Does the work once and returns how many objects that was. Timed. */
	uint64_t (*run)(void *arg);
	/*
	 * Whether results are right, as far as it can tell. Not timed. A contender that is wrong
	 * has no figure, and hy-bench fails.
	 */
	bool (*check)(void *arg);
};

/*
 * Runs contenders, and adds a row each, and the ratio of the last one to each other one: above 1
 * means that the last one is faster.
 */
void bench_work(const char *work, const struct contender *contenders, unsigned int n);

/* A random number, the same sequence in every run of the program. */
uint32_t bench_random(void);

/* The benchmarks. */
void bench_enqueue(void);
void bench_idle(void);
void bench_lookup(void);
void bench_walk(void);

#endif
