/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the loop of a switch generated from P4 to ours, step by step as a report of 2016 went, with
 * its figures beside ours; and what the steps are made of, by leaving a part out.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "l2_kernel_port.h"
#include "l2_loop.h"

#define LPM6_DEPTH 48      /* of a key's 112 bits, the destination */
#define LPM6_MEGABYTES 256 /* more is not allocated */
#define LPM6_GROUP 1024    /* bytes of 256 entries */

/* What the contenders of a work share. */
struct stage {
	struct l2_macs macs;
	struct l2_rig *rig;
	struct rte_lpm6 *lpm;
	struct rte_hash *hash_14, *hash_8;
	struct hy_l2_table *table;
	struct l2_loop loop;
};

static int
by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Groups of 256 entries that rte_lpm6 needs: one for each prefix of 24, 32 and 40 bits. */
static uint32_t
lpm6_groups(const struct l2_macs *macs)
{
	uint64_t *addresses = bench_alloc(macs->n, sizeof(*addresses));
	uint32_t groups = 0;

	for (uint32_t i = 0; i < macs->n; i++)
		addresses[i] = rte_bswap64(macs->entries[i].key << 16);
	qsort(addresses, macs->n, sizeof(*addresses), by_number);
	for (uint32_t i = 0; i < macs->n; i++)
		for (unsigned int bits = 24; bits < LPM6_DEPTH; bits += 8)
			groups += i == 0 ||
				addresses[i] >> (48 - bits) != addresses[i - 1] >> (48 - bits);
	free(addresses);
	return groups;
}

/* NULL after bench_cannot(). */
static struct rte_lpm6 *
lpm6_create(const struct l2_macs *macs)
{
	const uint32_t groups = lpm6_groups(macs);
	const struct rte_lpm6_config config = { .max_rules = macs->n, .number_tbl8s = groups };
	struct rte_lpm6 *lpm;

	if (groups > LPM6_MEGABYTES * (1024 * 1024 / LPM6_GROUP)) {
		bench_cannot("an rte_lpm6 of %u keys takes %u MB", macs->n,
			64 + groups / (1024 * 1024 / LPM6_GROUP));
		return NULL;
	}
	lpm = rte_lpm6_create("l2", SOCKET_ID_ANY, &config);
	if (lpm == NULL)
		bench_cannot("no memory for an rte_lpm6 of %u keys", macs->n);
	for (uint32_t i = 0; i < macs->n && lpm != NULL; i++) {
		uint8_t key[16] = { 0 };

		l2_header(&macs->entries[i], key);
		if (rte_lpm6_add(lpm, (void *)key, LPM6_DEPTH,
			    L2_FIELD(l2_port_out(&macs->entries[i]))) < 0)
			bench_fail("rte_lpm6 refused key %u of %u", i, macs->n);
	}
	return lpm;
}

/* NULL after bench_cannot(). */
static struct rte_hash *
hash_create(const struct l2_macs *macs, uint32_t key_len)
{
	struct rte_hash *hash = l2_hash_create(key_len == 8 ? "l2_step_8" : "l2_step_14", macs->n,
		key_len);

	for (uint32_t i = 0; i < macs->n && hash != NULL; i++) {
		const struct hy_l2_source *entry = &macs->entries[i];
		uint8_t key[16] = { 0 };

		if (key_len == 8)
			memcpy(key, &entry->key, 8);
		else
			l2_header(entry, key);
		if (rte_hash_add_key_data(hash, key,
			    (void *)(uintptr_t)L2_FIELD(l2_port_out(entry))) < 0)
			bench_fail("rte_hash refused key %u of %u", i, macs->n);
	}
	return hash;
}

/* Returns false after bench_cannot(): there are no ports. */
static bool
stage_set(struct stage *s, uint32_t n)
{
	*s = (struct stage){ .loop = { .key_len = L2_LONG_KEY } };
	l2_macs_create(&s->macs, n);
	s->rig = l2_rig_open(&s->macs);
	if (s->rig == NULL)
		return false;
	for (unsigned int p = 0; p < L2_PORTS; p++) {
		s->loop.rx[p] = s->loop.tx[p] = s->rig->port[p];
		s->loop.pending[p] = s->rig->rx[p];
	}
	return true;
}

static void
stage_strike(struct stage *s)
{
	l2_rig_close(s->rig);
	rte_lpm6_free(s->lpm);
	rte_hash_free(s->hash_14);
	rte_hash_free(s->hash_8);
	hy_l2_table_destroy(s->table);
	l2_macs_free(&s->macs);
}

/* Makes the table that a step needs. Returns false after bench_cannot(). */
static bool
step_table(struct stage *s, enum l2_step step)
{
	switch (step) {
	case L2_NONE_SINGLE:
	case L2_NONE_BURST:
	case L2_NO_LOOKUP:
		return true;
	case L2_HASH_14:
		if (s->hash_14 == NULL)
			s->hash_14 = hash_create(&s->macs, L2_LONG_KEY);
		s->loop.hash_14 = s->hash_14;
		return s->hash_14 != NULL;
	case L2_HASH_8:
	case L2_HASH_BULK:
		if (s->hash_8 == NULL)
			s->hash_8 = hash_create(&s->macs, 8);
		s->loop.hash_8 = s->hash_8;
		return s->hash_8 != NULL;
	case L2_OURS:
		if (s->table == NULL)
			s->table = l2_table_create(&s->macs);
		s->loop.view = s->table == NULL ? NULL : hy_l2_table_view(s->table);
		s->loop.find = l2_kernel_best();
		return s->table != NULL;
	default:
		if (s->lpm == NULL)
			s->lpm = lpm6_create(&s->macs);
		s->loop.lpm = s->lpm;
		return s->lpm != NULL;
	}
}

/* A row of a work. */
struct step {
	const char *name;
	enum l2_step step;
	enum l2_role role;
	l2_loop_run_t *const *loops; /* NULL: those of this compiler, with -O3 */
	/* Of the table below the medians. */
	const char *before; /* the row that it is a step from; NULL: none */
	const char *report; /* the report's figures for the step; NULL: it has none */
};

static void
loop_keep(void *arg __rte_unused)
{
}

/* Returns whether a step was compiled; if not, calls bench_cannot(). */
static bool
step_compiled(const struct step *step)
{
	if (step->loops != NULL && step->loops[step->step] == NULL)
		bench_cannot("hy-bench was built where there is no second compiler");
	else
		return true;
	return false;
}

static void
step_enter(struct field *f, struct stage *s, const struct step *step)
{
	l2_loop_run_t *const *loops = step->loops != NULL ? step->loops : L2_LOOPS_THIS;
	const bool made = step_compiled(step) && step_table(s, step->step);
	const struct l2_way way = { .name = step->name,
		.arg = made ? &s->loop : NULL,
		.run = loops[step->step],
		.free = loop_keep };

	l2_enter(f, s->rig, &way, step->role);
}

/* Prints a row of the table below, if it was measured. */
static void
step_print(const char *work, const struct step *step)
{
	const double clocks = bench_median(work, step->name);
	const double before = step->before == NULL ? -1 : bench_median(work, step->before);
	const double mpps = (double)rte_get_tsc_hz() / clocks / 1e6;
	char gain[16] = "";

	if (clocks < 0)
		return;
	printf("  %-21s%8.1f%8.2f%9.2f", step->name, clocks, mpps, mpps * 8 * L2_WIRE_BYTES / 1e3);
	if (before > 0)
		snprintf(gain, sizeof(gain), "%+.1f%%", 100 * (before / clocks - 1));
	if (step->report != NULL)
		printf("%10s  %s\n", gain, step->report);
	else
		printf("%*s\n", before > 0 ? 10 : 0, gain);
}

/* The medians as rates, and what each step gains; nothing if there are none. */
static void
steps_print(const char *work, const struct step *steps, unsigned int n)
{
	bool begun = false;

	for (unsigned int i = 0; i < n; i++) {
		if (!begun && bench_median(work, steps[i].name) >= 0) {
			begun = true;
			printf("%-23s%8s%8s%9s%10s  %s\n", work, "clocks", "Mpps", "Gb/s", "step",
				"the report's step");
		}
		step_print(work, &steps[i]);
	}
	fflush(stdout);
}

/* kernel: frames leave by a port whose transmit call costs something. */
static void
measure(const char *work, uint32_t n, bool kernel, const struct step *steps, unsigned int nb_steps)
{
	struct field f = { .work = work };
	struct stage s;
	bool set;

	if (!bench_wanted(work))
		return;
	set = stage_set(&s, n);
	if (set && kernel) {
		s.rig->kernel = l2_kernel_port_open(&s.loop.tx[0]);
		s.loop.tx[1] = s.loop.tx[0];
		set = s.rig->kernel != NULL;
	}
	if (set) {
		for (unsigned int i = 0; i < nb_steps; i++)
			step_enter(&f, &s, &steps[i]);
		field_measure(&f, CYCLES_PACKET);
		steps_print(work, steps, nb_steps);
	} else {
		bench_skip(work, NULL);
	}
	if (s.rig != NULL)
		l2_kernel_port_close(s.rig->kernel);
	stage_strike(&s);
}

#define REPORT_START "3.7 Gb/s of 10"
#define REPORT_BURST "+40.5% (5.2 Gb/s)"
#define REPORT_KEY "+71.2% (8.9 Gb/s)"
#define REPORT_CLANG "+2.2% (9.1 Gb/s), with DPDK by clang too"
#define REPORT_NOTHING "none"
#define REPORT_MOST "10 Gb/s, all of the port"

static const struct step cumulative[] = {
	{ "alloc_single", L2_ALLOC_SINGLE, L2_PEER, .report = REPORT_START },
	{ "alloc_burst", L2_ALLOC_BURST, L2_PEER, .before = "alloc_single",
		.report = REPORT_BURST },
	{ "stack", L2_STACK, L2_PEER, .before = "alloc_burst", .report = REPORT_KEY },
	{ "hash_14", L2_HASH_14, L2_PEER, .before = "stack" },
	{ "hash_8", L2_HASH_8, L2_PEER, .before = "hash_14" },
	{ "hash_bulk", L2_HASH_BULK, L2_PEER, .before = "hash_8" },
	{ "ours", L2_OURS, L2_SUBJECT, .before = "hash_bulk" },
};

static const struct step controls[] = {
	{ "none_single", L2_NONE_SINGLE, L2_SHOWN },
	{ "none_burst", L2_NONE_BURST, L2_SHOWN, .before = "none_single", .report = REPORT_MOST },
	{ "alloc_single", L2_ALLOC_SINGLE, L2_SHOWN },
	{ "alloc_burst", L2_ALLOC_BURST, L2_SHOWN, .before = "alloc_single",
		.report = REPORT_BURST },
	{ "stack", L2_STACK, L2_SHOWN, .before = "alloc_burst", .report = REPORT_KEY },
	{ "no_lookup", L2_NO_LOOKUP, L2_SHOWN, .before = "stack" },
	{ "hints_swapped", L2_HINTS_SWAPPED, L2_SHOWN, .before = "stack",
		.report = REPORT_NOTHING },
	{ "no_bswap", L2_NO_BSWAP, L2_SHOWN, .before = "stack", .report = REPORT_NOTHING },
};

static const struct step compilers[] = {
	{ "gcc_O2", L2_STACK, L2_SHOWN, l2_loops_gcc_O2 },
	{ "gcc_O3", L2_STACK, L2_SHOWN, l2_loops_gcc_O3, "gcc_O2" },
	{ "clang_O2", L2_STACK, L2_SHOWN, l2_loops_clang_O2, "gcc_O2", REPORT_CLANG },
	{ "clang_O3", L2_STACK, L2_SHOWN, l2_loops_clang_O3, "gcc_O3", REPORT_CLANG },
	{ "ours_gcc_O2", L2_OURS, L2_SHOWN, l2_loops_gcc_O2 },
	{ "ours_gcc_O3", L2_OURS, L2_SHOWN, l2_loops_gcc_O3, "ours_gcc_O2" },
	{ "ours_clang_O2", L2_OURS, L2_SHOWN, l2_loops_clang_O2, "ours_gcc_O2" },
	{ "ours_clang_O3", L2_OURS, L2_SHOWN, l2_loops_clang_O3, "ours_gcc_O3" },
};

static const struct step kernel_port[] = {
	{ "none_single", L2_NONE_SINGLE, L2_SHOWN },
	{ "none_burst", L2_NONE_BURST, L2_SHOWN, .before = "none_single" },
	{ "alloc_single", L2_ALLOC_SINGLE, L2_SHOWN, .report = REPORT_START },
	{ "alloc_burst", L2_ALLOC_BURST, L2_SHOWN, .before = "alloc_single",
		.report = REPORT_BURST },
	{ "stack", L2_STACK, L2_SHOWN, .before = "alloc_burst", .report = REPORT_KEY },
	{ "ours", L2_OURS, L2_SHOWN, .before = "stack" },
};

void
bench_l2_steps(void)
{
	static const struct {
		const char *name;
		uint32_t n;
		bool kernel;
		const struct step *steps;
		unsigned int nb_steps;
	} works[] = {
		{ "steps_64", 64, false, cumulative, RTE_DIM(cumulative) },
		{ "steps_1k", 1024, false, cumulative, RTE_DIM(cumulative) },
		{ "steps_16k", 1 << 14, false, cumulative, RTE_DIM(cumulative) },
		{ "steps_65k", 1 << 16, false, cumulative, RTE_DIM(cumulative) },
		{ "steps_1M", 1 << 20, false, cumulative, RTE_DIM(cumulative) },
		{ "controls_1k", 1024, false, controls, RTE_DIM(controls) },
		{ "compilers_1k", 1024, false, compilers, RTE_DIM(compilers) },
		{ "kernel_port_1k", 1024, true, kernel_port, RTE_DIM(kernel_port) },
	};

	for (unsigned int w = 0; w < RTE_DIM(works); w++)
		measure(works[w].name, works[w].n, works[w].kernel, works[w].steps,
			works[w].nb_steps);
}
