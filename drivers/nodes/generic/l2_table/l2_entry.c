/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of a bridge's table: learned, moved, added, deleted and read. */

#include <errno.h>

#include <rte_cycles.h>

#include "l2_find.h"
#include "l2_table.h"

#define FETCHED 32 /* sources whose memory is fetched at once */
#define GROUP 1    /* bit of a key, since it is one of the first byte of an address */

static void
count(struct hy_l2_table *t, uint64_t key, uint16_t value, uint32_t by)
{
	const bool fixed = (value & HY_L2_STATIC) != 0;
	struct l2_port *port = &t->ports[value & HY_L2_MISS];

	t->stats.entries += by;
	t->stats.static_entries += fixed ? by : 0;
	t->vlans[l2_vid(key)] += by;
	port->fixed += fixed ? by : 0;
	port->learned += fixed ? 0 : by;
}

static int
entry_new(struct hy_l2_table *t, uint64_t key, uint16_t value)
{
	uint32_t slot;
	const int rc = l2_slot_take(t, key, value, &slot);

	if (rc < 0)
		return rc;
	t->moved[slot] = t->view.clock - 2;
	count(t, key, value, 1);
	return 0;
}

void
l2_entry_delete(struct hy_l2_table *t, uint32_t slot)
{
	count(t, l2_word(t, slot), t->values[slot], UINT32_MAX);
	l2_slot_give_up(t, slot);
}

/* One store: a packet goes to the old port or to the new one. */
static void
entry_set(struct hy_l2_table *t, uint64_t key, uint32_t slot, uint16_t value)
{
	count(t, key, t->values[slot], UINT32_MAX);
	count(t, key, value, 1);
	__atomic_store_n(&t->values[slot], value, __ATOMIC_RELAXED);
	__atomic_store_n(&t->view.seen[slot], t->view.clock, __ATOMIC_RELAXED);
}

static bool
port_is_full(const struct l2_port *port)
{
	return port->max != 0 && port->learned >= port->max;
}

static enum hy_l2_outcome
learn_new(struct hy_l2_table *t, const struct hy_l2_source *source)
{
	if (t->stats.entries == t->params.max_entries)
		return HY_L2_REFUSED_LIMIT;
	if (port_is_full(&t->ports[source->port]))
		return HY_L2_REFUSED_PORT;
	return entry_new(t, source->key, source->port) < 0 ? HY_L2_REFUSED_ROOM : HY_L2_LEARNED;
}

static enum hy_l2_outcome
learn_known(struct hy_l2_table *t, const struct hy_l2_source *source, uint32_t slot)
{
	const uint16_t value = t->values[slot];

	if ((value & HY_L2_MISS) == source->port) {
		__atomic_store_n(&t->view.seen[slot], t->view.clock, __ATOMIC_RELAXED);
		return HY_L2_REFRESHED;
	}
	if ((value & HY_L2_STATIC) != 0)
		return HY_L2_REFUSED_STATIC;
	if (port_is_full(&t->ports[source->port]))
		return HY_L2_REFUSED_PORT;
	entry_set(t, source->key, slot, source->port);
	t->stats.flapped += t->view.clock - t->moved[slot] <= 1;
	t->moved[slot] = t->view.clock;
	return HY_L2_MOVED;
}

static enum hy_l2_outcome
learn_one(struct hy_l2_table *t, const struct hy_l2_source *source)
{
	uint32_t slot;

	if (!l2_is_key(source->key) || (source->key & GROUP) != 0 ||
		source->port >= t->params.nb_ports)
		return HY_L2_REFUSED_INVALID;
	slot = l2_find(t, source->key);
	return slot == t->view.none ? learn_new(t, source) : learn_known(t, source, slot);
}

static void
fetch(const struct hy_l2_table *t, const struct hy_l2_source source[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t first = hy_l2_bucket(&t->view, source[i].key);

		rte_prefetch0(&t->words[first]);
		rte_prefetch0(&t->values[first]);
		rte_prefetch0(&t->view.seen[first]);
		rte_prefetch0(&t->moved[first]);
		rte_prefetch0(&t->buckets[first / HY_L2_WAYS]);
	}
}

void
hy_l2_learn(struct hy_l2_table *t, const struct hy_l2_source source[], uint8_t outcome[],
	uint32_t n)
{
	pthread_mutex_lock(&t->lock);
	for (uint32_t i = 0; i < n; i++) {
		if (i % FETCHED == 0)
			fetch(t, source + i, RTE_MIN(n - i, (uint32_t)FETCHED));
		outcome[i] = (uint8_t)learn_one(t, &source[i]);
		t->stats.learn[outcome[i]]++;
	}
	pthread_mutex_unlock(&t->lock);
}

static int
add(struct hy_l2_table *t, uint64_t key, uint16_t port)
{
	const uint16_t value = (uint16_t)(port | HY_L2_STATIC);
	const uint32_t slot = l2_find(t, key);
	int rc;

	if (slot != t->view.none) {
		entry_set(t, key, slot, value);
		return 0;
	}
	if (t->stats.entries == t->params.max_entries)
		return -ENOSPC;
	rc = entry_new(t, key, value);
	t->stats.added += rc == 0;
	return rc;
}

int
hy_l2_add(struct hy_l2_table *t, uint64_t key, uint16_t port)
{
	const uint64_t start = rte_get_timer_cycles();
	int rc;

	if (!l2_is_key(key) || port >= t->params.nb_ports)
		return -EINVAL;
	for (;;) {
		pthread_mutex_lock(&t->lock);
		rc = add(t, key, port);
		pthread_mutex_unlock(&t->lock);
		if (rc != -EAGAIN)
			return rc;
		if (rte_get_timer_cycles() - start > rte_get_timer_hz())
			return -ETIMEDOUT;
		rte_delay_us_sleep(20); /* a walk takes microseconds */
	}
}

/* Of any word: workers look only for keys. */
static uint32_t
find_any(const struct hy_l2_table *t, uint64_t key)
{
	return l2_is_key(key) ? l2_find(t, key) : t->view.none;
}

int
hy_l2_delete(struct hy_l2_table *t, uint64_t key)
{
	uint32_t slot;

	pthread_mutex_lock(&t->lock);
	slot = find_any(t, key);
	if (slot != t->view.none) {
		l2_entry_delete(t, slot);
		t->stats.deleted++;
	}
	pthread_mutex_unlock(&t->lock);
	return slot == t->view.none ? -ENOENT : 0;
}

struct hy_l2_entry
l2_entry_read(const struct hy_l2_table *t, uint32_t slot)
{
	const uint32_t seen = __atomic_load_n(&t->view.seen[slot], __ATOMIC_RELAXED);

	return (struct hy_l2_entry){
		.key = l2_word(t, slot),
		.idle = t->view.clock - seen,
		.port = t->values[slot] & HY_L2_MISS,
		.is_static = (t->values[slot] & HY_L2_STATIC) != 0,
	};
}

int
hy_l2_get(struct hy_l2_table *t, uint64_t key, struct hy_l2_entry *entry)
{
	uint32_t slot;

	pthread_mutex_lock(&t->lock);
	slot = find_any(t, key);
	if (slot != t->view.none)
		*entry = l2_entry_read(t, slot);
	pthread_mutex_unlock(&t->lock);
	return slot == t->view.none ? -ENOENT : 0;
}
