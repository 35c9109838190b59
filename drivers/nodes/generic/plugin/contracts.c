/* SPDX-License-Identifier: BSD-3-Clause */
/* The layouts that plugins compile from the families' headers. A plugin with others is refused. */

#include <hy_event_rx.h>
#include <hy_flow_cls_node.h>
#include <hy_flow_lookup.h>
#include <hy_ip4_group_view.h>
#include <hy_ip4_lookup.h>
#include <hy_ip4_rewrite.h>
#include <hy_ip4_steer.h>
#include <hy_ip4_view.h>
#include <hy_ip6_lookup.h>
#include <hy_ip6_rewrite.h>
#include <hy_ip6_view.h>
#include <hy_l2.h>
#include <hy_l2_patch.h>
#include <hy_l2_view.h>
#include <hy_pkt_cls_ip6.h>
#include <hy_vlan.h>

#include "lib/graph/internal/plugin_notes.h"

static const struct hy_plugin_number numbers[] = { HY_EVENT_RX_NUMBERS, HY_FLOW_CLS_NUMBERS,
	HY_FLOW_LOOKUP_NUMBERS, HY_IP4_GROUP_NUMBERS, HY_IP4_LOOKUP_NUMBERS, HY_IP4_REWRITE_NUMBERS,
	HY_IP4_STEER_NUMBERS, HY_IP4_VIEW_NUMBERS, HY_IP6_LOOKUP_NUMBERS, HY_IP6_REWRITE_NUMBERS,
	HY_IP6_VIEW_NUMBERS, HY_L2_NUMBERS, HY_L2_PATCH_NUMBERS, HY_L2_VIEW_NUMBERS,
	HY_PKT_CLS_NUMBERS, HY_VLAN_NUMBERS };

RTE_INIT(contracts_add)
{
	hy_plugin_numbers_add(numbers, RTE_DIM(numbers));
}
