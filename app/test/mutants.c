/* SPDX-License-Identifier: BSD-3-Clause */
/* A pack of variants that are wrong, each in one way that a test could well miss. */

#define HY_PACK "mutants"

#include <hy_plugin.h>

#include "ip4_rewrite.h"
#include "pkt_cls.h"

HY_PLUGIN("mutants", "1", "Variants that are wrong, for tests");

/* Rewrites one packet, as the family's contract wants it. */
static uint16_t
rewrite(struct rte_mbuf *m, const struct hy_ip4_adjacency *adjacency,
	const struct ip4_rewrite_port *port, bool carry)
{
	uint8_t copy[IP4_REWRITE_HEADERS];
	const void *headers = rte_pktmbuf_read(m, 0, sizeof(copy), copy);
	rte_le32_t field;
	uint32_t word;
	uint16_t next;

	if (headers != copy)
		memcpy(copy, headers, sizeof(copy));
	memcpy(&field, copy + 22, sizeof(field));
	next = ip4_rewrite_one(copy, m->pkt_len, adjacency, port);
	if (next != port->edge)
		return next;
	if (!carry) {
		word = rte_le_to_cpu_32(field) + 0xffff;
		field = rte_cpu_to_le_32(word);
		memcpy(copy + 22, &field, sizeof(field));
	}
	hy_mbuf_poke(m, copy, sizeof(copy));
	return next;
}

static void
rewrite_burst(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t next[],
	uint16_t n, bool carry)
{
	const struct ip4_rewrite_ctx *ctx = node->ctx;
	const struct hy_ip4_adjacency *adjacencies = ip4_fib_adjacencies(ctx->fib);
	const uint32_t *route = hy_lane(graph, node, IP4_REWRITE_LANE_ROUTE);

	for (uint16_t i = 0; i < n; i++) {
		const struct hy_ip4_adjacency *adjacency = &adjacencies[route[i]];

		next[i] = rewrite(objs[i], adjacency, &ctx->port[adjacency->port], carry);
	}
}

static uint16_t
no_carry_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	rewrite_burst(graph, node, objs, next, n, false);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(ip4_rewrite, no_carry,
	.text = "Adds to the checksum without the carry",
	.impl.process = no_carry_process);

static uint16_t
swapped_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static unsigned int bursts;
	uint16_t next[HY_BURST_MAX];

	rewrite_burst(graph, node, objs, next, n, true);
	if (++bursts == 17)
		for (uint16_t i = 0; i < n; i++)
			if (next[i] <= 1) { /* an edge */
				next[i] ^= 1;
				break;
			}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(ip4_rewrite, swapped,
	.text = "Sends one packet of its 17th burst to another port",
	.impl.process = swapped_process);

/* The family's check, of the library's headers: its kernels are not exported. */
static void
classify(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[],
	uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		next[i] = pkt_cls_one(frame[i], len[i], false, &dst[i]);
}

static uint16_t
one_past_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];

		if (m->nb_segs == 1 && m->data_len == 60)
			(void)rte_pktmbuf_mtod(m, const volatile uint8_t *)[m->data_len];
	}
	return pkt_cls_process(graph, node, objs, n, classify);
}

HY_NODE_VARIANT(pkt_cls, one_past,
	.text = "Reads the byte behind frames of 60 bytes",
	.impl.process = one_past_process);

static uint16_t
one_short_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static unsigned int bursts;
	struct hy_edge *drop = &node->edges[(int16_t)HY_DROP(PKT_CLS_TRUNCATED)];

	pkt_cls_process(graph, node, objs, n, classify);
	if (++bursts == 1000)
		hy_count(&drop->objs, (uint64_t)-1);
	return n;
}

HY_NODE_VARIANT(pkt_cls, one_short,
	.text = "Counts one packet too few that it drops",
	.impl.process = one_short_process);

static uint16_t
stray_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static unsigned int bursts;

	if (++bursts != 100)
		return pkt_cls_process(graph, node, objs, n, classify);
	objs[n / 2] = NULL;
	hy_enqueue(graph, node, PKT_CLS_NEXT_IP4_LOOKUP, objs, n);
	return n;
}

HY_NODE_VARIANT(pkt_cls, stray,
	.text = "Hands on what is no packet",
	.impl.process = stray_process);
