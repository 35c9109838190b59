/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN interfaces that send: a vlan_push each, and edges of a node to them. */
#pragma once

#include <hy_assembly.h>

int vlan_tx_nodes(const struct hy_ends *ends, hy_node_id from, uint16_t edge[]);
