/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contract of the node family flow_cls, for its variants, and the parts of the body that they share:
 * the keys of a burst, classification in software, and the enqueue.
 *
 * Every packet leaves by the edge that the program assigns to its class (struct hy_flow_cls_config), by
 * default the edge to pkt_cls, or is dropped as "denied". The node writes the class to its one lane.
 * A rule counts each packet that it matches once. The node reads packets and never writes them.
 *
 * A variant loads the view of the policy once a burst (hy_policy_view.h). A variant without init, fini
 * and ctx_size inherits the family's: its context is a struct hy_flow_cls_ctx. A variant with more
 * state places this struct first in its context, and calls hy_flow_cls_init() and hy_flow_cls_fini().
 */
#pragma once

#include <rte_prefetch.h>

#include <hy_flow_cls.h>
#include <hy_mbuf.h>
#include <hy_node.h>
#include <hy_policy_view.h>

HY_API_BEGIN

/** Edges that the family declares. The program may add more. */
enum hy_flow_cls_next { HY_FLOW_CLS_NEXT_PKT_CLS };
/** Drop reasons: "denied". */
enum hy_flow_cls_drop { HY_FLOW_CLS_DENIED };
/** Lanes: HY_FLOW_CLASS_LANE. */
enum hy_flow_cls_lane { HY_FLOW_CLS_LANE_CLASS };

/** Counters, in packets. */
enum hy_flow_cls_counter {
	HY_FLOW_CLS_SW_HITS,        /**< Software found a rule. */
	HY_FLOW_CLS_SW_MISSES,      /**< Software found no matching rule. */
	HY_FLOW_CLS_HW_HITS,        /**< The mark named the rule. */
	HY_FLOW_CLS_HW_STALE,       /**< The mark names no current rule; classified in software. */
	HY_FLOW_CLS_RESIDUE_CHECKS, /**< Marked, and compared with the rules that only software has. */
	HY_FLOW_CLS_SAMPLED,        /**< Marked, and classified again in software. */
	HY_FLOW_CLS_MISMATCHES,     /**< Sampled packets whose mark was wrong. */
};

/** Context of variants that use the family's init, or its first member. */
struct hy_flow_cls_ctx {
	struct hy_policy *policy;      /**< For hy_policy_view_on(). */
	struct hy_policy_counts *hits; /**< The worker's counters, by index of the rule. */
	uint16_t *next;                /**< Edge or HY_DROP() by class: 65,536 entries. */
	int socket;                    /**< The graph's, for hy_policy_view_on(). */
	bool one_way;                  /**< All classes take HY_FLOW_CLS_NEXT_PKT_CLS. */
};

/** The family's init. The context must begin with a struct hy_flow_cls_ctx. */
hy_node_init_t hy_flow_cls_init;
/** The family's fini, for the same contexts. */
hy_node_fini_t hy_flow_cls_fini;

/** The classification of a packet. */
struct hy_flow_cls_answer {
	uint32_t class_id; /**< HY_FLOW_NO_CLASS: no rule matches. */
	uint32_t index;    /**< Index of the rule's hit counter, if a rule matches. */
};

/** @return The answer for packets of a rule; @p rule NULL: for packets that no rule matches. */
static __rte_always_inline struct hy_flow_cls_answer
hy_flow_cls_answer(const struct hy_policy_rule *rule)
{
	return rule == NULL ? (struct hy_flow_cls_answer){ HY_FLOW_NO_CLASS, 0 }
			    : (struct hy_flow_cls_answer){ rule->rule.class_id, rule->index };
}

/** Extracts the key of every packet of a burst. @param n At least 1. */
static __rte_always_inline void
hy_flow_cls_keys(void **objs, uint32_t n, struct hy_flow_key key[])
{
	uint8_t bounce[HY_FLOW_HEADERS];
	uint32_t i = 0;

	for (uint32_t j = 0; j < n; j++)
		rte_prefetch0(rte_pktmbuf_mtod((struct rte_mbuf *)objs[j], void *));
	do { /* n is at least 1 */
		const struct rte_mbuf *m = (const struct rte_mbuf *)objs[i];

		hy_flow_key(hy_mbuf_peek(m, HY_FLOW_HEADERS, bounce), m->pkt_len, &key[i]);
	} while (++i < n);
}

/** Classifies packets in software, and counts them as "sw_hits" or "sw_misses". */
static __rte_always_inline void
hy_flow_cls_software(struct hy_node *node, const struct hy_policy_view *view,
	hy_policy_classify_t *classify, const struct hy_flow_key key[],
	struct hy_flow_cls_answer answer[], uint32_t n)
{
	uint32_t rank[HY_BURST_MAX], hits = 0;

	classify(view, key, rank, n);
	for (uint32_t i = 0; i < n; i++) {
		answer[i] = hy_flow_cls_answer(rank[i] == HY_POLICY_NONE ? NULL
									 : &view->rules[rank[i]]);
		hits += rank[i] != HY_POLICY_NONE;
	}
	hy_counter_add(node, HY_FLOW_CLS_SW_HITS, hits);
	hy_counter_add(node, HY_FLOW_CLS_SW_MISSES, n - hits);
}

/**
 * Counts each packet at its rule, writes its class to the lane, and sends it along the edge of its
 * class. A variant calls it once for all packets of a burst, whether hardware or software classified
 * them.
 */
static __rte_always_inline void
hy_flow_cls_send(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	const struct hy_flow_cls_answer answer[])
{
	const struct hy_flow_cls_ctx *ctx = (const struct hy_flow_cls_ctx *)node->ctx;
	uint32_t *class_id = hy_lane(graph, node, HY_FLOW_CLS_LANE_CLASS);
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++) {
		class_id[i] = answer[i].class_id;
		if (likely(answer[i].class_id != HY_FLOW_NO_CLASS))
			hy_policy_hit(ctx->hits, answer[i].index);
	}
	if (ctx->one_way) {
		hy_stream_move(graph, node, HY_FLOW_CLS_NEXT_PKT_CLS, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		next[i] = ctx->next[class_id[i]];
	hy_enqueue_next(graph, node, next, objs, n);
}

/** Process function of a variant that classifies all packets in software. */
static __rte_always_inline uint16_t
hy_flow_cls_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	hy_policy_classify_t *classify)
{
	const struct hy_flow_cls_ctx *ctx = (const struct hy_flow_cls_ctx *)node->ctx;
	struct hy_flow_cls_answer answer[HY_BURST_MAX];
	struct hy_flow_key key[HY_BURST_MAX];

	hy_flow_cls_keys(objs, n, key);
	hy_flow_cls_software(node, hy_policy_view_on(ctx->policy, ctx->socket), classify, key,
		answer, n);
	hy_flow_cls_send(graph, node, objs, n, answer);
	return n;
}

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_FLOW_CLS_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_flow_cls_ctx), HY_PLUGIN_SIZE(struct hy_policy_view), \
		HY_PLUGIN_SIZE(struct hy_policy_rule), HY_PLUGIN_SIZE(struct hy_flow_key), \
		HY_PLUGIN_OFFSET(hy_flow_cls_ctx, hits), HY_PLUGIN_OFFSET(hy_flow_cls_ctx, next)

HY_PLUGIN_NUMBERS(flow_cls, HY_FLOW_CLS_NUMBERS);
/** @endcond */

HY_API_END
