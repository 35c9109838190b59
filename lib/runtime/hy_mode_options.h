/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Options of the command line (hy_command_line.h) for how packets reach workers: --mode=poll, each
 * worker polls its queues and runs the whole graph; --mode=dispatch with --pin, one graph is spread
 * over the workers (hy_dispatch.h); --mode=eventdev, all workers take from an event device
 * (hy_event.h), with --eventq-sched, --event-device and --event-vector*. And the steps of a program's
 * start that depend on them.
 *
 * For the main thread, between rte_eal_init() and the launch of workers. Functions return 0 or a
 * negative errno (reported on standard error, with the option that is the remedy).
 */
#pragma once

#include <hy_port_options.h>

HY_API_BEGIN

#define HY_PIN_LCORES_MAX 64 /**< Most lcores of one --pin. */

/** How packets reach workers. */
enum hy_mode {
	HY_MODE_POLL,     /**< Each worker polls its queues. */
	HY_MODE_EVENTDEV, /**< All workers take from an event device. */
	HY_MODE_DISPATCH, /**< Workers poll, and hand packets over to those of --pin. */
};

/** What the options say. Filled in by hy_command_line_read(), and then read-only; not to be copied. */
struct hy_mode_options {
	enum hy_mode mode;                           /**< --mode */
	struct hy_lcore_pin pins[HY_OPTION_REPEATS]; /**< --pin, in order. */
	unsigned int nb_pins;                        /**< Entries of pins. */
	uint8_t sched;                 /**< --eventq-sched: RTE_SCHED_TYPE_ATOMIC and so on. */
	unsigned int device;           /**< --event-device; by default the only one. */
	bool vector;                   /**< --event-vector */
	unsigned int vector_size;      /**< --event-vector-size; 0 without --event-vector. */
	unsigned int vector_tmo_ns;    /**< --event-vector-tmo; 0: as the device prefers. */
	struct hy_port_options *ports; /**< Private. */
	bool device_set;               /**< Private. */
	char patterns[HY_OPTION_REPEATS][HY_NAME_SIZE];            /**< Private. */
	unsigned int lcores[HY_OPTION_REPEATS][HY_PIN_LCORES_MAX]; /**< Private. */
};

/**
 * The group of these options. Writes the defaults into @p options, which outlives the group.
 *
 * @param with Those of the program's hy_port_options(), a group that is listed before this one.
 */
struct hy_option_group hy_mode_options(struct hy_mode_options *options,
	struct hy_port_options *with);

/** @return "atomic", "ordered" or "parallel". */
const char *hy_mode_sched_name(const struct hy_mode_options *options);

/**
 * Lists the workers, by hy_workers_init(): the lcores of --config and --pin, ascending; with an event
 * device, all of EAL's.
 */
int hy_mode_workers(const struct hy_mode_options *options, struct hy_workers *workers);

/**
 * Configures and starts the ports of -p, by hy_ports_start(), with a transmit queue for each worker
 * and pools that are large enough for what waits between workers or in the event device. With an
 * event device, also configures that, by hy_event_create().
 *
 * @param flow_rules As in struct hy_port_params.
 */
int hy_mode_ports(const struct hy_mode_options *options, struct hy_hal *hal,
	unsigned int nb_workers, uint32_t flow_rules);

/**
 * Lets packets come from the event device, once variants are selected: checks the order and has the
 * device follow its ports (hy_event_follow()). With other modes, nothing happens.
 */
int hy_mode_follow(const struct hy_mode_options *options, struct hy_hal *hal);

/**
 * Checks that order is kept as --eventq-sched promises, with the variants selected last; hy_run() does
 * so while packets flow.
 *
 * @param reason What breaks the order, of @p size bytes; HY_REASON_SIZE is enough. Not reported.
 * @return As hy_event_check(); 0 with other modes.
 */
int hy_mode_check(const struct hy_mode_options *options, char *reason, size_t size);

/** Prints how packets come from the event device; nothing with other modes. */
void hy_mode_print(const struct hy_mode_options *options, FILE *out);

/**
 * Stops the event device, if there is one, before the ports are stopped (hy_event_destroy()).
 *
 * @return Packets that were in it and are freed; 0 with other modes.
 */
uint64_t hy_mode_end(const struct hy_mode_options *options);

/** Makes the nodes that receive: hy_rx_nodes(), or hy_event_nodes() for the event device. */
int hy_mode_rx_nodes(const struct hy_mode_options *options, const struct hy_ends *ends);

/**
 * Makes the workers' graphs, by hy_workers_graphs(), and reports workers that cannot sleep.
 *
 * @param graph burst and source_budget are filled in. Its patterns name sources beside those that receive;
 * with an event device there are none.
 */
int hy_mode_graphs(const struct hy_mode_options *options, struct hy_workers *workers,
	struct hy_graph_params graph);

HY_API_END
