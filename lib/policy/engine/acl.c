/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_acl: tries, walked four bytes of a key at a time for several keys at once. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "acl_tables.h"

/* The rules of a family, as indexes into those of the build. */
struct acl_list {
	const struct policy_build *build;
	enum acl_family family;
	const struct acl_code *code;
	const uint32_t *rank;
};

/* Of n rules from one on. */
static int
part_fill(struct rte_acl_ctx *acl, const struct acl_list *list, uint32_t first, uint32_t n)
{
	struct acl_rule *rules = calloc(n, sizeof(*rules));
	int rc;

	if (rules == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t rank = list->rank[first + i];

		rules[i].data = (struct rte_acl_rule_data){ .category_mask = 1,
			.priority = (int32_t)(n - i), /* highest wins */
			.userdata = rank + 1 };       /* 0 is no match */
		acl_rule_make(&list->build->rules[rank].rule.match, list->code, list->family,
			rules[i].field);
	}
	rc = rte_acl_add_rules(acl, (struct rte_acl_rule *)rules, n);
	free(rules);
	return rc;
}

/* Fails with -E2BIG if rte_acl cannot build a trie of so many rules, or has no memory for it. */
static int
part_create(const struct acl_list *list, uint32_t first, uint32_t n, struct rte_acl_ctx **out)
{
	static uint64_t serial; /* rte_acl would find another one of the same name */
	char name[RTE_ACL_NAMESIZE];
	const struct rte_acl_param params = {
		.name = name,
		.socket_id = list->build->socket,
		.rule_size = sizeof(struct acl_rule),
		.max_rule_num = n,
	};
	struct rte_acl_config config;
	struct rte_acl_ctx *acl;
	int rc;

	snprintf(name, sizeof(name), "hy_policy_%" PRIu64,
		__atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED));
	acl = rte_acl_create(&params);
	if (acl == NULL)
		return -ENOMEM;
	acl_config_make(list->family, &config);
	rc = part_fill(acl, list, first, n);
	if (rc == 0 && rte_acl_build(acl, &config) < 0)
		rc = -E2BIG;
	if (rc < 0)
		rte_acl_free(acl);
	else
		*out = acl;
	return rc;
}

/*
 * rte_acl merges rules into at most eight tries. Many rules that overlap in many fields do not fit,
 * and are halved until they do. That may take minutes: it can be stopped before each try.
 */
static int
parts_create(const struct acl_list *list, uint32_t first, uint32_t n, struct acl_contexts *to)
{
	int rc;

	if (policy_build_stops(list->build))
		return -EINTR;
	if (to->nb_parts == RTE_DIM(to->parts))
		return -E2BIG;
	rc = part_create(list, first, n, &to->parts[to->nb_parts]);
	if (rc == 0)
		to->nb_parts++;
	if (rc != -E2BIG || n == 1)
		return rc;
	rc = parts_create(list, first, n / 2, to);
	return rc < 0 ? rc : parts_create(list, first + n / 2, n - n / 2, to);
}

static int
family_create(const struct policy_build *build, enum acl_family family, struct acl_contexts *to)
{
	uint32_t *rank = malloc(build->n * sizeof(*rank));
	const struct acl_list list = { build, family, &to->code, rank };
	uint32_t n = 0;
	int rc = 0;

	if (rank == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < build->n; i++)
		if (acl_rule_fits(&build->rules[i].rule.match, family))
			rank[n++] = i;
	if (n > 0) {
		acl_code_make(build, family, &to->code, &to->more);
		rc = parts_create(&list, 0, n, to);
	}
	free(rank);
	return rc;
}

static void
acl_free(void *tables)
{
	struct acl *acl = tables;

	for (unsigned int family = 0; family < ACL_FAMILIES; family++)
		for (uint32_t part = 0; part < acl->family[family].nb_parts; part++)
			rte_acl_free(acl->family[family].parts[part]);
	rte_free(acl);
}

/* rte_acl 22.11 tells neither the size nor the address of its tables: other threads count, too. */
uint64_t
acl_heaps_used(void)
{
	struct rte_malloc_socket_stats stats;
	uint64_t used = 0;

	for (int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++)
		if (rte_malloc_get_socket_stats(socket, &stats) == 0)
			used += stats.heap_allocsz_bytes;
	return used;
}

static int
acl_build(const struct policy_build *build, void **tables, uint64_t *bytes)
{
	const uint64_t before = acl_heaps_used();
	struct acl *acl = rte_zmalloc_socket("hy_policy_acl", sizeof(*acl), RTE_CACHE_LINE_SIZE,
		build->socket);
	uint64_t after;
	int rc = 0;

	if (acl == NULL)
		return -ENOMEM;
	for (unsigned int family = 0; family < ACL_FAMILIES && rc == 0; family++)
		rc = family_create(build, family, &acl->family[family]);
	if (rc < 0) {
		acl_free(acl);
		return rc;
	}
	after = acl_heaps_used();
	*bytes = after > before ? after - before : sizeof(*acl);
	*tables = acl;
	return 0;
}

/* Rules that are built for an estimate, and the tables and the time that are enough for one. */
#define PILOT_LEAST 16
#define PILOT_MOST 256
#define PILOT_BYTES (128 << 10)
#define PILOT_US 4000 /* twice as many rules take up to four times as long */
#define PILOTS_US (6 * PILOT_US)

/*
 * Clocks that hy-bench acl measures, of tries that are in the cache, and their growth. Bytes and time
 * grow by powers of the number of rules that fit real and generated sets of 100 to 10,000 within a
 * factor of three.
 */
#define KEY_CLOCKS 130.0
#define CACHED 1048576.0
#define BYTES_POWER 1.15
#define TIME_POWER 1.25

/* Compiles every so many-th rule, n of them, for their cost. */
static int
pilot(const struct policy_build *build, uint32_t n, uint64_t *bytes, uint64_t *us)
{
	struct hy_policy_rule *some = malloc(n * sizeof(*some));
	const uint64_t start = policy_cpu_us();
	struct policy_build few = *build;
	void *tables;
	int rc;

	if (some == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		some[i] = build->rules[(uint64_t)i * build->n / n];
	few.rules = some;
	few.n = n;
	rc = acl_build(&few, &tables, bytes);
	*us = policy_cpu_us() - start;
	free(some);
	if (rc == 0)
		acl_free(tables);
	return rc;
}

/*
 * What tries cost depends on how rules overlap, which no count of masks or wildcards tells well. So
 * it is tried with a few rules, and with twice as many as long as that was quick, and is scaled.
 */
static int
acl_estimate(const struct policy_build *build, struct policy_estimate *estimate)
{
	uint32_t n = RTE_MIN(build->n, (uint32_t)PILOT_LEAST);
	uint64_t bytes, us;
	double times;
	int rc = pilot(build, n, &bytes, &us);

	while (rc == 0 && n < RTE_MIN(build->n, (uint32_t)PILOT_MOST) && bytes < PILOT_BYTES &&
		us < PILOT_US) {
		n = RTE_MIN(build->n, 2 * n);
		rc = pilot(build, n, &bytes, &us);
	}
	if (rc < 0)
		return rc;
	times = build->n / (double)n;
	estimate->bytes = (uint64_t)((double)bytes * pow(times, BYTES_POWER));
	estimate->build_us = (uint64_t)((double)us * pow(times, TIME_POWER));
	estimate->clocks = KEY_CLOCKS * sqrt(1 + (double)estimate->bytes / CACHED);
	return 0;
}

const struct policy_engine policy_engine_acl = {
	.name = "rte_acl",
	.least = KEY_CLOCKS,
	.estimate_us = PILOTS_US,
	.text = "walks tries four bytes at a time, with the vectors that EAL allows",
	.estimate = acl_estimate,
	.build = acl_build,
	.free = acl_free,
	.classify = acl_classify,
};
