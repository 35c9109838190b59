/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The ends of a program's graphs, out of what the HAL selected: a node for each receive queue, and
 * one for each port that sends. What is between them is the program's.
 *
 * For the control thread that uses the HAL, after hy_hal_select() and before graphs are created.
 * Functions return 0 or a negative errno: what hy_hal_node_clone(), hy_hal_lead() and the functions
 * of hy_graph.h return, of which some log the reason. Nodes that were made stay until
 * hy_hal_destroy().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hy_ports.h>
#include <hy_vlan.h>

HY_API_BEGIN

#define HY_TX_NO_EDGE UINT16_MAX /**< The edge to a port that the program does not use. */

/** Which worker polls a receive queue. */
struct hy_rx_queue {
	uint16_t port;      /**< ethdev port id. */
	uint16_t queue;     /**< Its receive queue. */
	unsigned int lcore; /**< The worker. */
	uint16_t budget; /**< Packets that it takes a walk at most; 0: the graph's source_budget. */
};

/** Where packets come from and go to. Read during calls only. */
struct hy_ends {
	struct hy_hal *hal;               /**< Where nodes are made, after a selection. */
	const uint16_t *ports;            /**< Ports of the program, each once. */
	unsigned int nb_ports;            /**< Entries of ports. */
	const struct hy_rx_queue *queues; /**< Queues that are polled. */
	unsigned int nb_queues;           /**< Entries of queues. */
	unsigned int nb_workers;          /**< Transmit queues that each port has. */
	/**
	 * The family that packets go to first; NULL: the one that ethdev_rx declares. Its node is the
	 * one that hy_hal_lead() gives, now and after each selection,
	 */
	const char *next;
	bool next_by_port; /**< or, with this, the port's own: that of hy_port_node(). */
	/** Prefix of the names of arcs (hy_arc.h) that end there, "port_in" of "port_in-PORT"; or NULL. */
	const char *arc;
	/**
	 * VLAN interfaces (hy_vlan.h), each once, of these ports. hy_vlan_nodes() makes a node
	 * "vlan_input-PORT" for each port, and "vlan_pop-PORT.VID" for each interface; hy_tx_nodes()
	 * makes "vlan_push-PORT.VID".
	 */
	const struct hy_vlan *vlans;
	unsigned int nb_vlans; /**< Entries of vlans. */
};

/** The number of a VLAN interface among a program's ports, by its index in struct hy_ends. */
#define HY_VLAN_PORT(index) (RTE_MAX_ETHPORTS + (index))

/**
 * Describes all ports of the ends alike, for hy_ports_start(): with as many receive queues as queues
 * has of each, and a transmit queue for each worker.
 *
 * @param each What the ports have in common.
 * @param[out] params Room for nb_ports of them.
 */
void hy_ends_ports(const struct hy_ends *ends, const struct hy_port_params *each,
	struct hy_port_params *params);

/**
 * Brings up all ports of the ends alike, and selects variants for them: hy_hal_watch(),
 * hy_hal_plan(), hy_ports_start(), hy_hal_probe() and hy_hal_select(), one after the other. For
 * programs that do nothing in between. Pools are by NUMA node.
 *
 * @param each What the ports have in common.
 * @param[out] error As hy_ports_start() has it.
 * @return 0; what these functions return.
 */
int hy_ends_up(const struct hy_ends *ends, const struct hy_port_params *each, char *error);

/** Writes the name of a queue's node, "ethdev_rx-PORT-QUEUE". */
void hy_rx_node_name(const struct hy_rx_queue *queue, char name[HY_NAME_SIZE]);

/**
 * Makes a port's own node of a family, "FAMILY-PORT".
 *
 * @param[out] id The node.
 */
int hy_port_node(const struct hy_ends *ends, const char *family, uint16_t port, hy_node_id *id);

/** Makes a node of ethdev_rx for each queue, and leads it to the port's next node. */
int hy_rx_nodes(const struct hy_ends *ends);

/** Leads edge 0 of a node to the next node of a port. */
int hy_ends_lead(const struct hy_ends *ends, hy_node_id from, uint16_t port);

/**
 * Makes the nodes that receive frames of VLAN interfaces, and leads them to the ports' next nodes. From
 * then on the ports' next nodes are the ones of vlan_input: next and next_by_port are changed.
 */
int hy_vlan_nodes(struct hy_ends *ends);

/**
 * Makes a port's node of ethdev_tx, "ethdev_tx-PORT".
 *
 * @param[out] name Its name.
 */
int hy_tx_node(const struct hy_ends *ends, uint16_t port, char name[HY_NAME_SIZE]);

/**
 * Makes a node of ethdev_tx for each port, "ethdev_tx-PORT", and an edge to it; for each VLAN interface
 * an edge to its vlan_push.
 *
 * @param from The node that sends.
 * @param[out] edge The edge of @p from by port, and of VLAN interfaces by HY_VLAN_PORT(): HY_VLAN_PORT(
 * nb_vlans) entries. HY_TX_NO_EDGE for other port numbers.
 */
int hy_tx_nodes(const struct hy_ends *ends, hy_node_id from, uint16_t edge[]);

/**
 * Configures event_rx for a device with a feed (hy_event.h), in place of hy_rx_nodes(): each port's
 * packets go to the port's own node, hy_port_node(), of the family next. Makes those unless
 * next_by_port says that the program has made them.
 */
int hy_event_nodes(const struct hy_ends *ends, uint8_t device);

HY_API_END
