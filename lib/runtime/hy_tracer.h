/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The tracer: traces of packets through all workers' graphs (hy_trace.h), started by the option
 * --trace or while packets flow, and shown as text.
 *
 * A trace is described by text: N or N:FILTER, where N is how many packets of each worker are
 * followed, and FILTER is as hy_option_filter() reads it.
 *
 * Functions return 0 or a negative errno value.
 */
#pragma once

#include <stdio.h>

#include <hy_option.h>
#include <hy_trace.h>

HY_API_BEGIN

/** How far the trace is, over all workers. */
struct hy_tracer_state {
	bool running;     /**< Packets may still be marked, or are still followed. */
	uint64_t packets; /**< That were marked. */
	uint64_t records; /**< Taken of them. */
	uint64_t lost;    /**< Records that found no room. */
};

/** Whether a text describes a trace. Any thread. @return 0; -EINVAL it does not (reported). */
int hy_tracer_check(const char *text);

/**
 * Allows traces from now on, and starts one. Main thread; the graphs exist.
 *
 * @param graphs Of the workers; outlive the tracer, the array too.
 * @param text Of the option --trace, with which messages begin; NULL: start none now.
 * @return 0; -EINVAL the trace could not start (reported), and hy_tracer_end() was called.
 */
int hy_tracer_begin(struct hy_graph *const *graphs, unsigned int nb_graphs, const char *text);

/** Allows no more traces: before graphs are destroyed. Main thread. */
void hy_tracer_end(void);

/**
 * Starts a trace on all workers, or on none. Any thread.
 *
 * @param error HY_OPTION_ERROR_SIZE bytes for the reason.
 * @return 0; -EINVAL with the reason in @p error.
 */
int hy_tracer_start(const char *text, char *error);

/** Stops the trace; its records can still be read. Any thread. */
void hy_tracer_stop(void);

/** Reads how far the trace is; zeroes before the first one. Any thread. */
void hy_tracer_status(struct hy_tracer_state *state);

/**
 * Prints the records that nobody has read, packet by packet: a line for each node that a packet
 * saw. Main thread, after the workers have stopped and before hy_tracer_end().
 *
 * @return 0; -ENOMEM (reported).
 */
int hy_tracer_print(FILE *out);

HY_API_END
