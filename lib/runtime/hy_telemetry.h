/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Commands of DPDK's telemetry socket that any program with graphs answers, and what helps it to
 * answer more. A program's own commands begin with its own prefix.
 *
 * DPDK calls commands on a thread of its own.
 */
#pragma once

#include <rte_telemetry.h>

#include <hy_report.h>

HY_API_BEGIN

#define HY_TELEMETRY_PREFIX_MAX 16 /**< Most characters of a prefix. */

/** A command. */
struct hy_telemetry_command {
	const char *name;  /**< Behind the prefix: "/routes". */
	telemetry_cb call; /**< Answers it. */
	const char *help;  /**< A sentence of fewer than RTE_TEL_MAX_STRING_LEN bytes. */
};

/**
 * Registers commands. Main thread, before rte_eal_init(), which starts the thread that reads the
 * list.
 *
 * @param prefix Such as "/l3fwd"; letters, digits, '_' and '/'.
 * @return 0; -EINVAL a prefix, name or help text is too long or has other characters; -ENOMEM.
 */
int hy_telemetry_register(const char *prefix, const struct hy_telemetry_command *commands,
	unsigned int nb_commands);

/**
 * Registers the commands of the runtime library, likewise: PREFIX/capture, PREFIX/capture_start and
 * PREFIX/capture_stop of hy_recorder.h; PREFIX/trace, PREFIX/trace_start, PREFIX/trace_stop and
 * PREFIX/trace_read of hy_tracer.h. And those of any program's graphs, which hy_telemetry_poll()
 * answers: /halyard/nodes, /halyard/drops, /halyard/ports, /halyard/graph and /halyard/hal. Each
 * takes an fnmatch(3) pattern of names, and answers a dictionary of entries by number, from "0" on;
 * where "left_out" is there, so many more match than fit.
 *
 * @return As hy_telemetry_register().
 */
int hy_telemetry_begin(const char *prefix);

/**
 * Answers questions about a report's graphs, ports and nodes. To be called every few milliseconds
 * by the control thread, while there are graphs.
 */
void hy_telemetry_poll(const struct hy_report *report);

/** Answers no more, until the next hy_telemetry_poll(): before graphs are destroyed. */
void hy_telemetry_end(void);

/**
 * Answers a command with what is wrong: a dictionary with "error", and, if the text is too long for
 * one string of telemetry's, its other parts in the array "more". Joined by blanks they are the
 * text.
 *
 * @return 0, for the command to return; what adding to @p data failed with.
 */
int hy_telemetry_error(const char *error, struct rte_tel_data *data);

/**
 * Adds a text of any characters to a dictionary. DPDK's answer would be no JSON if it had others than
 * ASCII's: each of their bytes becomes '?'. What is longer than a string of telemetry's is cut.
 *
 * @return 0; what adding to @p dict failed with.
 */
int hy_telemetry_text(struct rte_tel_data *dict, const char *name, const char *text);

/**
 * Adds what is known of a port's link and losses to a dictionary: "link", "link_mbps",
 * "link_changes", "missed", "no_mbuf", "rx_errors" and "tx_errors".
 *
 * @return 0; what adding to @p data failed with.
 */
int hy_telemetry_port(const struct hy_port_status *status, struct rte_tel_data *data);

HY_API_END
