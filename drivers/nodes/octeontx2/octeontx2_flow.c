/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow rules of OcteonTX2 and CN10K NICs, read off DPDK v22.11. */

#include <errno.h>

#include <hy_flow.h>
#include <hy_policy.h>

/* MARK alone would deliver all packets in queue 0. */
HY_FLOW_DRIVER(cnxk,
	.driver = "net_cn*k",
	.source = "common/cnxk/roc_npc.c: npc_parse_actions()",
	.fields = HY_FLOW_HARDWARE,
	/* cnxk_flow.c, cnxk_map_pattern(): the item ICMP6 is skipped */
	.fields6 = HY_FLOW_5_TUPLE | HY_FLOW_DSCP | HY_FLOW_TCP_FLAGS,
	.prefixes = true,
	.mac_masks = true,
	.says_whole = true, /* finds ports in first fragments; the default key cannot tell */
	/*
	 * roc_npc_parse.c, npc_process_ipv6_item(): set_ipv6ext_ltype_mask; the key extraction
	 * profile has fields of NPC_LT_LC_IP6, and none of NPC_LT_LC_IP6_EXT
	 */
	.zeros_ip6 = true,
	.mark_max = 0xfffd,
	.priorities = 8,
	.own_address = true, /* roc_npc_mcam.c, npc_program_mcam(): a VF's base rule */
	.full = EIO, /* from NPC_ERR_MCAM_ALLOC, which is not an errno: see hy_flow_rte */
	/*
	 * roc_npc.c, npc_rss_action_configure(): each takes one of eight groups; the first is the
	 * port's
	 */
	.spread_rules = 7,
	.keep_sentinel = true,
	.validates_for_good = true, /* after 22.11, npc_parse_actions() counts it in mark_actions */
	.fate = HY_FLOW_FATE_RSS,
	.drops = true, /* cnxk_flow.c: cnxk_flow_query(), of packets only */
	/* Linux, af/rvu_npc.c: rvu_mbox_handler_npc_mcam_counter_stats(), which is passed on as is */
	.count_bits = 48);
