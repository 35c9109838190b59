/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ethdev_rx for NICs that allocate packet buffers themselves, from a pool that hardware manages
 * (cnxk's NPA). They receive only into pools with their platform's mempool operations, whatever EAL
 * prefers. Polling is the reference variant's.
 */

#include <stdio.h>

#include <rte_ethdev.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_string_fns.h>

#include <hy_hal_live.h>
#include <hy_node.h>

#include "lib/graph/internal/log.h"

static bool
npa_fits(const struct hy_hal *hal __rte_unused, struct hy_target target, char *reason, size_t size)
{
	const char *ops = rte_mbuf_platform_mempool_ops();

	if (ops == NULL)
		return HY_REASON(false, reason, size,
			"no device here has a hardware manager of packet pools");
	if (rte_eth_dev_pool_ops_supported(target.id, ops) != 0)
		return HY_REASON(false, reason, size, "the driver does not ask for pools of %s",
			ops);
	return true;
}

static int
npa_prepare(const struct hy_hal *hal __rte_unused, struct hy_target target __rte_unused,
	struct hy_port_plan *plan, char *reason __rte_unused, size_t size __rte_unused)
{
	rte_strscpy(plan->mempool_ops, rte_mbuf_platform_mempool_ops(), sizeof(plan->mempool_ops));
	return 0;
}

HY_NODE_VARIANT(ethdev_rx, npa,
	.text = "Receives into a pool that the platform's hardware manages",
	.fits = npa_fits,
	.prepare = npa_prepare,
	.score = 20);
