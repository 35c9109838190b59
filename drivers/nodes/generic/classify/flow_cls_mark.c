/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flow_cls with marks: hardware has already found the rule, so software need not read the frame.
 * Packets without a mark, or with a mark that names no current rule, are classified in software.
 *
 * hy_offload.h sets the marks. A marked packet is compared with the residue of its rule, if there is
 * one: the earlier rules that only software has. If hardware may match more than the rule, such as
 * fragments, packets that do not match it are classified in software. A random sample of marked
 * packets is classified again. A few packets without a valid mark are inspected for whether hardware
 * should have marked them.
 */

#include "flow_cls_mark.h"

struct mark_ctx {
	struct hy_flow_cls_ctx cls; /* first */
	unsigned int worker;
};

/* The state of one burst. */
struct burst {
	struct hy_flow_cls_answer answer[HY_BURST_MAX];
	uint32_t soft[HY_BURST_MAX]; /* indexes of packets for software to classify */
	uint32_t nb_soft;
	uint32_t checked[HY_BURST_MAX]; /* packets of one port whose marks need a check */
	uint32_t nb_checked;
	struct mark_tally all;
};

/*
 * Classifies packets by their marks, from index `from` up to the first packet of another port.
 * Returns that index. Without `checks`, all marks are conclusive and no sample is due. With it,
 * packets whose marks need a check are prefetched and left to checked().
 */
static __rte_always_inline uint32_t
by_marks(struct burst *b, const struct hy_mark_table *table, struct hy_mark_worker *worker,
	void **objs, uint32_t from, uint32_t n, struct mark_tally *t, const bool checks)
{
	const uint16_t port = ((const struct rte_mbuf *)objs[from])->port;
	const uint32_t soft = b->nb_soft;
	uint32_t i;

	for (i = from; i < n; i++) {
		const struct rte_mbuf *m = objs[i];
		const struct hy_mark_slot *slot;
		bool marked;

		if (unlikely(m->port != port))
			break;
		slot = mark_slot(table, m, &marked);
		if (unlikely(slot == NULL)) {
			t->stale += marked;
			b->soft[b->nb_soft++] = i;
			continue;
		}
		b->answer[i] = (struct hy_flow_cls_answer){ slot->class_id, slot->index };
		if (checks && slot->checks != 0) {
			rte_prefetch0(rte_pktmbuf_mtod(m, const void *));
			b->checked[b->nb_checked++] = i;
		} else if (checks && unlikely(--worker->gap == 0)) {
			b->answer[i] = flow_cls_checked(table, slot, worker, m, t);
		}
	}
	t->marked = i - from - (b->nb_soft - soft);
	if (!checks)
		worker->gap -= t->marked;
	return i;
}

/* Whether hardware may have matched what the packet itself does not have. */
static inline bool
is_doubtful(const struct hy_mark_table *table, const struct hy_mark_slot *slot,
	const struct rte_mbuf *m)
{
	if ((slot->checks & HY_MARK_RULE) != 0)
		return !flow_cls_matches(table, slot, m);
	return (slot->checks & HY_MARK_FRAGMENTS) != 0 && !flow_cls_is_whole(m);
}

/* Packets whose marks need a check: fragments go to software, others are compared with the residue. */
static void
checked(struct burst *b, const struct hy_mark_table *table, struct hy_mark_worker *worker,
	void **objs, struct mark_tally *t)
{
	for (uint32_t k = 0; k < b->nb_checked; k++) {
		const uint32_t i = b->checked[k];
		const struct rte_mbuf *m = objs[i];
		const struct hy_mark_slot *slot = &table->slots[m->hash.fdir.hi & table->slot_mask];

		if (unlikely(is_doubtful(table, slot, m))) {
			t->fragments++;
			b->soft[b->nb_soft++] = i;
			continue;
		}
		if (--worker->gap == 0 || (slot->checks & HY_MARK_RESIDUES) != 0)
			b->answer[i] = flow_cls_checked(table, slot, worker, m, t);
	}
	t->marked -= t->fragments;
}

/* Classifies the packets of a port with marks, from index `from` on. Returns the end. */
static uint32_t
port_process(struct burst *b, const struct hy_mark_table *table, unsigned int w, void **objs,
	uint32_t from, uint32_t n)
{
	struct hy_mark_worker *worker = &table->workers[w];
	struct mark_tally t = { 0 };
	const uint32_t soft = b->nb_soft;
	const bool checks = table->checked || worker->gap <= n - from;
	uint32_t to;

	b->nb_checked = 0;
	to = checks ? by_marks(b, table, worker, objs, from, n, &t, true)
		    : by_marks(b, table, worker, objs, from, n, &t, false);
	if (b->nb_checked > 0)
		checked(b, table, worker, objs, &t);
	if (b->nb_soft > soft && unlikely(hy_mark_looks(worker) > 0))
		flow_cls_look(table, worker, objs, &b->soft[soft], b->nb_soft - soft);
	mark_count(&worker->marked, t.marked);
	mark_count(&worker->unmarked, to - from - t.marked - t.stale - t.fragments);
	mark_count(&worker->stale, t.stale);
	if (unlikely(t.fragments > 0))
		mark_count(&worker->fragments, t.fragments);
	mark_count(&worker->residue, t.residue);
	mark_count(&worker->sampled, t.sampled);
	mark_count(&worker->mismatches, t.mismatches);
	b->all.marked += t.marked;
	b->all.stale += t.stale;
	b->all.residue += t.residue;
	b->all.sampled += t.sampled;
	b->all.mismatches += t.mismatches;
	b->all.misses += t.misses;
	return to;
}

/* Leaves the packets of a port without marks to software. Returns the end. */
static uint32_t
port_unmarked(struct burst *b, void **objs, uint32_t from, uint32_t n)
{
	const uint16_t port = ((const struct rte_mbuf *)objs[from])->port;
	uint32_t i = from;

	do {
		b->soft[b->nb_soft++] = i;
	} while (++i < n && ((const struct rte_mbuf *)objs[i])->port == port);
	return i;
}

/* Splits a burst by port, and each port's packets by their marks. */
static void
split(const struct mark_ctx *ctx, struct burst *b, void **objs, uint32_t n)
{
	for (uint32_t from = 0; from < n;) {
		const uint16_t port = ((const struct rte_mbuf *)objs[from])->port;
		const struct hy_mark_table *table = port < RTE_MAX_ETHPORTS
			? hy_policy_marks(ctx->cls.policy, port)
			: NULL;

		from = likely(table != NULL) ? port_process(b, table, ctx->worker, objs, from, n)
					     : port_unmarked(b, objs, from, n);
	}
}

/* Classifies the packets that are left to software. */
static void
by_software(struct hy_node *node, struct burst *b, void **objs)
{
	const struct hy_flow_cls_ctx *ctx = node->ctx;
	struct hy_flow_cls_answer answer[HY_BURST_MAX];
	struct hy_flow_key key[HY_BURST_MAX];
	void *soft[HY_BURST_MAX];
	const uint32_t n = b->nb_soft;

	for (uint32_t i = 0; i < n; i++)
		soft[i] = objs[b->soft[i]];
	hy_flow_cls_keys(soft, n, key);
	hy_flow_cls_software(node, hy_policy_view_on(ctx->policy, ctx->socket),
		hy_policy_classify_compiled, key, answer, n);
	for (uint32_t i = 0; i < n; i++)
		b->answer[b->soft[i]] = answer[i];
}

/* Counts each packet once, as classified by hardware or by software. */
static void
count(struct hy_node *node, const struct mark_tally *t)
{
	hy_counter_add(node, HY_FLOW_CLS_HW_HITS, t->marked - t->mismatches);
	if (likely((t->stale | t->residue | t->sampled) == 0))
		return;
	hy_counter_add(node, HY_FLOW_CLS_HW_STALE, t->stale);
	hy_counter_add(node, HY_FLOW_CLS_RESIDUE_CHECKS, t->residue);
	hy_counter_add(node, HY_FLOW_CLS_SAMPLED, t->sampled);
	hy_counter_add(node, HY_FLOW_CLS_MISMATCHES, t->mismatches);
	hy_counter_add(node, HY_FLOW_CLS_SW_HITS, t->mismatches - t->misses);
	hy_counter_add(node, HY_FLOW_CLS_SW_MISSES, t->misses);
}

static uint16_t
mark_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct burst b;

	b.nb_soft = 0;
	b.all = (struct mark_tally){ 0 };
	split(node->ctx, &b, objs, n);
	if (b.nb_soft > 0)
		by_software(node, &b, objs);
	count(node, &b.all);
	hy_flow_cls_send(graph, node, objs, n, b.answer);
	return n;
}

static int
mark_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct mark_ctx *ctx = node->ctx;

	ctx->worker = hy_graph_worker(graph);
	return hy_flow_cls_init(graph, node, config);
}

HY_NODE_VARIANT(flow_cls, mark,
	.text = "Trusts the marks of the port's flow engine, and checks a sample of them",
	.impl.process = mark_process,
	.impl.init = mark_init,
	.impl.fini = hy_flow_cls_fini,
	.impl.ctx_size = sizeof(struct mark_ctx),
	.needs = { { .cap = HY_CAP_FLOW_MARK } },
	.score = 40);
