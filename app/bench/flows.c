/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The caches of a flow cache against each other, over 8 to 1 M flows of 1,024 megaflows: looking up
 * keys that are made and hashed, of flows drawn at random. What it takes to make them (gen) is in all
 * figures; a line below each table leaves it out, and has the share of hits. And the
 * tables alone, with megaflows under more and more masks.
 */

#include <stdlib.h>
#include <string.h>

#include <hy_flows_cache.h>
#include <hy_flows_worker.h>

#include "flows.h"

#define BURST FLOWS_N
#define MEGAFLOWS 1024
#define PART 65536 /* lookups of a run */
#define PARTS 32
#define LOOKUPS (PARTS * PART)

/* What is looked up: numbers of flows, a part in each run. */
struct traffic {
	uint32_t *order;
	uint64_t *expected; /* sum of the actions of each part */
	uint32_t flows, masks;
};

struct rig {
	const struct traffic *traffic;
	struct hy_flows *flows; /* NULL: keys are only made */
	uint32_t part;          /* of the next run */
	uint32_t right, runs;
};

const struct flows_mode flows_modes[FLOWS_MODES] = {
	{ "none", { 0 }, false, false },
	{ "emc8k", { .exact = HY_FLOWS_EXACT_8K, .exact_one_in = 1 }, true, false },
	{ "dfc", { .index = HY_FLOWS_INDEX_DFC_POINTERS }, false, false },
	{ "dfc_number", { .index = HY_FLOWS_INDEX_DFC }, false, false },
	{ "emc16k_dfc",
		{ .exact = HY_FLOWS_EXACT_16K,
			.exact_one_in = 1000,
			.index = HY_FLOWS_INDEX_DFC_POINTERS },
		false, false },
	{ "smc", { .index = HY_FLOWS_INDEX_SMC }, true, false },
	{ "emc8k_smc",
		{ .exact = HY_FLOWS_EXACT_8K, .exact_one_in = 100, .index = HY_FLOWS_INDEX_SMC },
		true, false },
	{ "lines", { .index = HY_FLOWS_INDEX_LINES }, false, true },
	{ "frames", { .frames = true, .index = HY_FLOWS_INDEX_LINES }, false, false },
	{ "auto", { .frames = true, .index = HY_FLOWS_INDEX_LINES, .automatic = true }, false,
		false },
};

#define RIGS (FLOWS_MODES + 1)

/* Which mask the megaflow of a flow has; also its protocol, so that megaflows do not overlap. */
static uint32_t
mask_of(const struct traffic *t, uint32_t number)
{
	return number % MEGAFLOWS % t->masks;
}

/* A flow's key: its megaflow is told by the destination, it from others by source and port. */
static __rte_always_inline void
key_make(const struct traffic *t, uint32_t number, struct hy_flows_key *key)
{
	key->proto = (uint8_t)mask_of(t, number);
	key->dst = rte_cpu_to_be_32(0x0a000000 + number % MEGAFLOWS * 257);
	key->src = rte_cpu_to_be_32(0xc0a80000 + number / MEGAFLOWS);
	key->sport = rte_cpu_to_be_16((uint16_t)(number * 7));
}

/* As a NIC hashes, or hy_flows_hashes(): all bits depend on all. */
static __rte_always_inline uint32_t
hash_make(uint32_t number)
{
	const uint64_t z = (number + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

	return (uint32_t)((z ^ z >> 29) * UINT64_C(0x94d049bb133111eb) >> 32);
}

static uint64_t
run(void *arg)
{
	struct rig *rig = arg;
	const struct traffic *t = rig->traffic;
	const uint32_t *order = t->order + (size_t)rig->part * PART;
	uint32_t hash[BURST], flow[BURST], action[BURST] = { 0 };
	struct hy_flows_key key[BURST];
	uint64_t sum = 0;

	memset(key, 0, sizeof(key));
	for (uint32_t at = 0; at < PART; at += BURST) {
		for (uint32_t i = 0; i < BURST; i++) {
			key_make(t, order[at + i], &key[i]);
			hash[i] = hash_make(order[at + i]);
			sum += hash[i];
		}
		__asm__ volatile("" : : "r"(key), "r"(hash) : "memory");
		if (rig->flows == NULL)
			continue;
		if (hy_flows_lookup(rig->flows, 0, HY_FLOWS_PARSE_ALL, key, hash, flow, BURST) > 0)
			continue; /* its actions are missing */
		hy_flows_actions(rig->flows, flow, action, BURST);
		for (uint32_t i = 0; i < BURST; i++)
			sum += action[i];
	}
	rig->right += rig->flows == NULL || sum == t->expected[rig->part];
	rig->runs++;
	rig->part = (rig->part + 1) % PARTS;
	return PART;
}

static bool
check_runs(void *arg)
{
	const struct rig *rig = arg;

	return rig->runs > 0 && rig->right == rig->runs;
}

static uint32_t
action_of(uint32_t number)
{
	return number % MEGAFLOWS + 1;
}

static void
traffic_create(struct traffic *t, uint32_t flows, uint32_t masks)
{
	t->flows = flows;
	t->masks = masks;
	t->order = bench_alloc(LOOKUPS, sizeof(*t->order));
	t->expected = bench_alloc(PARTS, sizeof(*t->expected));
	for (uint32_t i = 0; i < LOOKUPS; i++) {
		t->order[i] = bench_random() % flows;
		t->expected[i / PART] += action_of(t->order[i]) + hash_make(t->order[i]);
	}
}

/* All megaflows, by destination and protocol. Masks differ in bits that are 0 in all packets. */
static int
megaflows_add(struct hy_flows *flows, const struct traffic *t)
{
	for (uint32_t i = 0; i < RTE_MIN(t->flows, (uint32_t)MEGAFLOWS); i++) {
		struct hy_flows_flow flow = { .action = action_of(i) };
		int rc;

		flow.mask.dst = UINT32_MAX;
		flow.mask.proto = UINT8_MAX;
		flow.mask.ttl = (uint8_t)mask_of(t, i);
		key_make(t, i, &flow.key);
		rc = hy_flows_add(flows, &flow);
		if (rc < 0)
			return bench_cannot("megaflow %u: %s", i, strerror(-rc));
	}
	return 0;
}

/* NULL after bench_cannot(). */
static struct hy_flows *
flows_create(const struct traffic *t, const struct hy_flows_caches *caches)
{
	const struct hy_flows_params params = { .max_flows = MEGAFLOWS,
		.max_masks = 256,
		.max_port_masks = 256,
		.pressed_idle = 1,
		.workers = 1,
		.socket = SOCKET_ID_ANY,
		.seed = 1 };
	struct hy_flows *flows;

	if (hy_flows_create(&params, &flows) < 0) {
		bench_cannot("no memory for a flow cache");
		return NULL;
	}
	if (hy_flows_caches_set(flows, caches) < 0)
		bench_cannot("no memory for caches of %zu KiB",
			hy_flows_caches_bytes(flows, caches) / 1024);
	else if (megaflows_add(flows, t) == 0)
		return flows;
	hy_flows_destroy(flows);
	return NULL;
}

/* All that is looked up later, twice: an index that grows is empty when it has grown. */
static void
warm(struct rig *rig)
{
	for (uint32_t part = 0; part < 2 * PARTS; part++)
		run(rig);
}

static double
percent(uint64_t part, uint64_t all)
{
	return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

/* What each took besides making keys, and what its caches found. */
static void
print_net(const char *work, const struct rig rigs[], struct hy_flows_lookups before[])
{
	const double gen = bench_median(work, "gen");

	for (uint32_t k = 0; k < FLOWS_MODES && gen >= 0; k++) {
		const double all = bench_median(work, flows_modes[k].name);
		struct hy_flows_lookups now;

		if (all < 0 || rigs[k + 1].flows == NULL)
			continue;
		hy_flows_lookups(rigs[k + 1].flows, 0, &now);
		now.packets -= before[k].packets;
		printf("%s: %-11s %6.1f clocks less gen; hits: %5.1f %% exact, %5.1f %% index, "
		       "%5.1f %% masks\n",
			work, flows_modes[k].name, all - gen,
			percent(now.exact - before[k].exact, now.packets),
			percent(now.index - before[k].index, now.packets),
			percent(now.masks - before[k].masks, now.packets));
	}
}

static void
measure(const char *work, uint32_t flows, uint32_t masks)
{
	struct hy_flows_lookups before[FLOWS_MODES];
	struct field f = { .work = work };
	struct traffic traffic = { 0 };
	struct rig rigs[RIGS];

	traffic_create(&traffic, flows, masks);
	rigs[0] = (struct rig){ .traffic = &traffic };
	field_enter(&f,
		&(struct contender){
			.name = "gen", .arg = &rigs[0], .run = run, .check = check_runs },
		field_keep);
	for (uint32_t k = 0; k < FLOWS_MODES; k++) {
		struct hy_flows_caches caches = flows_modes[k].caches;
		struct rig *rig = &rigs[k + 1];

		*rig = (struct rig){ .traffic = &traffic };
		if (caches.frames && !caches.automatic)
			continue; /* there are only keys here */
		caches.frames = false;
		rig->flows = flows_create(&traffic, &caches);
		if (rig->flows != NULL) {
			warm(rig);
			hy_flows_lookups(rig->flows, 0, &before[k]);
		}
		field_enter(&f,
			&(struct contender){ .name = flows_modes[k].name,
				.arg = rig->flows == NULL ? NULL : rig,
				.run = run,
				.check = check_runs,
				.against = flows_modes[k].peer ? flows_modes[k].name : NULL,
				.subject = flows_modes[k].subject },
			field_keep);
	}
	field_measure(&f, CYCLES_PACKET);
	print_net(work, rigs, before);
	for (uint32_t k = 0; k < FLOWS_MODES; k++)
		hy_flows_destroy(rigs[k + 1].flows);
	free(traffic.order);
	free(traffic.expected);
}

/* Lookups, while another core reads so much memory. */
static void
measure_pirate(const char *work, uint32_t mib)
{
	if (flows_pirate_start(mib) < 0) {
		bench_skip(work, NULL);
		return;
	}
	measure(work, 100000, 4);
	flows_pirate_stop();
}

void
bench_flows(void)
{
	static const struct {
		const char *name;
		uint32_t flows, masks;
	} works[] = { { "leaf_8", 8, 1 }, { "leaf_100", 100, 1 }, { "leaf_1k", 1000, 1 },
		{ "leaf_2k", 2000, 1 }, { "leaf_5k", 5000, 1 }, { "leaf_10k", 10000, 1 },
		{ "leaf_20k", 20000, 1 }, { "leaf_50k", 50000, 1 }, { "leaf_100k", 100000, 1 },
		{ "leaf_500k", 500000, 1 }, { "leaf_1M", 1000000, 1 }, { "masks_4", 10000, 4 },
		{ "masks_16", 10000, 16 }, { "masks_64", 10000, 64 } };
	static const struct {
		const char *name;
		uint32_t mib;
	} pirates[] = { { "pirate_0M", 0 }, { "pirate_1M", 1 }, { "pirate_8M", 8 },
		{ "pirate_32M", 32 } };
	const struct bench_settings *s = bench_settings();
	const bool quick = s->quick && strcmp(s->works, "*") == 0; /* only without a pirate */

	for (uint32_t w = 0; w < RTE_DIM(works); w++)
		if (bench_wanted(works[w].name))
			measure(works[w].name, works[w].flows, works[w].masks);
	for (uint32_t p = 0; p < (quick ? 1 : RTE_DIM(pirates)); p++)
		if (bench_wanted(pirates[p].name))
			measure_pirate(pirates[p].name, pirates[p].mib);
	flows_changes();
	flows_rules();
	flows_apply();
	flows_axes();
}
