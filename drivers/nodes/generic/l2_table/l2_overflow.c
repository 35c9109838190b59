/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries whose buckets are full, in an rte_hash that workers read without a lock. Its positions are
 * slots too. Which position a key gets is known only when workers can find it: so the value of a free
 * position is HY_L2_MISS, and the entry is there once its value is stored.
 *
 * A deleted position is freed after a grace period: deleted ones gather in the open list; once the
 * closed list is freed, the open one is closed and gets a token.
 *
 * rte_hash has as many buckets for extension as others. When it finds none, rte_hash_add_key() loses a
 * position for good, so it is not called then (has_room()).
 */

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_hash.h>

#include "l2_table.h"

#define FREED 8 /* positions in one call, for each of which at most one was deleted */

/* Seeded, unlike rte_hash's own CRC, of which anybody can compute collisions. */
static uint32_t
overflow_hash(const void *key, uint32_t len __rte_unused, uint32_t seed)
{
	uint64_t hash;

	memcpy(&hash, key, sizeof(hash));
	hash = (hash ^ seed) * ((uint64_t)seed << 32 | UINT64_C(0x9e3779b1));
	hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t)(hash >> 32);
}

int
l2_overflow_create(struct hy_l2_table *t)
{
	static unsigned int created;
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters params = {
		.name = name,
		.entries = t->overflow_room,
		.key_len = sizeof(uint64_t),
		.hash_func = overflow_hash,
		.hash_func_init_val = (uint32_t)(t->view.seed[1] >> 32),
		.socket_id = t->params.socket,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF |
			RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* room for all entries, see has_room() */
	};

	snprintf(name, sizeof(name), "hy_l2_%d_%u", (int)getpid(),
		__atomic_add_fetch(&created, 1, __ATOMIC_RELAXED));
	t->overflow = rte_hash_create(&params);
	t->waiting = (struct l2_waiting){ .open = L2_NOWHERE, .closed = L2_NOWHERE };
	return t->overflow == NULL ? -ENOMEM : 0;
}

size_t
l2_overflow_bytes(uint32_t entries)
{
	const size_t buckets = rte_align32pow2(entries) / 8;

	/* Keys with their data; buckets and as many for extension; rings of free ones; what is freed
	 * with a position. */
	return (entries + 1) * (size_t)(16 + 4) + 2 * buckets * RTE_CACHE_LINE_SIZE +
		(rte_align32pow2(entries + 2) + (size_t)rte_align32pow2((uint32_t)buckets + 1)) *
		sizeof(uint32_t);
}

/* Starts the grace period of the open list, if no other is waited for. */
static void
close_list(struct hy_l2_table *t)
{
	struct l2_waiting *waiting = &t->waiting;

	if (waiting->closed != L2_NOWHERE || waiting->open == L2_NOWHERE)
		return;
	waiting->closed = waiting->open;
	waiting->open = L2_NOWHERE;
	waiting->token = l2_token(t);
}

/*
 * Whether rte_hash has a bucket left for extension. It keeps chains compact: behind eight full slots
 * for each of them, there is one more entry; and each position that waits holds one at most.
 */
static bool
has_room(const struct hy_l2_table *t)
{
	return t->waiting.n + t->stats.overflowed / 8 < rte_align32pow2(t->overflow_room) / 8;
}

static int32_t
add(struct hy_l2_table *t, uint64_t key)
{
	return has_room(t) ? rte_hash_add_key(t->overflow, &key) : -ENOSPC;
}

/* Frees positions that workers have left. Returns their number. */
static uint32_t
reap(struct hy_l2_table *t, uint32_t most)
{
	struct l2_waiting *waiting = &t->waiting;
	uint32_t freed = 0;

	if (waiting->closed == L2_NOWHERE || !l2_passed(t, waiting->token))
		return 0;
	for (; freed < most && waiting->closed != L2_NOWHERE; freed++) {
		const uint32_t position = waiting->closed;

		waiting->closed = (uint32_t)t->overflow_words[position];
		t->overflow_words[position] = 0;
		__atomic_store_n(&t->values[t->view.overflow_base + position], HY_L2_MISS,
			__ATOMIC_RELAXED);
		rte_hash_free_key_with_position(t->overflow, (int32_t)position);
	}
	waiting->n -= freed;
	close_list(t);
	return freed;
}

int
l2_overflow_take(struct hy_l2_table *t, uint64_t key, uint16_t value, uint32_t *slot)
{
	int32_t position;

	reap(t, FREED);
	position = add(t, key);
	while (position < 0 && reap(t, FREED) > 0)
		position = add(t, key);
	if (position < 0)
		return -EAGAIN;
	*slot = t->view.overflow_base + (uint32_t)position;
	t->overflow_words[position] = key;
	t->stats.overflowed++;
	__atomic_store_n(&t->view.seen[*slot], t->view.clock, __ATOMIC_RELAXED);
	/* Until now, workers that found the key read HY_L2_MISS here. */
	__atomic_store_n(&t->values[*slot], value, __ATOMIC_RELEASE);
	return 0;
}

void
l2_overflow_give_up(struct hy_l2_table *t, uint32_t position)
{
	const uint64_t key = t->overflow_words[position];

	rte_hash_del_key(t->overflow, &key);
	t->overflow_words[position] = t->waiting.open;
	t->waiting.open = position;
	t->waiting.n++;
	t->stats.overflowed--;
	close_list(t);
	reap(t, FREED);
}
