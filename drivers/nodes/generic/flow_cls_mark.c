/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flow_cls by marks: hardware has found the rule already, and the frame is not even looked at. What
 * comes without a mark, or with one that stands for nothing, is classified in software.
 *
 * The marks are hy_offload.h's. A marked packet is held to the residue of its rule, if there is one,
 * and a random sample of marked packets is classified again.
 */

#include <rte_ring_elem.h>

#include <hy_mark.h>

#include "flow_cls.h"

#define MARKED (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID)

struct mark_ctx {
	struct flow_cls_ctx cls; /* first */
	unsigned int worker;
};

/* What became of packets that a port with marks received. */
struct tally {
	uint32_t marked, stale, residue, sampled, mismatches;
	uint32_t misses; /* of mismatches, those that no rule matches */
};

/* One burst, as it is told apart. */
struct burst {
	const struct hy_policy_rule *rule[HY_BURST_MAX];
	uint32_t soft[HY_BURST_MAX]; /* places of the packets that software is to classify */
	uint32_t nb_soft;
	struct tally all;
};

static void
key_of(const struct rte_mbuf *m, struct hy_flow_key *key)
{
	uint8_t bounce[HY_FLOW_HEADERS];

	hy_flow_key(hy_mbuf_peek(m, HY_FLOW_HEADERS, bounce), m->pkt_len, key);
}

/* The first of the rules that only software has, or else the mark's. */
static uint32_t
residue_check(const struct hy_mark_table *table, const struct hy_mark_slot *slot,
	const struct rte_mbuf *m)
{
	const uint32_t *ranks = &table->residues[slot->residue];
	struct hy_flow_key key;

	key_of(m, &key);
	for (uint32_t i = 0; i < slot->nb_residues; i++)
		if (hy_flow_matches(&table->view->rules[ranks[i]].rule.match, &key))
			return ranks[i];
	return slot->rank;
}

static void
mismatch_record(struct hy_mark_worker *worker, const struct rte_mbuf *m,
	const struct hy_policy_rule *hw, const struct hy_policy_rule *sw)
{
	struct hy_mark_mismatch record = {
		.mark = m->hash.fdir.hi,
		.hw_rule = hw->rule.id,
		.hw_class = hw->rule.class_id,
		.sw_rule = sw == NULL ? 0 : sw->rule.id,
		.sw_class = sw == NULL ? HY_FLOW_NO_CLASS : sw->rule.class_id,
		.len = m->pkt_len,
	};

	memcpy(record.frame, rte_pktmbuf_mtod(m, const void *),
		RTE_MIN(m->data_len, HY_MISMATCH_FRAME));
	/* Of more than there is room for, the first are kept; all are counted. */
	(void)rte_ring_sp_enqueue_elem(worker->records, &record, sizeof(record));
}

/* Classifies a marked packet again. Software's answer counts. */
static const struct hy_policy_rule *
sample(const struct hy_mark_table *table, struct hy_mark_worker *worker, const struct rte_mbuf *m,
	const struct hy_policy_rule *hw, struct tally *t)
{
	const struct hy_policy_rule *sw;
	struct hy_flow_key key;
	uint32_t rank;

	worker->gap = hy_mark_gap(worker);
	key_of(m, &key);
	hy_policy_classify_acl(table->view, &key, &rank, 1);
	sw = rank == HY_POLICY_NONE ? NULL : &table->view->rules[rank];
	t->sampled++;
	if (unlikely(sw != hw)) {
		mismatch_record(worker, m, hw, sw);
		t->mismatches++;
		t->misses += sw == NULL;
	}
	return sw;
}

/* Packets [from, to) of a burst, of one port: those that its hardware has marked. */
static struct tally
by_marks(struct burst *b, const struct hy_mark_table *table, struct hy_mark_worker *worker,
	void **objs, uint32_t from, uint32_t to)
{
	const struct hy_policy_rule *rules = table->view->rules;
	struct tally t = { 0 };

	for (uint32_t i = from; i < to; i++) {
		const struct rte_mbuf *m = objs[i];
		const uint32_t mark = m->hash.fdir.hi;
		const struct hy_mark_slot *slot = &table->slots[mark & table->slot_mask];
		const bool marked = (m->ol_flags & MARKED) == MARKED;

		/* A free slot has mark 0. */
		if (unlikely(!marked || slot->mark != mark || mark == 0)) {
			t.stale += marked;
			b->soft[b->nb_soft++] = i;
			continue;
		}
		t.marked++;
		b->rule[i] = &rules[slot->rank];
		if (slot->nb_residues > 0) {
			b->rule[i] = &rules[residue_check(table, slot, m)];
			t.residue++;
		}
		if (unlikely(--worker->gap == 0))
			b->rule[i] = sample(table, worker, m, b->rule[i], &t);
	}
	return t;
}

static inline void
add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static void
port_process(struct burst *b, const struct hy_mark_table *table, unsigned int w, void **objs,
	uint32_t from, uint32_t to)
{
	struct hy_mark_worker *worker = &table->workers[w];
	const struct tally t = by_marks(b, table, worker, objs, from, to);

	add(&worker->marked, t.marked);
	add(&worker->unmarked, to - from - t.marked - t.stale);
	add(&worker->stale, t.stale);
	add(&worker->residue, t.residue);
	add(&worker->sampled, t.sampled);
	add(&worker->mismatches, t.mismatches);
	b->all.marked += t.marked;
	b->all.stale += t.stale;
	b->all.residue += t.residue;
	b->all.sampled += t.sampled;
	b->all.mismatches += t.mismatches;
	b->all.misses += t.misses;
}

/* Tells a burst apart by port, and each port's packets by their marks. */
static void
told_apart(const struct mark_ctx *ctx, struct burst *b, void **objs, uint32_t n)
{
	uint32_t to;

	for (uint32_t from = 0; from < n; from = to) {
		const uint16_t port = ((const struct rte_mbuf *)objs[from])->port;
		const struct hy_mark_table *table = port < RTE_MAX_ETHPORTS
			? hy_policy_marks(ctx->cls.policy, port)
			: NULL;

		for (to = from + 1; to < n && ((const struct rte_mbuf *)objs[to])->port == port;)
			to++;
		if (likely(table != NULL)) {
			port_process(b, table, ctx->worker, objs, from, to);
			continue;
		}
		for (uint32_t i = from; i < to; i++)
			b->soft[b->nb_soft++] = i;
	}
}

/* The packets that software is to classify. */
static void
by_software(struct hy_node *node, struct burst *b, void **objs)
{
	const struct flow_cls_ctx *ctx = node->ctx;
	const struct hy_policy_rule *rule[HY_BURST_MAX];
	struct hy_flow_key key[HY_BURST_MAX];
	void *soft[HY_BURST_MAX];
	const uint32_t n = b->nb_soft;

	for (uint32_t i = 0; i < n; i++)
		soft[i] = objs[b->soft[i]];
	flow_cls_keys(soft, n, key);
	flow_cls_software(node, hy_policy_view(ctx->policy), hy_policy_classify_acl, key, rule, n);
	for (uint32_t i = 0; i < n; i++)
		b->rule[b->soft[i]] = rule[i];
}

/* Each packet is counted once: by hardware's counter, or by one of software's. */
static void
count(struct hy_node *node, const struct tally *t)
{
	hy_counter_add(node, FLOW_CLS_HW_HITS, t->marked - t->mismatches);
	if (likely((t->stale | t->residue | t->sampled) == 0))
		return;
	hy_counter_add(node, FLOW_CLS_HW_STALE, t->stale);
	hy_counter_add(node, FLOW_CLS_RESIDUE_CHECKS, t->residue);
	hy_counter_add(node, FLOW_CLS_SAMPLED, t->sampled);
	hy_counter_add(node, FLOW_CLS_MISMATCHES, t->mismatches);
	hy_counter_add(node, FLOW_CLS_SW_HITS, t->mismatches - t->misses);
	hy_counter_add(node, FLOW_CLS_SW_MISSES, t->misses);
}

static uint16_t
mark_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct burst b;

	b.nb_soft = 0;
	b.all = (struct tally){ 0 };
	told_apart(node->ctx, &b, objs, n);
	if (b.nb_soft > 0)
		by_software(node, &b, objs);
	count(node, &b.all);
	flow_cls_send(graph, node, objs, n, b.rule);
	return n;
}

static int
mark_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct mark_ctx *ctx = node->ctx;

	ctx->worker = hy_graph_worker(graph);
	return flow_cls_init(graph, node, config);
}

HY_NODE_VARIANT(flow_cls, mark,
	.text = "Believes the marks of the port's flow engine, and checks a sample of them",
	.impl.process = mark_process,
	.impl.init = mark_init,
	.impl.fini = flow_cls_fini,
	.impl.ctx_size = sizeof(struct mark_ctx),
	.needs = { { .cap = HY_CAP_FLOW_MARK } },
	.score = 40);
