/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of VLAN interfaces, between those of their ports and the rest of a graph. */

#include <stdio.h>

#include "assembly_vlan.h"

/* Makes "FAMILY-PORT.VID". */
static int
vlan_node(const struct hy_ends *ends, const char *family, struct hy_vlan vlan, hy_node_id *id)
{
	char suffix[HY_NAME_SIZE];

	snprintf(suffix, sizeof(suffix), "%u.%u", vlan.port, vlan.vid);
	return hy_hal_node_clone(ends->hal, family, vlan.port, suffix, id);
}

/* Adds an edge to a node. */
static int
edge_to(hy_node_id from, hy_node_id to, uint16_t *edge)
{
	char name[HY_NAME_SIZE];
	const int rc = hy_node_name(to, name, sizeof(name));

	return rc < 0 ? rc : hy_node_edge_add(from, name, edge);
}

/* Has a port's vlan_input send the frames of a VLAN to a vlan_pop, and that to the port's next node. */
static int
pop_add(const struct hy_ends *ends, hy_node_id input, struct hy_vlan vlan,
	struct hy_vlan_input_config *config)
{
	hy_node_id pop;
	int rc = vlan_node(ends, "vlan_pop", vlan, &pop);

	if (rc == 0)
		rc = hy_ends_lead(ends, pop, vlan.port);
	return rc < 0 ? rc : edge_to(input, pop, &config->edge[vlan.vid]);
}

static int
port_rx(const struct hy_ends *ends, uint16_t port)
{
	struct hy_vlan_input_config config = { 0 };
	hy_node_id input;
	int rc = hy_port_node(ends, "vlan_input", port, &input);

	if (rc == 0)
		rc = hy_ends_lead(ends, input, port);
	for (unsigned int i = 0; i < ends->nb_vlans && rc == 0; i++)
		if (ends->vlans[i].port == port)
			rc = pop_add(ends, input, ends->vlans[i], &config);
	return rc < 0 ? rc : hy_node_config(input, &config, sizeof(config));
}

int
hy_vlan_nodes(struct hy_ends *ends)
{
	int rc = 0;

	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++)
		rc = port_rx(ends, ends->ports[i]);
	ends->next = "vlan_input";
	ends->next_by_port = true;
	return rc;
}

int
vlan_tx_nodes(const struct hy_ends *ends, hy_node_id from, uint16_t edge[])
{
	int rc = 0;

	for (unsigned int i = 0; i < ends->nb_vlans && rc == 0; i++) {
		const struct hy_vlan_push_config config = { .vid = ends->vlans[i].vid };
		char tx[HY_NAME_SIZE];
		hy_node_id push;

		snprintf(tx, sizeof(tx), "ethdev_tx-%u", ends->vlans[i].port);
		rc = vlan_node(ends, "vlan_push", ends->vlans[i], &push);
		if (rc == 0)
			rc = hy_node_config(push, &config, sizeof(config));
		if (rc == 0)
			rc = hy_node_edge_set(push, HY_VLAN_PUSH_NEXT_FRAME, tx);
		if (rc == 0)
			rc = edge_to(from, push, &edge[HY_VLAN_PORT(i)]);
	}
	return rc;
}
