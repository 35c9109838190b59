/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow rules of mlx5 NICs, read off DPDK v22.11 and 26.11-rc0. */

#include <hy_flow.h>
#include <hy_policy.h>

/* Also matches later names of mlx5_pci: net_mlx5, mlx5_auxiliary. */
HY_FLOW_DRIVER(mlx5,
	.driver = "*mlx5*",
	.source = "net/mlx5/mlx5_flow_dv.c: flow_dv_validate(); mlx5_flow.h: MLX5_FLOW_MARK_MAX",
	.fields = HY_FLOW_HARDWARE,
	/* flow_dv_validate(): nic_ipv6_mask and nic_tcp_mask; mlx5_flow_validate_item_icmp6() */
	.fields6 = HY_FLOW_5_TUPLE | HY_FLOW_DSCP | HY_FLOW_TCP_FLAGS | HY_FLOW_ICMP,
	.prefixes = true,
	.mac_masks = true,
	.says_whole = true,
	.says_whole6 = true,
	.mark_max = 0xffffef,
	/*
	 * There are thousands, but each priority of a mask is another matcher for packets to pass.
	 */
	.priorities = 16,
	.group = 1,
	.templates = true, /* with dv_flow_en=2 */
	.fate = HY_FLOW_FATE_RSS,
	.drops = true); /* mlx5_flow_dv.c: flow_dv_validate_action_count(), flow_dv_query_count() */
