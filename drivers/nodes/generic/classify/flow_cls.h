/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract of the family flow_cls, and the parts of the body that its variants share: keys of a
 * burst, classification in software, and sending on. Lane: the class of each packet.
 */
#ifndef FLOW_CLS_H
#define FLOW_CLS_H

#include <rte_prefetch.h>

#include <hy_flow_cls.h>
#include <hy_mbuf.h>
#include <hy_node.h>
#include <hy_policy_view.h>

enum flow_cls_next { FLOW_CLS_NEXT_PKT_CLS };
enum flow_cls_drop { FLOW_CLS_DENIED };
enum flow_cls_lane { FLOW_CLS_LANE_CLASS };

enum flow_cls_counter {
	FLOW_CLS_SW_HITS,
	FLOW_CLS_SW_MISSES,
	FLOW_CLS_HW_HITS,
	FLOW_CLS_HW_STALE,
	FLOW_CLS_RESIDUE_CHECKS,
	FLOW_CLS_SAMPLED,
	FLOW_CLS_MISMATCHES,
};

struct flow_cls_ctx {
	struct hy_policy *policy;
	uint64_t *hits; /* the worker's, by index of rules */
	uint16_t *next; /* by class */
	bool one_way;   /* FLOW_CLS_NEXT_PKT_CLS, whatever the class */
};

/* init() and fini() of all variants. A variant with more state has this first in its context. */
hy_node_init_t flow_cls_init;
hy_node_fini_t flow_cls_fini;

/* What a packet is found to be. */
struct flow_cls_answer {
	uint32_t class_id; /* HY_FLOW_NO_CLASS: no rule matches, */
	uint32_t index;    /* and this says nothing; else the rule's hit counter */
};

static __rte_always_inline struct flow_cls_answer
flow_cls_answer(const struct hy_policy_rule *rule)
{
	return rule == NULL ? (struct flow_cls_answer){ HY_FLOW_NO_CLASS, 0 }
			    : (struct flow_cls_answer){ rule->rule.class_id, rule->index };
}

/* Makes the key of every packet of a burst. */
static __rte_always_inline void
flow_cls_keys(void **objs, uint32_t n, struct hy_flow_key key[])
{
	uint8_t bounce[HY_FLOW_HEADERS];
	uint32_t i = 0;

	for (uint32_t j = 0; j < n; j++)
		rte_prefetch0(rte_pktmbuf_mtod((struct rte_mbuf *)objs[j], void *));
	do { /* n is at least 1 */
		const struct rte_mbuf *m = objs[i];

		hy_flow_key(hy_mbuf_peek(m, HY_FLOW_HEADERS, bounce), m->pkt_len, &key[i]);
	} while (++i < n);
}

/* Classifies packets in software, and counts them as such. */
static __rte_always_inline void
flow_cls_software(struct hy_node *node, const struct hy_policy_view *view,
	hy_policy_classify_t *classify, const struct hy_flow_key key[],
	struct flow_cls_answer answer[], uint32_t n)
{
	uint32_t rank[HY_BURST_MAX], hits = 0;

	classify(view, key, rank, n);
	for (uint32_t i = 0; i < n; i++) {
		answer[i] = flow_cls_answer(rank[i] == HY_POLICY_NONE ? NULL
								      : &view->rules[rank[i]]);
		hits += rank[i] != HY_POLICY_NONE;
	}
	hy_counter_add(node, FLOW_CLS_SW_HITS, hits);
	hy_counter_add(node, FLOW_CLS_SW_MISSES, n - hits);
}

/*
 * Counts each packet at its rule, and sends it where its class goes. Whoever found the rule, this is
 * the one place where hits are counted.
 */
static __rte_always_inline void
flow_cls_send(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	const struct flow_cls_answer answer[])
{
	const struct flow_cls_ctx *ctx = node->ctx;
	uint32_t *class_id = hy_lane(graph, node, FLOW_CLS_LANE_CLASS);
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++) {
		class_id[i] = answer[i].class_id;
		if (likely(answer[i].class_id != HY_FLOW_NO_CLASS))
			hy_policy_hit(ctx->hits, answer[i].index);
	}
	if (ctx->one_way) {
		hy_stream_move(graph, node, FLOW_CLS_NEXT_PKT_CLS, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		next[i] = ctx->next[class_id[i]];
	hy_enqueue_next(graph, node, next, objs, n);
}

/* The whole of a variant that classifies all packets in software. */
static __rte_always_inline uint16_t
flow_cls_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	hy_policy_classify_t *classify)
{
	const struct flow_cls_ctx *ctx = node->ctx;
	struct flow_cls_answer answer[HY_BURST_MAX];
	struct hy_flow_key key[HY_BURST_MAX];

	flow_cls_keys(objs, n, key);
	flow_cls_software(node, hy_policy_view(ctx->policy), classify, key, answer, n);
	flow_cls_send(graph, node, objs, n, answer);
	return n;
}

#endif
