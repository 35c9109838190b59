/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv6 in the graph: pkt_cls → ip6_lookup → ip6_rewrite → ethdev_tx. These nodes are always there, so
 * that a route file that is read again can bring the first IPv6 prefix. Until one does, pkt_cls sends
 * them nothing, and there is no table.
 */
#pragma once

#include <hy_assembly.h>
#include <hy_routes.h>

/* Before other nodes are made: gives pkt_cls, and what is cloned from it, the way to IPv6. */
int ip6_lead(const struct hy_ends *ends, const struct hy_ip6_lookup_config *tables);

/* When those of ethdev_tx are made: makes the nodes of IPv6, and configures each port's own pkt_cls. */
int ip6_nodes(const struct hy_ends *ends, const struct hy_ip6_lookup_config *tables);
