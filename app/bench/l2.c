/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of a bridge's table against each other and against rte_hash, with tables of several
 * sizes, and how fast both learn.
 */

#include <rte_cycles.h>
#include <rte_hash.h>

#include "l2.h"

#define BURST L2_BURST

struct rig {
	const struct l2_macs *macs;
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

/* Contenders of rte_hash, each a peer. */
static const struct {
	const char *name;
	uint64_t (*run)(void *arg);
	uint32_t key_len;
} peers[] = {
	{ "rte_hash_14", run_single_14, L2_LONG_KEY },
	{ "rte_hash_8", run_single_8, 8 },
	{ "rte_hash_bulk", run_bulk, 8 },
};

/* A table of rte_hash with all entries. NULL after bench_cannot(). */
static struct rte_hash *
hash_create(const struct l2_macs *macs, uint32_t key_len)
{
	struct rte_hash *hash = l2_hash_create(key_len == 8 ? "l2_8" : "l2_14", macs->n, key_len);
	uint8_t key[16];

	for (uint32_t i = 0; i < macs->n && hash != NULL; i++) {
		l2_long_key(key, macs->entries[i].key);
		if (rte_hash_add_key_data(hash, key, (void *)(uintptr_t)macs->entries[i].port) < 0)
			bench_fail("rte_hash refused key %u of %u", i, macs->n);
	}
	return hash;
}

static void
leaf(const char *name, uint32_t n)
{
	struct rig rigs[RTE_DIM(peers) + L2_KERNELS_MAX];
	struct l2_macs macs;
	struct hy_l2_table *table;
	struct rte_hash *hashes[2];
	struct field f = { .work = name };

	l2_macs_create(&macs, n);
	hashes[0] = hash_create(&macs, L2_LONG_KEY);
	hashes[1] = hash_create(&macs, 8);
	table = l2_table_create(&macs);
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
	for (unsigned int k = 0; k < l2_nb_kernels; k++) {
		struct rig *rig = &rigs[RTE_DIM(peers) + k];
		const bool can = table != NULL && l2_kernel_can(&l2_kernels[k]);

		*rig = (struct rig){ .macs = &macs, .table = table, .find = l2_kernels[k].find };
		field_enter(&f,
			&(struct contender){ .name = l2_kernels[k].name,
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
	l2_macs_free(&macs);
}

static void
learn(const char *name, uint32_t n)
{
	struct l2_macs macs;
	struct rig rte = { .macs = &macs }, ours = rte;
	struct field f = { .work = name };

	l2_macs_create(&macs, n);
	rte.hash = hash_create(&macs, 8);
	ours.table = l2_table_create(&macs);
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
	l2_macs_free(&macs);
}

void
bench_l2(void)
{
	const struct {
		const char *name;
		void (*work)(const char *name, uint32_t n);
		uint32_t n;
	} works[] = { { "leaf_64", leaf, 64 }, { "leaf_1k", leaf, 1024 },
		{ "leaf_16k", leaf, 1 << 14 }, { "leaf_65k", leaf, 1 << 16 },
		{ "leaf_1M", leaf, 1 << 20 },
		{ "learn_1M", learn, bench_settings()->quick ? 1 << 17 : 1 << 20 } };

	for (unsigned int w = 0; w < RTE_DIM(works); w++)
		if (bench_wanted(works[w].name))
			works[w].work(works[w].name, works[w].n);
	bench_l2_steps();
	bench_l2_bridge();
}
