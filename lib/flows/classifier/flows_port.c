/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of a port, in the order in which workers search them: those that were hit most often
 * first. And what all masks look at, which says how far to read packets and what to hash.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flows/cache/flows_cache.h"

static const struct hy_flows_key none;

static int
by_hits(const void *a, const void *b)
{
	const struct flows_table *const *one = a, *const *other = b;

	if ((*one)->recent != (*other)->recent)
		return (*one)->recent < (*other)->recent ? 1 : -1;
	return (*one)->number < (*other)->number ? -1 : 1;
}

static bool
is_same(const struct flows_order *one, const struct flows_order *other)
{
	return one != NULL && one->n == other->n &&
		memcmp(one->table, other->table, one->n * sizeof(struct flows_table *)) == 0;
}

/* Publishes the tables of a port that have megaflows, sorted; or, unsorted, with a new one. */
static int
order_publish(struct hy_flows *f, uint16_t port, struct flows_table *new)
{
	struct flows_order *old = f->order[port];
	const uint32_t most = (old == NULL ? 0 : old->n) + (new != NULL);
	struct flows_order *order = flows_alloc(f,
		sizeof(*order) + most * sizeof(struct flows_table *));

	if (order == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; old != NULL && i < old->n; i++)
		if (old->table[i]->nb_flows > 0)
			order->table[order->n++] = old->table[i];
	if (new != NULL)
		order->table[order->n++] = new;
	else
		qsort(order->table, order->n, sizeof(struct flows_table *), by_hits);
	if (is_same(old, order)) {
		flows_release(f, &order->garbage);
		return 0;
	}
	FLOWS_STORE(f->order[port], order);
	for (uint32_t i = 0; old != NULL && i < old->n; i++) {
		if (old->table[i]->nb_flows > 0)
			continue;
		f->stats.masks--;
		flows_table_discard(f, old->table[i]);
	}
	f->stats.masks += new != NULL;
	if (old != NULL)
		flows_discard(f, &old->garbage, flows_release);
	return 0;
}

/*
 * Of the masks of all tables, and one more. If it differs, keys are hashed otherwise, and the indexes of
 * workers are emptied, for all ports.
 */
static int
union_publish(struct hy_flows *f, const struct hy_flows_key *also)
{
	struct flows_union *old = f->looked_at;
	struct flows_union *new = flows_alloc(f, sizeof(*new));
	struct hy_flows_key all = *also;

	if (new == NULL)
		return -ENOMEM;
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (uint32_t i = 0; f->order[port] != NULL && i < f->order[port]->n; i++)
			for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
				all.words[w] |= f->order[port]->table[i]->full.words[w];
	new->parse = hy_flows_parse_of(&all) | (f->params.tunnels ? HY_FLOWS_PARSE_TUNNEL : 0);
	for (uint8_t w = 0; w < HY_FLOWS_WORDS; w++) {
		if (all.words[w] == 0)
			continue;
		new->word[new->nb_words] = w;
		new->mask[new->nb_words++] = all.words[w];
	}
	new->frame = flows_frames_mask(&all, f->params.tunnels);
	if (memcmp(new->mask, old->mask, sizeof(new->mask)) == 0 &&
		memcmp(new->word, old->word, sizeof(new->word)) == 0) {
		flows_release(f, &new->garbage);
		return 0;
	}
	FLOWS_STORE(f->looked_at, new);
	__atomic_store_n(&f->epoch, f->epoch + 1, __ATOMIC_RELEASE);
	flows_discard(f, &old->garbage, flows_release);
	return 0;
}

int
flows_mask_show(struct hy_flows *f, const struct hy_flows_key *mask)
{
	return union_publish(f, mask);
}

int
flows_order_add(struct hy_flows *f, struct flows_table *table)
{
	return order_publish(f, table->port, table);
}

void
flows_order_remove(struct hy_flows *f, const struct flows_table *table)
{
	/* Without memory, the empty table stays until the next time. */
	if (order_publish(f, table->port, NULL) == 0)
		(void)union_publish(f, &none);
}

static void
read_hits(struct hy_flows *f, struct flows_table *table)
{
	uint64_t hits = 0;

	for (unsigned int w = 0; w < f->params.workers; w++)
		hits += __atomic_load_n(&f->workers[w].hits[table->number], __ATOMIC_RELAXED);
	table->recent = hits - table->hits;
	table->hits = hits;
}

void
flows_order_sort(struct hy_flows *f)
{
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
		const struct flows_order *order = f->order[port];

		for (uint32_t i = 0; order != NULL && i < order->n; i++)
			read_hits(f, order->table[i]);
		if (order != NULL && order->n > 0)
			(void)order_publish(f, port, NULL); /* or they stay in their order */
	}
	(void)union_publish(f, &none);
}

/* Whether a port has a table without megaflows. */
static bool
has_empty(const struct flows_order *order)
{
	for (uint32_t i = 0; order != NULL && i < order->n; i++)
		if (order->table[i]->nb_flows == 0)
			return true;
	return false;
}

void
flows_order_clean(struct hy_flows *f)
{
	bool some = false;

	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++)
		some |= has_empty(f->order[port]) && order_publish(f, port, NULL) == 0;
	if (some)
		(void)union_publish(f, &none);
}
