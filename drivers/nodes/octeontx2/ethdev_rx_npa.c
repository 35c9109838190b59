/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ethdev_rx on NICs that fill packet buffers by themselves, out of a pool that hardware manages
 * (cnxk's NPA): they receive into pools of their platform's operations only, whatever EAL's best
 * ones are. The poll is any port's.
 */

#include <stdio.h>

#include <rte_ethdev.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_string_fns.h>

#include <hy_hal_live.h>
#include <hy_node.h>

static bool
npa_fits(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	const char *ops = rte_mbuf_platform_mempool_ops();

	RTE_SET_USED(hal);
	if (ops == NULL) {
		snprintf(reason, size, "no device here has a hardware manager of packet pools");
		return false;
	}
	if (rte_eth_dev_pool_ops_supported(target.id, ops) != 0) {
		snprintf(reason, size, "the driver does not ask for pools of %s", ops);
		return false;
	}
	return true;
}

static int
npa_prepare(const struct hy_hal *hal, struct hy_target target, struct hy_port_plan *plan,
	char *reason, size_t size)
{
	RTE_SET_USED(hal);
	RTE_SET_USED(target);
	RTE_SET_USED(reason);
	RTE_SET_USED(size);
	rte_strscpy(plan->mempool_ops, rte_mbuf_platform_mempool_ops(), sizeof(plan->mempool_ops));
	return 0;
}

HY_NODE_VARIANT(ethdev_rx, npa,
	.text = "Receives into a pool that the platform's hardware manages",
	.fits = npa_fits,
	.prepare = npa_prepare,
	.score = 20);
