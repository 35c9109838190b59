/* SPDX-License-Identifier: BSD-3-Clause */
/* See ip6.h. */

#include <stdio.h>

#include <hy_pkt_cls.h>

#include "ip6.h"

/* The edge is the only one that is added, so that it has the same number wherever it is. */
#define IP6_EDGE (HY_PKT_CLS_NEXT_IP4_LOOKUP + 1)

static struct hy_pkt_cls_config
cls_config(const struct hy_ip6_lookup_config *tables)
{
	return (struct hy_pkt_cls_config){ .ip6 = *tables, .ip6_edge = IP6_EDGE };
}

int
ip6_lead(const struct hy_ends *ends, const struct hy_ip6_lookup_config *tables)
{
	const struct hy_pkt_cls_config config = cls_config(tables);
	hy_node_id cls;
	uint16_t edge;
	int rc = hy_node_lookup("pkt_cls", &cls);

	if (rc == 0)
		rc = hy_node_edge_add(cls, "ip6_lookup", &edge);
	return rc == 0 ? hy_hal_node_config(ends->hal, "pkt_cls", &config, sizeof(config)) : rc;
}

/* Edges to the nodes that hy_tx_nodes() has made. */
static int
tx_edges(const struct hy_ends *ends, hy_node_id rewrite, uint16_t edge[HY_IP4_PORTS])
{
	char name[HY_NAME_SIZE];
	int rc = 0;

	for (unsigned int p = 0; p < HY_IP4_PORTS; p++)
		edge[p] = HY_IP4_NO_EDGE;
	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		snprintf(name, sizeof(name), "ethdev_tx-%u", ends->ports[i]);
		rc = hy_node_edge_add(rewrite, name, &edge[ends->ports[i]]);
	}
	for (unsigned int i = 0; i < ends->nb_vlans && rc == 0; i++) {
		snprintf(name, sizeof(name), "vlan_push-%u.%u", ends->vlans[i].port,
			ends->vlans[i].vid);
		rc = hy_node_edge_add(rewrite, name, &edge[HY_VLAN_PORT(i)]);
	}
	return rc;
}

/* A port's own pkt_cls, if there is one: of hy_event_nodes(), or for --steer. They are no shared nodes. */
static int
own_cls_configure(const char *kind, uint16_t port, const struct hy_ip6_lookup_config *tables)
{
	const struct hy_pkt_cls_config config = cls_config(tables);
	char name[HY_NAME_SIZE];
	hy_node_id cls;

	snprintf(name, sizeof(name), "pkt_cls-%s%u", kind, port);
	return hy_node_lookup(name, &cls) == 0 ? hy_node_config(cls, &config, sizeof(config)) : 0;
}

int
ip6_nodes(const struct hy_ends *ends, const struct hy_ip6_lookup_config *tables)
{
	struct hy_ip6_rewrite_config config = { .tables = *tables };
	hy_node_id lookup, rewrite;
	int rc = hy_hal_node(ends->hal, "ip6_lookup", 0, &lookup);

	if (rc == 0)
		rc = hy_hal_node(ends->hal, "ip6_rewrite", 0, &rewrite);
	if (rc == 0)
		rc = hy_node_config(lookup, tables, sizeof(*tables));
	if (rc == 0)
		rc = tx_edges(ends, rewrite, config.edge);
	if (rc == 0)
		rc = hy_node_config(rewrite, &config, sizeof(config));
	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		rc = own_cls_configure("", ends->ports[i], tables);
		if (rc == 0)
			rc = own_cls_configure("steer-", ends->ports[i], tables);
	}
	return rc;
}
