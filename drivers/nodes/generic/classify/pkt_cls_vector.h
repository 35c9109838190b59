/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that the vector kernels of pkt_cls share. Every frame that does not pass the checks of
 * WIDTH headers goes through the scalar check, which finds the drop reason.
 *
 * A file defines these before it includes this one, besides what pkt_cls_checks.h needs:
 * KERNEL, CLASSIFY: names of the kernel that is defined here, and of one that says whether all pass;
 * FEWER, if there is one: the pkt_cls_classify_t for fewer than WIDTH frames.
 */
#pragma once

#include "pkt_cls_checks.h"
#include "pkt_cls_ip6_vector.h"

#define TOO_FEW 4 /* frames: fewer do not pay for a vector */

/* Which of WIDTH frames have a group address. Few do, so that byte0 is tested first. */
static __rte_noinline uint32_t
to_groups(const uint8_t *const frame[])
{
	uint32_t bits = 0;

	for (unsigned int i = 0; i < WIDTH; i++)
		bits |= (frame[i][0] & UINT32_C(1)) << i; /* RTE_ETHER_GROUP_ADDR */
	return bits;
}

/* The scalar check of n frames. Returns 0 if all pass. */
static __rte_noinline uint32_t
classify_singly(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[],
	uint32_t n)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < n; i++) {
		next[i] = hy_pkt_cls_one(frame[i], len[i], false, &dst[i]);
		wrong |= next[i];
	}
	return wrong;
}

/* The scalar check of the frames whose bits are set. Returns 0 if all pass. */
static __rte_noinline uint32_t
classify_again(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[],
	uint32_t which)
{
	uint32_t wrong = 0;

	for (; which != 0; which &= which - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(which);

		next[i] = hy_pkt_cls_one(frame[i], len[i], false, &dst[i]);
		wrong |= next[i];
	}
	return wrong;
}

/* Classifies WIDTH frames. Returns 0 if all pass. */
VECTOR static __rte_always_inline uint32_t
classify_vector(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[])
{
	lanes lengths, addresses, ttl;
	uint8_t byte0;
	uint32_t wrong;

	memcpy(&lengths, len, sizeof(lengths));
	static_assert(HY_PKT_CLS_NEXT_IP4_LOOKUP == 0, "a frame that passes has next 0");
	memset(next, 0, WIDTH * sizeof(*next));
	wrong = true_lanes(below(ALL_MARKS, lengths, (lanes){ 0 } + SHORTEST));
	if (likely(wrong == 0)) {
		wrong = wrong_ones(frame, lengths, &addresses, &ttl, &byte0);
		if (unlikely((byte0 & RTE_ETHER_GROUP_ADDR) != 0))
			wrong |= to_groups(frame);
		memcpy(dst, &addresses, sizeof(addresses));
	} else {
		wrong = UINT32_MAX >> (32 - WIDTH);
	}
	return likely(wrong == 0) ? 0 : classify_again(frame, len, next, dst, wrong);
}

#ifndef FEWER
#define FEWER classify_few

/* Classifies fewer than WIDTH frames; copies of the first one fill the vector. */
VECTOR static __rte_noinline uint32_t
classify_few(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[],
	uint32_t n)
{
	const uint8_t *frames[WIDTH];
	uint32_t lens[WIDTH], dsts[WIDTH], wrong;
	uint16_t nexts[WIDTH];

	for (uint32_t i = 0; i < WIDTH; i++) {
		frames[i] = frame[i < n ? i : 0];
		lens[i] = len[i < n ? i : 0];
	}
	wrong = classify_vector(frames, lens, nexts, dsts);
	memcpy(next, nexts, n * sizeof(*next));
	memcpy(dst, dsts, n * sizeof(*dst));
	return wrong;
}
#endif

VECTOR uint32_t
CLASSIFY(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[],
	uint32_t n)
{
	uint32_t wrong = 0, i;

	if (n < TOO_FEW)
		return classify_singly(frame, len, next, dst, n);
	if (n < WIDTH)
		return FEWER(frame, len, next, dst, n);
	for (i = 0; i + WIDTH <= n; i += WIDTH)
		wrong |= classify_vector(frame + i, len + i, next + i, dst + i);
	if (i < n) { /* the last WIDTH frames, some of them once more, with the same result */
		i = n - WIDTH;
		wrong |= classify_vector(frame + i, len + i, next + i, dst + i);
	}
	return wrong;
}

void
KERNEL(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[],
	uint32_t n)
{
	CLASSIFY(frame, len, next, dst, n);
}

/* For bursts in which a packet has several segments. */
static __rte_noinline uint16_t
process_segments(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_pkt_cls_process(graph, node, objs, n, KERNEL);
}

/* Checks side by side the frames before the first that is not IPv6 or does not pass. Returns how many. */
static uint32_t
ip6_at_start(const struct hy_node *node, const uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t dst[], uint32_t n)
{
	const struct hy_pkt_cls_ctx *ctx = node->ctx;
	uint32_t options = 0; /* ip6_lookup counts them */

	if (len[0] < RTE_ETHER_HDR_LEN || !hy_pkt_cls_says_ip6(frame[0]))
		return 0;
	n = PASS_IP6(frame, len, &options, n);
	for (uint32_t i = 0; i < n; i++) {
		next[i] = ctx->ip6_edge;
		dst[i] = 0;
	}
	return n;
}

/* While IPv6 is on. The first frame tells what most are likely to be. */
static __rte_noinline uint16_t
process_both(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	const uint8_t *const frame[], const uint32_t len[])
{
	uint32_t *dst = hy_lane(graph, node, HY_PKT_CLS_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX];
	uint32_t i = ip6_at_start(node, frame, len, next, dst, n);

	if (i == n) {
		hy_stream_move(graph, node, next[0], n);
		return n;
	}
	i += hy_pkt_cls_ip6_first(node, frame + i, len + i, next + i, dst + i, n - i);
	if (i < n && CLASSIFY(frame + i, len + i, next + i, dst + i, n - i) != 0)
		hy_pkt_cls_ip6_rest(node, frame + i, len + i, next + i, dst + i, n - i);
	else if (i == 0) {
		hy_stream_move(graph, node, HY_PKT_CLS_NEXT_IP4_LOOKUP, n);
		return n;
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX], segments = 0, i = 0;
	uint16_t next[HY_BURST_MAX];

	do { /* n is at least 1 */
		const struct rte_mbuf *m = objs[i];

		frame[i] = rte_pktmbuf_mtod(m, const uint8_t *);
		rte_prefetch0(frame[i]); /* all are under way when the first is checked */
		len[i] = m->pkt_len;
		segments |= m->nb_segs;
	} while (++i < n);
	if (unlikely(segments != 1))
		return process_segments(graph, node, objs, n);
	if (unlikely(hy_pkt_cls_ip6_on(node)))
		return process_both(graph, node, objs, n, frame, len);
	if (likely(CLASSIFY(frame, len, next, hy_lane(graph, node, HY_PKT_CLS_LANE_ROUTE), n) == 0))
		hy_stream_move(graph, node, HY_PKT_CLS_NEXT_IP4_LOOKUP, n);
	else
		hy_enqueue_next(graph, node, next, objs, n);
	return n;
}
