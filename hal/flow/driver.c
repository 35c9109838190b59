/* SPDX-License-Identifier: BSD-3-Clause */
/* Drivers: what rules of their NICs look like, read off DPDK v22.11. */

#include <errno.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>
#include <rte_log.h>

#include <hy_policy.h>

#include "hy_flow.h"

#define IP4_FIELDS (HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_SPORT | HY_FLOW_DPORT)
#define ALL_FIELDS (IP4_FIELDS | HY_FLOW_ETHER_TYPE | HY_FLOW_VLAN | HY_FLOW_DSCP | HY_FLOW_TUNNEL)

/*
 * A fate is asked for where MARK alone would send all packets to queue 0 (cnxk) or is refused
 * (mlx5). MARK, then the fate, is an order that all of them take.
 */
static const struct hy_flow_driver drivers[] = {
	{
		.driver = "net_cn*k",
		.source = "common/cnxk/roc_npc.c: npc_parse_actions()",
		.fields = ALL_FIELDS,
		.prefixes = true,
		.says_whole = true, /* it finds ports in first fragments */
		.mark_max = 0xfffd,
		.priorities = 8,
		.full = EIO, /* what hy_flow_rte makes of NPC_ERR_MCAM_ALLOC, which is no errno */
		.keep_sentinel = true,
		.fate = HY_FLOW_FATE_RSS,
	},
	{
		/* Also under the names that mlx5_pci got later: net_mlx5, mlx5_auxiliary. */
		.driver = "*mlx5*",
		.source = "net/mlx5/mlx5_flow_dv.c: flow_dv_validate(); mlx5_flow.h: "
			  "MLX5_FLOW_MARK_MAX",
		.fields = ALL_FIELDS,
		.prefixes = true,
		.says_whole = true,
		.mark_max = 0xffffef,
		.priorities = 1024,
		.group = 1,
		.fate = HY_FLOW_FATE_RSS,
	},
	{
		/* A mask of DSCP alone and one of a prefix would be ignored, or refused. */
		.driver = "net_ice",
		.source = "net/ice/ice_fdir_filter.c: ice_fdir_parse_pattern(); ice_rxtx.c: "
			  "ice_check_fdir_programming_status()",
		.fields = IP4_FIELDS | HY_FLOW_ETHER_TYPE,
		.protocols = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP },
		.mark_max = UINT32_MAX,
		.priorities = 1,
		.full = EINVAL,
	},
	{
		.driver = "net_i40e",
		.source = "net/i40e/i40e_flow.c: i40e_flow_parse_fdir_pattern(), _action()",
		.fields = IP4_FIELDS | HY_FLOW_ETHER_TYPE | HY_FLOW_VLAN,
		.protocols = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP },
		.mark_max = UINT32_MAX,
		.priorities = 1,
	},
	{
		.driver = "*",
		.source = "lib/ethdev/rte_flow.h",
		.fields = ALL_FIELDS,
		.prefixes = true,
		.says_whole = true,
		.mark_max = UINT32_MAX,
		.priorities = 1024,
	},
};

/* What packs brought, the last one first. */
#define EXTRA_MAX 16
static const struct hy_flow_driver *extra[EXTRA_MAX];
static unsigned int nb_extra;

static int
refused(const struct hy_flow_driver *driver, const char *why, int rc)
{
	RTE_LOG(ERR, USER1, "flow driver \"%s\": %s\n",
		driver->driver == NULL ? "" : driver->driver, why);
	return rc;
}

int
hy_flow_driver_register(const struct hy_flow_driver *driver)
{
	if (driver->driver == NULL || driver->driver[0] == '\0')
		return refused(driver, "needs the pattern of a driver's name", -EINVAL);
	if ((driver->fields & ALL_FIELDS) == 0 || (driver->fields & ~ALL_FIELDS) != 0)
		return refused(driver, "needs fields, by HY_FLOW_ bits", -EINVAL);
	if (driver->mark_max == 0 || driver->priorities == 0)
		return refused(driver, "needs a largest mark and priorities of 1 or more", -EINVAL);
	for (unsigned int i = 0; i < nb_extra; i++)
		if (strcmp(extra[i]->driver, driver->driver) == 0)
			return refused(driver, "is registered already", -EEXIST);
	if (nb_extra == EXTRA_MAX)
		return refused(driver, "no room: at most 16 drivers", -ENOSPC);
	memmove(&extra[1], &extra[0], nb_extra * sizeof(extra[0]));
	extra[0] = driver;
	nb_extra++;
	return 0;
}

void
hy_flow_driver_unregister(const struct hy_flow_driver *driver)
{
	for (unsigned int i = 0; i < nb_extra; i++) {
		if (extra[i] != driver)
			continue;
		nb_extra--;
		memmove(&extra[i], &extra[i + 1], (nb_extra - i) * sizeof(extra[0]));
		return;
	}
}

const struct hy_flow_driver *
hy_flow_driver_of(const char *name)
{
	unsigned int i = 0;

	for (unsigned int e = 0; e < nb_extra; e++)
		if (fnmatch(extra[e]->driver, name, 0) == 0)
			return extra[e];
	while (i < RTE_DIM(drivers) - 1 && fnmatch(drivers[i].driver, name, 0) != 0)
		i++;
	return &drivers[i];
}
