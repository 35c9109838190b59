/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet pools: one for all ports, one for each NUMA node, or a port's own. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>

#include "ports.h"

#define POOL_LEAST 8192

/* By NUMA node; behind these by port. */
static struct pool {
	struct rte_mempool *pool;
	unsigned int call; /* of hy_ports_start(), that made it */
} pools[RTE_MAX_NUMA_NODES + RTE_MAX_ETHPORTS];
static unsigned int calls;

/* Enough for every descriptor, and for what workers hold: packets of one port may wait on any. */
static unsigned int
pool_size(const struct hy_hal *hal, const struct hy_ports_params *params)
{
	unsigned int held = params->nb_held +
		(params->nb_workers + 1) * (HY_POOL_CACHE + HY_BURST_MAX);

	for (unsigned int i = 0; i < params->nb_ports; i++) {
		const struct hy_port_params *p = &hy_ports[params->ports[i].port].params;

		held += p->nb_rxd * hy_port_rx_queues(hal, p) + p->nb_txd * p->nb_tx_queues;
	}
	return RTE_MAX((unsigned int)POOL_LEAST, held);
}

/*
 * Sees to a pool that the port of an earlier call has left, if any: one that will do is used again,
 * another is freed. Returns whether packets are in the way of that.
 */
static bool
left_is_busy(struct pool *pool, unsigned int size, const char *ops)
{
	const char *wanted = ops[0] != '\0' ? ops : rte_mbuf_best_mempool_ops();

	if (pool->pool == NULL || pool->call == calls ||
		(pool->pool->size >= size &&
			strcmp(rte_mempool_get_ops(pool->pool->ops_index)->name, wanted) == 0))
		return false;
	if (rte_mempool_in_use_count(pool->pool) > 0)
		return true;
	rte_mempool_free(pool->pool);
	pool->pool = NULL;
	return false;
}

static int
pool_of(const struct hy_hal *hal, const struct hy_ports_params *params, uint16_t port, char *error)
{
	const char *wanted = hy_hal_port_plan(hal, port)->mempool_ops;
	const int socket = rte_eth_dev_socket_id(port);
	const bool local = params->numa && socket >= 0 && socket < RTE_MAX_NUMA_NODES;
	struct pool *pool = &pools[local ? socket : 0];
	const unsigned int size = pool_size(hal, params);
	char name[RTE_MEMPOOL_NAMESIZE];

	/* What a variant wants of its packets' pool is not for other ports. */
	if (hy_ports[port].params.own_pool || wanted[0] != '\0' ||
		(pool->pool != NULL && pool->call != calls))
		pool = &pools[RTE_MAX_NUMA_NODES + port];
	if (left_is_busy(pool, size, wanted))
		return hy_port_refuse(port, -EBUSY, error,
			"packets of the device that had this number before are in use, and their "
			"pool is not large enough, or of another kind");
	if (pool->pool == NULL) {
		snprintf(name, sizeof(name), "hy_packets_%zu", (size_t)(pool - pools));
		pool->pool = rte_pktmbuf_pool_create_by_ops(name, size, HY_POOL_CACHE, 0,
			RTE_MBUF_DEFAULT_BUF_SIZE, local ? socket : SOCKET_ID_ANY,
			wanted[0] != '\0' ? wanted : NULL);
		pool->call = calls;
	}
	hy_ports[port].pool = pool->pool;
	return pool->pool != NULL
		? 0
		: hy_port_refuse(port, -rte_errno, error, "no memory for a pool of %u packets: %s",
			  size, rte_strerror(rte_errno));
}

int
hy_port_pools(const struct hy_hal *hal, const struct hy_ports_params *params, char *error)
{
	int rc = 0;

	calls++;
	for (unsigned int i = 0; i < params->nb_ports && rc == 0; i++)
		rc = pool_of(hal, params, params->ports[i].port, error);
	return rc;
}

void
hy_port_pools_free(unsigned int *in_use, unsigned int *total)
{
	*in_use = 0;
	*total = 0;
	for (unsigned int i = 0; i < RTE_DIM(pools); i++) {
		unsigned int used;

		if (pools[i].pool == NULL)
			continue;
		used = rte_mempool_in_use_count(pools[i].pool);
		*in_use += used;
		*total += pools[i].pool->size;
		if (used > 0)
			continue;
		rte_mempool_free(pools[i].pool);
		pools[i].pool = NULL;
	}
}
