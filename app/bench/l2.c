/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of a bridge's table against each other and against rte_hash, with tables of several
 * sizes, and how fast both learn.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_hash.h>

#include <hy_l2_table.h>

#include "drivers/nodes/generic/l2_table/l2_find.h"

#include "bench.h"
#include "lookup.h"

#define LOOKUPS 65536 /* of a run, at least */
#define BURST 64
#define PORTS 3     /* of which 0 has no entries: a miss is noticed in a sum */
#define LONG_KEY 14 /* bytes: what a switch generated from P4 hashed, an Ethernet header */

/* Entries, and what is looked up: each equally often, in random order, a part in each run. */
struct macs {
	struct hy_l2_source *entries;
	uint64_t *order;
	uint8_t (*long_order)[16]; /* the same as keys of LONG_KEY bytes */
	uint64_t *expected;        /* sum of the ports of each part */
	uint32_t n, part, parts;   /* part: lookups of a run */
};

struct rig {
	const struct macs *macs;
	struct hy_l2_table *table;
	struct rte_hash *hash;
	hy_l2_find_t *find;
	uint32_t part;  /* of the next run */
	uint32_t right; /* runs, or entries after one that learned */
	uint32_t runs;
};

/* Ends a run: its sum is right or not, and the next one is of the next part. */
static uint64_t
run_end(struct rig *rig, uint64_t sum)
{
	rig->right += sum == rig->macs->expected[rig->part];
	rig->runs++;
	rig->part = (rig->part + 1) % rig->macs->parts;
	return rig->macs->part;
}

static uint64_t
run_ours(void *arg)
{
	struct rig *rig = arg;
	const struct hy_l2_view *view = hy_l2_table_view(rig->table);
	const uint64_t *key = rig->macs->order + (size_t)rig->part * rig->macs->part;
	uint32_t slot[BURST];
	uint16_t port[BURST];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rig->macs->part; i += BURST) {
		rig->find(view, key + i, slot, BURST);
		hy_l2_ports(view, slot, port, BURST);
		for (unsigned int j = 0; j < BURST; j++)
			sum += port[j];
	}
	return run_end(rig, sum);
}

static uint64_t
run_bulk(void *arg)
{
	struct rig *rig = arg;
	const uint64_t *order = rig->macs->order + (size_t)rig->part * rig->macs->part;
	const void *key[BURST];
	void *data[BURST];
	uint64_t hits, sum = 0;

	for (uint32_t i = 0; i < rig->macs->part; i += BURST) {
		for (unsigned int j = 0; j < BURST; j++)
			key[j] = order + i + j;
		if (rte_hash_lookup_bulk_data(rig->hash, key, BURST, &hits, data) != BURST)
			continue; /* its sum is missing */
		for (unsigned int j = 0; j < BURST; j++)
			sum += (uintptr_t)data[j];
	}
	return run_end(rig, sum);
}

static __rte_always_inline uint64_t
run_single(struct rig *rig, const void *order, size_t size)
{
	const uint8_t *key = RTE_PTR_ADD(order, rig->part * size * rig->macs->part);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rig->macs->part; i++) {
		void *data = NULL;

		rte_hash_lookup_data(rig->hash, key + i * size, &data);
		sum += (uintptr_t)data;
	}
	return run_end(rig, sum);
}

static uint64_t
run_single_8(void *arg)
{
	struct rig *rig = arg;

	return run_single(rig, rig->macs->order, sizeof(*rig->macs->order));
}

static uint64_t
run_single_14(void *arg)
{
	struct rig *rig = arg;

	return run_single(rig, rig->macs->long_order, sizeof(*rig->macs->long_order));
}

static bool
check_runs(void *arg)
{
	const struct rig *rig = arg;

	return rig->runs > 0 && rig->right == rig->runs;
}

static double
learn_ours(void *arg)
{
	struct rig *rig = arg;
	uint8_t outcome[BURST];
	uint64_t start;

	hy_l2_flush(rig->table, HY_L2_ANY, HY_L2_ANY, true);
	rig->runs = rig->macs->n;
	rig->right = 0;
	start = rte_rdtsc();
	for (uint32_t i = 0; i < rig->macs->n; i += BURST) {
		hy_l2_learn(rig->table, rig->macs->entries + i, outcome, BURST);
		for (unsigned int j = 0; j < BURST; j++)
			rig->right += outcome[j] == HY_L2_LEARNED;
	}
	return (double)(rte_rdtsc() - start) / rig->macs->n;
}

static double
learn_rte(void *arg)
{
	struct rig *rig = arg;
	uint64_t start;

	rte_hash_reset(rig->hash);
	rig->runs = rig->macs->n;
	rig->right = 0;
	start = rte_rdtsc();
	for (uint32_t i = 0; i < rig->macs->n; i++) {
		const struct hy_l2_source *entry = &rig->macs->entries[i];

		rig->right += rte_hash_add_key_data(rig->hash, &entry->key,
				      (void *)(uintptr_t)entry->port) == 0;
	}
	return (double)(rte_rdtsc() - start) / rig->macs->n;
}

static void
long_key(uint8_t to[16], uint64_t key)
{
	memset(to, 0, 16);
	memcpy(to, &key, sizeof(key));
	memcpy(to + 8, &key, 6); /* as different as a second address */
}

/* Half as full as it can be, as ours is; of keys of 8 bytes or LONG_KEY. NULL after bench_cannot(). */
static struct rte_hash *
hash_create(const struct macs *macs, uint32_t key_len)
{
	const struct rte_hash_parameters params = { .name = key_len == 8 ? "l2_8" : "l2_14",
		.entries = 2 * macs->n,
		.key_len = key_len,
		.socket_id = SOCKET_ID_ANY };
	struct rte_hash *hash = rte_hash_create(&params);
	uint8_t key[16];

	if (hash == NULL) {
		bench_cannot("no memory for an rte_hash of %u keys", params.entries);
		return NULL;
	}
	for (uint32_t i = 0; i < macs->n; i++) {
		long_key(key, macs->entries[i].key);
		if (rte_hash_add_key_data(hash, key, (void *)(uintptr_t)macs->entries[i].port) < 0)
			bench_fail("rte_hash refused key %u of %u", i, macs->n);
	}
	return hash;
}

static struct hy_l2_table *
table_create(const struct macs *macs)
{
	const struct hy_l2_table_params params = {
		.max_entries = macs->n, .nb_ports = PORTS, .socket = SOCKET_ID_ANY, .seed = 1
	};
	struct hy_l2_table *table;
	uint8_t outcome[BURST];

	if (hy_l2_table_create(&params, &table) < 0) {
		bench_cannot("no memory for a table of %u entries", macs->n);
		return NULL;
	}
	for (uint32_t i = 0; i < macs->n; i += BURST)
		hy_l2_learn(table, macs->entries + i, outcome, BURST);
	return table;
}

static void
macs_create(struct macs *macs)
{
	uint32_t *order, lookups;

	/* A run of a quarter of the entries warms the caches, which all contenders share. */
	macs->part = RTE_MAX(macs->n / 4, (uint32_t)LOOKUPS);
	macs->parts = RTE_MAX(macs->n / macs->part, 1u);
	lookups = macs->parts * macs->part;
	macs->entries = bench_alloc(macs->n, sizeof(*macs->entries));
	macs->order = bench_alloc(lookups, sizeof(*macs->order));
	macs->long_order = bench_alloc(lookups, sizeof(*macs->long_order));
	macs->expected = bench_alloc(macs->parts, sizeof(*macs->expected));
	order = bench_alloc(lookups, sizeof(*order));
	for (uint32_t i = 0; i < macs->n; i++) {
		/* Half of them of one maker, in a row; the others scattered. */
		const uint32_t number = i % 2 == 0 ? rte_bswap32(i) : i * UINT32_C(2654435761);

		macs->entries[i].key = HY_L2_KEY | UINT64_C(1) << HY_L2_KEY_VID |
			(uint64_t)number << 16 | (i % 2 == 0 ? 0x5400 : 0x0002);
		macs->entries[i].port = (uint16_t)(1 + bench_random() % (PORTS - 1));
	}
	for (uint32_t i = 0; i < lookups; i++)
		order[i] = i % macs->n;
	bench_shuffle(order, lookups);
	for (uint32_t i = 0; i < lookups; i++) {
		macs->order[i] = macs->entries[order[i]].key;
		long_key(macs->long_order[i], macs->order[i]);
		macs->expected[i / macs->part] += macs->entries[order[i]].port;
	}
	free(order);
}

static void
macs_free(struct macs *macs)
{
	free(macs->entries);
	free(macs->order);
	free(macs->long_order);
	free(macs->expected);
}

static const struct kernel {
	const char *name;
	hy_l2_find_t *find;
	uint16_t simd_bits; /* width that EAL must allow; 0: any */
} kernels[] = {
	{ "scalar", hy_l2_find_scalar, 0 },
#ifdef RTE_ARCH_X86_64
	{ "avx2", hy_l2_find_avx2, 256 },
	{ "avx512", hy_l2_find_avx512, 512 },
#elif defined(RTE_ARCH_ARM64)
	{ "neon", hy_l2_find_neon, 128 },
#endif
};

/* Contenders of rte_hash, each a peer. */
static const struct {
	const char *name;
	uint64_t (*run)(void *arg);
	uint32_t key_len;
} peers[] = {
	{ "rte_hash_14", run_single_14, LONG_KEY },
	{ "rte_hash_8", run_single_8, 8 },
	{ "rte_hash_bulk", run_bulk, 8 },
};

static void
leaf(const char *name, uint32_t n)
{
	struct rig rigs[RTE_DIM(peers) + RTE_DIM(kernels)];
	struct macs macs = { .n = n };
	struct hy_l2_table *table;
	struct rte_hash *hashes[2];
	struct field f = { .work = name };

	macs_create(&macs);
	hashes[0] = hash_create(&macs, LONG_KEY);
	hashes[1] = hash_create(&macs, 8);
	table = table_create(&macs);
	for (unsigned int p = 0; p < RTE_DIM(peers); p++) {
		struct rig *rig = &rigs[p];

		*rig = (struct rig){ .macs = &macs, .hash = hashes[peers[p].key_len == 8] };
		field_enter(&f,
			&(struct contender){ .name = peers[p].name,
				.arg = rig->hash == NULL ? NULL : rig,
				.run = peers[p].run,
				.check = check_runs,
				.against = peers[p].name },
			field_keep);
	}
	for (unsigned int k = 0; k < RTE_DIM(kernels); k++) {
		struct rig *rig = &rigs[RTE_DIM(peers) + k];
		const bool can = table != NULL &&
			bench_simd(lookup_cpu_can(kernels[k].simd_bits), kernels[k].simd_bits);

		*rig = (struct rig){ .macs = &macs, .table = table, .find = kernels[k].find };
		field_enter(&f,
			&(struct contender){ .name = kernels[k].name,
				.arg = can ? rig : NULL,
				.run = run_ours,
				.check = check_runs },
			field_keep);
	}
	if (f.n > 0)
		f.all[f.n - 1].subject = table != NULL; /* the widest kernel */
	field_measure(&f, CYCLES_OBJECT);
	hy_l2_table_destroy(table);
	rte_hash_free(hashes[0]);
	rte_hash_free(hashes[1]);
	macs_free(&macs);
}

static void
learn(const char *name, uint32_t n)
{
	struct macs macs = { .n = n };
	struct rig rte = { .macs = &macs }, ours = rte;
	struct field f = { .work = name };

	macs_create(&macs);
	rte.hash = hash_create(&macs, 8);
	ours.table = table_create(&macs);
	field_enter(&f,
		&(struct contender){ .name = "rte_hash",
			.arg = rte.hash == NULL ? NULL : &rte,
			.figure = learn_rte,
			.check = check_runs,
			.against = "rte_hash" },
		field_keep);
	field_enter(&f,
		&(struct contender){ .name = "table",
			.arg = ours.table == NULL ? NULL : &ours,
			.figure = learn_ours,
			.check = check_runs,
			.subject = true },
		field_keep);
	field_measure(&f, CYCLES_OBJECT);
	hy_l2_table_destroy(ours.table);
	rte_hash_free(rte.hash);
	macs_free(&macs);
}

void
bench_l2(void)
{
	static const struct {
		const char *name;
		void (*work)(const char *name, uint32_t n);
		uint32_t n;
	} works[] = { { "leaf_64", leaf, 64 }, { "leaf_1k", leaf, 1024 },
		{ "leaf_16k", leaf, 1 << 14 }, { "leaf_65k", leaf, 1 << 16 },
		{ "leaf_1M", leaf, 1 << 20 }, { "learn_1M", learn, 1 << 20 } };

	for (unsigned int w = 0; w < RTE_DIM(works); w++)
		if (bench_wanted(works[w].name))
			works[w].work(works[w].name, works[w].n);
}
