/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow director rules of ice, iavf and i40e NICs, read off DPDK v22.11 and 26.11-rc0. */

#include <errno.h>
#include <netinet/in.h>

#include <rte_version.h>

#include <hy_flow.h>
#include <hy_policy.h>

/* In a receive descriptor, a mark of all ones means "no mark". */
#define MARK_MAX (UINT32_MAX - 1)

/* The driver ignores or refuses masks of DSCP alone and of prefixes. */
HY_FLOW_DRIVER(ice,
	.driver = "net_ice",
	.source = "net/ice/ice_fdir_filter.c: ice_fdir_parse_pattern(); ice_rxtx.c: "
		  "ice_check_fdir_programming_status()",
	.fields = HY_FLOW_5_TUPLE | HY_FLOW_ETHER_TYPE,
	.fields6 = HY_FLOW_5_TUPLE,
	.protocols = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP },
	.names_protocol = true, /* base/ice_flow.c: ice_ptypes_udp_il, ICE_PROT_UDP_IL_OR_S */
	.inner_ports = true,    /* of GTP-U with the comms package, and at tunnel ports */
	.mark_max = MARK_MAX,
	.priorities = 1,
	.full = EINVAL,
	.drops = true, /* ice_fdir_query_count(), of packets only; iavf and i40e do not count */
	.count_bits = 40); /* ice_hw_autogen.h: GLSTAT_FD_CNT0H has 8 of them, which it reads as is */

/*
 * A virtual function of such a NIC. On create(), every error of the physical function becomes
 * EINVAL; validation returns the driver's own errors (iavf_parse_engine_validate()).
 */
HY_FLOW_DRIVER(iavf,
	.driver = "net_iavf",
	.source = "net/iavf/iavf_fdir.c: iavf_fdir_parse_pattern(); iavf_generic_flow.c: "
		  "iavf_flow_process_filter()",
	.fields = HY_FLOW_5_TUPLE | HY_FLOW_ETHER_TYPE,
	.protocols = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP },
	.inner_ports = true,
	.mark_max = MARK_MAX,
	.priorities = 1,
	.full = EINVAL,
	/*
	 * iavf_vchnl.c, iavf_dev_event_handle(), from 23.11 on: with it no RTE_ETH_EVENT_INTR_RESET
	 * is raised, and iavf_dev_close() frees the rules.
	 */
	.self_reset = "auto_reset",
	.self_resets = RTE_VERSION >= RTE_VERSION_NUM(26, 7, 0, 0));

HY_FLOW_DRIVER(i40e,
	.driver = "net_i40e",
	.source = "net/i40e/i40e_flow.c: i40e_flow_parse_fdir_pattern(), _action()",
	.fields = HY_FLOW_5_TUPLE | HY_FLOW_ETHER_TYPE | HY_FLOW_VLAN,
	.protocols = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP },
	.whole_tags = true, /* 22.11 ignores a mask of the id; later releases refuse it */
	/*
	 * The fields are those of the innermost headers: i40e_ethdev.c has others for a tunnel's
	 * own, I40E_REG_INSET_TUNNEL_L3_DST_IP4, _TUNNEL_L4_UDP_SRC_PORT.
	 */
	.inner_ports = true,
	.mark_max = UINT32_MAX,
	.priorities = 1);
