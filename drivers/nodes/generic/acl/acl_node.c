/* SPDX-License-Identifier: BSD-3-Clause */
/* acl_in and acl_out: each packet is permitted, dropped or led away as the list of its cookie says. */

#include <rte_cycles.h>
#include <rte_prefetch.h>

#include <hy_mark.h>
#include <hy_mbuf.h>

#include "acl_node.h"

struct burst {
	void **objs;
	uint64_t now;
	uint32_t *class_id;
	struct hy_arc_hop hop[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];
	uint16_t todo[HY_BURST_MAX]; /* packets without a verdict, in order */
	uint16_t nb_todo;
	uint16_t mine[HY_BURST_MAX]; /* those of one list */
	uint16_t nb_mine;
};

/* Moves the packets of the first one's list from todo to mine. Returns the list's number. */
static uint32_t
list_take(struct burst *b)
{
	const uint32_t number = b->hop[b->todo[0]].cookie;
	uint16_t left = 0;

	b->nb_mine = 0;
	for (uint16_t k = 0; k < b->nb_todo; k++) {
		const uint16_t i = b->todo[k];

		if (likely(b->hop[i].cookie == number))
			b->mine[b->nb_mine++] = i;
		else
			b->todo[left++] = i;
	}
	b->nb_todo = left;
	return number;
}

static void
keys_make(const struct burst *b, struct hy_flow_key key[])
{
	uint8_t bounce[HY_FLOW_HEADERS];

	for (uint16_t k = 0; k < b->nb_mine; k++) {
		const struct rte_mbuf *m = b->objs[b->mine[k]];

		hy_flow_key(hy_mbuf_peek(m, HY_FLOW_HEADERS, bounce), m->pkt_len, &key[k]);
	}
}

/* Where a packet goes by an action of a rule; by a list's default action, rule is NULL. */
static inline uint16_t
act(const struct acl_ctx *ctx, const struct hy_flow_rule *rule, uint8_t action, uint16_t onward,
	uint32_t *class_id, struct hy_acl_counts *sum)
{
	if (action == HY_RULE_DENY) {
		sum->denied++;
		return HY_DROP(HY_ACL_DENIED);
	}
	if (action == HY_RULE_TO_PORT) {
		const uint16_t edge = rule->port < RTE_MAX_ETHPORTS ? ctx->to_port[rule->port]
								    : HY_ACL_NO_EDGE;

		sum->redirected++;
		return edge == HY_ACL_NO_EDGE ? HY_DROP(HY_ACL_NO_PORT) : edge;
	}
	if (action == HY_RULE_CLASSIFY) {
		*class_id = rule->class_id;
		if (ctx->ways != NULL && ctx->ways[rule->class_id] != ACL_ONWARD)
			onward = ctx->ways[rule->class_id];
	}
	if (onward == HY_DROP(HY_ACL_CLASS))
		sum->denied++;
	else
		sum->permitted++;
	return onward;
}

/* The verdict on one packet, whose rule is of that rank. */
static inline void
judge(const struct acl_ctx *ctx, struct burst *b, const struct hy_acl_shown *list,
	const struct hy_policy_view *view, const struct hy_flow_key *key, uint32_t rank, uint16_t i,
	struct hy_acl_counts *sum)
{
	const bool truncated = (key->has & HY_FLOW_TRUNCATED) != 0;
	const struct rte_mbuf *m = b->objs[i];
	const struct hy_policy_rule *rule;
	uint8_t action;

	b->class_id[i] = HY_FLOW_NO_CLASS;
	sum->truncated += truncated;
	sum->unknown += (key->fragment & HY_FLOW_UNKNOWN_FRAGMENT) != 0;
	if (unlikely(truncated && view->deny_truncated)) {
		sum->denied++;
		b->next[i] = HY_DROP(HY_ACL_TRUNCATED);
		return;
	}
	if (rank == HY_POLICY_NONE) {
		sum->unmatched++;
		b->next[i] = act(ctx, NULL, view->default_action, b->hop[i].edge, &b->class_id[i],
			sum);
		return;
	}
	rule = &view->rules[rank];
	action = rule->rule.action == HY_RULE_COUNT ? view->default_action : rule->rule.action;
	b->next[i] = act(ctx, &rule->rule, action, b->hop[i].edge, &b->class_id[i], sum);
	hy_policy_hit_bytes(hy_policy_counters(list->policy, ctx->worker), rule->index, m->pkt_len,
		b->now);
	if (unlikely(rule->rule.log))
		acl_log(ctx, list, rule, key, m, b->now, b->next[i] >= HY_DROP(HY_ACL_NO_LIST));
}

static void
counts_add(struct hy_acl_counts *to, const struct hy_acl_counts *sum)
{
	uint64_t *count = (uint64_t *)to;
	const uint64_t *n = (const uint64_t *)sum;

	for (size_t c = 0; c < sizeof(*to) / sizeof(*count); c++)
		__atomic_store_n(&count[c], count[c] + n[c], __ATOMIC_RELAXED);
}

/* The verdicts on the packets of one list. */
static void
list_apply(const struct acl_ctx *ctx, struct burst *b, const struct hy_acl_shown *list)
{
	const struct hy_policy_view *view = hy_policy_view_on(list->policy, ctx->socket);
	const struct hy_mark_table *marks = ctx->out ? NULL
						     : hy_policy_marks(list->policy, ctx->port);
	struct hy_flow_key key[HY_BURST_MAX];
	struct hy_acl_counts sum = { 0 };
	uint32_t rank[HY_BURST_MAX];

	keys_make(b, key);
	hy_policy_classify_compiled(view, key, rank, b->nb_mine);
	if (unlikely(marks != NULL &&
		    marks->view->version == view->version)) /* another one, while it changes */
		acl_verify(marks, &marks->workers[ctx->worker], b->objs, b->mine, key, rank,
			b->nb_mine);
	for (uint16_t k = 0; k < b->nb_mine; k++)
		judge(ctx, b, list, view, &key[k], rank[k], b->mine[k], &sum);
	counts_add(&list->workers[ctx->worker].counts, &sum);
}

static uint16_t
acl_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct acl_ctx *ctx = node->ctx;
	struct burst b;

	b.objs = objs;
	b.now = rte_rdtsc();
	b.class_id = hy_lane(graph, node, HY_ACL_LANE_CLASS);
	b.nb_todo = n;
	hy_arc_hops(graph, node, &ctx->place, b.hop, n);
	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod((struct rte_mbuf *)objs[i], void *));
		b.todo[i] = i;
	}
	while (b.nb_todo > 0) {
		const uint32_t number = list_take(&b);
		const struct hy_acl_shown *list = number >= HY_ACL_LISTS
			? NULL
			: __atomic_load_n(&ctx->table->lists[number], __ATOMIC_ACQUIRE);

		if (likely(list != NULL))
			list_apply(ctx, &b, list);
		for (uint16_t k = 0; list == NULL && k < b.nb_mine; k++) {
			b.class_id[b.mine[k]] = HY_FLOW_NO_CLASS;
			b.next[b.mine[k]] = HY_DROP(HY_ACL_NO_LIST);
		}
	}
	hy_enqueue_next(graph, node, b.next, objs, n);
	return n;
}

#define ACL(name_) \
	{ \
		.name = (name_), \
		.impl = { \
			.variant = "scalar", \
			.process = acl_process, \
			.init = acl_init, \
			.fini = acl_fini, \
			.ctx_size = sizeof(struct acl_ctx), \
		}, \
		.lanes = { [HY_ACL_LANE_ARC] = HY_ARC_LANE, \
			[HY_ACL_LANE_CLASS] = HY_FLOW_CLASS_LANE }, \
		.lanes_set = 1u << HY_ACL_LANE_CLASS, \
		.drops = { \
			[HY_ACL_DENIED] = { "acl_denied", HY_SEV_INFO, \
				"An access list denies the packet" }, \
			[HY_ACL_TRUNCATED] = { "acl_truncated", HY_SEV_WARN, \
				"Cut or malformed, and the access list denies such packets" }, \
			[HY_ACL_NO_PORT] = { "no_port", HY_SEV_WARN, \
				"An access list sends the packet to a port that the program does not use" }, \
			[HY_ACL_CLASS] = { "denied", HY_SEV_INFO, \
				"Packets of this class must not be forwarded" }, \
			[HY_ACL_NO_LIST] = { "no_list", HY_SEV_ERROR, \
				"The access list was destroyed while the packet was waiting" }, \
		}, \
	}

static const struct hy_node_desc acl_in = ACL(HY_ACL_IN_NODE);
static const struct hy_node_desc acl_out = ACL(HY_ACL_OUT_NODE);

HY_NODE_REGISTER(acl_in)
HY_NODE_REGISTER(acl_out)
