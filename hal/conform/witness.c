/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fusion under test, as the core calls it in the candidate's graph. Each call is compared by itself:
 * the nodes that handle the rest could cover a fault, such as an address written too early.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform.h"

#define UNWRITTEN 0x7eee /* in next[]: no edge and no drop */
#define BEYOND 16        /* places of next[] that are checked behind HY_BURST_MAX */
#define SEGMENTS 8       /* most segments of a packet: layout.c makes fewer */

/* A call of the fusion: packets and contexts as they were before. */
struct conform_witness {
	struct hy_fuse fuse;
	void *objs[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX + BEYOND];
	uint8_t bytes[HY_BURST_MAX][HY_SUITE_FRAME_MAX];
	uint8_t mbufs[HY_BURST_MAX][SEGMENTS][sizeof(struct rte_mbuf)];
	uint32_t lanes[HY_LANES_MAX][HY_BURST_MAX];
	uint8_t *contexts[HY_FUSE_MAX];
};

/* Of a node under test, which has no context if this is 0. */
static size_t
context_size(const struct conform_node *node)
{
	return hy_variant_impl(node->family, node->variant).ctx_size;
}

/* The run under way; the engine has one thread. */
static struct conform_trial *trial_now;
static hy_node_process_t *chain[HY_FUSE_MAX];

static uint16_t
first_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return chain[0](graph, node, objs, n);
}

static uint16_t
second_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return chain[1](graph, node, objs, n);
}

static uint16_t
third_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return chain[2](graph, node, objs, n);
}

static uint16_t
fourth_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return chain[3](graph, node, objs, n);
}

hy_node_process_t *
conform_fuse_process(unsigned int at)
{
	static hy_node_process_t *const processes[] = { first_process, second_process,
		third_process, fourth_process };

	static_assert(RTE_DIM(processes) == HY_FUSE_MAX, "one for each node of a chain");
	return processes[at];
}

static void
witness_take(struct conform_witness *w, const struct conform_side *side,
	const struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n)
{
	memcpy(w->objs, objs, n * sizeof(*objs));
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];
		uint32_t at = 0;

		for (unsigned int s = 0; m != NULL && s < SEGMENTS; m = m->next, s++) {
			memcpy(w->mbufs[i][s], m, sizeof(*m));
			memcpy(w->bytes[i] + at, rte_pktmbuf_mtod(m, void *), m->data_len);
			at += m->data_len;
		}
	}
	for (unsigned int l = 0; l < side->nb_lanes; l++)
		memcpy(w->lanes[l], hy_lane(graph, nodes[0], l), n * sizeof(uint32_t));
	for (unsigned int k = 0; k < side->nb_nodes; k++)
		if (nodes[k]->ctx != NULL)
			memcpy(w->contexts[k], nodes[k]->ctx, context_size(&side->nodes[k]));
	for (size_t i = 0; i < RTE_DIM(w->next); i++)
		w->next[i] = UNWRITTEN;
}

/* The number in the burst of a packet that came to the fusion. */
static uint32_t
index_of(void *packet)
{
	return conform_tag(packet)->index;
}

/* How many of the packets pass the chain, before the first that does not. */
static uint16_t
passing(struct conform_trial *trial, void *const objs[], uint16_t n)
{
	uint16_t i = 0;

	while (i < n && conform_passes(&trial->ref, trial->ref.fate[index_of(objs[i])].out))
		i++;
	return i;
}

/* How many the fusion handled. 0, or -EILSEQ as of conform_fail(). */
static int
extent_compare(struct conform_trial *trial, void *const objs[], uint16_t n, uint16_t done,
	uint16_t pass, uint16_t least, const char *why)
{
	char out[HY_TEXT_SIZE];
	uint32_t i;

	if (done > n)
		return conform_fail(trial, -1, "the fusion handled %u of %u packets", done, n);
	if (done > pass) {
		i = index_of(objs[pass]);
		return conform_fail(trial, (int)i,
			"the fusion handled %u of %u packets, and this one, which gets %s, with "
			"them: expected no more than %u",
			done, n,
			conform_out_text(&trial->ref, trial->ref.fate[i].out, out, sizeof(out)),
			pass);
	}
	if (done >= least)
		return 0;
	return conform_fail(trial, (int)index_of(objs[done]),
		"the fusion handled %u of %u packets, and not this one: expected %u%s%s", done, n,
		least, why != NULL ? ", where it stops: " : ", and it does not say why",
		why != NULL ? why : "");
}

/* The edges of the packets handled, and room that is not the fusion's. */
static int
edges_compare(struct conform_trial *trial, void *const objs[], uint16_t done)
{
	const struct conform_witness *w = trial->witness;
	char wanted[HY_TEXT_SIZE], got[HY_TEXT_SIZE];

	for (uint16_t i = 0; i < done; i++) {
		const uint32_t packet = index_of(objs[i]);
		const uint16_t out = trial->ref.fate[packet].out;

		if (w->next[i] == out)
			continue;
		if (conform_passes(&trial->cand, w->next[i]))
			conform_out_text(&trial->cand, w->next[i], got, sizeof(got));
		else
			snprintf(got, sizeof(got), "0x%x, which is no edge", w->next[i]);
		return conform_fail(trial, (int)packet, "the fusion gave it %s, expected %s", got,
			conform_out_text(&trial->ref, out, wanted, sizeof(wanted)));
	}
	for (size_t i = HY_BURST_MAX; i < RTE_DIM(w->next); i++)
		if (w->next[i] != UNWRITTEN)
			return conform_fail(trial, -1,
				"the fusion wrote an edge for packet %zu of %d", i, HY_BURST_MAX);
	return 0;
}

/* Padding included: nothing writes there either. */
static bool
is_same_mbuf(const void *before, const void *now)
{
	return memcmp(before, now, sizeof(struct rte_mbuf)) == 0;
}

/* A packet that the fusion left to the nodes is as it was. */
static int
untouched(struct conform_trial *trial, uint16_t i)
{
	const struct conform_witness *w = trial->witness;
	const struct rte_mbuf *m = w->objs[i];
	const uint32_t packet = index_of(w->objs[i]);
	uint32_t at = 0;

	for (unsigned int s = 0; m != NULL && s < SEGMENTS; m = m->next, s++) {
		const uint8_t *now = rte_pktmbuf_mtod(m, const uint8_t *);

		if (!is_same_mbuf(w->mbufs[i][s], m))
			return conform_fail(trial, (int)packet,
				"the fusion did not handle it, but changed the mbuf of its segment "
				"%u",
				s);
		for (uint32_t b = 0; b < m->data_len; b++, at++)
			if (now[b] != w->bytes[i][at])
				return conform_fail(trial, (int)packet,
					"the fusion did not handle it, but changed byte %u from "
					"0x%02x to 0x%02x",
					at, w->bytes[i][at], now[b]);
	}
	return 0;
}

/* Lanes and contexts are as they were: a fusion writes none. */
static int
state_compare(struct conform_trial *trial, const struct hy_graph *graph,
	struct hy_node *const nodes[], uint16_t n)
{
	const struct conform_witness *w = trial->witness;
	const struct conform_side *side = &trial->cand;

	for (unsigned int l = 0; l < side->nb_lanes; l++)
		for (uint16_t i = 0; i < n; i++)
			if (hy_lane(graph, nodes[0], l)[i] != w->lanes[l][i])
				return conform_fail(trial, (int)index_of(w->objs[i]),
					"the fusion wrote to lane %s",
					side->nodes[0].family->node.lanes[l]);
	for (unsigned int k = 0; k < side->nb_nodes; k++) {
		const struct conform_node *node = &side->nodes[k];

		if (nodes[k]->ctx != NULL &&
			memcmp(nodes[k]->ctx, w->contexts[k], context_size(node)) != 0)
			return conform_fail(trial, -1, "the fusion wrote to the context of %s",
				node->family->node.name);
	}
	return 0;
}

/* Counts a call that was right. */
static void
call_count(struct hy_conform_fused *fused, uint16_t n, uint16_t done, uint16_t pass,
	const char *why)
{
	fused->passing += pass;
	fused->handled += done;
	if (done < pass) {
		fused->fewer++;
		fused->why = why;
	} else if (done == n) {
		fused->whole++;
	} else {
		fused->stopped += done > 0;
	}
}

/* In place of the fusion. After a fault, it leaves all of the burst to the nodes. */
static uint16_t
compared_run(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	struct conform_trial *trial = trial_now;
	struct conform_witness *w = trial->witness;
	const uint16_t pass = passing(trial, objs, n);
	const char *why = NULL;
	uint16_t done, least = pass;
	int rc;

	if (trial->fused_rc < 0)
		return 0;
	if (trial->fusion->stops != NULL)
		least = RTE_MIN(least, trial->fusion->stops(objs, n, &why));
	witness_take(w, &trial->cand, graph, nodes, objs, n);
	done = trial->fusion->run(graph, nodes, objs, n, w->next);
	rc = extent_compare(trial, w->objs, n, done, pass, least, why);
	if (rc == 0 && memcmp(objs, w->objs, n * sizeof(*objs)) != 0)
		rc = conform_fail(trial, -1, "the fusion changed the order of the packets");
	if (rc == 0)
		rc = edges_compare(trial, w->objs, done);
	for (uint16_t i = done; i < n && rc == 0; i++)
		rc = untouched(trial, i);
	if (rc == 0)
		rc = state_compare(trial, graph, nodes, n);
	trial->fused_rc = rc;
	if (rc < 0)
		return 0;
	call_count(&trial->result->fused, n, done, pass, why);
	memcpy(next, w->next, done * sizeof(*next));
	return done;
}

/* Whether packets take an edge of the first node that is not the chain's. */
static bool
goes_another_way(const struct conform_trial *trial, uint16_t out)
{
	const struct conform_node *first = &trial->ref.nodes[0];

	return out >= first->first_out && out < first->first_out + first->nb_edges - 1;
}

/* One packet, picked or not. 0, or -EILSEQ as of conform_fail(). */
static int
pick_compare(struct conform_trial *trial, uint32_t i, bool picked)
{
	const uint16_t out = trial->ref.fate[i].out;
	char text[HY_TEXT_SIZE];

	if (picked ? !goes_another_way(trial, out) : !conform_passes(&trial->ref, out))
		return 0;
	return conform_fail(trial, (int)i, "the fusion %s this packet, which gets %s",
		picked ? "picked" : "did not pick",
		conform_out_text(&trial->ref, out, text, sizeof(text)));
}

/* In place of the fusion's pick(). After a fault, it picks nothing. */
static void
compared_pick(struct hy_node *const nodes[], void *const objs[], uint16_t n,
	uint64_t mine[HY_FUSE_WORDS])
{
	struct conform_trial *trial = trial_now;

	memset(mine, 0, HY_FUSE_WORDS * sizeof(*mine));
	for (uint16_t w = 0; 64 * w < n; w++)
		mine[w] = UINT64_MAX; /* to be written */
	if (trial->fused_rc == 0)
		trial->fusion->pick(nodes, objs, n, mine);
	for (uint16_t i = 0; i < HY_BURST_MAX && trial->fused_rc == 0; i++) {
		const bool picked = (mine[i / 64] >> i % 64 & 1) != 0;

		if (i < n)
			trial->fused_rc = pick_compare(trial, index_of(objs[i]), picked);
		else if (picked)
			trial->fused_rc = conform_fail(trial, -1,
				"the fusion picked packet %u of %u", i, n);
	}
	if (trial->fused_rc < 0)
		memset(mine, 0, HY_FUSE_WORDS * sizeof(*mine));
}

static struct conform_witness *
witness_create(const struct conform_side *side)
{
	struct conform_witness *w = calloc(1, sizeof(*w));

	for (unsigned int k = 0; w != NULL && k < side->nb_nodes; k++) {
		const struct conform_node *node = &side->nodes[k];

		w->contexts[k] = malloc(context_size(node) + 1);
		if (w->contexts[k] == NULL) {
			while (k > 0)
				free(w->contexts[--k]);
			free(w);
			return NULL;
		}
	}
	return w;
}

int
conform_fuse_begin(struct conform_trial *trial, bool compared)
{
	const struct conform_side *side = &trial->cand;
	struct conform_witness *w = witness_create(side);
	int rc;

	if (w == NULL)
		return -ENOMEM;
	w->fuse = (struct hy_fuse){ .name = "conform",
		.nb_nodes = side->nb_nodes,
		.run = compared ? compared_run : trial->fusion->run,
		.pick = compared && trial->fusion->pick != NULL ? compared_pick
								: trial->fusion->pick };
	memcpy(w->fuse.edge, trial->fusion->edge, sizeof(w->fuse.edge));
	for (unsigned int k = 0; k < side->nb_nodes; k++) {
		const struct conform_node *node = &side->nodes[k];

		chain[k] = hy_variant_impl(node->family, node->variant).process;
		w->fuse.process[k] = conform_fuse_process(k);
	}
	trial->witness = w;
	trial_now = trial;
	rc = hy_fuse_offer(&w->fuse);
	if (rc < 0)
		conform_fuse_end(trial);
	return rc;
}

void
conform_fuse_end(struct conform_trial *trial)
{
	struct conform_witness *w = trial->witness;

	if (w == NULL)
		return;
	hy_fuse_withdraw(&w->fuse);
	for (unsigned int k = 0; k < HY_FUSE_MAX; k++)
		free(w->contexts[k]);
	free(w);
	trial->witness = NULL;
	trial_now = NULL;
}

bool
conform_is_fused(const struct conform_trial *trial)
{
	const struct conform_side *side = &trial->cand;
	struct hy_node *node;
	const char *fuse;

	if (hy_graph_node(side->graphs[0], side->nodes[0].name, &node) < 0)
		return false;
	fuse = hy_graph_node_fused(side->graphs[0], node, trial->fusion->pick != NULL);
	return fuse != NULL && strcmp(fuse, "conform") == 0;
}

int
conform_fuse_check(const struct hy_fusion *fusion, struct hy_conform_result *result)
{
	const struct hy_conform_fused *f = &result->fused;
	const bool brief = result->cases < HY_CONFORM_CASES;
	const char *never = NULL;

	result->text[0] = '\0';
	if (f->handled == 0)
		snprintf(result->text, sizeof(result->text),
			"never ran: the fusion handled none of %" PRIu64 " packets that pass%s%s",
			f->passing, f->why != NULL ? ": " : "", f->why != NULL ? f->why : "");
	else if (f->whole == 0 && !brief)
		never = "handled a whole burst";
	else if (f->stopped == 0 && !brief)
		never = "stopped before a packet that does not pass";
	else if (f->fewer == 0 && fusion->stops != NULL && !brief)
		never = "stopped where it says that it does (hy_fusion.stops)";
	if (never != NULL)
		snprintf(result->text, sizeof(result->text), "the fusion never %s", never);
	if (result->text[0] == '\0')
		return 0;
	result->outcome = HY_CONFORM_FAILED;
	return -ENODATA;
}
