/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of all tables: of each table, a subtable for each mask. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "lib/vswitch/vswitch.h"

#define SLOT_BITS 24 /* of an id, as HY_VSWITCH_RULES says */
#define SLOT_MASK (RTE_BIT64(SLOT_BITS) - 1)
#define ROOM 64 /* slots at first */

struct vswitch_set *
vswitch_set_create(void)
{
	return calloc(1, sizeof(struct vswitch_set));
}

void
vswitch_actions_drop(struct vswitch_actions *actions)
{
	if (--actions->refs == 0)
		free(actions);
}

struct vswitch_actions *
vswitch_actions_make(const struct hy_vswitch_rule *rule)
{
	const size_t size = rule->nb_actions * sizeof(rule->actions[0]);
	struct vswitch_actions *actions = malloc(sizeof(*actions) + size);

	if (actions == NULL)
		return NULL;
	actions->refs = 1;
	actions->n = rule->nb_actions;
	memcpy(actions->action, rule->actions, size);
	return actions;
}

static void
entry_free(struct vswitch_entry *entry)
{
	vswitch_actions_drop(entry->actions);
	free(entry);
}

/* Frees nodes, without the leaves: goes down to the left, and turns what it leaves to the right. */
static void
nodes_free(struct vswitch_node *node)
{
	while (node != NULL && !vswitch_is_leaf(node)) {
		struct vswitch_node *left = node->child[0], *right = node->child[1];

		if (!vswitch_is_leaf(left)) {
			node->child[0] = left->child[1];
			left->child[1] = node;
			node = left;
			continue;
		}
		free(node);
		node = right;
	}
}

void
vswitch_set_destroy(struct vswitch_set *set)
{
	if (set == NULL)
		return;
	for (uint32_t t = 0; t < HY_VSWITCH_TABLES; t++) {
		for (uint32_t s = 0; s < set->table[t].n; s++) {
			nodes_free(set->table[t].subtable[s]->root);
			free(set->table[t].subtable[s]);
		}
		free(set->table[t].subtable);
	}
	for (uint32_t i = 0; i < set->slots; i++)
		if (set->slot[i] != NULL)
			entry_free(set->slot[i]);
	free(set->slot);
	free(set->spare);
	free(set);
}

static struct vswitch_subtable *
subtable_of(const struct vswitch_table *table, const struct hy_flows_key *mask)
{
	for (uint32_t s = 0; s < table->n; s++)
		if (memcmp(&table->subtable[s]->mask, mask, sizeof(*mask)) == 0)
			return table->subtable[s];
	return NULL;
}

/* Whether one entry counts before another of the same key. */
static bool
is_before(const struct vswitch_entry *a, const struct vswitch_entry *b)
{
	return a->priority != b->priority ? a->priority > b->priority : a->order < b->order;
}

struct vswitch_entry *
vswitch_set_same(struct vswitch_set *set, uint32_t table, const struct hy_vswitch_rule *rule)
{
	struct vswitch_subtable *sub = subtable_of(&set->table[table], &rule->mask);
	struct vswitch_node **place = sub == NULL ? NULL : vswitch_tree_place(sub, &rule->key);
	struct vswitch_entry *entry = place == NULL ? NULL : vswitch_leaf(*place);

	while (entry != NULL && entry->priority != rule->priority)
		entry = entry->next;
	return entry;
}

static int
make_slots(struct vswitch_set *set)
{
	const uint32_t room = set->room == 0 ? ROOM : 2 * set->room;
	struct vswitch_entry **slot;
	uint32_t *spare;

	if (set->n == HY_VSWITCH_RULES)
		return -ENOSPC;
	if (set->spares > 0 || set->slots < set->room)
		return 0;
	slot = reallocarray(set->slot, room, sizeof(struct vswitch_entry *));
	if (slot == NULL)
		return -ENOMEM;
	set->slot = slot;
	spare = reallocarray(set->spare, room, sizeof(*spare));
	if (spare == NULL)
		return -ENOMEM;
	set->spare = spare;
	set->room = room;
	return 0;
}

/* Makes room for a rule in the set, and for a mask in its table. */
static int
make_room(struct vswitch_set *set, struct vswitch_table *table)
{
	const uint32_t room = table->room == 0 ? 4 : 2 * table->room;
	struct vswitch_subtable **subtable;
	int rc = make_slots(set);

	if (rc < 0 || table->n < table->room)
		return rc;
	subtable = reallocarray(table->subtable, room, sizeof(struct vswitch_subtable *));
	if (subtable == NULL)
		return -ENOMEM;
	table->subtable = subtable;
	table->room = room;
	return 0;
}

/* Takes a slot, for which there is room. */
static uint32_t
slot_take(struct vswitch_set *set)
{
	return set->spares > 0 ? set->spare[--set->spares] : set->slots++;
}

static struct vswitch_entry *
entry_make(const struct hy_vswitch_rule *rule, uint64_t now)
{
	struct vswitch_entry *entry = calloc(1, sizeof(*entry));

	if (entry == NULL)
		return NULL;
	entry->actions = vswitch_actions_make(rule);
	if (entry->actions == NULL) {
		free(entry);
		return NULL;
	}
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		entry->key.words[w] = rule->key.words[w] & rule->mask.words[w];
	entry->cookie = rule->cookie;
	entry->priority = rule->priority;
	entry->idle_timeout = rule->idle_timeout;
	entry->hard_timeout = rule->hard_timeout;
	entry->table = rule->table;
	entry->stats.added = now;
	entry->stats.used = now;
	return entry;
}

static void
count_priority(struct vswitch_subtable *sub, uint16_t priority)
{
	if (priority > sub->priority)
		sub->at_top = 0;
	sub->priority = RTE_MAX(sub->priority, priority);
	sub->at_top += priority == sub->priority;
}

/* Moves a subtable to its place by priority, which may have become higher. */
static void
raise_subtable(struct vswitch_table *table, struct vswitch_subtable *sub)
{
	uint32_t s = 0;

	while (table->subtable[s] != sub)
		s++;
	for (; s > 0 && table->subtable[s - 1]->priority < sub->priority; s--) {
		table->subtable[s] = table->subtable[s - 1];
		table->subtable[s - 1] = sub;
	}
}

/* Links an entry into a subtable. */
static void
link_entry(struct vswitch_subtable *sub, struct vswitch_entry *entry, struct vswitch_node *node)
{
	struct vswitch_node **place = vswitch_tree_place(sub, &entry->key);
	struct vswitch_entry *head = place == NULL ? NULL : vswitch_leaf(*place);

	entry->subtable = sub;
	sub->n++;
	if (head == NULL) {
		vswitch_tree_add(sub, entry, node);
		return;
	}
	free(node);
	if (is_before(entry, head)) {
		entry->next = head;
		*place = vswitch_of_leaf(entry);
		return;
	}
	while (head->next != NULL && is_before(head->next, entry))
		head = head->next;
	entry->next = head->next;
	head->next = entry;
}

int
vswitch_set_add(struct vswitch_set *set, const struct hy_vswitch_rule *rule, uint64_t order,
	uint64_t now, struct vswitch_entry **added)
{
	struct vswitch_table *table = &set->table[rule->table];
	struct vswitch_subtable *sub = subtable_of(table, &rule->mask), *made = NULL;
	struct vswitch_entry *same = vswitch_set_same(set, rule->table, rule), *entry;
	struct vswitch_node *node = NULL;
	int rc = make_room(set, table);

	if (rc < 0)
		return rc;
	entry = entry_make(rule, now);
	if (sub == NULL)
		sub = made = calloc(1, sizeof(*sub));
	if (sub != NULL && sub->root != NULL)
		node = malloc(sizeof(*node));
	if (entry == NULL || sub == NULL || (sub->root != NULL && node == NULL)) {
		free(made);
		free(node);
		if (entry != NULL)
			entry_free(entry);
		return -ENOMEM;
	}
	if (made != NULL) {
		made->mask = rule->mask;
		table->subtable[table->n++] = made;
	}
	entry->order = same != NULL ? same->order : order;
	entry->id = order << SLOT_BITS | slot_take(set);
	set->slot[entry->id & SLOT_MASK] = entry;
	set->n++;
	link_entry(sub, entry, node);
	count_priority(sub, rule->priority);
	raise_subtable(table, sub);
	if (same != NULL)
		vswitch_set_remove(set, same);
	*added = entry;
	return 0;
}

void
vswitch_set_remove(struct vswitch_set *set, struct vswitch_entry *entry)
{
	struct vswitch_subtable *sub = entry->subtable;
	const uint32_t slot = (uint32_t)(entry->id & SLOT_MASK);
	struct vswitch_node **place = vswitch_tree_place(sub, &entry->key);
	struct vswitch_entry *before = vswitch_leaf(*place);

	if (before == entry && entry->next == NULL) {
		vswitch_tree_remove(sub, &entry->key);
	} else if (before == entry) {
		*place = vswitch_of_leaf(entry->next);
	} else {
		while (before->next != entry)
			before = before->next;
		before->next = entry->next;
	}
	sub->n--;
	sub->at_top -= entry->priority == sub->priority;
	if (sub->at_top == 0)
		set->table[entry->table].stale = set->stale = true;
	set->slot[slot] = NULL;
	set->spare[set->spares++] = slot;
	set->n--;
	entry_free(entry);
}

int
vswitch_set_renumber(struct vswitch_set *set, const struct vswitch_set *before, uint64_t first)
{
	const uint32_t room = RTE_MAX(set->slots, before->slots);
	struct vswitch_entry **slot = calloc(RTE_MAX(room, 1u), sizeof(struct vswitch_entry *));
	uint32_t *spare = calloc(RTE_MAX(room, 1u), sizeof(*spare)), at = 0;

	if (slot == NULL || spare == NULL) {
		free(slot);
		free(spare);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < set->slots; i++)
		if (set->slot[i]->id >> SLOT_BITS < first)
			slot[set->slot[i]->id & SLOT_MASK] = set->slot[i];
	for (uint32_t i = 0; i < set->slots; i++) {
		struct vswitch_entry *entry = set->slot[i];

		if (entry->id >> SLOT_BITS < first)
			continue;
		while (slot[at] != NULL)
			at++;
		slot[at] = entry;
		entry->id = (entry->id & ~SLOT_MASK) | at;
	}
	free(set->slot);
	free(set->spare);
	set->slot = slot;
	set->spare = spare;
	set->slots = set->room = room;
	for (uint32_t i = 0; i < room; i++)
		if (slot[i] == NULL)
			spare[set->spares++] = i;
	return 0;
}

static int
by_priority(const void *a, const void *b)
{
	const struct vswitch_subtable *const *x = a, *const *y = b;

	return (int)(*y)->priority - (int)(*x)->priority;
}

/* Frees the subtables of a table that have no rules, and puts the others in order. */
static void
settle_table(struct vswitch_table *table)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < table->n; s++) {
		table->subtable[s]->stale = false;
		if (table->subtable[s]->n > 0)
			table->subtable[n++] = table->subtable[s];
		else
			free(table->subtable[s]);
	}
	table->n = n;
	table->stale = false;
	if (n > 1)
		qsort(table->subtable, n, sizeof(struct vswitch_subtable *), by_priority);
}

void
vswitch_set_settle(struct vswitch_set *set)
{
	bool falls = false; /* a subtable has rules, but none of its priority any more */

	if (!set->stale)
		return;
	for (uint32_t t = 0; t < HY_VSWITCH_TABLES; t++)
		for (uint32_t s = 0; s < set->table[t].n && set->table[t].stale; s++) {
			struct vswitch_subtable *sub = set->table[t].subtable[s];

			sub->stale = sub->at_top == 0;
			sub->priority = sub->stale ? 0 : sub->priority;
			falls |= sub->stale && sub->n > 0;
		}
	for (uint32_t i = 0; i < (falls ? set->slots : 0); i++)
		if (set->slot[i] != NULL && set->slot[i]->subtable->stale)
			count_priority(set->slot[i]->subtable, set->slot[i]->priority);
	for (uint32_t t = 0; t < HY_VSWITCH_TABLES; t++)
		if (set->table[t].stale)
			settle_table(&set->table[t]);
	set->stale = false;
}

struct vswitch_entry *
vswitch_set_get(const struct vswitch_set *set, uint64_t id)
{
	const uint64_t slot = id & SLOT_MASK;

	return slot < set->slots && set->slot[slot] != NULL && set->slot[slot]->id == id
		? set->slot[slot]
		: NULL;
}

bool
vswitch_selects(const struct hy_vswitch_rule *rule, bool strict, const struct vswitch_entry *entry)
{
	const struct hy_flows_key *mask = &entry->subtable->mask;

	if (rule->table != HY_VSWITCH_TABLES && rule->table != entry->table)
		return false;
	if (strict &&
		(rule->priority != entry->priority ||
			memcmp(mask, &rule->mask, sizeof(*mask)) != 0))
		return false;
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		if ((rule->mask.words[w] & ~mask->words[w]) != 0)
			return false;
	return hy_flows_equal(&rule->key, &entry->key, &rule->mask);
}

struct vswitch_entry *
vswitch_find(const struct vswitch_table *table, const struct hy_flows_key *key,
	struct hy_flows_key *looked)
{
	struct vswitch_entry *best = NULL;

	for (uint32_t s = 0; s < table->n; s++) {
		const struct vswitch_subtable *sub = table->subtable[s];
		struct vswitch_entry *entry;

		if (best != NULL && sub->priority < best->priority)
			break;
		entry = vswitch_tree_find(sub, key, looked);
		if (entry != NULL && (best == NULL || is_before(entry, best)))
			best = entry;
	}
	return best;
}

void
vswitch_entry_rule(const struct vswitch_entry *entry, struct hy_vswitch_rule *rule)
{
	*rule = (struct hy_vswitch_rule){ .table = entry->table,
		.priority = entry->priority,
		.idle_timeout = entry->idle_timeout,
		.hard_timeout = entry->hard_timeout,
		.cookie = entry->cookie,
		.key = entry->key,
		.mask = entry->subtable->mask,
		.nb_actions = entry->actions->n };
	memcpy(rule->actions, entry->actions->action,
		entry->actions->n * sizeof(entry->actions->action[0]));
}
