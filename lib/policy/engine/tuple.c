/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tuple space: rules in hash tables, a table for those that can be found by the same bits of a key.
 * What the hash leaves out, ranges of ports too, is compared in each rule of a bucket.
 *
 * rte_hash has one entry for a key. Here a bucket has as many rules as share the bits, in order of
 * ranks and one behind the other, and tables never change: two arrays do, with one cache miss each.
 */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "tuple.h"

/* What most rules ask for, in half a cache line. Of IPv6 addresses, only the first 32 bits. */
struct tuple_rule {
	uint32_t src, dst;
	uint32_t needs; /* bits of hy_flow_key.has */
	uint32_t rank;
	uint16_t sport, sport_span, dport, dport_span;
	uint8_t src_shift, dst_shift; /* bits that do not matter */
	uint8_t proto, proto_mask;
	bool more; /* and the rest is in hy_flow_match */
	uint8_t reserved[3];
};

_Static_assert(sizeof(struct tuple_rule) == 32, "two rules a cache line");

struct tuple_table {
	struct tuple_mask mask;
	uint32_t needs; /* what all of its rules need */
	uint32_t best;  /* the lowest rank */
	uint32_t bucket_mask;
	const uint32_t *first; /* by bucket, and one more: its rules are those up to the next's */
};

struct tuple {
	const struct hy_policy_rule *rules; /* of the build */
	struct tuple_rule *packed;          /* by table, bucket and rank */
	uint32_t *first;                    /* of all tables */
	uint32_t nb_tables;
	struct tuple_table table[]; /* by their best ranks */
};

static void
rule_pack(const struct hy_flow_match *m, uint32_t rank, struct tuple_rule *to)
{
	const uint32_t f = m->fields;
	const uint32_t few = HY_FLOW_5_TUPLE | HY_FLOW_IPV6;

	*to = (struct tuple_rule){ .src = m->src,
		.dst = m->dst,
		.needs = policy_needs(m),
		.rank = rank,
		.sport = m->sport[0],
		.sport_span = f & HY_FLOW_SPORT ? (uint16_t)(m->sport[1] - m->sport[0])
						: UINT16_MAX,
		.dport = m->dport[0],
		.dport_span = f & HY_FLOW_DPORT ? (uint16_t)(m->dport[1] - m->dport[0])
						: UINT16_MAX,
		.src_shift = (uint8_t)(32 - RTE_MIN(m->src_len, 32)),
		.dst_shift = (uint8_t)(32 - RTE_MIN(m->dst_len, 32)),
		.proto = m->proto,
		.proto_mask = f & HY_FLOW_PROTO ? UINT8_MAX : 0,
		.more = (f & ~few) != 0 || m->src_len > 32 || m->dst_len > 32 };
}

static inline bool
rule_matches(const struct tuple_rule *rule, const struct hy_flow_key *key)
{
	const uint64_t src = (uint64_t)(key->src ^ rule->src) >> rule->src_shift;
	const uint64_t dst = (uint64_t)(key->dst ^ rule->dst) >> rule->dst_shift;
	const uint32_t lacks = rule->needs & ~key->has;
	const uint32_t proto = (key->proto ^ rule->proto) & rule->proto_mask;

	return (src | dst | lacks | proto) == 0 &&
		(uint16_t)(key->sport - rule->sport) <= rule->sport_span &&
		(uint16_t)(key->dport - rule->dport) <= rule->dport_span;
}

/* Keys that may find a better rank in a table. */
static inline uint32_t
keys_left(const struct tuple_table *table, const struct hy_flow_key key[], const uint32_t rank[],
	uint8_t left[], uint32_t n)
{
	uint32_t nb_left = 0;

	for (uint32_t i = 0; i < n; i++) {
		left[nb_left] = (uint8_t)i;
		nb_left += (uint32_t)(table->best < rank[i]) &
			(uint32_t)((table->needs & ~key[i].has) == 0);
	}
	return nb_left;
}

static inline uint32_t
bucket_search(const struct tuple *tuple, const uint32_t *first, const struct hy_flow_key *key,
	uint32_t rank)
{
	const struct tuple_rule *rule = &tuple->packed[first[0]];
	const struct tuple_rule *const end = &tuple->packed[first[1]];

	for (; rule < end && rule->rank < rank; rule++)
		if (rule_matches(rule, key) &&
			(!rule->more || hy_flow_matches(&tuple->rules[rule->rank].rule.match, key)))
			return rule->rank;
	return rank;
}

/* A burst goes through a table together, so that its cache misses overlap. */
static void
table_search(const struct tuple *tuple, const struct tuple_table *table,
	const struct hy_flow_key key[], uint32_t rank[], uint32_t n)
{
	const uint32_t *bucket[POLICY_CHUNK];
	uint8_t left[POLICY_CHUNK + 1] = { 0 };
	const uint32_t nb_left = keys_left(table, key, rank, left, n);

	for (uint32_t i = 0; i < nb_left; i++) {
		const uint32_t hash = tuple_hash(&table->mask, &key[left[i]]);

		bucket[i] = &table->first[hash & table->bucket_mask];
		rte_prefetch0(bucket[i]);
	}
	for (uint32_t i = 0; i < nb_left; i++)
		rte_prefetch0(&tuple->packed[bucket[i][0]]);
	for (uint32_t i = 0; i < nb_left; i++)
		rank[left[i]] = bucket_search(tuple, bucket[i], &key[left[i]], rank[left[i]]);
}

static void
tuple_classify(const void *tables, const struct hy_flow_key key[], uint32_t rank[], uint32_t n)
{
	const struct tuple *tuple = tables;

	for (uint32_t i = 0; i < n; i++)
		rank[i] = HY_POLICY_NONE;
	for (uint32_t done = 0; done < n; done += POLICY_CHUNK) {
		const uint32_t now = RTE_MIN(n - done, POLICY_CHUNK);

		for (uint32_t table = 0; table < tuple->nb_tables; table++)
			table_search(tuple, &tuple->table[table], key + done, rank + done, now);
	}
}

static void
tuple_free(void *tables)
{
	struct tuple *tuple = tables;

	rte_free(tuple->packed);
	rte_free(tuple->first);
	rte_free(tuple);
}

static int
by_best(const void *a, const void *b)
{
	const struct tuple_table *ta = a, *tb = b;

	return ta->best < tb->best ? -1 : ta->best > tb->best;
}

static uint32_t *
bucket_of(const struct tuple *tuple, const struct tuple_table *table, uint32_t *first,
	uint32_t rank)
{
	union tuple_key value;

	tuple_value(&tuple->rules[rank].rule.match, &value);
	return &first[tuple_hash(&table->mask, &value.key) & table->bucket_mask];
}

/* Fills a table by counting, from the end of each bucket. Its rules are packed from a place on. */
static void
table_fill(struct tuple *tuple, struct tuple_table *table, uint32_t *first,
	const struct tuple_plan *plan, uint32_t nb_rules, uint32_t at)
{
	const uint8_t number = (uint8_t)(table - tuple->table);

	for (uint32_t rank = 0; rank < nb_rules; rank++)
		if (plan->table[rank] == number)
			++*bucket_of(tuple, table, first, rank);
	for (uint32_t bucket = 0; bucket <= table->bucket_mask; bucket++)
		first[bucket] = at += first[bucket];
	first[table->bucket_mask + 1] = at;
	for (uint32_t rank = nb_rules; rank-- > 0;)
		if (plan->table[rank] == number)
			rule_pack(&tuple->rules[rank].rule.match, rank,
				&tuple->packed[--*bucket_of(tuple, table, first, rank)]);
	table->first = first;
}

/* Sizes of tables: twice as many buckets as rules, or one. */
static uint64_t
tables_size(struct tuple *tuple, const struct tuple_plan *plan, uint32_t nb_rules, uint32_t count[])
{
	uint64_t buckets = 0;

	for (uint32_t t = 0; t < plan->nb_tables; t++) {
		count[t] = 0;
		tuple->table[t] = (struct tuple_table){
			.mask = plan->mask[t], .needs = UINT32_MAX, .best = HY_POLICY_NONE
		};
	}
	for (uint32_t rank = 0; rank < nb_rules; rank++) {
		struct tuple_table *table = &tuple->table[plan->table[rank]];

		count[plan->table[rank]]++;
		table->needs &= policy_needs(&tuple->rules[rank].rule.match);
		table->best = RTE_MIN(table->best, rank);
	}
	for (uint32_t t = 0; t < plan->nb_tables; t++) {
		if (plan->mask[t].nb_words > 0)
			tuple->table[t].bucket_mask = rte_align32pow2(2 * count[t] + 1) - 1;
		buckets += tuple->table[t].bucket_mask + 2u;
	}
	return buckets;
}

static void
tables_fill(struct tuple *tuple, const struct tuple_plan *plan, uint32_t nb_rules,
	const uint32_t count[])
{
	uint32_t *first = tuple->first, at = 0;

	for (uint32_t t = 0; t < plan->nb_tables; t++) {
		table_fill(tuple, &tuple->table[t], first, plan, nb_rules, at);
		first += tuple->table[t].bucket_mask + 2;
		at += count[t];
		tuple->nb_tables += count[t] > 0;
	}
	/* Tables without rules come last. */
	qsort(tuple->table, plan->nb_tables, sizeof(tuple->table[0]), by_best);
}

static int
tuple_create(const struct policy_build *build, const struct tuple_plan *plan, struct tuple **out,
	uint64_t *bytes)
{
	const size_t size = sizeof(struct tuple) + plan->nb_tables * sizeof(struct tuple_table);
	struct tuple *tuple = rte_zmalloc_socket("hy_policy_tuple", size, RTE_CACHE_LINE_SIZE,
		build->socket);
	const size_t packed = (build->n + 1) *
		sizeof(*tuple->packed); /* what a search prefetches */
	uint32_t count[TUPLE_TABLES_MAX];
	size_t first;

	if (tuple == NULL)
		return -ENOMEM;
	tuple->rules = build->rules;
	first = tables_size(tuple, plan, build->n, count) * sizeof(*tuple->first);
	tuple->packed = rte_zmalloc_socket("hy_policy_tuple", packed, RTE_CACHE_LINE_SIZE,
		build->socket);
	tuple->first = rte_zmalloc_socket("hy_policy_tuple", first, RTE_CACHE_LINE_SIZE,
		build->socket);
	if (tuple->packed == NULL || tuple->first == NULL) {
		tuple_free(tuple);
		return -ENOMEM;
	}
	tables_fill(tuple, plan, build->n, count);
	*bytes = size + packed + first;
	*out = tuple;
	return 0;
}

static int
tuple_build(const struct policy_build *build, void **tables, uint64_t *bytes)
{
	struct tuple *tuple = NULL;
	struct tuple_plan plan;
	int rc = tuple_plan_make(build, 1, &plan);

	if (rc == 0)
		rc = tuple_create(build, &plan, &tuple, bytes);
	tuple_plan_free(&plan);
	*tables = tuple;
	return rc;
}

#define SAMPLE 1024 /* rules that are planned for an estimate */

/* Clocks that hy-bench acl measures: of a packet, of a table, and for each doubling of the rules. */
#define KEY_CLOCKS 60.0
#define TABLE_CLOCKS 22.0
#define DOUBLING 0.5
#define ESTIMATE_US 5000

static int
tuple_estimate(const struct policy_build *build, struct policy_estimate *estimate)
{
	const uint32_t step = (build->n + SAMPLE - 1) / SAMPLE;
	const uint64_t start = policy_cpu_us();
	struct tuple_plan plan;
	double factor = 1;
	int rc = tuple_plan_make(build, step, &plan);

	if (rc == 0) {
		for (uint32_t n = SAMPLE; n < build->n; n *= 2)
			factor += DOUBLING * RTE_MIN(1.0, (build->n - n) / (double)n);
		*estimate = (struct policy_estimate){
			.bytes = build->n * (sizeof(struct tuple_rule) + 4 * sizeof(uint32_t)),
			.build_us = (policy_cpu_us() - start) * step,
			.clocks = (KEY_CLOCKS + TABLE_CLOCKS * plan.nb_tables) * factor,
		};
	}
	tuple_plan_free(&plan);
	return rc;
}

const struct policy_engine policy_engine_tuple = {
	.name = "tuple",
	.least = KEY_CLOCKS + TABLE_CLOCKS,
	.estimate_us = ESTIMATE_US,
	.text = "looks rules up in hash tables, a table for those with common bits",
	.estimate = tuple_estimate,
	.build = tuple_build,
	.free = tuple_free,
	.classify = tuple_classify,
};
