/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans the tables of the tuple-space engine. A table hashes the bits of its mask, and takes rules
 * that ask for all these bits and perhaps for more, so that rules with many masks share a few tables
 * (the idea of TupleMerge, Daly et al. 2019). Here all rules are known beforehand: of the candidate
 * masks, the one that takes most of the rules that are left makes the next table, as long as its
 * buckets stay short.
 */

#include <errno.h>
#include <string.h>

#include "tuple.h"

#define BUCKET_MAX 8        /* rules of a bucket, if another table could take the next one */
#define CANDIDATES_MAX 1024 /* masks to choose from */
#define FEWEST 12           /* rules for which a table pays: trying so many costs as much */

struct candidate {
	struct tuple_mask mask;
	uint32_t gain; /* rules that it would take; an upper limit until it is counted again */
	bool used;
};

struct planner {
	const struct policy_build *build;
	struct tuple_plan *plan;
	uint32_t step, nb_rules;         /* of which there are so many */
	union tuple_key *masks, *values; /* of rules */
	uint32_t *left;                  /* rules without a table */
	uint32_t nb_left;
	struct candidate *all;
	uint32_t nb_all;
	uint8_t *buckets; /* lengths */
	uint32_t bucket_mask;
};

static uint32_t
high_bits(unsigned int n)
{
	return n == 0 ? 0 : n >= 32 ? UINT32_MAX : UINT32_MAX << (32 - n);
}

static void
prefix_mask(uint32_t mask[4], unsigned int len)
{
	for (unsigned int word = 0; word < 4; word++) {
		mask[word] = high_bits(len);
		len -= RTE_MIN(len, 32u);
	}
}

void
tuple_value(const struct hy_flow_match *m, union tuple_key *value)
{
	*value = (union tuple_key){ .key = { .tunnel = m->tunnel,
					    .src_mac = m->src_mac,
					    .dst_mac = m->dst_mac,
					    .ether_type = m->ether_type,
					    .vlan = m->vlan,
					    .sport = m->sport[0],
					    .dport = m->dport[0],
					    .proto = m->proto,
					    .dscp = m->dscp,
					    .tcp_flags = m->tcp_flags,
					    .icmp_type = m->icmp_type[0],
					    .icmp_code = m->icmp_code[0] } };
	memcpy(value->key.src6, m->src6, sizeof(m->src6));
	memcpy(value->key.dst6, m->dst6, sizeof(m->dst6));
}

/* The bits of a key that a rule fixes. Bits that only some packets have do not matter here. */
static void
rule_mask(const struct hy_flow_match *m, union tuple_key *mask)
{
	const uint32_t f = m->fields;
	struct hy_flow_key *key = &mask->key;

	*mask = (union tuple_key){ 0 };
	prefix_mask(key->src6, m->src_len);
	prefix_mask(key->dst6, m->dst_len);
	key->tunnel = f & HY_FLOW_TUNNEL ? UINT32_MAX : 0;
	key->src_mac = m->src_mac_mask;
	key->dst_mac = m->dst_mac_mask;
	key->ether_type = f & HY_FLOW_ETHER_TYPE ? UINT16_MAX : 0;
	key->vlan = f & HY_FLOW_VLAN ? UINT16_MAX : 0;
	key->sport = f & HY_FLOW_SPORT && m->sport[0] == m->sport[1] ? UINT16_MAX : 0;
	key->dport = f & HY_FLOW_DPORT && m->dport[0] == m->dport[1] ? UINT16_MAX : 0;
	key->proto = f & HY_FLOW_PROTO ? UINT8_MAX : 0;
	key->dscp = f & HY_FLOW_DSCP ? UINT8_MAX : 0;
	key->tcp_flags = m->tcp_mask;
	key->icmp_type = f & HY_FLOW_ICMP_TYPE && m->icmp_type[0] == m->icmp_type[1] ? UINT8_MAX
										     : 0;
	key->icmp_code = f & HY_FLOW_ICMP_CODE && m->icmp_code[0] == m->icmp_code[1] ? UINT8_MAX
										     : 0;
}

static bool
takes(const struct tuple_mask *table, const union tuple_key *rule)
{
	for (unsigned int i = 0; i < table->nb_words; i++) {
		const uint64_t bits = table->bits.word[table->word[i]];

		if ((bits & ~rule->word[table->word[i]]) != 0)
			return false;
	}
	return true;
}

static bool
is_equal(const union tuple_key *a, const union tuple_key *b)
{
	const void *one = a, *other = b; /* all words, without padding */

	return memcmp(one, other, sizeof(*a)) == 0;
}

static void
candidate_add(struct planner *p, const union tuple_key *bits)
{
	struct candidate *new = &p->all[p->nb_all];

	if (p->nb_all == CANDIDATES_MAX)
		return;
	for (uint32_t i = 0; i < p->nb_all; i++)
		if (is_equal(&p->all[i].mask.bits, bits))
			return;
	*new = (struct candidate){ .mask.bits = *bits, .gain = UINT32_MAX };
	for (unsigned int word = 0; word < TUPLE_WORDS; word++)
		if (bits->word[word] != 0)
			new->mask.word[new->mask.nb_words++] = (uint8_t)word;
	p->nb_all += new->mask.nb_words > 0;
}

static unsigned int
length_of(const uint32_t mask[4])
{
	unsigned int len = 0;

	for (unsigned int word = 0; word < 4; word++)
		len += (unsigned int)__builtin_popcount(mask[word]);
	return len;
}

/* Rounded down, so that rules of similar lengths share tables. */
static void
round_prefix(uint32_t mask[4], unsigned int to, unsigned int less)
{
	unsigned int len = length_of(mask);

	if (len > 32)
		to = 16;
	if (len != 128 && (len != 32 || less > 0))
		len -= len % to;
	prefix_mask(mask, len > less ? len - less : 0);
}

/*
 * A rule's mask with rounded lengths of prefixes; shorter ones; without the ports; and without one of
 * the addresses.
 */
static void
candidates_of(struct planner *p, const union tuple_key *rule)
{
	static const struct {
		unsigned int to, src_less, dst_less;
		bool ports;
	} ways[] = { { 4, 0, 0, true }, { 8, 0, 0, true }, { 8, 0, 0, false }, { 4, 0, 0, false },
		{ 8, 8, 8, true }, { 8, 8, 8, false }, { 8, 128, 0, true }, { 8, 0, 128, true },
		{ 8, 128, 0, false }, { 8, 0, 128, false }, { 8, 8, 0, false },
		{ 8, 0, 8, false } };

	for (unsigned int i = 0; i < RTE_DIM(ways); i++) {
		union tuple_key bits = *rule;

		round_prefix(bits.key.src6, ways[i].to, ways[i].src_less);
		round_prefix(bits.key.dst6, ways[i].to, ways[i].dst_less);
		if (!ways[i].ports)
			bits.key.sport = bits.key.dport = 0;
		candidate_add(p, &bits);
	}
}

/* Rules that a table would take now, or takes. */
static uint32_t
count(struct planner *p, const struct tuple_mask *mask, uint8_t table)
{
	uint32_t taken = 0, kept = 0;

	memset(p->buckets, 0, p->bucket_mask + 1u);
	for (uint32_t i = 0; i < p->nb_left; i++) {
		const uint32_t rule = p->left[i];
		bool take = takes(mask, &p->masks[rule]);

		if (take) {
			uint8_t *length = &p->buckets[tuple_hash(mask, &p->values[rule].key) &
				p->bucket_mask];

			take = *length < BUCKET_MAX;
			*length += take;
		}
		taken += take;
		if (table == UINT8_MAX)
			continue;
		if (take)
			p->plan->table[rule] = table;
		else
			p->left[kept++] = rule;
	}
	if (table != UINT8_MAX)
		p->nb_left = kept;
	return taken;
}

/* Gains only shrink: a candidate whose last gain is less than another's present one has lost. */
static struct candidate *
best(struct planner *p)
{
	struct candidate *best = NULL;

	for (uint32_t i = 0; i < p->nb_all; i++) {
		struct candidate *c = &p->all[i];

		if (c->used || (best != NULL && c->gain <= best->gain) || c->gain < FEWEST)
			continue;
		if (policy_build_stops(p->build))
			return NULL;
		c->gain = count(p, &c->mask, UINT8_MAX);
		if (c->gain >= FEWEST && (best == NULL || c->gain > best->gain))
			best = c;
	}
	return best;
}

/* Rules that nothing but longer buckets can take go to the table that asks for most of their bits. */
static void
rest(struct planner *p)
{
	const uint8_t last = (uint8_t)p->plan->nb_tables++;

	for (uint32_t i = 0; i < p->nb_left; i++) {
		const union tuple_key *rule = &p->masks[p->left[i]];
		unsigned int most = 0;

		p->plan->table[p->left[i]] = last;
		for (uint8_t table = 0; table < last; table++) {
			const struct tuple_mask *mask = &p->plan->mask[table];
			unsigned int bits = 0;

			for (unsigned int word = 0; word < mask->nb_words; word++)
				bits += (unsigned int)
					__builtin_popcountll(mask->bits.word[mask->word[word]]);
			if (bits > most && takes(mask, rule)) {
				most = bits;
				p->plan->table[p->left[i]] = table;
			}
		}
	}
	p->nb_left = 0;
}

static int
planner_make(struct planner *p)
{
	uint32_t rule = 0;

	p->nb_rules = (p->build->n + p->step - 1) / p->step;
	p->bucket_mask = rte_align32pow2(2 * p->nb_rules) - 1;
	p->masks = malloc(p->nb_rules * sizeof(*p->masks));
	p->values = malloc(p->nb_rules * sizeof(*p->values));
	p->left = malloc(p->nb_rules * sizeof(*p->left));
	p->all = malloc(CANDIDATES_MAX * sizeof(*p->all));
	p->buckets = malloc(p->bucket_mask + 1u);
	p->plan->table = malloc(p->nb_rules);
	if (p->masks == NULL || p->values == NULL || p->left == NULL || p->all == NULL ||
		p->buckets == NULL || p->plan->table == NULL)
		return -ENOMEM;
	for (uint32_t rank = 0; rank < p->build->n; rank += p->step, rule++) {
		const struct hy_flow_match *m = &p->build->rules[rank].rule.match;

		rule_mask(m, &p->masks[rule]);
		tuple_value(m, &p->values[rule]);
		p->left[rule] = rule;
		/* Neighbours often have one mask. */
		if (rule == 0 || !is_equal(&p->masks[rule], &p->masks[rule - 1]))
			candidates_of(p, &p->masks[rule]);
	}
	p->nb_left = rule;
	return 0;
}

int
tuple_plan_make(const struct policy_build *build, uint32_t step, struct tuple_plan *plan)
{
	struct planner p = { .build = build, .plan = plan, .step = step };
	struct candidate *next;
	int rc;

	*plan = (struct tuple_plan){ 0 };
	rc = planner_make(&p);
	while (rc == 0 && p.nb_left > 0 && plan->nb_tables < TUPLE_TABLES_MAX - 1 &&
		(next = best(&p)) != NULL) {
		next->used = true;
		plan->mask[plan->nb_tables] = next->mask;
		count(&p, &next->mask, (uint8_t)plan->nb_tables++);
	}
	if (rc == 0 && policy_build_stops(build))
		rc = -EINTR;
	if (rc == 0)
		rest(&p);
	free(p.masks);
	free(p.values);
	free(p.left);
	free(p.all);
	free(p.buckets);
	return rc;
}

void
tuple_plan_free(struct tuple_plan *plan)
{
	free(plan->table);
}
