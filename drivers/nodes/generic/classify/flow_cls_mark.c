/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flow_cls by marks: hardware has found the rule already, and the frame is not even looked at. What
 * comes without a mark, or with one that stands for nothing, is classified in software.
 *
 * The marks are hy_offload.h's. A marked packet is held to the residue of its rule, if there is one;
 * a fragment goes to software, if hardware marks those too where the rule is for ports; and a random
 * sample of marked packets is classified again. Of packets without a valid mark, a few
 * are looked at to see whether hardware should have marked them.
 */

#include "flow_cls_mark.h"

struct mark_ctx {
	struct hy_flow_cls_ctx cls; /* first */
	unsigned int worker;
};

/* One burst, as it is told apart. */
struct burst {
	struct hy_flow_cls_answer answer[HY_BURST_MAX];
	uint32_t soft[HY_BURST_MAX]; /* places of the packets that software is to classify */
	uint32_t nb_soft;
	uint32_t checked[HY_BURST_MAX]; /* packets of one port whose mark needs a check */
	uint32_t nb_checked;
	struct mark_tally all;
};

/*
 * Packets of a burst from this one on, as long as they are of one port: those that its hardware has
 * marked. Returns where they end. Without `checks`, their marks say all, and no sample is due; with
 * it, packets of marks that do not say all are fetched, and left for checked().
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
		const uint32_t mark = m->hash.fdir.hi;
		const struct hy_mark_slot *slot = &table->slots[mark & table->slot_mask];
		const bool marked = (m->ol_flags & FLOW_CLS_MARKED) == FLOW_CLS_MARKED;

		if (unlikely(m->port != port))
			break;
		/* A free slot has mark 0. */
		if (unlikely(!marked || slot->mark != mark || mark == 0)) {
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

/* Whether hardware may have marked a packet for ports that it does not have itself. */
static inline bool
is_doubtful(const struct hy_mark_table *table, const struct hy_mark_slot *slot,
	const struct rte_mbuf *m)
{
	if ((slot->checks & HY_MARK_FRAGMENTS) == 0)
		return false;
	return table->inner_ports ? !flow_cls_matches(table, slot, m) : !flow_cls_is_whole(m);
}

/* Those whose marks do not say all: fragments go to software, and others are held to the residue. */
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

static inline void
add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Packets of a port with marks, from this one on. Returns where they end. */
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
	add(&worker->marked, t.marked);
	add(&worker->unmarked, to - from - t.marked - t.stale - t.fragments);
	add(&worker->stale, t.stale);
	if (unlikely(t.fragments > 0))
		add(&worker->fragments, t.fragments);
	add(&worker->residue, t.residue);
	add(&worker->sampled, t.sampled);
	add(&worker->mismatches, t.mismatches);
	b->all.marked += t.marked;
	b->all.stale += t.stale;
	b->all.residue += t.residue;
	b->all.sampled += t.sampled;
	b->all.mismatches += t.mismatches;
	b->all.misses += t.misses;
	return to;
}

/* Those of a port without marks: software is to classify them. */
static uint32_t
port_without(struct burst *b, void **objs, uint32_t from, uint32_t n)
{
	const uint16_t port = ((const struct rte_mbuf *)objs[from])->port;
	uint32_t i = from;

	do {
		b->soft[b->nb_soft++] = i;
	} while (++i < n && ((const struct rte_mbuf *)objs[i])->port == port);
	return i;
}

/* Tells a burst apart by port, and each port's packets by their marks. */
static void
told_apart(const struct mark_ctx *ctx, struct burst *b, void **objs, uint32_t n)
{
	for (uint32_t from = 0; from < n;) {
		const uint16_t port = ((const struct rte_mbuf *)objs[from])->port;
		const struct hy_mark_table *table = port < RTE_MAX_ETHPORTS
			? hy_policy_marks(ctx->cls.policy, port)
			: NULL;

		from = likely(table != NULL) ? port_process(b, table, ctx->worker, objs, from, n)
					     : port_without(b, objs, from, n);
	}
}

/* The packets that software is to classify. */
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
	hy_flow_cls_software(node, hy_policy_view(ctx->policy), hy_policy_classify_acl, key, answer,
		n);
	for (uint32_t i = 0; i < n; i++)
		b->answer[b->soft[i]] = answer[i];
}

/* Each packet is counted once: by hardware's counter, or by one of software's. */
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
	told_apart(node->ctx, &b, objs, n);
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
	.text = "Believes the marks of the port's flow engine, and checks a sample of them",
	.impl.process = mark_process,
	.impl.init = mark_init,
	.impl.fini = hy_flow_cls_fini,
	.impl.ctx_size = sizeof(struct mark_ctx),
	.needs = { { .cap = HY_CAP_FLOW_MARK } },
	.score = 40);
