/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The HAL while a program lives: bring-up in two phases, another selection while packets flow, and
 * ports that stop, are reset, or go.
 *
 * Bring-up: hy_hal_plan() asks the variants how ports are to be configured, the program configures
 * them with hy_hal_port_conf() and starts them, hy_hal_select() selects and binds.
 *
 * Later: the control thread calls hy_hal_poll() now and then. Workers are never stopped. A port
 * that is to be reset is first *parked*: its receive and transmit nodes are given variants that do
 * not touch the device, and only when all graphs have taken that up, the program is asked to reset
 * it.
 *
 * Like hy_hal.h, for the one control thread, but for hy_hal_port_stop() and hy_hal_port_start().
 * The graphs of a call are all that have nodes which the HAL handed out, each once. Some thread
 * walks them, now and then at least.
 */
#ifndef HY_HAL_LIVE_H
#define HY_HAL_LIVE_H

#include <hy_hal.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct rte_eth_conf;

/** How a port is to be configured, for the variants that are to run on it. */
struct hy_port_plan {
	uint64_t rx_offloads; /**< RTE_ETH_RX_OFFLOAD_ bits. */
	uint64_t tx_offloads; /**< RTE_ETH_TX_OFFLOAD_ bits. */
	/** RTE_ETH_RX_METADATA_ bits to be asked for, beside marks that the port has agreed to give. */
	uint64_t rx_metadata;
	uint64_t rx_granted;  /**< Those that the port gives, after hy_hal_port_conf(). */
	char mempool_ops[32]; /**< Operations of its packet pool; "" for the default. */
};

/**
 * Phase one: asks the variants that would be chosen how ports are to be configured. What cannot be
 * prepared, asks for an offload that the port lacks, or for another packet pool than one before it,
 * falls to the next candidate. To be called after rules and declarations, before ports are
 * configured; again before they are configured otherwise. What drivers tell only of ports that run
 * is not yet known: a forced variant that does not fit is an error of hy_hal_select().
 *
 * @return As hy_hal_select(). On an error the plans made before stand.
 */
int hy_hal_plan(struct hy_hal *hal, char *error);

/** The plan of a port. Never NULL; empty for a port that nothing was planned for. */
const struct hy_port_plan *hy_hal_port_plan(const struct hy_hal *hal, uint16_t port);

/**
 * Brings a port's plan into its configuration: negotiates the metadata, notes what was granted, and
 * adds the offloads. To be called right before rte_eth_dev_configure(). Drivers negotiate before a
 * port is configured for the first time only: later, what was granted then stands.
 *
 * @param[in,out] conf What is to be configured.
 * @return 0; -EINVAL @p port is RTE_MAX_ETHPORTS or more; what rte_eth_rx_metadata_negotiate()
 * returns, but for -ENOTSUP: then nothing is known, and nothing granted.
 */
int hy_hal_port_conf(struct hy_hal *hal, uint16_t port, struct rte_eth_conf *conf);

/**
 * Configures the nodes that hy_hal_node() gives of a family: those handed out, and those that the
 * HAL makes for a later selection. See hy_node_config().
 *
 * @return 0; -ENOENT no such family; -ENOMEM.
 */
int hy_hal_node_config(struct hy_hal *hal, const char *family, const void *config, size_t size);

/**
 * Leads an edge to the node that hy_hal_node() gives for a family and port, now and after each
 * hy_hal_reselect(). To be called before the graphs with @p node exist. Two edges of a node cannot
 * follow the same family: they may want to lead to one node.
 *
 * @return 0; -EEXIST another edge of the node follows that family; what hy_hal_node() and
 * hy_node_edge_set() return.
 */
int hy_hal_lead(struct hy_hal *hal, hy_node_id node, uint16_t edge, const char *family,
	uint16_t port);

/**
 * Selects again while the graphs run: looks at the ports, selects, binds what is new, gives the
 * nodes that were handed out their variants, leads edges, and updates the graphs: each worker takes
 * all of it up between two walks, with its objects and counters. What was bound before is unbound
 * by hy_hal_settle().
 *
 * All or nothing: on an error the selection before goes on, in all graphs. Graphs are not touched
 * if there is no change for nodes or edges.
 *
 * @return 0; what hy_hal_select() and hy_graph_update() return.
 */
int hy_hal_reselect(struct hy_hal *hal, struct hy_graph *const *graphs, unsigned int n,
	char *error);

/**
 * Unbinds what hy_hal_reselect() has left behind, if all graphs have taken up what it gave them.
 * hy_hal_poll() does so too.
 *
 * @return Whether they have.
 */
bool hy_hal_settle(struct hy_hal *hal, struct hy_graph *const *graphs, unsigned int n);

/** The life of a port. */
enum hy_port_state {
	HY_PORT_UP,      /**< Workers use it. */
	HY_PORT_LEAVING, /**< It is to stop; workers may use it until their graphs are updated. */
	HY_PORT_DOWN,    /**< No worker uses it. It is stopped, or may be. */
	HY_PORT_GONE,    /**< No worker uses it, and nobody will: it was removed. */
};

/** @return The state of a port; HY_PORT_GONE also if @p port is RTE_MAX_ETHPORTS or more. */
enum hy_port_state hy_hal_port_state(const struct hy_hal *hal, uint16_t port);

/**
 * @return Whether the driver of a port may be called, as for its flow rules: not if the port is gone,
 * and not from when it is HY_PORT_DOWN because it asked for a reset or its driver recovers it, until
 * it is HY_PORT_UP again.
 */
bool hy_hal_port_answers(const struct hy_hal *hal, uint16_t port);

/** What the program does with ports that no worker uses. Members may be NULL. */
struct hy_port_ops {
	/**
	 * The port has asked for a reset (RTE_ETH_EVENT_INTR_RESET): resets it, configures it as
	 * hy_hal_port_conf() says, starts it. NULL: it stays down.
	 *
	 * @return 0; a negative errno: the port stays down, and an error is reported.
	 */
	int (*reset)(uint16_t port, void *arg);
	/** The port was removed: closes it. */
	void (*gone)(uint16_t port, void *arg);
	void *arg; /**< Handed to both. */
};

/**
 * Told of a port in state @p state, by the control thread: HY_PORT_DOWN and HY_PORT_GONE as soon as
 * no worker uses it, and before it is reset; HY_PORT_UP when it runs again, before variants are
 * selected for it. May set capabilities.
 */
typedef void(hy_port_observer_t)(struct hy_hal *hal, uint16_t port, enum hy_port_state state,
	void *arg);

/** Adds an observer of all ports, told in the order of addition. @return 0; -ENOMEM. */
int hy_hal_port_observe(struct hy_hal *hal, hy_port_observer_t *notify, void *arg);

/** Takes an observer back. @return 0; -ENOENT. */
int hy_hal_port_unobserve(struct hy_hal *hal, hy_port_observer_t *notify, void *arg);

/**
 * Listens to the events of all ports, also of those that come later: reset, removal, and drivers
 * that recover by themselves. Until hy_hal_destroy(). To be called before ports are started: what a
 * driver tells while nobody listens is lost.
 *
 * @return 0, also if it listens already; what rte_eth_dev_callback_register() returns.
 */
int hy_hal_watch(struct hy_hal *hal);

/**
 * Takes a port from the workers, as before a reset, without asking for one: it stays down until
 * hy_hal_port_start(). Done by hy_hal_poll(). May be called from any thread. Stop the device when
 * hy_hal_port_state() is HY_PORT_DOWN, not before: observers may have its driver called, as
 * offloads do to remove their rules.
 *
 * @return 0; -EINVAL @p port is RTE_MAX_ETHPORTS or more.
 */
int hy_hal_port_stop(struct hy_hal *hal, uint16_t port);

/**
 * Gives a port that is down, and that the program has configured and started, to the workers again.
 * Also one whose reset failed, or another device in the place of one that is gone. Done by
 * hy_hal_poll(). May be called from any thread.
 *
 * @return As hy_hal_port_stop().
 */
int hy_hal_port_start(struct hy_hal *hal, uint16_t port);

/**
 * Sees to what has happened to ports, a step at a time, and never waits. A step that fails for want
 * of memory is taken again by the next call.
 *
 * Selects again, too, when hy_hal_capability_set() has said something new since the last selection.
 * If a forced variant does not fit any more, that is reported once, and the selection before goes
 * on.
 * A port that comes up, and that no variant fits, or not the one that is forced, goes down again
 * until hy_hal_port_start(), and is reported.
 *
 * @param ops May be NULL.
 * @param[out] error Names the port and what failed.
 * @return 0 nothing is left to do; 1 workers have still to take something up: call again soon; a
 * negative errno.
 */
int hy_hal_poll(struct hy_hal *hal, struct hy_graph *const *graphs, unsigned int n,
	const struct hy_port_ops *ops, char *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
