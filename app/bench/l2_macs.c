/* SPDX-License-Identifier: BSD-3-Clause */
/* See l2.h. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <rte_hash.h>
#include <rte_vect.h>

#include "drivers/nodes/generic/l2_table/l2_find.h"

#include "l2.h"
#include "lookup.h"

#define LOOKUPS 65536 /* of a run, at least */

void
l2_long_key(uint8_t to[16], uint64_t key)
{
	memset(to, 0, 16);
	memcpy(to, &key, sizeof(key));
	memcpy(to + 8, &key, 6); /* as different as a second address */
}

struct rte_hash *
l2_hash_create(const char *name, uint32_t n, uint32_t key_len)
{
	const struct rte_hash_parameters params = {
		.name = name, .entries = 2 * n, .key_len = key_len, .socket_id = SOCKET_ID_ANY
	};
	struct rte_hash *hash = rte_hash_create(&params);

	if (hash == NULL)
		bench_cannot("no memory for an rte_hash of %u keys", params.entries);
	return hash;
}

struct hy_l2_table *
l2_table_create(const struct l2_macs *macs)
{
	const struct hy_l2_table_params params = { .max_entries = macs->n,
		.nb_ports = L2_TABLE_PORTS,
		.socket = SOCKET_ID_ANY,
		.seed = 1 };
	struct hy_l2_table *table;
	uint8_t outcome[L2_BURST];

	if (hy_l2_table_create(&params, &table) < 0) {
		bench_cannot("no memory for a table of %u entries", macs->n);
		return NULL;
	}
	for (uint32_t i = 0; i < macs->n; i += L2_BURST)
		hy_l2_learn(table, macs->entries + i, outcome, L2_BURST);
	return table;
}

void
l2_macs_create(struct l2_macs *macs, uint32_t n)
{
	uint32_t lookups;

	assert(n > 0);
	/* A run of a quarter of the entries warms the caches, which all contenders share. */
	macs->n = n;
	macs->part = RTE_MAX(n / 4, (uint32_t)LOOKUPS);
	macs->parts = RTE_MAX(n / macs->part, 1u);
	lookups = macs->parts * macs->part;
	macs->entries = bench_alloc(n, sizeof(*macs->entries));
	macs->turn = bench_alloc(lookups, sizeof(*macs->turn));
	macs->order = bench_alloc(lookups, sizeof(*macs->order));
	macs->long_order = bench_alloc(lookups, sizeof(*macs->long_order));
	macs->expected = bench_alloc(macs->parts, sizeof(*macs->expected));
	for (uint32_t i = 0; i < n; i++) {
		/* Half of them of one maker, in a row; the others scattered. */
		const uint32_t number = i % 2 == 0 ? rte_bswap32(i) : i * UINT32_C(2654435761);

		macs->entries[i].key = HY_L2_KEY | (uint64_t)L2_VID << HY_L2_KEY_VID |
			(uint64_t)number << 16 | (i % 2 == 0 ? 0x5400 : 0x0002);
		macs->entries[i].port = (uint16_t)(1 + bench_random() % (L2_TABLE_PORTS - 1));
	}
	for (uint32_t i = 0; i < lookups; i++)
		macs->turn[i] = i % n;
	bench_shuffle(macs->turn, lookups);
	for (uint32_t i = 0; i < lookups; i++) {
		const struct hy_l2_source *entry = &macs->entries[macs->turn[i]];

		macs->order[i] = entry->key;
		l2_long_key(macs->long_order[i], entry->key);
		macs->expected[i / macs->part] += entry->port;
	}
}

void
l2_macs_free(struct l2_macs *macs)
{
	free(macs->entries);
	free(macs->turn);
	free(macs->order);
	free(macs->long_order);
	free(macs->expected);
}

const struct l2_kernel l2_kernels[] = {
	{ "scalar", hy_l2_find_scalar, 0 },
#ifdef RTE_ARCH_X86_64
	{ "avx2", hy_l2_find_avx2, 256 },
	{ "avx512", hy_l2_find_avx512, 512 },
#elif defined(RTE_ARCH_ARM64)
	{ "neon", hy_l2_find_neon, 128 },
#endif
};
const unsigned int l2_nb_kernels = RTE_DIM(l2_kernels);

bool
l2_kernel_can(const struct l2_kernel *kernel)
{
	return bench_simd(lookup_cpu_can(kernel->simd_bits), kernel->simd_bits);
}

hy_l2_find_t *
l2_kernel_best(void)
{
	hy_l2_find_t *best = hy_l2_find_scalar;

	for (unsigned int k = 0; k < l2_nb_kernels; k++)
		if (lookup_cpu_can(l2_kernels[k].simd_bits) &&
			rte_vect_get_max_simd_bitwidth() >= l2_kernels[k].simd_bits)
			best = l2_kernels[k].find;
	return best;
}
