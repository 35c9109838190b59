/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mempool operations of a platform, like those of cnxk's NPA: its NICs receive only into pools with
 * these operations. They store objects as DPDK's default pools do.
 */

#include <errno.h>
#include <string.h>

#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "nic.h"

#define KEPT_AS "ring_mp_mc"

static const struct rte_mempool_ops *
ops_find(const char *name)
{
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			return &rte_mempool_ops_table.ops[i];
	return NULL;
}

int
simnic_pool_init(void)
{
	struct rte_mempool_ops ops;
	int rc;

	if (ops_find(SIMNIC_POOL) == NULL) {
		if (ops_find(KEPT_AS) == NULL)
			return -ENOENT;
		ops = *ops_find(KEPT_AS);
		strcpy(ops.name, SIMNIC_POOL);
		rc = rte_mempool_register_ops(&ops);
		if (rc < 0)
			return rc;
	}
	/* mempool/cnxk/cnxk_mempool_ops.c, cnxk_mempool_plt_init() of DPDK v22.11. */
	return rte_mbuf_set_platform_mempool_ops(SIMNIC_POOL);
}

/* net/cnxk/cnxk_ethdev_ops.c, cnxk_nix_pool_ops_supported() of DPDK v22.11. */
int
nic_pool_supported(struct rte_eth_dev *dev, const char *pool)
{
	if (!nic_of_dev(dev)->vendor->own_pools)
		return 1;
	return strcmp(pool, SIMNIC_POOL) == 0 ? 0 : -ENOTSUP;
}

/* net/cnxk/cnxk_ethdev.c, cnxk_nix_rx_queue_setup() of DPDK v22.11. */
bool
nic_pool_fits(const struct nic *nic, const struct rte_mempool *pool)
{
	return !nic->vendor->own_pools ||
		strcmp(rte_mempool_get_ops(pool->ops_index)->name, SIMNIC_POOL) == 0;
}
