/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow rules of OcteonTX2 and CN10K NICs, read off DPDK v22.11. */

#include <errno.h>

#include <hy_flow.h>
#include <hy_policy.h>

/* MARK alone would send all packets to queue 0. */
HY_FLOW_DRIVER(cnxk,
	.driver = "net_cn*k",
	.source = "common/cnxk/roc_npc.c: npc_parse_actions()",
	.fields = HY_FLOW_ALL,
	.prefixes = true,
	.says_whole = true, /* it finds ports in first fragments; the default key cannot tell */
	.mark_max = 0xfffd,
	.priorities = 8,
	.full = EIO, /* what hy_flow_rte makes of NPC_ERR_MCAM_ALLOC, which is no errno */
	/* roc_npc.c, npc_rss_action_configure(): each has one of eight groups, and the first is the port's */
	.spread_rules = 7,
	.keep_sentinel = true,
	.validates_for_good = true, /* npc_parse_actions() counts it in mark_actions, after 22.11 */
	.fate = HY_FLOW_FATE_RSS);
