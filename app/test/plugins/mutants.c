/* SPDX-License-Identifier: BSD-3-Clause */
/* A pack of variants that are wrong, each in one way that a test could well miss. */

#define HY_PACK "mutants"

#include <rte_lpm.h>

#include <hy_ip4_lookup.h>
#include <hy_ip4_rewrite.h>
#include <hy_pkt_cls.h>
#include <hy_plugin.h>

HY_PLUGIN("mutants", "1", "Variants that are wrong, for tests");

/* Rewrites one packet, as the family's contract wants it. */
static uint16_t
rewrite(const struct hy_ip4_rewrite_ctx *ctx, struct rte_mbuf *m, uint32_t route, bool carry)
{
	uint8_t bounce[HY_IP4_FLOW_BYTES];
	const struct hy_ip4_adjacency *adjacency = hy_ip4_adjacency_of(ctx->view, route,
		hy_mbuf_peek(m, sizeof(bounce), bounce), m->pkt_len);
	const struct hy_ip4_rewrite_port *port = &ctx->port[adjacency->port];
	uint8_t copy[HY_IP4_REWRITE_HEADERS];
	const void *headers = rte_pktmbuf_read(m, 0, sizeof(copy), copy);
	rte_le32_t field;
	uint32_t word;
	uint16_t next;

	if (headers != copy)
		memcpy(copy, headers, sizeof(copy));
	memcpy(&field, copy + 22, sizeof(field));
	next = hy_ip4_rewrite_one(copy, m->pkt_len, adjacency, port);
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
	const struct hy_ip4_rewrite_ctx *ctx = node->ctx;
	const uint32_t *route = hy_lane(graph, node, HY_IP4_REWRITE_LANE_ROUTE);

	for (uint16_t i = 0; i < n; i++)
		next[i] = rewrite(ctx, objs[i], route[i], carry);
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
		next[i] = hy_pkt_cls_one(frame[i], len[i], false, &dst[i]);
}

static uint16_t
one_past_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];

		if (m->nb_segs == 1 && m->data_len == 60)
			(void)rte_pktmbuf_mtod(m, const volatile uint8_t *)[m->data_len];
	}
	return hy_pkt_cls_process(graph, node, objs, n, classify);
}

HY_NODE_VARIANT(pkt_cls, one_past,
	.text = "Reads the byte behind frames of 60 bytes",
	.impl.process = one_past_process);

static uint16_t
one_short_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static unsigned int bursts;
	struct hy_edge *drop = &node->edges[(int16_t)HY_DROP(HY_PKT_CLS_TRUNCATED)];

	hy_pkt_cls_process(graph, node, objs, n, classify);
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
		return hy_pkt_cls_process(graph, node, objs, n, classify);
	objs[n / 2] = NULL;
	hy_enqueue(graph, node, HY_PKT_CLS_NEXT_IP4_LOOKUP, objs, n);
	return n;
}

HY_NODE_VARIANT(pkt_cls, stray,
	.text = "Hands on what is no packet",
	.impl.process = stray_process);

/* As pkt_cls does, but with the places of a burst for whoever spoils them. */
static void
pkt_cls_burst(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t next[],
	uint16_t n)
{
	uint8_t bounce[HY_BURST_MAX][HY_PKT_CLS_HEADERS];
	const uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX], *dst = hy_lane(graph, node, HY_PKT_CLS_LANE_ROUTE);

	hy_pkt_cls_frames(objs, n, bounce, frame, len);
	classify(frame, len, next, dst, n);
	if (hy_pkt_cls_ip6_on(node))
		hy_pkt_cls_ip6_rest(node, frame, len, next, dst, n);
}

/* The first place with this outcome; n: there is none. */
static uint16_t
first(const uint16_t next[], uint16_t n, uint16_t outcome)
{
	uint16_t i = 0;

	while (i < n && next[i] != outcome)
		i++;
	return i;
}

static uint16_t
other_reason_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX], i;

	pkt_cls_burst(graph, node, objs, next, n);
	i = first(next, n, HY_DROP(HY_PKT_CLS_BAD_HEADER));
	if (i < n)
		next[i] = HY_DROP(HY_PKT_CLS_BAD_CHECKSUM);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(pkt_cls, other_reason,
	.text = "Drops a bad header as a bad checksum",
	.impl.process = other_reason_process);

static uint16_t
frees_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	pkt_cls_burst(graph, node, objs, next, n);
	if (next[n - 1] == HY_DROP(HY_PKT_CLS_NOT_IP4)) {
		rte_pktmbuf_free(objs[n - 1]);
		hy_enqueue_next(graph, node, next, objs, (uint16_t)(n - 1));
	} else {
		hy_enqueue_next(graph, node, next, objs, n);
	}
	return n;
}

HY_NODE_VARIANT(pkt_cls, frees,
	.text = "Frees a packet that it should drop",
	.impl.process = frees_process);

static uint16_t
frees_and_sends_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX], i;

	pkt_cls_burst(graph, node, objs, next, n);
	i = first(next, n, HY_PKT_CLS_NEXT_IP4_LOOKUP);
	hy_enqueue_next(graph, node, next, objs, n);
	if (i < n)
		rte_pktmbuf_free(objs[i]);
	return n;
}

HY_NODE_VARIANT(pkt_cls, frees_and_sends,
	.text = "Frees a packet that it has sent on",
	.impl.process = frees_and_sends_process);

static uint16_t
puts_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	pkt_cls_burst(graph, node, objs, next, n);
	if (next[n - 1] == HY_DROP(HY_PKT_CLS_TRUNCATED)) {
		rte_mempool_put(((struct rte_mbuf *)objs[n - 1])->pool, objs[n - 1]);
		hy_enqueue_next(graph, node, next, objs, (uint16_t)(n - 1));
	} else {
		hy_enqueue_next(graph, node, next, objs, n);
	}
	return n;
}

HY_NODE_VARIANT(pkt_cls, puts,
	.text = "Puts a packet into its pool instead of dropping it",
	.impl.process = puts_process);

static uint16_t
holds_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct rte_mbuf *m = objs[n / 2];

	if (n == 30)
		rte_mbuf_refcnt_update(m, 1);
	return hy_pkt_cls_process(graph, node, objs, n, classify);
}

HY_NODE_VARIANT(pkt_cls, holds,
	.text = "Holds a reference to a packet",
	.impl.process = holds_process);

static uint16_t
keeps_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	pkt_cls_burst(graph, node, objs, next, n);
	hy_enqueue_next(graph, node, next, objs, (uint16_t)(n - (n == 40)));
	return n;
}

HY_NODE_VARIANT(pkt_cls, keeps,
	.text = "Keeps the last packet of a burst",
	.impl.process = keeps_process);

static uint16_t
reorders_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint32_t *dst = hy_lane(graph, node, HY_PKT_CLS_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX], i, k;

	pkt_cls_burst(graph, node, objs, next, n);
	i = first(next, n, HY_PKT_CLS_NEXT_IP4_LOOKUP);
	k = (uint16_t)(n - 1);
	if (i < k && next[k] == HY_PKT_CLS_NEXT_IP4_LOOKUP) {
		RTE_SWAP(objs[i], objs[k]);
		RTE_SWAP(dst[i], dst[k]);
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(pkt_cls, reorders,
	.text = "Sends the last packet of a burst on as its first",
	.impl.process = reorders_process);

static uint16_t
beyond_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct rte_mbuf *m = objs[n - 1];

	if (!RTE_MBUF_HAS_EXTBUF(m) && m->nb_segs == 1)
		rte_pktmbuf_mtod(m, uint8_t *)[m->data_len] = 0;
	return hy_pkt_cls_process(graph, node, objs, n, classify);
}

HY_NODE_VARIANT(pkt_cls, beyond,
	.text = "Writes the byte behind a frame",
	.impl.process = beyond_process);

static uint16_t
late_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static unsigned int calls;
	uint16_t next[HY_BURST_MAX];

	pkt_cls_burst(graph, node, objs, next, n);
	if (++calls == 100000)
		next[0] = next[0] == HY_PKT_CLS_NEXT_IP4_LOOKUP ? HY_DROP(HY_PKT_CLS_NOT_IP4)
								: HY_PKT_CLS_NEXT_IP4_LOOKUP;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(pkt_cls, late,
	.text = "Sends one packet of its 100,000th burst elsewhere",
	.impl.process = late_process);

/* Looks a route up: stores the next hop's id and returns an edge or a drop. */
static uint16_t
route_one(const struct hy_ip4_view *view, uint32_t *route)
{
	uint32_t entry;

	if (rte_lpm_lookup(view->lpm, *route, &entry) == 0)
		entry |= RTE_LPM_LOOKUP_SUCCESS;
	else
		entry = __atomic_load_n(&view->default_entry, __ATOMIC_ACQUIRE);
	*route = entry & HY_IP4_ID_MASK;
	return entry != 0 ? HY_IP4_LOOKUP_NEXT_REWRITE : HY_DROP(HY_IP4_LOOKUP_NO_ROUTE);
}

static uint16_t
forwards_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ip4_lookup_ctx *ctx = node->ctx;
	uint32_t *route = hy_lane(graph, node, HY_IP4_LOOKUP_LANE_ROUTE);

	for (uint16_t i = 0; i < n; i++)
		(void)route_one(ctx->view, &route[i]); /* to next hop 0, if there is no route */
	hy_enqueue(graph, node, HY_IP4_LOOKUP_NEXT_REWRITE, objs, n);
	return n;
}

HY_NODE_VARIANT(ip4_lookup, forwards,
	.text = "Forwards what has no route",
	.impl.process = forwards_process);

static uint16_t
cached_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static struct {
		uint32_t dst, route;
		uint16_t next;
		bool used;
	} cache[4096];
	const struct hy_ip4_lookup_ctx *ctx = node->ctx;
	uint32_t *route = hy_lane(graph, node, HY_IP4_LOOKUP_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		const uint32_t dst = route[i], at = (dst * 2654435761u) >> 20;

		if (!cache[at].used || cache[at].dst != dst) {
			cache[at].next = route_one(ctx->view, &route[i]);
			cache[at].route = route[i];
			cache[at].dst = dst;
			cache[at].used = true;
		}
		route[i] = cache[at].route;
		next[i] = cache[at].next;
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(ip4_lookup, cached,
	.text = "Remembers routes that have changed",
	.impl.process = cached_process);

/* ip4_forward, of a packet in one segment. Returns its edge, or a drop. */
static uint16_t
forward_one(struct hy_node *const nodes[], struct rte_mbuf *m, uint32_t mask)
{
	const struct hy_ip4_lookup_ctx *lookup = nodes[1]->ctx;
	const struct hy_ip4_rewrite_ctx *rewrite = nodes[2]->ctx;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	const struct hy_ip4_adjacency *adjacency;
	uint32_t route;

	if (hy_pkt_cls_one(frame, m->pkt_len, false, &route) != HY_PKT_CLS_NEXT_IP4_LOOKUP ||
		route_one(lookup->view, &route) != HY_IP4_LOOKUP_NEXT_REWRITE)
		return HY_DROP(0);
	adjacency = hy_ip4_adjacency_of(rewrite->view, route & mask, frame, m->pkt_len);
	return hy_ip4_rewrite_one(frame, m->pkt_len, adjacency, &rewrite->port[adjacency->port]);
}

/* How many packets before the first with several segments, which fusions here leave to the nodes. */
static uint16_t
stops(void *const objs[], uint16_t n, const char **why)
{
	uint16_t i = 0;

	*why = "a packet has several segments";
	while (i < n && ((const struct rte_mbuf *)objs[i])->nb_segs == 1)
		i++;
	return i;
}

static uint16_t
forward(struct hy_node *const nodes[], void **objs, uint16_t n, uint16_t next[], uint32_t mask)
{
	const char *why;
	uint16_t i;

	n = stops(objs, n, &why);
	for (i = 0; i < n; i++) {
		next[i] = forward_one(nodes, objs[i], mask);
		if ((int16_t)next[i] < 0)
			break;
	}
	return i;
}

#define CHAIN \
	.chain = { { "pkt_cls", "scalar" }, { "ip4_lookup", "scalar" }, \
		{ "ip4_rewrite", "scalar" } }, \
	.edge = { HY_PKT_CLS_NEXT_IP4_LOOKUP, HY_IP4_LOOKUP_NEXT_REWRITE }

static uint16_t
masked_run(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	RTE_SET_USED(graph);
	return forward(nodes, objs, n, next, 3);
}

HY_NODE_FUSION(ip4_forward, masked, .text = "Takes next hops for one of the first four",
	.run = masked_run, .stops = stops, CHAIN);

static uint16_t
greedy_run(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	const uint16_t done = forward(nodes, objs, n, next, HY_IP4_ID_MASK);

	RTE_SET_USED(graph);
	if (done < n)
		next[done] = 0;
	return (uint16_t)(done + (done < n));
}

HY_NODE_FUSION(ip4_forward, greedy, .text = "Forwards a packet that does not pass",
	.run = greedy_run, .stops = stops, CHAIN);

static uint16_t
resting_run(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	RTE_SET_USED(graph);
	RTE_SET_USED(nodes);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	RTE_SET_USED(next);
	return 0;
}

static uint16_t
rests(void *const objs[], uint16_t n, const char **why)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	*why = "it rests";
	return 0;
}

HY_NODE_FUSION(ip4_forward, resting, .text = "Handles nothing", .run = resting_run, .stops = rests,
	CHAIN);

static uint16_t
edits_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ip4_lookup_ctx *ctx = node->ctx;
	uint32_t *route = hy_lane(graph, node, HY_IP4_LOOKUP_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = objs[i];

		next[i] = route_one(ctx->view, &route[i]);
		if (m->data_len > 22)
			rte_pktmbuf_mtod(m, uint8_t *)[22]--; /* the TTL: ip4_rewrite's to change */
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(ip4_lookup, edits,
	.text = "Writes to packets, which lookups only hand on",
	.impl.process = edits_process);
