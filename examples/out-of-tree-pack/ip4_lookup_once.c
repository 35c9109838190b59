/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4_lookup for large tables and few flows: looks each destination of a burst up once. It keeps the
 * results in a table, indexed by the NIC's hash of the packet's flow. They are valid for one burst
 * only, since routes may change before the next one.
 */

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_memzone.h>

#include <hy_hal_live.h>
#include <hy_ip4_lookup.h>
#include <hy_node.h>

#define ZONE "acme_once"
#define WORKERS 64
#define SLOTS 256 /* a power of 2 */

/* A result of the current burst. */
struct once_slot {
	uint64_t burst;
	uint32_t dst;
	uint32_t id;
	uint16_t next;
};

/* The table of one worker, used by no other. */
struct once_worker {
	uint64_t burst; /* counts bursts */
	struct once_slot slot[SLOTS];
} __rte_cache_aligned;

struct once_ctx {
	struct hy_ip4_lookup_ctx lookup; /* first: the family's init fills it in */
	struct once_worker *worker;
};

/* Any slot is correct: a bad hash only costs another lookup. */
static struct once_slot *
slot_of(struct once_worker *worker, const struct rte_mbuf *m, uint32_t dst)
{
	const bool hashed = (m->ol_flags & RTE_MBUF_F_RX_RSS_HASH) != 0;

	return &worker->slot[(hashed ? m->hash.rss : dst ^ dst >> 16) % SLOTS];
}

static uint16_t
once_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct once_ctx *ctx = node->ctx;
	uint32_t *route = hy_lane(graph, node, HY_IP4_LOOKUP_LANE_ROUTE);
	const uint64_t burst = ++ctx->worker->burst;
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		struct once_slot *slot = slot_of(ctx->worker, objs[i], route[i]);

		if (slot->burst != burst || slot->dst != route[i]) {
			*slot = (struct once_slot){
				.burst = burst, .dst = route[i], .id = route[i]
			};
			hy_ip4_lookup_scalar(ctx->lookup.view, &slot->id, &slot->next, 1);
		}
		route[i] = slot->id;
		next[i] = slot->next;
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static int
once_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct rte_memzone *zone = rte_memzone_lookup(ZONE);
	struct once_ctx *ctx = node->ctx;

	if (zone == NULL || hy_graph_worker(graph) >= WORKERS)
		return hy_node_refuse(graph, node, "has no table for worker %u",
			hy_graph_worker(graph));
	ctx->worker = (struct once_worker *)zone->addr + hy_graph_worker(graph);
	return hy_ip4_lookup_init(graph, node, config);
}

/* Requests the hash from NICs that offer it. */
static int
once_prepare(const struct hy_hal *hal, struct hy_target target, struct hy_port_plan *plan,
	char *reason, size_t size)
{
	struct rte_eth_dev_info info;
	const int rc = rte_eth_dev_info_get(target.id, &info);

	RTE_SET_USED(hal);
	if (rc == 0)
		plan->rx_offloads |= info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_RSS_HASH;
	else
		snprintf(reason, size, "the driver does not report its offloads");
	return rc;
}

/* Allocates memory for all workers, from before the first graph until after the last. */
static int
once_bind(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	const struct rte_memzone *zone = rte_memzone_reserve(ZONE,
		WORKERS * sizeof(struct once_worker), SOCKET_ID_ANY, 0);

	RTE_SET_USED(hal);
	RTE_SET_USED(target);
	if (zone == NULL) {
		snprintf(reason, size, "no memory zone " ZONE ": %s", rte_strerror(rte_errno));
		return -rte_errno;
	}
	memset(zone->addr, 0, zone->len);
	return 0;
}

static void
once_unbind(const struct hy_hal *hal, struct hy_target target)
{
	RTE_SET_USED(hal);
	RTE_SET_USED(target);
	rte_memzone_free(rte_memzone_lookup(ZONE));
}

HY_NODE_VARIANT(ip4_lookup, once,
	.text = "Looks up each destination once per burst, by the NIC's hash",
	.impl.process = once_process,
	.impl.init = once_init,
	.impl.fini = hy_ip4_lookup_fini,
	.impl.ctx_size = sizeof(struct once_ctx),
	.engine = HY_IP4_ENGINE_LPM,
	.needs = { { .declared = HY_IP4_ROUTES,
		.at_least = 500000,
		.bonus = 50,
		.why = "a lookup waits for memory" } },
	.prepare = once_prepare,
	.bind = once_bind,
	.unbind = once_unbind,
	.score = 5);
