/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow director rules of ice, iavf and i40e NICs, read off DPDK v22.11 and 26.11-rc0. */

#include <errno.h>
#include <netinet/in.h>

#include <hy_flow.h>
#include <hy_policy.h>

/* The descriptor of a received packet says "no mark" by a mark of all ones. */
#define MARK_MAX (UINT32_MAX - 1)

/* A mask of DSCP alone and one of a prefix would be ignored, or refused. */
HY_FLOW_DRIVER(ice,
	.driver = "net_ice",
	.source = "net/ice/ice_fdir_filter.c: ice_fdir_parse_pattern(); ice_rxtx.c: "
		  "ice_check_fdir_programming_status()",
	.fields = HY_FLOW_5_TUPLE | HY_FLOW_ETHER_TYPE,
	.protocols = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP },
	.names_protocol = true, /* base/ice_flow.c: ice_ptypes_udp_il, ICE_PROT_UDP_IL_OR_S */
	.mark_max = MARK_MAX,
	.priorities = 1,
	.full = EINVAL);

/*
 * A virtual function of such a NIC. Whatever its physical function says becomes EINVAL when a rule is
 * created; to validate one tells what the driver thinks (iavf_parse_engine_validate()).
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
	.full = EINVAL);

HY_FLOW_DRIVER(i40e,
	.driver = "net_i40e",
	.source = "net/i40e/i40e_flow.c: i40e_flow_parse_fdir_pattern(), _action()",
	.fields = HY_FLOW_5_TUPLE | HY_FLOW_ETHER_TYPE | HY_FLOW_VLAN,
	.protocols = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP },
	.whole_tags = true, /* 22.11 takes a mask of the id and ignores it; later ones refuse it */
	.mark_max = UINT32_MAX,
	.priorities = 1);
