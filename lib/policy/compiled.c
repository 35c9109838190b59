/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled rules: tables that several views share, and overlays. */

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "compiled.h"

int
policy_base_create(const char *policy, struct policy_rules *rules, int socket, const bool *cancel,
	const struct policy_budget *budget, struct policy_base **out)
{
	const struct policy_build build = {
		.rules = rules->rules, .n = rules->n, .socket = socket, .cancel = cancel
	};
	struct policy_base *base = calloc(1, sizeof(*base));
	int rc;

	if (base == NULL)
		return -ENOMEM;
	rc = policy_tables_build(policy, &build, budget, &base->tables);
	if (rc < 0) {
		free(base);
		return rc;
	}
	base->holders = 1;
	base->rules = rules;
	policy_rules_hold(rules);
	*out = base;
	return 0;
}

void
policy_base_hold(struct policy_base *base)
{
	__atomic_add_fetch(&base->holders, 1, __ATOMIC_RELAXED);
}

void
policy_base_drop(struct policy_base *base)
{
	if (base == NULL || __atomic_sub_fetch(&base->holders, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	policy_tables_free(&base->tables);
	policy_rules_drop(base->rules);
	free(base);
}

/* Whether two rules match the same packets in the same order. What they do is of no concern. */
static bool
is_same(const struct policy_rules *from, const struct policy_place *a,
	const struct policy_rules *to, const struct policy_place *b)
{
	const struct hy_flow_rule *ra = &from->rules[a->rank].rule, *rb = &to->rules[b->rank].rule;

	return a->stamp == b->stamp ||
		(ra->precedence == rb->precedence && hy_flow_match_equal(&ra->match, &rb->match));
}

/* Compares the rules in order of their ids. Fails with -E2BIG if too many differ. */
static int
overlay_compare(const struct policy_rules *from, const struct policy_rules *to,
	struct policy_overlay *o)
{
	uint32_t i = 0, j = 0;

	while (i < from->n || j < to->n) {
		const struct policy_place *a = &from->by_id[i], *b = &to->by_id[j];
		const bool has_a = i < from->n && (j == to->n || a->id <= b->id);
		const bool has_b = j < to->n && (i == from->n || b->id <= a->id);

		if (has_a && has_b && is_same(from, a, to, b)) {
			o->rank_of[a->rank] = b->rank;
			i++;
			j++;
			continue;
		}
		if (o->nb_gone + has_a + o->nb_added + has_b > POLICY_OVERLAY_CHANGES)
			return -E2BIG;
		if (has_a)
			o->rank_of[a->rank] = POLICY_GONE | o->nb_gone++;
		if (has_b)
			o->added[o->nb_added++] = b->rank;
		i += has_a;
		j += has_b;
	}
	return 0;
}

static int
residue_add(struct policy_overlay *o, uint32_t rank)
{
	if (o->nb_residues == o->room) {
		const uint32_t room = RTE_MAX(256u, 2 * o->room);
		uint32_t *grown = realloc(o->residues, room * sizeof(*grown));

		if (grown == NULL)
			return -ENOMEM;
		o->residues = grown;
		o->room = room;
	}
	o->residues[o->nb_residues++] = rank;
	return 0;
}

/*
 * The rules behind a removed one that a packet of it can match, added ones apart. Fails with -E2BIG
 * if they are too many to be tried one by one.
 */
static int
residue_make(struct policy_overlay *o, const struct policy_rules *from, uint32_t removed)
{
	const struct hy_flow_match *match = &from->rules[removed].rule.match;
	struct policy_gone *gone = &o->gone[o->rank_of[removed] & ~POLICY_GONE];
	int rc = 0;

	gone->first = o->nb_residues;
	for (uint32_t rank = removed + 1; rank < from->n && rc == 0; rank++)
		if ((o->rank_of[rank] & POLICY_GONE) == 0 &&
			hy_flow_overlap(match, &from->rules[rank].rule.match))
			rc = o->nb_residues - gone->first < POLICY_RESIDUES_MOST
				? residue_add(o, o->rank_of[rank])
				: -E2BIG;
	gone->n = o->nb_residues - gone->first;
	return rc;
}

static int
by_rank(const void *a, const void *b)
{
	const uint32_t ra = *(const uint32_t *)a, rb = *(const uint32_t *)b;

	return ra < rb ? -1 : ra > rb;
}

static void
overlay_free(struct policy_overlay *o)
{
	if (o == NULL)
		return;
	free(o->residues);
	rte_free(o->rank_of);
	rte_free(o);
}

static int
overlay_create(const struct policy_rules *from, const struct policy_rules *to, int socket,
	struct policy_overlay **out)
{
	struct policy_overlay *o = rte_zmalloc_socket("hy_policy_overlay", sizeof(*o),
		RTE_CACHE_LINE_SIZE, socket);
	int rc;

	if (o == NULL)
		return -ENOMEM;
	o->rank_of = rte_malloc_socket("hy_policy_overlay", from->n * sizeof(*o->rank_of),
		RTE_CACHE_LINE_SIZE, socket);
	rc = o->rank_of == NULL ? -ENOMEM : overlay_compare(from, to, o);
	qsort(o->added, o->nb_added, sizeof(o->added[0]), by_rank);
	for (uint32_t rank = 0; rank < from->n && rc == 0 && o->nb_gone > 0; rank++)
		if ((o->rank_of[rank] & POLICY_GONE) != 0)
			rc = residue_make(o, from, rank);
	if (rc < 0)
		overlay_free(o);
	else
		*out = o;
	return rc;
}

int
policy_compiled_create(struct policy_base *base, const struct policy_rules *rules, int socket,
	struct hy_policy_compiled **out)
{
	struct hy_policy_compiled *compiled = rte_zmalloc_socket("hy_policy_compiled",
		sizeof(*compiled), RTE_CACHE_LINE_SIZE, socket);
	int rc = compiled == NULL ? -ENOMEM : 0;

	if (rc == 0 && base->rules != rules)
		rc = overlay_create(base->rules, rules, socket, &compiled->overlay);
	if (rc < 0) {
		rte_free(compiled);
		return rc;
	}
	policy_base_hold(base);
	compiled->base = base;
	compiled->classify = base->tables.engine->classify;
	compiled->tables = base->tables.tables;
	*out = compiled;
	return 0;
}

void
policy_compiled_free(struct hy_policy_compiled *compiled)
{
	if (compiled == NULL)
		return;
	overlay_free(compiled->overlay);
	policy_base_drop(compiled->base);
	rte_free(compiled);
}

/* The rank in the view, of the rules that the base has too. */
static inline uint32_t
translate(const struct policy_overlay *o, const struct hy_policy_view *view,
	const struct hy_flow_key *key, uint32_t rank)
{
	const struct policy_gone *gone;

	if (rank == HY_POLICY_NONE)
		return rank;
	rank = o->rank_of[rank];
	if (likely((rank & POLICY_GONE) == 0))
		return rank;
	gone = &o->gone[rank & ~POLICY_GONE];
	for (uint32_t i = gone->first; i < gone->first + gone->n; i++)
		if (hy_flow_matches(&view->rules[o->residues[i]].rule.match, key))
			return o->residues[i];
	return HY_POLICY_NONE;
}

static void
overlay_apply(const struct policy_overlay *o, const struct hy_policy_view *view,
	const struct hy_flow_key key[], uint32_t rank[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		rank[i] = translate(o, view, &key[i], rank[i]);
		for (uint32_t a = 0; a < o->nb_added && o->added[a] < rank[i]; a++)
			if (hy_flow_matches(&view->rules[o->added[a]].rule.match, &key[i]))
				rank[i] = o->added[a];
	}
}

void
hy_policy_classify_compiled(const struct hy_policy_view *view, const struct hy_flow_key key[],
	uint32_t rank[], uint32_t n)
{
	const struct hy_policy_compiled *compiled = __atomic_load_n(&view->compiled,
		__ATOMIC_ACQUIRE);

	if (compiled == NULL) {
		for (uint32_t i = 0; i < n; i++)
			rank[i] = HY_POLICY_NONE;
		return;
	}
	compiled->classify(compiled->tables, key, rank, n);
	if (compiled->overlay != NULL)
		overlay_apply(compiled->overlay, view, key, rank, n);
}
