/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rest for a worker whose graph has nothing to do. While sources bring objects, the worker polls
 * without pauses. When they stop, it keeps polling for a while, then pauses the CPU for longer and
 * longer between walks, then sleeps until a device wakes it. Any object returns it to polling.
 *
 * It sleeps only if the graph's struct hy_object_ops can wait and each of its sources can wake the
 * worker. Otherwise it stays at the longest pause: a queue that cannot interrupt must be polled.
 *
 * @code
 * hy_idle_init(&idle, NULL);
 * while (!stop)
 *         hy_idle_step(&idle, graph, hy_graph_walk(graph));
 * hy_graph_rest(graph);
 * @endcode
 *
 * A worker notices anything that is not an object, such as a flag that tells it to stop, within one
 * walk, the longest pause, and hy_idle_params.wait_us. While it sleeps, its graph rests: see
 * hy_graph_rest().
 */
#pragma once

#include <hy_graph_worker.h>

HY_API_BEGIN

/**
 * When to pause, and when to sleep. hy_idle_init() uses the defaults for NULL. They poll and pause
 * for some 40 us, a little longer than the wake-up time measured on net_tap
 * (tools/bench-idle.py): 15 to 26 us.
 */
struct hy_idle_params {
	/** Consecutive empty walks before the first pause; default 256. */
	uint32_t polls;
	/** Pauses, one a walk, before the first wait; default 32. */
	uint32_t pauses;
	/**
	 * Most rte_pause() calls in a pause. The first pause has one call, each later one twice as
	 * many. Default 64; 0: never pauses.
	 */
	uint32_t pause_most;
	/** Most microseconds in one wait; default 10,000. 0: never waits. */
	uint32_t wait_us;
};

/** Statistics of a worker's rest since hy_idle_init(). */
struct hy_idle_stats {
	uint64_t idle_walks;    /**< Walks in which no source made an object. */
	uint64_t pauses;        /**< Breaks between walks that did not give up the CPU. */
	uint64_t waits;         /**< Times that the worker slept. */
	uint64_t wakeups;       /**< Waits that a device ended. */
	uint64_t called_off;    /**< Waits called off by objects or a live change. */
	uint64_t waited_cycles; /**< TSC cycles in waits. */
};

/**
 * A worker's rest. Belongs to the thread that walks; others may only read its statistics. It fills
 * whole cache lines, so that workers may have theirs side by side.
 */
struct hy_idle {
	alignas(RTE_CACHE_LINE_SIZE) struct hy_idle_params params; /**< As given. */
	uint32_t empty;             /**< Consecutive empty walks, as far as they matter. */
	struct hy_idle_stats stats; /**< Written by the worker alone. */
};

/**
 * Begins a worker's rest: polling, counters at 0.
 *
 * @param params Copied; NULL for the defaults.
 */
void hy_idle_init(struct hy_idle *idle, const struct hy_idle_params *params);

/** The defaults, for callers that change only some of them. */
extern const struct hy_idle_params hy_idle_defaults;

/** @cond core */
void hy_idle_rest(struct hy_idle *idle, struct hy_graph *graph);
/** @endcond */

/**
 * Called by a worker after each walk; rests if that is due. Before it sleeps, it walks the graph
 * once more itself, since objects that arrived before the devices were armed would not wake it.
 *
 * @param made What hy_graph_walk() returned.
 */
static inline void
hy_idle_step(struct hy_idle *idle, struct hy_graph *graph, uint32_t made)
{
	if (likely(made > 0))
		idle->empty = 0;
	else
		hy_idle_rest(idle, graph);
}

/** Reads a worker's statistics, from any thread. The worker is not stopped; no counter tears. */
void hy_idle_read(const struct hy_idle *idle, struct hy_idle_stats *stats);

HY_API_END
