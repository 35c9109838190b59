/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The features enabled for each index. A chain has a word for each feature of the arc, and each
 * index has room for two chains. A change writes the unused chain, then the one word that selects
 * it, and then publishes its number. Workers read the number once a walk, and take the chain of
 * before where the word is newer. So they see all of a change or nothing, and all objects of a walk
 * alike. A chain is reused after a QSBR grace period, when no worker holds objects that have it, and
 * no walk goes by a change before the one that replaced it.
 *
 * Chain 0 is no index's. It is that of objects beyond the table, and of those that a feature makes.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include <hy_grace.h>

#include "arc.h"
#include "lib/graph/internal/log.h"

#define INDEXES_LEAST 16u
#define ENABLED (UINT64_C(1) << 63) /* in a hop: its feature is */

static void
view_free(struct hy_arc_view *view)
{
	if (view == NULL)
		return;
	rte_free(view->entries);
	rte_free(view->hops);
	free(view);
}

/* How many words the chains of so many indexes have. */
static size_t
hops_count(const struct hy_arc *arc, uint32_t nb_indexes)
{
	return (2 * (size_t)nb_indexes + 1) * arc->nb_features;
}

static struct hy_arc_view *
view_new(const struct hy_arc *arc, uint32_t nb_indexes)
{
	const size_t nb_hops = hops_count(arc, nb_indexes) + 1; /* rte_malloc(3) of 0 fails */
	struct hy_arc_view *view = calloc(1, sizeof(*view));

	if (view == NULL)
		return NULL;
	view->nb_indexes = nb_indexes;
	view->entries = rte_zmalloc_socket("hy_arc",
		2 * (size_t)nb_indexes * sizeof(*view->entries), RTE_CACHE_LINE_SIZE,
		arc->params.socket);
	view->hops = rte_zmalloc_socket("hy_arc", nb_hops * sizeof(*view->hops),
		RTE_CACHE_LINE_SIZE, arc->params.socket);
	if (view->entries != NULL && view->hops != NULL)
		return view;
	view_free(view);
	return NULL;
}

int
hy_arc_table_create(struct hy_arc *arc)
{
	arc->slots = calloc(INDEXES_LEAST, sizeof(*arc->slots));
	arc->view = view_new(arc, INDEXES_LEAST);
	return arc->slots == NULL || arc->view == NULL ? -ENOMEM : 0;
}

void
hy_arc_table_free(struct hy_arc *arc)
{
	view_free(arc->view);
	view_free(arc->old);
	free(arc->slots);
}

static uint64_t
now(const struct hy_arc *arc)
{
	return arc->params.qsbr == NULL ? 1 : hy_grace_start(arc->params.qsbr);
}

/* Waits until a change has passed; 0 is none. */
static int
grace(const struct hy_arc *arc, uint64_t token)
{
	if (arc->params.qsbr == NULL)
		return token == 0 ? 0 : hy_arc_unheld(arc);
	if (hy_grace_wait(arc->params.qsbr, token))
		return 0;
	return HY_REFUSE(-ETIMEDOUT, "arc '%s': a worker has not reported for a second", arc->name);
}

int
hy_arc_grace(const struct hy_arc *arc)
{
	return grace(arc, now(arc));
}

static int
refused(const struct hy_arc *arc, uint32_t nb_indexes)
{
	return HY_REFUSE(-ENOMEM, "arc '%s': no memory for %u indexes", arc->name, nb_indexes);
}

/* Copies the table to a larger one; chains keep their places. */
static int
grow(struct hy_arc *arc, uint32_t index)
{
	const struct hy_arc_view *small = arc->view;
	const uint32_t nb_indexes = rte_align32pow2(index + 1);
	struct hy_arc_slot *slots;
	struct hy_arc_view *view;

	/* Without a QSBR variable nobody walks, and objects that wait have a chain but no view. */
	if (arc->old != NULL && arc->params.qsbr != NULL) {
		const int rc = grace(arc, arc->old_token);

		if (rc < 0)
			return rc;
	}
	view_free(arc->old);
	arc->old = NULL;
	slots = realloc(arc->slots, nb_indexes * sizeof(*slots));
	if (slots == NULL)
		return refused(arc, nb_indexes);
	arc->slots = slots;
	view = view_new(arc, nb_indexes);
	if (view == NULL)
		return refused(arc, nb_indexes);
	memset(&slots[small->nb_indexes], 0, (nb_indexes - small->nb_indexes) * sizeof(*slots));
	for (uint32_t half = 0; half < 2; half++)
		memcpy(view->entries + half * (size_t)nb_indexes,
			small->entries + half * (size_t)small->nb_indexes,
			small->nb_indexes * sizeof(*view->entries));
	memcpy(view->hops, small->hops, hops_count(arc, small->nb_indexes) * sizeof(*view->hops));
	arc->old = arc->view;
	__atomic_store_n(&arc->view, view, __ATOMIC_RELEASE);
	arc->old_token = now(arc);
	return 0;
}

/*
 * Numbers changes anew from 0 on, when numbers run out. First no walk must go by a change before the
 * last one, for which entries then have no edge; and later changes wait until none goes by the old
 * numbers, which are all higher than the new ones.
 */
static int
renumber(struct hy_arc *arc)
{
	int rc;

	if (arc->changes == HY_ARC_CHANGES_MAX) {
		rc = hy_arc_grace(arc);
		if (rc < 0)
			return rc;
		for (uint32_t i = 0; i < arc->view->nb_indexes; i++) {
			uint64_t *entry = &arc->view->entries[i];
			const uint64_t anew = *entry & ((UINT64_C(1) << HY_ARC_ENTRY_SINCE) - 1);

			__atomic_store_n(entry, anew, __ATOMIC_RELAXED);
		}
		__atomic_store_n(&arc->changes, 0, __ATOMIC_RELEASE);
		arc->renumbered = now(arc);
	}
	rc = grace(arc, arc->renumbered);
	if (rc == 0)
		arc->renumbered = 0;
	return rc;
}

int
hy_arc_table_prepare(struct hy_arc *arc, uint32_t index)
{
	int rc = renumber(arc);

	if (rc < 0)
		return rc;
	if (index >= arc->view->nb_indexes) {
		rc = grow(arc, index);
		if (rc < 0)
			return rc;
	}
	return grace(arc, arc->slots[index].token);
}

/* Where a chain of an index starts. */
static uint32_t
chain_at(const struct hy_arc *arc, uint32_t index, unsigned int side)
{
	return (2 * index + side + 1) * arc->nb_features;
}

void
hy_arc_table_read(const struct hy_arc *arc, uint32_t index, struct hy_arc_chain *chain)
{
	const uint64_t *hops;

	chain->enabled = 0;
	if (index >= arc->view->nb_indexes)
		return;
	hops = &arc->view->hops[chain_at(arc, index, arc->slots[index].side)];
	for (unsigned int f = 0; f < arc->nb_features; f++) {
		if ((hops[f] & ENABLED) == 0)
			continue;
		chain->enabled |= UINT64_C(1) << f;
		chain->cookie[f] = (uint32_t)hops[f];
	}
}

static uint64_t
edge_word(const struct hy_arc *arc, int from, int to)
{
	return (uint64_t)*hy_arc_edge(arc, from, to) << HY_ARC_EDGE_SHIFT;
}

void
hy_arc_table_ends(struct hy_arc *arc)
{
	for (uint64_t bits = arc->present; bits != 0; bits &= bits - 1) {
		const int f = __builtin_ctzll(bits);

		__atomic_store_n(&arc->view->hops[f], edge_word(arc, f, -1), __ATOMIC_RELAXED);
	}
}

/* Selects a chain of an index, and the edge that leads to it, from the next change on. */
static void
entry_write(struct hy_arc *arc, uint32_t index, uint64_t word)
{
	const struct hy_arc_view *view = arc->view;
	uint64_t *entry = &view->entries[index];
	const uint64_t since = arc->changes + 1;

	__atomic_store_n(&view->entries[view->nb_indexes + (size_t)index], *entry,
		__ATOMIC_RELAXED);
	__atomic_store_n(entry, since << HY_ARC_ENTRY_SINCE | word, __ATOMIC_RELEASE);
	__atomic_store_n(&arc->changes, (uint32_t)since, __ATOMIC_RELEASE);
}

void
hy_arc_table_write(struct hy_arc *arc, uint32_t index, const struct hy_arc_chain *chain)
{
	struct hy_arc_slot *slot = &arc->slots[index];
	const uint32_t at = chain_at(arc, index, slot->side ^ 1u);
	int next = -1; /* from the last feature to the first: the following one; first the end */

	for (int f = (int)arc->nb_features - 1; f >= 0; f--) {
		uint64_t word = 0;

		if ((chain->enabled >> f & 1) != 0) {
			word = ENABLED | edge_word(arc, f, next) | chain->cookie[f];
			next = f;
		}
		__atomic_store_n(&arc->view->hops[at + (unsigned int)f], word, __ATOMIC_RELAXED);
	}
	entry_write(arc, index, edge_word(arc, -1, next) | at);
	slot->side ^= 1;
	slot->token = now(arc);
}
