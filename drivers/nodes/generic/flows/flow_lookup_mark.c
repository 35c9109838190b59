/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flow_lookup with marks: hardware has found the rule that stands for a megaflow, so neither the frame is
 * read nor a cache asked. Packets without a mark, or with one whose megaflow is gone, are looked up.
 *
 * The mark is taken for the megaflow's, and what the megaflow says is read anew for each packet, so
 * hardware need not follow the rules. If hardware may match more than the megaflow, and of a random sample
 * of the others, packets are compared with it, and looked up if they do not match. Megaflows that match
 * the same packet say the same, so which of their marks a packet has does not matter.
 */

#include "drivers/nodes/generic/classify/flow_cls_mark.h"

#include "flow_lookup_some.h"

/* Packets of a burst. */
struct marked {
	uint32_t flow[SOME]; /* by their place in the burst */
	uint32_t soft[SOME]; /* places of those to look up */
	uint32_t nb_soft;
};

/* Those of one port that name a megaflow. */
struct named {
	const struct hy_flows_ref *ref[SOME];
	const struct hy_mark_slot *slot[SOME];
	bool wider[SOME];
	uint32_t at[SOME], flow[SOME], n;
};

/* Sorts packets by whether they have a valid mark, up to the first of another port. Returns its place. */
static uint32_t
marks_read(const struct hy_mark_table *table, const struct hy_flow_named of_class[], void **objs,
	uint32_t from, uint32_t n, struct named *named, struct marked *b, struct mark_tally *t)
{
	const uint16_t port = ((const struct rte_mbuf *)objs[from])->port;
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
		named->at[named->n] = i;
		named->slot[named->n] = slot;
		named->wider[named->n] = of_class[slot->class_id].wider ||
			(slot->checks & (HY_MARK_RULE | HY_MARK_FRAGMENTS)) != 0;
		named->ref[named->n++] = &of_class[slot->class_id].ref;
	}
	return i;
}

/* Compares one packet: by chance, or because hardware matches more than the megaflow. */
static bool
is_confirmed(const struct hy_flow_lookup_ctx *ctx, const struct hy_mark_table *table,
	struct hy_mark_worker *worker, const struct named *named, uint32_t k, uint32_t parse,
	const struct hy_flows_key *key, const struct rte_mbuf *m, struct mark_tally *t)
{
	const struct hy_mark_slot *slot = named->slot[k];
	const bool right = hy_flows_match(ctx->flows, named->flow[k], parse, key);
	const uint32_t own = slot->residue + (slot->checks & HY_MARK_RESIDUES);

	if (named->wider[k]) {
		t->fragments += !right;
		return right;
	}
	t->sampled++;
	if (likely(right))
		return true;
	t->mismatches++;
	flow_cls_mismatch(worker, m, &table->view->rules[table->residues[own]], NULL);
	return false;
}

/* Compares packets with the megaflows of their marks: those at `which` of the named. */
static void
compare(const struct hy_flow_lookup_ctx *ctx, const struct hy_mark_table *table,
	struct hy_mark_worker *worker, void **objs, const struct named *named,
	const uint32_t which[], uint32_t n, struct marked *b, struct mark_tally *t)
{
	const uint32_t parse = hy_flows_parse(ctx->flows);
	struct hy_flows_key key[SOME];
	struct rte_mbuf *mbufs[SOME];

	for (uint32_t j = 0; j < n; j++)
		mbufs[j] = objs[named->at[which[j]]];
	hy_flows_keys(mbufs, parse, key, n);
	for (uint32_t j = 0; j < n; j++) {
		const uint32_t k = which[j];

		if (is_confirmed(ctx, table, worker, named, k, parse, &key[j], mbufs[j], t))
			continue;
		b->soft[b->nb_soft++] = named->at[k];
		t->marked--;
	}
}

/* Finds the megaflows of packets with valid marks; leaves the others to software. */
static void
named_find(const struct hy_flow_lookup_ctx *ctx, const struct hy_mark_table *table,
	struct hy_mark_worker *worker, void **objs, struct named *named, struct marked *b,
	struct mark_tally *t)
{
	uint32_t which[SOME], n = 0;

	hy_flows_named(ctx->flows, named->ref, named->flow, named->n);
	for (uint32_t k = 0; k < named->n; k++) {
		if (unlikely(named->flow[k] == HY_FLOWS_MISS)) {
			t->stale++;
			b->soft[b->nb_soft++] = named->at[k];
			continue;
		}
		b->flow[named->at[k]] = named->flow[k];
		t->marked++;
		if (named->wider[k]) {
			which[n++] = k;
		} else if (unlikely(--worker->gap == 0)) {
			worker->gap = hy_mark_gap(worker);
			which[n++] = k;
		}
	}
	if (n > 0)
		compare(ctx, table, worker, objs, named, which, n, b, t);
}

/* The packets of a port with marks, from a place on. Returns the end. */
static uint32_t
port_find(const struct hy_flow_lookup_ctx *ctx, const struct hy_mark_table *table,
	const struct hy_flow_named of_class[], void **objs, uint32_t from, uint32_t n,
	struct marked *b, struct mark_tally *all)
{
	struct hy_mark_worker *worker = &table->workers[ctx->worker];
	const uint32_t soft = b->nb_soft;
	struct mark_tally t = { 0 };
	struct named named;
	uint32_t to;

	named.n = 0;
	to = marks_read(table, of_class, objs, from, n, &named, b, &t);
	if (b->nb_soft > soft && unlikely(hy_mark_looks(worker) > 0))
		flow_cls_look(table, worker, objs, &b->soft[soft], b->nb_soft - soft);
	if (named.n > 0)
		named_find(ctx, table, worker, objs, &named, b, &t);
	mark_count(&worker->marked, t.marked);
	mark_count(&worker->unmarked, to - from - t.marked - t.stale - t.fragments - t.mismatches);
	mark_count(&worker->stale, t.stale);
	mark_count(&worker->fragments, t.fragments);
	mark_count(&worker->sampled, t.sampled);
	mark_count(&worker->mismatches, t.mismatches);
	all->marked += t.marked;
	all->stale += t.stale;
	all->sampled += t.sampled;
	all->mismatches += t.mismatches;
	return to;
}

/* The marks of the port of a packet, and what they name; NULL: none. */
static const struct hy_mark_table *
table_of(const struct hy_flow_lookup_ctx *ctx, uint16_t port, const struct hy_flow_named **of_class)
{
	const struct hy_flow_marks *marks = ctx->marks;

	if (marks == NULL || port >= RTE_MAX_ETHPORTS || marks[port].policy == NULL)
		return NULL;
	*of_class = marks[port].of_class;
	return hy_policy_marks(marks[port].policy, port);
}

/* Looks up what marks do not tell. */
static void
software_find(struct hy_flow_lookup_ctx *ctx, void **objs, struct found *f, const struct marked *b)
{
	struct rte_mbuf *mbufs[SOME];

	for (uint32_t k = 0; k < b->nb_soft; k++)
		mbufs[k] = objs[b->soft[k]];
	hy_flows_find(ctx->flows, ctx->worker, &ctx->rss, mbufs, f->flow, b->nb_soft);
}

static void
find(struct hy_node *node, void **objs, struct found *f, uint32_t n)
{
	struct hy_flow_lookup_ctx *ctx = (struct hy_flow_lookup_ctx *)node->ctx;
	const struct hy_flow_named *of_class = NULL;
	struct mark_tally t = { 0 };
	struct marked b;

	b.nb_soft = 0;
	for (uint32_t from = 0; from < n;) {
		const uint16_t port = ((const struct rte_mbuf *)objs[from])->port;
		const struct hy_mark_table *table = table_of(ctx, port, &of_class);

		if (likely(table != NULL))
			from = port_find(ctx, table, of_class, objs, from, n, &b, &t);
		else
			b.soft[b.nb_soft++] = from++;
	}
	if (b.nb_soft > 0)
		software_find(ctx, objs, f, &b);
	for (uint32_t k = 0; k < b.nb_soft; k++)
		b.flow[b.soft[k]] = f->flow[k];
	memcpy(f->flow, b.flow, n * sizeof(b.flow[0]));
	hy_counter_add(node, HY_FLOW_LOOKUP_MARKED, t.marked);
	hy_counter_add(node, HY_FLOW_LOOKUP_STALE, t.stale);
	hy_counter_add(node, HY_FLOW_LOOKUP_SAMPLED, t.sampled);
	hy_counter_add(node, HY_FLOW_LOOKUP_MISMATCHES, t.mismatches);
}

static uint16_t
mark_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return flow_lookup_process_by(graph, node, objs, n, find);
}

HY_NODE_VARIANT(flow_lookup, mark,
	.text = "Trusts the marks of the port's flow engine, and checks a sample of them",
	.impl.process = mark_process,
	.needs = { { .cap = HY_CAP_FLOW_MARK } },
	.score = 40);
