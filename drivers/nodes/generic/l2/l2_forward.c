/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * l2_forward: l2_input, l2_learn, l2_lookup and l2_output in one function, for frames that enter, have an
 * entry and leave.
 */

#include <rte_prefetch.h>

#include "drivers/nodes/generic/l2_table/l2_find.h"
#include "l2_input.h"
#include "l2_learn.h"
#include "l2_output.h"

#define LEARN 1
#define OUTPUT 3

/* What is known of a burst's frames. */
struct burst {
	uint64_t to[HY_BURST_MAX], from[HY_BURST_MAX]; /* keys */
	uint32_t lane[HY_BURST_MAX];
	uint16_t port[HY_BURST_MAX];
};

/* The lane of a frame that entered, and what it comes from: others of that enter with the same. */
struct entered {
	uint32_t port, tag; /* tag: type and VID as on the wire; 0: none */
	uint32_t lane;
};

/* The tag of a frame as struct entered has it. */
static __rte_always_inline uint32_t
tag_of(const uint8_t *frame, uint32_t tag_type)
{
	uint32_t tag;

	memcpy(&tag, frame + L2_TAG_AT, sizeof(tag));
	return (tag & RTE_BE32(0xffff0000)) == tag_type ? tag & RTE_BE32(0xffff0fff) : 0;
}

/* Whether a frame is of the same port with the same tag, and its addresses are not bad. */
static __rte_always_inline bool
enters_too(const struct entered *last, const struct rte_mbuf *m, uint32_t tag_type)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	return m->data_len >= L2_HEADERS && m->port == last->port &&
		tag_of(frame, tag_type) == last->tag && !l2_is_reserved(frame) &&
		!l2_is_bad_source(frame);
}

/* Returns how many frames enter and go on, up to the first that does not. */
static __rte_always_inline uint16_t
enter(const struct hy_l2_setup *setup, void **objs, uint16_t n, struct burst *b)
{
	const uint32_t tag_type = rte_cpu_to_be_32((uint32_t)setup->tag_type << 16);
	struct entered last = { .port = UINT32_MAX };
	uint8_t bounce[L2_HEADERS];

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod((const struct rte_mbuf *)objs[i], const void *));
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
		uint16_t vid;

		if (unlikely(!enters_too(&last, m, tag_type))) {
			if (l2_input_next(setup, m, bounce, &frame, &last.lane) !=
					HY_L2_INPUT_NEXT_LEARN ||
				(last.lane & HY_L2_LANE_ONLY) != 0)
				return i;
			last.port = m->data_len >= L2_HEADERS ? m->port : UINT32_MAX;
			last.tag = m->data_len >= L2_HEADERS ? tag_of(frame, tag_type) : 0;
		}
		vid = hy_l2_lane_vid(last.lane);
		b->lane[i] = last.lane;
		b->to[i] = hy_l2_key_load(frame, vid);
		b->from[i] = hy_l2_key_load(frame + RTE_ETHER_ADDR_LEN, vid);
	}
	return n;
}

/* Where a frame went, and what it came from: others of that go there, too. */
struct left {
	uint32_t lane, port;
	bool untagged, differs; /* the tag to leave with: none; not the one that it has */
	uint16_t edge;
};

/* Likewise, of those that leave. */
static __rte_always_inline uint16_t
leave(const struct hy_l2_ctx *ctx, const struct hy_l2_setup *setup, void **objs, uint16_t n,
	const struct burst *b, uint16_t next[])
{
	struct left last = { .port = HY_L2_MISS };

	for (uint16_t i = 0; i < n; i++) {
		const uint32_t lane = b->lane[i], port = b->port[i];

		if (unlikely(lane != last.lane || port != last.port)) {
			const struct hy_l2_vlan *vlan = &setup->vlan[hy_l2_lane_vid(lane)];

			if (port >= HY_L2_BRIDGE_PORTS)
				return i;
			next[i] = l2_output_next(ctx, setup, objs[i],
				lane | port << HY_L2_LANE_OUT);
			if ((int16_t)next[i] < 0)
				return i;
			last = (struct left){ .lane = lane,
				.port = port,
				.untagged = (vlan->untagged >> port & 1) != 0,
				.edge = next[i] };
			last.differs = l2_tag_differs(lane, last.untagged);
			continue;
		}
		if (unlikely(last.differs) && !l2_tag_change(objs[i], setup, lane, last.untagged))
			return i;
		next[i] = last.edge;
	}
	return n;
}

static __rte_always_inline void
learn(struct hy_node *node, struct burst *b, uint16_t n, hy_l2_find_t *find)
{
	uint16_t k = 0;

	for (uint16_t i = 0; i < n; i++) {
		b->from[k] = b->from[i];
		b->port[k] = hy_l2_lane_in(b->lane[i]);
		k += (b->lane[i] & HY_L2_LANE_LEARN) != 0;
	}
	l2_learn_sources(node, b->from, b->port, k, find);
}

static __rte_always_inline uint16_t
forward(struct hy_node *const nodes[], void **objs, uint16_t n, uint16_t next[], hy_l2_find_t *find)
{
	const struct hy_l2_ctx *ctx = nodes[OUTPUT]->ctx;
	const struct hy_l2_setup *setup = hy_l2_setup_load(ctx);
	uint32_t slot[HY_BURST_MAX];
	struct burst b;

	n = enter(setup, objs, n, &b);
	if (unlikely(n == 0))
		return 0;
	find(ctx->table, b.to, slot, n);
	hy_l2_ports(ctx->table, slot, b.port, n);
	n = leave(ctx, setup, objs, n, &b, next);
	learn(nodes[LEARN], &b, n, find);
	return n;
}

/* The function of an ISA, whose kernel is hy_l2_find_ISA. */
#define RUN(isa_) \
	static uint16_t run_##isa_(struct hy_graph *graph __rte_unused, \
		struct hy_node *const nodes[], void **objs, uint16_t n, uint16_t next[]) \
	{ \
		return forward(nodes, objs, n, next, hy_l2_find_##isa_); \
	}

/* All edges are the first ones. */
#define CHAIN(isa_) \
	.chain = { { "l2_input", "scalar" }, { "l2_learn", isa_ }, { "l2_lookup", isa_ }, \
		{ "l2_output", "scalar" } }, \
	.edge = { HY_L2_INPUT_NEXT_LEARN, HY_L2_LEARN_NEXT_LOOKUP, HY_L2_LOOKUP_NEXT_OUTPUT }

RUN(scalar)

HY_NODE_FUSION(l2_forward, scalar, .text = "Compares words of the forwarding table one by one",
	.run = run_scalar, CHAIN("scalar"));

#ifdef RTE_ARCH_X86_64

RUN(avx2)
RUN(avx512)

HY_NODE_FUSION(l2_forward, avx2, .text = "Compares four words of the forwarding table at a time",
	.run = run_avx2, CHAIN("avx2"));
HY_NODE_FUSION(l2_forward, avx512, .text = "Compares eight words of the forwarding table at a time",
	.run = run_avx512, CHAIN("avx512"));

#elif defined(RTE_ARCH_ARM64)

RUN(neon)

HY_NODE_FUSION(l2_forward, neon, .text = "Compares two words of the forwarding table at a time",
	.run = run_neon, CHAIN("neon"));

#endif
