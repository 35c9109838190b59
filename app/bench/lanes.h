/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on several lcores, called lanes. Lane 0 is the main lcore. */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include <rte_common.h>

#define LANES 2
#define LAPS_MAX 16

/* Runs a function on n lanes at once, each bound to a CPU of its own, and waits for them. */
void lanes_run(void (*run)(void *arg, unsigned int lane), void *arg, unsigned int first,
	unsigned int n);

/* Laps that all lanes start at once. */
struct laps {
	/*
	 * Called on each lane: before a lap; the lap, which is timed; after all lanes have ended
	 * theirs.
	 */
	void (*prepare)(void *arg, unsigned int lane);
	void (*run)(void *arg, unsigned int lane);
	void (*check)(void *arg, unsigned int lane);
	void *arg;
	unsigned int n, lanes;
	alignas(2 * RTE_CACHE_LINE_SIZE) atomic_uint arrived;
	struct {
		alignas(2 * RTE_CACHE_LINE_SIZE) uint64_t start[LAPS_MAX], stop[LAPS_MAX]; /* TSC */
	} spans[LANES];
};

/* Runs n laps on the first lanes, as many as `lanes`. */
void laps_run(struct laps *laps, unsigned int lanes, unsigned int n);
/*
 * Median of the cycles from the first start to the last stop on n lanes: laps in which another
 * program had a CPU do not count.
 */
double laps_median(const struct laps *laps, unsigned int first, unsigned int n);
