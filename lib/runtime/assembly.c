/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends of graphs. */

#include <stdio.h>
#include <string.h>

#include <hy_ethdev.h>
#include <hy_event.h>

#include "assembly_vlan.h"

void
hy_ends_ports(const struct hy_ends *ends, const struct hy_port_params *each,
	struct hy_port_params *params)
{
	for (unsigned int i = 0; i < ends->nb_ports; i++) {
		params[i] = *each;
		params[i].port = ends->ports[i];
		params[i].nb_tx_queues = (uint16_t)ends->nb_workers;
		for (unsigned int q = 0; q < ends->nb_queues; q++)
			params[i].nb_rx_queues += ends->queues[q].port == ends->ports[i];
	}
}

int
hy_ends_up(const struct hy_ends *ends, const struct hy_port_params *each, char *error)
{
	struct hy_port_params ports[RTE_MAX_ETHPORTS];
	const struct hy_ports_params params = { .ports = ports,
		.nb_ports = ends->nb_ports,
		.nb_workers = ends->nb_workers,
		.numa = true };
	int rc = hy_hal_watch(ends->hal);

	if (rc < 0)
		snprintf(error, HY_HAL_ERROR_SIZE, "events of ports: %s", strerror(-rc));
	hy_ends_ports(ends, each, ports);
	if (rc == 0)
		rc = hy_hal_plan(ends->hal, error);
	if (rc == 0)
		rc = hy_ports_start(ends->hal, &params, error);
	if (rc < 0)
		return rc;
	hy_hal_probe(ends->hal);
	return hy_hal_select(ends->hal, error);
}

void
hy_rx_node_name(const struct hy_rx_queue *queue, char name[HY_NAME_SIZE])
{
	snprintf(name, HY_NAME_SIZE, "ethdev_rx-%u-%u", queue->port, queue->queue);
}

int
hy_port_node(const struct hy_ends *ends, const char *family, uint16_t port, hy_node_id *id)
{
	char suffix[HY_NAME_SIZE];

	snprintf(suffix, sizeof(suffix), "%u", port);
	return hy_hal_node_clone(ends->hal, family, port, suffix, id);
}

int
hy_ends_lead(const struct hy_ends *ends, hy_node_id from, uint16_t port)
{
	char name[HY_NAME_SIZE];

	if (ends->next == NULL)
		return 0;
	if (!ends->next_by_port)
		return hy_hal_lead(ends->hal, from, 0, ends->next, port);
	snprintf(name, sizeof(name), "%s-%u", ends->next, port);
	return hy_node_edge_set(from, 0, name);
}

int
hy_rx_nodes(const struct hy_ends *ends)
{
	int rc = 0;

	for (unsigned int i = 0; i < ends->nb_queues && rc == 0; i++) {
		const struct hy_rx_queue *q = &ends->queues[i];
		const struct hy_ethdev_rx_config config = { .port = q->port, .queue = q->queue };
		char suffix[HY_NAME_SIZE];
		hy_node_id rx;

		snprintf(suffix, sizeof(suffix), "%u-%u", q->port, q->queue);
		rc = hy_hal_node_clone(ends->hal, "ethdev_rx", q->port, suffix, &rx);
		if (rc == 0)
			rc = hy_node_config(rx, &config, sizeof(config));
		if (rc == 0)
			rc = hy_ends_lead(ends, rx, q->port);
	}
	return rc;
}

int
hy_tx_node(const struct hy_ends *ends, uint16_t port, char name[HY_NAME_SIZE])
{
	const struct hy_ethdev_tx_config config = { .port = port,
		.nb_queues = (uint16_t)ends->nb_workers };
	hy_node_id tx;
	int rc = hy_port_node(ends, "ethdev_tx", port, &tx);

	if (rc == 0)
		rc = hy_node_config(tx, &config, sizeof(config));
	return rc == 0 ? hy_node_name(tx, name, HY_NAME_SIZE) : rc;
}

int
hy_tx_nodes(const struct hy_ends *ends, hy_node_id from, uint16_t edge[])
{
	int rc = 0;

	for (unsigned int p = 0; p < HY_VLAN_PORT(ends->nb_vlans); p++)
		edge[p] = HY_TX_NO_EDGE;
	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		char name[HY_NAME_SIZE];

		rc = hy_tx_node(ends, ends->ports[i], name);
		if (rc == 0)
			rc = hy_node_edge_add(from, name, &edge[ends->ports[i]]);
	}
	return rc < 0 ? rc : vlan_tx_nodes(ends, from, edge);
}

int
hy_event_nodes(const struct hy_ends *ends, uint8_t device)
{
	const struct hy_target target = { .kind = HY_TARGET_EVENT, .id = device };
	struct hy_event_rx_config config = { .device = device };
	hy_node_id rx;
	int rc = hy_hal_node_for(ends->hal, "event_rx", target, &rx);

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		config.edge[p] = HY_EVENT_NO_EDGE;
	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		const uint16_t port = ends->ports[i];
		char name[HY_NAME_SIZE];
		hy_node_id next;

		if (!ends->next_by_port)
			rc = hy_port_node(ends, ends->next, port, &next);
		snprintf(name, sizeof(name), "%s-%u", ends->next, port);
		if (rc == 0)
			rc = hy_node_edge_add(rx, name, &config.edge[port]);
	}
	return rc < 0 ? rc : hy_node_config(rx, &config, sizeof(config));
}
