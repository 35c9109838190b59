/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The HAL of a running program: bring-up in two phases, selection while packets flow, and ports
 * that stop, are reset, or are removed.
 *
 * Bring-up: hy_hal_plan() asks the variants for port configurations, the program configures the
 * ports with hy_hal_port_conf() and starts them, and hy_hal_select() selects and binds.
 *
 * Afterwards, the control thread calls hy_hal_poll() regularly. Workers never stop. A port that
 * needs a reset is first *parked*: its receive and transmit nodes get variants that do not use the
 * device. The program is asked to reset the port when all graphs have taken that up.
 *
 * For the control thread of hy_hal.h, except hy_hal_port_stop() and hy_hal_port_start(). Functions
 * that take graphs need all graphs with nodes of the HAL, each once. Threads must walk them at
 * least from time to time.
 */
#pragma once

#include <hy_hal.h>

HY_API_BEGIN

struct rte_eth_conf;

/** The port configuration that the variants to run on a port ask for. */
struct hy_port_plan {
	uint64_t rx_offloads; /**< RTE_ETH_RX_OFFLOAD_ bits. */
	uint64_t tx_offloads; /**< RTE_ETH_TX_OFFLOAD_ bits. */
	/** RTE_ETH_RX_METADATA_ bits to negotiate, in addition to marks that the port agreed to. */
	uint64_t rx_metadata;
	uint64_t rx_granted;  /**< The granted bits, after hy_hal_port_conf(). */
	char mempool_ops[32]; /**< Operations of its packet pool; "" for the default. */
};

/**
 * Phase one: asks the variants that would be chosen for port configurations. A variant that cannot
 * be prepared, or that asks for an offload that the port lacks or for a different packet pool than
 * a variant before it, falls back to the next candidate. Call it after rules and declarations,
 * before ports are configured, and again before they are reconfigured. What drivers report only of
 * running ports is not known yet: if a forced variant does not fit, hy_hal_select() fails.
 *
 * @return As hy_hal_select(). On an error, the previous plans stay.
 */
int hy_hal_plan(struct hy_hal *hal, char *error);

/** @return The plan of a port. Never NULL; empty if nothing was planned for the port. */
const struct hy_port_plan *hy_hal_port_plan(const struct hy_hal *hal, uint16_t port);

/**
 * Applies a port's plan to its configuration: negotiates the metadata, records what was granted,
 * and adds the offloads. Call it right before rte_eth_dev_configure(). Drivers negotiate only
 * before a port is configured for the first time: what was granted then remains valid.
 *
 * @param[in,out] conf The configuration.
 * @return 0; -EINVAL @p port is RTE_MAX_ETHPORTS or more; the error of
 * rte_eth_rx_metadata_negotiate(), except -ENOTSUP, which means that nothing is granted.
 */
int hy_hal_port_conf(struct hy_hal *hal, uint16_t port, struct rte_eth_conf *conf);

/**
 * Configures all nodes of a family that hy_hal_node() returns: those handed out, and those that the
 * HAL creates for later selections. See hy_node_config().
 *
 * @return 0; -ENOENT no such family; -ENOMEM.
 */
int hy_hal_node_config(struct hy_hal *hal, const char *family, const void *config, size_t size);

/**
 * Makes an edge follow a selection: it leads to the node that hy_hal_node() returns for a family
 * and port, now and after each hy_hal_reselect(). Call it before graphs with @p node exist. Two
 * edges of a node cannot follow the same family, since they might have to lead to the same node.
 *
 * @return 0; -EEXIST another edge of the node follows that family; the errors of hy_hal_node() and
 * hy_node_edge_set().
 */
int hy_hal_lead(struct hy_hal *hal, hy_node_id node, uint16_t edge, const char *family,
	uint16_t port);

/**
 * Selects again while graphs run: probes the ports, selects, binds new choices, gives the
 * handed-out nodes their variants, sets edges, and updates the graphs. Each worker takes up all
 * changes at once between two walks, and keeps its objects and counters. hy_hal_settle() unbinds
 * the previous choices.
 *
 * All or nothing: on an error, the previous selection stays in all graphs. Graphs are not updated
 * if no node, edge or fusion changes.
 *
 * @return 0; the errors of hy_hal_select() and hy_graph_update().
 */
int hy_hal_reselect(struct hy_hal *hal, struct hy_graph *const *graphs, unsigned int n,
	char *error);

/**
 * Unbinds the choices that hy_hal_reselect() replaced, if all graphs have taken up the new ones.
 * hy_hal_poll() does so too.
 *
 * @return Whether all graphs have taken them up.
 */
bool hy_hal_settle(struct hy_hal *hal, struct hy_graph *const *graphs, unsigned int n);

/** The state of a port. */
enum hy_port_state {
	HY_PORT_UP,      /**< Workers use it. */
	HY_PORT_LEAVING, /**< It has to stop; workers may use it until their graphs are updated. */
	HY_PORT_DOWN,    /**< No worker uses it. It is stopped, or may be stopped. */
	HY_PORT_GONE,    /**< It was removed. No worker uses it. */
};

/** @return The state of a port; HY_PORT_GONE also if @p port is RTE_MAX_ETHPORTS or more. */
enum hy_port_state hy_hal_port_state(const struct hy_hal *hal, uint16_t port);

/**
 * @return Whether the driver of a port may be called, for example about flow rules. It may not be
 * called if the port was removed, nor if the port is HY_PORT_DOWN because it asked for a reset or
 * its driver recovers it, until it is HY_PORT_UP again.
 */
bool hy_hal_port_answers(const struct hy_hal *hal, uint16_t port);

/**
 * @return Whether a port is HY_PORT_DOWN because its driver recovers it, without a reset by the
 * program: flow rules may survive that.
 */
bool hy_hal_port_recovers(const struct hy_hal *hal, uint16_t port);

/** Callbacks of the program for ports that no worker uses. Members may be NULL. */
struct hy_port_ops {
	/**
	 * The port has asked for a reset (RTE_ETH_EVENT_INTR_RESET): reset it, configure it with
	 * hy_hal_port_conf(), and start it. NULL: it stays down.
	 *
	 * @return 0; -EAGAIN: the port stays down, and is asked for again after a second; another
	 * negative errno: the port stays down. The error is reported.
	 */
	int (*reset)(uint16_t port, void *arg);
	/** The port was removed: close it. */
	void (*gone)(uint16_t port, void *arg);
	void *arg; /**< Passed to both. */
};

/**
 * Called by the control thread when a port changes its state: to HY_PORT_DOWN and HY_PORT_GONE as
 * soon as no worker uses it, and before a reset; to HY_PORT_UP when it runs again, before variants
 * are selected for it. May set capabilities.
 */
typedef void(hy_port_observer_t)(struct hy_hal *hal, uint16_t port, enum hy_port_state state,
	void *arg);

/** Adds an observer of all ports. Observers are called in this order. @return 0; -ENOMEM. */
int hy_hal_port_observe(struct hy_hal *hal, hy_port_observer_t *notify, void *arg);

/** Removes an observer. @return 0; -ENOENT. */
int hy_hal_port_unobserve(struct hy_hal *hal, hy_port_observer_t *notify, void *arg);

/**
 * Called by the control thread before a port that is down is reset or returns to the workers, for
 * whatever reason: whether that may happen while they run.
 *
 * @param[out] reason Why not.
 * @return 0; a negative errno: the port stays down, and the reason is reported.
 */
typedef int(hy_port_guard_t)(uint16_t port, char *reason, size_t size, void *arg);

/** Adds a guard of all ports. @return 0; -ENOMEM. */
int hy_hal_port_guard(struct hy_hal *hal, hy_port_guard_t *guard, void *arg);

/** Removes a guard. @return 0; -ENOENT. */
int hy_hal_port_unguard(struct hy_hal *hal, hy_port_guard_t *guard, void *arg);

/**
 * Listens to the events of all ports, including later ones, until hy_hal_destroy(): reset, removal,
 * and recovery by drivers. Call it before ports are started: earlier events are lost.
 *
 * @return 0, also if it already listens; the error of rte_eth_dev_callback_register().
 */
int hy_hal_watch(struct hy_hal *hal);

/**
 * Takes a port from the workers, as before a reset, but without one: it stays down until
 * hy_hal_port_start(), even if its driver recovers it meanwhile. hy_hal_poll() does the work. May be
 * called on any thread. Stop the device only when hy_hal_port_state() is HY_PORT_DOWN: observers may
 * call its driver, as offloads do to remove their rules.
 *
 * @return 0; -EINVAL @p port is RTE_MAX_ETHPORTS or more.
 */
int hy_hal_port_stop(struct hy_hal *hal, uint16_t port);

/**
 * Returns a port to the workers, after it was down and the program has configured and started it.
 * Also for a port whose reset failed, and for another device in place of a removed one.
 * hy_hal_poll() does the work. May be called on any thread.
 *
 * @return As hy_hal_port_stop().
 */
int hy_hal_port_start(struct hy_hal *hal, uint16_t port);

/**
 * Handles the events of ports, step by step, without waiting. The next call repeats a step that
 * failed for lack of memory.
 *
 * Also selects again if hy_hal_capability_set() has changed a capability since the last selection.
 * If a forced variant does not fit any more, or the user left no other, this is reported once, and
 * the previous selection stays. If ports have to leave or come up, only the choices for such
 * families and targets stay.
 *
 * A port that comes up but that no variant fits, or that the forced variant does not fit, is
 * reported and goes down until hy_hal_port_start().
 *
 * @param ops May be NULL.
 * @param[out] error Names the port and what failed.
 * @return 0 nothing is left to do; 1 workers have not taken up all changes yet: call again soon; a
 * negative errno.
 */
int hy_hal_poll(struct hy_hal *hal, struct hy_graph *const *graphs, unsigned int n,
	const struct hy_port_ops *ops, char *error);

HY_API_END
