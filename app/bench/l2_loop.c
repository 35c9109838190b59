/* SPDX-License-Identifier: BSD-3-Clause */
/* See l2_loop.h. */

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "l2_loop.h"

#define PREFETCH 3

enum table { TABLE_NONE, TABLE_LPM6, TABLE_HASH_14, TABLE_HASH_8, TABLE_LEFT_OUT };
enum key { KEY_ALLOCATED, KEY_STACK };

/* A constant in each function that is compiled from the loop. */
struct how {
	enum table table;
	enum key key;
	bool single, hints_swapped, no_bswap;
};

/* Which branch a switch generated from P4 expects; or the other one. */
static __rte_always_inline bool
expected(bool condition, struct how how)
{
	return how.hints_swapped ? unlikely(condition) : likely(condition);
}

static __rte_always_inline void
send_now(struct l2_loop *l, unsigned int port, struct rte_mbuf **mbufs, unsigned int n)
{
	const uint16_t sent = rte_eth_tx_burst(l->tx[port], 0, mbufs, (uint16_t)n);

	for (unsigned int i = sent; unlikely(i < n); i++)
		rte_pktmbuf_free(mbufs[i]);
}

static __rte_always_inline void
send_one(struct l2_loop *l, unsigned int port, struct rte_mbuf *m, bool single)
{
	if (single) {
		send_now(l, port, &m, 1);
		return;
	}
	l->gathered[port].mbufs[l->gathered[port].n++] = m;
	if (unlikely(l->gathered[port].n == L2_BURST)) {
		send_now(l, port, l->gathered[port].mbufs, L2_BURST);
		l->gathered[port].n = 0;
	}
}

static __rte_always_inline bool
lpm_find(const struct l2_loop *l, const uint8_t *header, uint32_t *field, struct how how)
{
	uint8_t stack[16] = { 0 }, *key = stack;
	bool found = true;

	if (how.key == KEY_ALLOCATED) {
		key = malloc(sizeof(stack));
		if (unlikely(key == NULL))
			return false;
		memset(key, 0, sizeof(stack));
		memcpy(key, header, l->key_len);
	} else {
		memcpy(key, header, L2_LONG_KEY);
	}
	if (how.table == TABLE_LPM6)
		found = expected(rte_lpm6_lookup(l->lpm, (void *)key, field) == 0, how);
	else
		__asm__ volatile("" : : "r"(key) : "memory"); /* the key is made all the same */
	if (how.key == KEY_ALLOCATED)
		free(key);
	return found;
}

static __rte_always_inline bool
hash_find(const struct l2_loop *l, const uint8_t *header, uint32_t *field, struct how how)
{
	void *data;

	if (how.table == TABLE_HASH_8) {
		const uint64_t key = hy_l2_key_load(header, L2_VID);

		if (rte_hash_lookup_data(l->hash_8, &key, &data) < 0)
			return false;
	} else {
		uint8_t key[16] = { 0 };

		memcpy(key, header, L2_LONG_KEY);
		if (rte_hash_lookup_data(l->hash_14, key, &data) < 0)
			return false;
	}
	*field = (uint32_t)(uintptr_t)data;
	return true;
}

static __rte_always_inline void
handle(struct l2_loop *l, unsigned int in, struct rte_mbuf *m, struct how how)
{
	const uint8_t *header = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t field = L2_FIELD(1 - in);
	bool found;

	if (how.table == TABLE_LPM6 || how.table == TABLE_LEFT_OUT)
		found = lpm_find(l, header, &field, how);
	else
		found = hash_find(l, header, &field, how);
	if (!expected(found, how)) {
		rte_pktmbuf_free(m);
		return;
	}
	if (!how.no_bswap)
		field = rte_be_to_cpu_16((uint16_t)field);
	send_one(l, field & (L2_PORTS - 1), m, how.single);
}

typedef void(turn_t)(struct l2_loop *l, unsigned int in, struct rte_mbuf **mbufs, unsigned int n,
	struct how how);

static __rte_always_inline void
turn_each(struct l2_loop *l, unsigned int in, struct rte_mbuf **mbufs, unsigned int n,
	struct how how)
{
	for (unsigned int i = 0; i < n; i++) {
		if (how.table != TABLE_NONE && i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH], void *));
		if (how.table == TABLE_NONE)
			send_one(l, 1 - in, mbufs[i], how.single);
		else
			handle(l, in, mbufs[i], how);
	}
}

static __rte_always_inline void
keys_load(struct rte_mbuf **mbufs, uint64_t key[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH], void *));
		key[i] = hy_l2_key_load(rte_pktmbuf_mtod(mbufs[i], void *), L2_VID);
	}
}

static __rte_always_inline void
turn_bulk(struct l2_loop *l, unsigned int in __rte_unused, struct rte_mbuf **mbufs, unsigned int n,
	struct how how)
{
	const void *keys[L2_BURST];
	uint64_t key[L2_BURST], hits = 0;
	void *data[L2_BURST];

	keys_load(mbufs, key, n);
	for (unsigned int i = 0; i < n; i++)
		keys[i] = &key[i];
	rte_hash_lookup_bulk_data(l->hash_8, keys, n, &hits, data);
	for (unsigned int i = 0; i < n; i++) {
		const uint16_t field = rte_be_to_cpu_16((uint16_t)(uintptr_t)data[i]);

		if (likely((hits >> i & 1) != 0))
			send_one(l, field & (L2_PORTS - 1), mbufs[i], how.single);
		else
			rte_pktmbuf_free(mbufs[i]);
	}
}

static __rte_always_inline void
turn_ours(struct l2_loop *l, unsigned int in __rte_unused, struct rte_mbuf **mbufs, unsigned int n,
	struct how how)
{
	uint64_t key[L2_BURST];
	uint32_t slot[L2_BURST];
	uint16_t port[L2_BURST];

	keys_load(mbufs, key, n);
	l->find(l->view, key, slot, n);
	hy_l2_ports(l->view, slot, port, n);
	for (unsigned int i = 0; i < n; i++) {
		if (likely(port[i] != HY_L2_MISS))
			send_one(l, port[i] - 1u, mbufs[i], how.single);
		else
			rte_pktmbuf_free(mbufs[i]);
	}
}

static __rte_always_inline void
loop(struct l2_loop *l, turn_t *turn, struct how how)
{
	struct rte_mbuf *mbufs[L2_BURST];

	while (l2_rig_pending(l->pending)) {
		for (unsigned int p = 0; p < L2_PORTS; p++) {
			const uint16_t n = rte_eth_rx_burst(l->rx[p], 0, mbufs, L2_BURST);

			if (n > 0)
				turn(l, p, mbufs, n, how);
		}
	}
	for (unsigned int p = 0; p < L2_PORTS; p++) {
		if (l->gathered[p].n > 0)
			send_now(l, p, l->gathered[p].mbufs, l->gathered[p].n);
		l->gathered[p].n = 0;
	}
}

static void
none_single(void *l)
{
	loop(l, turn_each, (struct how){ .table = TABLE_NONE, .single = true });
}

static void
none_burst(void *l)
{
	loop(l, turn_each, (struct how){ .table = TABLE_NONE });
}

static void
alloc_single(void *l)
{
	loop(l, turn_each,
		(struct how){ .table = TABLE_LPM6, .key = KEY_ALLOCATED, .single = true });
}

static void
alloc_burst(void *l)
{
	loop(l, turn_each, (struct how){ .table = TABLE_LPM6, .key = KEY_ALLOCATED });
}

static void
stack(void *l)
{
	loop(l, turn_each, (struct how){ .table = TABLE_LPM6, .key = KEY_STACK });
}

static void
hash_14(void *l)
{
	loop(l, turn_each, (struct how){ .table = TABLE_HASH_14 });
}

static void
hash_8(void *l)
{
	loop(l, turn_each, (struct how){ .table = TABLE_HASH_8 });
}

static void
hash_bulk(void *l)
{
	loop(l, turn_bulk, (struct how){ .single = false });
}

static void
ours(void *l)
{
	loop(l, turn_ours, (struct how){ .single = false });
}

static void
no_lookup(void *l)
{
	loop(l, turn_each, (struct how){ .table = TABLE_LEFT_OUT, .key = KEY_STACK });
}

static void
hints_swapped(void *l)
{
	loop(l, turn_each,
		(struct how){ .table = TABLE_LPM6, .key = KEY_STACK, .hints_swapped = true });
}

static void
no_bswap(void *l)
{
	loop(l, turn_each, (struct how){ .table = TABLE_LPM6, .key = KEY_STACK, .no_bswap = true });
}

l2_loop_run_t *const L2_LOOPS[L2_STEPS] = {
	[L2_NONE_SINGLE] = none_single,
	[L2_NONE_BURST] = none_burst,
	[L2_ALLOC_SINGLE] = alloc_single,
	[L2_ALLOC_BURST] = alloc_burst,
	[L2_STACK] = stack,
	[L2_HASH_14] = hash_14,
	[L2_HASH_8] = hash_8,
	[L2_HASH_BULK] = hash_bulk,
	[L2_OURS] = ours,
	[L2_NO_LOOKUP] = no_lookup,
	[L2_HINTS_SWAPPED] = hints_swapped,
	[L2_NO_BSWAP] = no_bswap,
};
