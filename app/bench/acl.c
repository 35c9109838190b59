/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engines of policies against each other and against rte_acl alone, over generated access lists
 * and that of a file: clocks a packet, and what the tables cost. Packets are those that rules match,
 * each rule's equally often, or random ones. With --quick and no --work, only short works.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_prefetch.h>

#include "acl.h"
#include "lib/policy/policy.h"

#define FRAMES 4096 /* of which keys are made: as many as a cache holds next to the tables */

/* A contender: a policy, or rte_acl alone. */
struct rig {
	const struct acl_set *set;
	struct hy_policy *policy;
	struct acl_raw *raw;
	struct hy_policy_engine_info info;
	uint32_t packets;
	uint64_t sum;
};

static uint64_t
run_policy(void *arg)
{
	struct rig *rig = arg;
	const struct hy_policy_view *view = hy_policy_view(rig->policy);
	uint32_t rank[ACL_BURST];

	rig->sum = 0;
	for (unsigned int i = 0; i < rig->packets; i += ACL_BURST) {
		hy_policy_classify_compiled(view, rig->set->keys + i, rank, ACL_BURST);
		for (unsigned int j = 0; j < ACL_BURST; j++)
			rig->sum += rank[j];
	}
	return rig->packets;
}

/* Makes the keys of frames too, as flow_cls does. */
static uint64_t
run_frames(void *arg)
{
	struct rig *rig = arg;
	const struct hy_policy_view *view = hy_policy_view(rig->policy);
	struct hy_flow_key keys[ACL_BURST];
	uint32_t rank[ACL_BURST];

	rig->sum = 0;
	for (unsigned int i = 0; i < rig->packets; i += ACL_BURST) {
		for (unsigned int j = 0; j < ACL_BURST; j++)
			rte_prefetch0(rig->set->frames[i + j]);
		for (unsigned int j = 0; j < ACL_BURST; j++)
			hy_flow_key(rig->set->frames[i + j], ACL_FRAME, &keys[j]);
		hy_policy_classify_compiled(view, keys, rank, ACL_BURST);
		for (unsigned int j = 0; j < ACL_BURST; j++)
			rig->sum += rank[j];
	}
	return rig->packets;
}

static uint64_t
run_raw(void *arg)
{
	struct rig *rig = arg;

	rig->sum = acl_raw_run(rig->raw, rig->packets);
	return rig->packets;
}

static bool
check(void *arg)
{
	const struct rig *rig = arg;
	uint64_t expected = 0;

	for (unsigned int i = 0; i < rig->packets; i++)
		expected += rig->set->ranks[i];
	return rig->sum == expected;
}

static double
build_us(void *arg)
{
	return (double)((const struct rig *)arg)->info.build_us;
}

static double
memory_mib(void *arg)
{
	return (double)((const struct rig *)arg)->info.bytes / (1 << 20);
}

enum { CHOSEN, LINEAR, ACL, TUPLE, RAW, RIGS };

static const char *const names[RIGS] = { "chosen", "linear", "rte_acl", "tuple", "raw" };

static void
rigs_make(struct rig rigs[RIGS], const struct acl_set *set)
{
	for (unsigned int i = 0; i < RIGS; i++) {
		rigs[i] = (struct rig){ .set = set };
		if (i == RAW)
			rigs[i].raw = acl_raw_create(set, &rigs[i].info.bytes,
				&rigs[i].info.build_us);
		else if (i != LINEAR || set->n <= 1000)
			rigs[i].policy = acl_policy(set, i == CHOSEN ? NULL : names[i], NULL);
		else
			bench_cannot("a scan of %u rules is no contender", set->n);
		if (rigs[i].policy != NULL)
			hy_policy_engine(rigs[i].policy, &rigs[i].info);
	}
}

static bool
is_made(const struct rig *rig)
{
	return rig->policy != NULL || rig->raw != NULL;
}

/* figure: NULL for the time of lookups. */
static void
measure(struct rig rigs[RIGS], const char *suffix, enum unit unit, double (*figure)(void *arg))
{
	char work[48];
	struct field f = { .work = work };

	snprintf(work, sizeof(work), "%s%s", rigs[0].set->name, suffix);
	if (!bench_wanted(work))
		return;
	for (unsigned int i = 0; i < RIGS; i++) {
		struct contender c = { .name = names[i],
			.arg = is_made(&rigs[i]) ? &rigs[i] : NULL,
			.run = i == RAW ? run_raw : run_policy,
			.check = check,
			.against = i == CHOSEN ? NULL : names[i],
			.subject = i == CHOSEN };

		rigs[i].packets = ACL_PACKETS;
		if (figure != NULL) {
			c.run = NULL;
			c.figure = figure;
			rigs[i].packets = 0; /* and no lookups to check */
			rigs[i].sum = 0;
		}
		/* A scan has no tables, and it was said before why a contender is missing. */
		if (figure != NULL && (i == LINEAR || c.arg == NULL))
			continue;
		if (i == LINEAR && c.arg == NULL)
			continue;
		field_enter(&f, &c, field_keep);
	}
	field_measure(&f, unit);
}

/* From frames, against ready keys: both ways of rte_acl. */
static void
measure_frames(struct rig rigs[RIGS])
{
	char work[48];
	struct field f = { .work = work };
	struct rig own[] = { rigs[ACL], rigs[ACL], rigs[RAW] };
	static const char *const own_names[] = { "from_frames", "from_keys", "raw" };
	static uint64_t (*const runs[])(void *arg) = { run_frames, run_policy, run_raw };

	snprintf(work, sizeof(work), "%s_frames", rigs[0].set->name);
	if (!is_made(&rigs[RAW]) || !bench_wanted(work))
		return;
	for (unsigned int i = 0; i < RTE_DIM(own); i++) {
		const struct contender c = { .name = own_names[i],
			.arg = is_made(&own[i]) ? &own[i] : NULL,
			.run = runs[i],
			.check = check,
			.against = i == 0 ? NULL : own_names[i],
			.subject = i == 0 };

		own[i].packets = FRAMES;
		field_enter(&f, &c, field_keep);
	}
	field_measure(&f, CYCLES_PACKET);
}

struct work {
	const char *name, *kind; /* kind NULL: of --rules */
	uint32_t n;
	enum acl_versions versions;
	bool miss;
	bool quick; /* takes a second or two */
};

static bool
is_wanted(const struct work *w)
{
	static const char *const suffixes[] = { "", "_build", "_memory", "_frames" };
	const struct bench_settings *s = bench_settings();

	if (w->kind == NULL && s->rules == NULL)
		return false;
	if (s->quick && !w->quick && strcmp(s->works, "*") == 0)
		return false;
	for (unsigned int i = 0; i < RTE_DIM(suffixes); i++) {
		char name[48];

		snprintf(name, sizeof(name), "%s%s", w->name, suffixes[i]);
		if (bench_wanted(name))
			return true;
	}
	return false;
}

static void
run(const struct work *w)
{
	struct rig rigs[RIGS];
	struct acl_set *set;

	if (!is_wanted(w))
		return;
	set = acl_set_make(w->name, w->kind, w->versions, ACL_SEED, w->n, w->miss);
	rigs_make(rigs, set);
	printf("%s: %u rules, %s (%s), %.2f ms\n", w->name, set->n, rigs[CHOSEN].info.name,
		rigs[CHOSEN].info.why, (double)rigs[CHOSEN].info.build_us / 1000);
	measure(rigs, "", CYCLES_PACKET, NULL);
	if (strcmp(rigs[CHOSEN].info.name, "linear") != 0) { /* a scan has no tables */
		measure(rigs, "_build", MICROSECONDS, build_us);
		measure(rigs, "_memory", MEBIBYTES, memory_mib);
		measure_frames(rigs);
	}
	for (unsigned int i = 0; i < RIGS; i++) {
		hy_policy_destroy(rigs[i].policy);
		acl_raw_free(rigs[i].raw);
	}
	acl_set_free(set);
}

void
bench_acl(void)
{
	static const struct work works[] = {
		{ "acl_4", "acl", 4, .quick = true },
		{ "acl_100", "acl", 100, .quick = true },
		{ "fw_100", "fw", 100, .quick = true },
		{ "ipc_100", "ipc", 100, .quick = true },
		{ "file", NULL, 0, .quick = true },
		{ "acl_1k", "acl", 1000, .quick = true },
		{ "fw_1k", "fw", 1000, .quick = true },
		{ "ipc_1k", "ipc", 1000, .quick = true },
		{ "acl_1k_miss", "acl", 1000, .miss = true },
		{ "acl6_1k", "acl", 1000, ACL_IP6 },
		{ "acl46_1k", "acl", 1000, ACL_MIXED, .quick = true },
		{ "fw6_1k", "fw", 1000, ACL_IP6 },
		{ "fw46_1k", "fw", 1000, ACL_MIXED },
		{ "ipc6_1k", "ipc", 1000, ACL_IP6 },
		{ "ipc46_1k", "ipc", 1000, ACL_MIXED },
		{ "acl_10k", "acl", 10000 },
		{ "fw_10k", "fw", 10000 },
		{ "ipc_10k", "ipc", 10000 },
		{ "fw_10k_miss", "fw", 10000, .miss = true },
		{ "acl6_10k", "acl", 10000, ACL_IP6 },
		{ "ipc46_10k", "ipc", 10000, ACL_MIXED },
	};

	for (unsigned int w = 0; w < RTE_DIM(works); w++)
		run(&works[w]);
	acl_changes();
	acl_places();
	acl_reloads();
}
