/* SPDX-License-Identifier: BSD-3-Clause */
/* Megaflows: added, modified, deleted, read. */

#include <errno.h>

#include "lib/flows/flows.h"
#include "lib/flows/upcall/flows_upcall.h"

/* A mask with all bits of the port, as tables have it. */
static struct hy_flows_key
mask_of(const struct hy_flows_key *mask)
{
	struct hy_flows_key full = *mask;

	full.port = UINT16_MAX;
	return full;
}

/* The slot of a megaflow with a key and mask, or HY_FLOWS_MISS. */
static uint32_t
find(const struct hy_flows *f, const struct hy_flows_key *key, const struct hy_flows_key *mask)
{
	const struct hy_flows_key full = mask_of(mask);
	const struct flows_table *table = key->port < RTE_MAX_ETHPORTS
		? flows_table_of(f, key->port, &full)
		: NULL;

	return table == NULL ? HY_FLOWS_MISS : flows_table_find(f, table, key);
}

static uint32_t
port_masks(const struct hy_flows *f, uint16_t port)
{
	return f->order[port] == NULL ? 0 : f->order[port]->n;
}

/* The table for a megaflow, which may be new. */
static int
table_for(struct hy_flows *f, uint16_t port, const struct hy_flows_key *mask,
	struct flows_table **table, bool *is_new)
{
	*table = flows_table_of(f, port, mask);
	*is_new = *table == NULL;
	if (!*is_new)
		return 0;
	if (f->stats.masks == f->params.max_masks ||
		port_masks(f, port) == f->params.max_port_masks) {
		f->stats.refused_masks++;
		return -ENOSPC;
	}
	return flows_table_create(f, port, mask, table);
}

static void
record_write(struct hy_flows *f, uint32_t slot, const struct flows_table *table,
	const struct hy_flows_flow *flow)
{
	struct flows_record *record = &f->records[slot];
	struct flows_slot *s = &f->slots[slot];

	for (uint32_t i = 0; i < table->nb_words; i++)
		record->words[i] = flow->key.words[table->word[i]] & table->mask[i];
	record->hash = flows_table_hash(&f->secret, table, &flow->key, table->nb_words);
	__atomic_store_n(&record->action, flow->action, __ATOMIC_RELAXED);
	s->created = s->credited = f->clock;
	s->idle = flow->idle;
	s->hard = flow->hard;
	FLOWS_STORE(record->tag, ((record->tag >> 16) + 1) << 16 | table->number);
	f->used[slot / 64] |= UINT64_C(1) << slot % 64;
}

/* Hides a record that is in no bucket. A cache's old entry may still lead to its slot. */
static void
record_drop(struct hy_flows *f, uint32_t slot)
{
	FLOWS_STORE(f->records[slot].tag, f->records[slot].tag & ~UINT64_C(0xffff));
	f->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	flows_slot_give_up(f, slot);
}

static int
add_to(struct hy_flows *f, struct flows_table *table, bool is_new, const struct hy_flows_flow *flow,
	struct flows_found *found)
{
	int rc = is_new ? flows_mask_show(f, &table->full) : 0;
	uint32_t slot;

	if (rc < 0)
		goto fail;
	slot = flows_slot_take(f);
	if (slot == FLOWS_NOWHERE) {
		f->stats.refused_flows++;
		rc = -EAGAIN;
		goto fail;
	}
	record_write(f, slot, table, flow);
	rc = flows_table_insert(f, table, slot);
	if (rc == 0 && is_new) {
		rc = flows_order_add(f, table);
		if (rc < 0)
			flows_table_remove(table, slot, f->records[slot].hash);
	}
	if (rc < 0) {
		record_drop(f, slot);
		goto fail;
	}
	f->stats.flows++;
	f->stats.added++;
	*found = (struct flows_found){
		.tag = f->records[slot].tag, .slot = slot, .action = flow->action
	};
	return 0;

fail:
	if (is_new)
		flows_table_discard(f, table);
	return rc;
}

static int
add(struct hy_flows *f, const struct hy_flows_flow *flow, struct flows_found *found)
{
	const struct hy_flows_key mask = mask_of(&flow->mask);
	struct flows_table *table;
	bool is_new;
	int rc;

	if (find(f, &flow->key, &flow->mask) != HY_FLOWS_MISS)
		return -EEXIST;
	if (f->stats.flows == f->params.max_flows) {
		f->stats.refused_flows++;
		return -ENOSPC;
	}
	rc = table_for(f, flow->key.port, &mask, &table, &is_new);
	return rc < 0 ? rc : add_to(f, table, is_new, flow, found);
}

int
hy_flows_add(struct hy_flows *f, const struct hy_flows_flow *flow)
{
	struct flows_found found;

	return flows_add_found(f, flow, &found);
}

int
flows_add_found(struct hy_flows *f, const struct hy_flows_flow *flow, struct flows_found *found)
{
	int rc;

	if (flow->key.port >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	pthread_mutex_lock(&f->lock);
	rc = add(f, flow, found);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

int
hy_flows_modify(struct hy_flows *f, const struct hy_flows_flow *flow)
{
	uint32_t slot;

	pthread_mutex_lock(&f->lock);
	slot = find(f, &flow->key, &flow->mask);
	if (slot != HY_FLOWS_MISS) {
		/* What the action means to the program is seen with it. */
		FLOWS_STORE(f->records[slot].action, flow->action);
		f->slots[slot].idle = flow->idle;
		f->slots[slot].hard = flow->hard;
		f->stats.modified++;
	}
	pthread_mutex_unlock(&f->lock);
	return slot == HY_FLOWS_MISS ? -ENOENT : 0;
}

void
flows_delete(struct hy_flows *f, uint32_t slot)
{
	struct flows_record *record = &f->records[slot];
	struct flows_table *table = f->tables[FLOWS_TABLE(record->tag)];

	FLOWS_STORE(record->tag, record->tag & ~UINT64_C(0xffff));
	f->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	flows_table_remove(table, slot, record->hash);
	flows_slot_give_up(f, slot);
	f->stats.flows--;
}

int
hy_flows_delete(struct hy_flows *f, const struct hy_flows_key *key, const struct hy_flows_key *mask)
{
	uint32_t slot;

	pthread_mutex_lock(&f->lock);
	slot = find(f, key, mask);
	if (slot != HY_FLOWS_MISS) {
		const struct flows_table *table = f->tables[FLOWS_TABLE(f->records[slot].tag)];

		flows_delete(f, slot);
		if (table->nb_flows == 0)
			flows_order_remove(f, table);
		f->stats.deleted++;
	}
	pthread_mutex_unlock(&f->lock);
	return slot == HY_FLOWS_MISS ? -ENOENT : 0;
}

struct hy_flows_entry
flows_entry(const struct hy_flows *f, uint32_t slot)
{
	const struct flows_record *record = &f->records[slot];
	const struct flows_table *table = f->tables[FLOWS_TABLE(record->tag)];
	const struct flows_counts counts = flows_slot_counts(f, slot);
	const struct flows_slot *s = &f->slots[slot];
	struct hy_flows_entry entry = {
		.ref = { .tag = record->tag, .slot = slot },
		.flow = { .mask = table->full,
			.action = record->action,
			.idle = s->idle,
			.hard = s->hard },
		.packets = counts.packets,
		.bytes = counts.bytes,
		.age = f->clock - s->created,
		.unused = f->clock - (uint32_t)counts.last,
	};

	for (uint32_t i = 0; i < table->nb_words; i++)
		entry.flow.key.words[table->word[i]] = record->words[i];
	return entry;
}

int
hy_flows_get(struct hy_flows *f, const struct hy_flows_key *key, const struct hy_flows_key *mask,
	struct hy_flows_entry *entry)
{
	uint32_t slot;

	pthread_mutex_lock(&f->lock);
	slot = find(f, key, mask);
	if (slot != HY_FLOWS_MISS)
		*entry = flows_entry(f, slot);
	pthread_mutex_unlock(&f->lock);
	return slot == HY_FLOWS_MISS ? -ENOENT : 0;
}

/* Whether a name is of a megaflow that is installed. With the lock. */
static bool
is_there(const struct hy_flows *f, const struct hy_flows_ref *ref)
{
	return FLOWS_TABLE(ref->tag) != 0 && ref->slot < f->nb_slots &&
		f->records[ref->slot].tag == ref->tag;
}

int
hy_flows_action(struct hy_flows *f, const struct hy_flows_ref *ref, uint32_t *action)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&f->lock);
	if (is_there(f, ref)) {
		*action = f->records[ref->slot].action;
		rc = 0;
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

int
hy_flows_credit(struct hy_flows *f, const struct hy_flows_ref *ref, uint64_t packets,
	uint64_t bytes)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&f->lock);
	if (is_there(f, ref)) {
		struct flows_slot *s = &f->slots[ref->slot];

		s->packets -= packets; /* those of earlier megaflows are subtracted */
		s->bytes -= bytes;
		s->credited = f->clock;
		rc = 0;
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

uint32_t
flows_search(const struct hy_flows *f, const struct hy_flows_key *key)
{
	const struct flows_order *order = key->port < RTE_MAX_ETHPORTS
		? FLOWS_LOAD(f->order[key->port])
		: NULL;
	uint32_t slot = HY_FLOWS_MISS;

	for (uint32_t i = 0; order != NULL && i < order->n && slot == HY_FLOWS_MISS; i++)
		slot = flows_table_find(f, order->table[i], key);
	return slot;
}

struct flows_found
flows_find_key(struct hy_flows *f, const struct hy_flows_key *key)
{
	struct flows_found found;

	pthread_mutex_lock(&f->lock);
	found = (struct flows_found){ .slot = flows_search(f, key) };
	if (found.slot != HY_FLOWS_MISS) {
		found.tag = f->records[found.slot].tag;
		found.action = f->records[found.slot].action;
	}
	pthread_mutex_unlock(&f->lock);
	return found;
}
