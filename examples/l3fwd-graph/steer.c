/* SPDX-License-Identifier: BSD-3-Clause */
/* --steer: nodes by which classes go to a next hop of their own, past ip4_lookup. */

#include <stdio.h>

#include "steer.h"

int
steer_lead(struct hy_hal *hal, hy_node_id flow_cls, uint16_t port, uint16_t *edge)
{
	char name[HY_NAME_SIZE];
	hy_node_id id;
	int rc;

	snprintf(name, sizeof(name), "steer-%u", port);
	rc = hy_hal_node_clone(hal, "pkt_cls", port, name, &id);
	if (rc == 0)
		rc = hy_node_edge_set(id, 0, "ip4_steer");
	if (rc == 0)
		rc = hy_node_name(id, name, sizeof(name));
	if (rc == 0)
		rc = hy_node_edge_add(flow_cls, name, edge);
	return rc;
}

int
steer_configure(const struct options *options, struct hy_hal *hal,
	const struct hy_ip4_lookup_config *tables)
{
	const struct hy_ip4_steer_config config = {
		.tables = *tables, .steers = options->steer, .nb_steers = options->nb_steers
	};
	hy_node_id id;
	int rc = hy_hal_node(hal, "ip4_steer", 0, &id);

	return rc == 0 ? hy_node_config(id, &config, sizeof(config)) : rc;
}
