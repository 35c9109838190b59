/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule sets for tests and benchmarks. What makes a set hard to classify are the combinations of
 * prefix lengths, the kinds of port ranges for each protocol, and how prefixes nest. These have the
 * distributions below, which follow what Taylor and Turner (ClassBench, INFOCOM 2005) report of
 * access lists, firewalls and Linux ipchains.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <rte_common.h>

#include <hy_policy_view.h>

#include "generate.h"

const char *const generate_names[GENERATE_KINDS] = { "acl", "fw", "ipc" };

/* Kinds of port ranges. */
enum ports {
	ANY,   /* all ports */
	HIGH,  /* 1024 to 65535 */
	LOW,   /* 0 to 1023 */
	RANGE, /* another range */
	EXACT, /* one port */
};

#define PROTO_ANY 0 /* no rule here is about protocol 0 */

/* An entry of a distribution: values of the source and the destination, and its share. */
struct entry {
	uint8_t src, dst;
	uint16_t share; /* 0: behind the last entry */
};

#define ENTRIES 48

struct kind {
	struct entry lengths[ENTRIES]; /* of prefixes of IPv4 */
	struct entry tcp[16], udp[16]; /* enum ports */
	struct entry protocols[8];     /* in src */
	uint16_t ranges; /* different ranges of ports: the fewer, the more rules share one */
};

static const struct kind kinds[GENERATE_KINDS] = {
	[GENERATE_ACL] = {
		.lengths = {
			{ 32, 32, 420 }, { 24, 32, 70 }, { 28, 32, 30 }, { 27, 32, 24 }, { 26, 32, 20 },
			{ 25, 32, 12 }, { 23, 32, 24 }, { 22, 32, 16 }, { 21, 32, 10 }, { 20, 32, 8 },
			{ 16, 32, 20 }, { 8, 32, 8 }, { 0, 32, 50 }, { 32, 24, 60 }, { 32, 28, 20 },
			{ 32, 27, 16 }, { 32, 26, 12 }, { 32, 25, 8 }, { 32, 22, 8 }, { 32, 16, 12 },
			{ 32, 0, 12 }, { 24, 24, 30 }, { 30, 30, 10 }, { 29, 32, 10 }, { 32, 30, 10 },
			{ 28, 24, 8 }, { 24, 28, 8 }, { 24, 27, 6 }, { 16, 24, 8 }, { 0, 24, 16 },
			{ 0, 28, 6 }, { 0, 27, 4 }, { 16, 16, 4 }, { 22, 24, 4 }, { 23, 24, 4 },
		},
		.tcp = {
			{ ANY, EXACT, 560 }, { ANY, ANY, 150 }, { ANY, RANGE, 160 }, { ANY, HIGH, 60 },
			{ ANY, LOW, 6 }, { EXACT, ANY, 6 }, { HIGH, EXACT, 4 },
		},
		.udp = {
			{ ANY, EXACT, 600 }, { ANY, ANY, 160 }, { ANY, RANGE, 140 }, { ANY, HIGH, 40 },
			{ EXACT, EXACT, 6 },
		},
		.protocols = { { IPPROTO_TCP, 0, 760 }, { IPPROTO_UDP, 0, 160 }, { IPPROTO_ICMP, 0, 40 },
			{ PROTO_ANY, 0, 40 } },
		.ranges = 80,
	},
	[GENERATE_FW] = {
		.lengths = {
			{ 0, 32, 190 }, { 32, 0, 150 }, { 0, 0, 10 }, { 0, 24, 90 }, { 24, 0, 80 },
			{ 0, 28, 30 }, { 28, 0, 24 }, { 0, 27, 20 }, { 0, 26, 16 }, { 27, 0, 16 },
			{ 0, 16, 30 }, { 16, 0, 30 }, { 0, 20, 10 }, { 32, 32, 120 }, { 24, 32, 40 },
			{ 32, 24, 40 }, { 24, 24, 24 }, { 16, 32, 16 }, { 32, 16, 12 }, { 28, 32, 10 },
			{ 16, 24, 6 }, { 8, 32, 6 },
		},
		.tcp = {
			{ ANY, EXACT, 330 }, { ANY, ANY, 130 }, { EXACT, ANY, 130 }, { HIGH, EXACT, 100 },
			{ ANY, RANGE, 90 }, { EXACT, HIGH, 60 }, { ANY, HIGH, 40 }, { RANGE, ANY, 16 },
			{ HIGH, HIGH, 20 }, { RANGE, EXACT, 4 }, { EXACT, EXACT, 20 },
		},
		.udp = {
			{ ANY, EXACT, 300 }, { ANY, ANY, 100 }, { EXACT, ANY, 140 }, { HIGH, EXACT, 90 },
			{ ANY, RANGE, 90 }, { EXACT, HIGH, 50 }, { EXACT, EXACT, 60 }, { RANGE, ANY, 12 },
		},
		.protocols = { { IPPROTO_TCP, 0, 620 }, { IPPROTO_UDP, 0, 190 }, { IPPROTO_ICMP, 0, 60 },
			{ IPPROTO_GRE, 0, 10 }, { IPPROTO_ESP, 0, 10 }, { PROTO_ANY, 0, 110 } },
		.ranges = 60,
	},
	[GENERATE_IPC] = {
		.lengths = {
			{ 32, 32, 240 }, { 24, 32, 60 }, { 32, 24, 60 }, { 24, 24, 70 }, { 0, 32, 60 },
			{ 32, 0, 50 }, { 0, 24, 30 }, { 24, 0, 30 }, { 16, 32, 30 }, { 32, 16, 30 },
			{ 16, 24, 16 }, { 24, 16, 16 }, { 16, 16, 24 }, { 28, 32, 20 }, { 32, 28, 20 },
			{ 27, 32, 14 }, { 32, 27, 14 }, { 26, 32, 12 }, { 32, 26, 12 }, { 25, 32, 8 },
			{ 32, 25, 8 }, { 23, 32, 10 }, { 32, 23, 10 }, { 22, 32, 8 }, { 32, 22, 8 },
			{ 21, 24, 6 }, { 24, 21, 6 }, { 20, 32, 8 }, { 28, 28, 8 }, { 27, 24, 8 },
			{ 30, 30, 8 }, { 24, 29, 6 }, { 0, 16, 14 }, { 16, 0, 14 }, { 8, 32, 8 },
		},
		.tcp = {
			{ ANY, EXACT, 420 }, { ANY, ANY, 170 }, { EXACT, ANY, 90 }, { HIGH, EXACT, 110 },
			{ ANY, RANGE, 60 },
		},
		.udp = {
			{ ANY, EXACT, 360 }, { ANY, ANY, 160 }, { EXACT, EXACT, 130 }, { EXACT, ANY, 80 },
		},
		.protocols = { { IPPROTO_TCP, 0, 480 }, { IPPROTO_UDP, 0, 240 }, { IPPROTO_ICMP, 0, 70 },
			{ IPPROTO_GRE, 0, 10 }, { PROTO_ANY, 0, 200 } },
		.ranges = 120,
	},
};

/* The lengths of IPv6 prefixes that take the places of IPv4's. */
static const uint8_t lengths6[] = { 0, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	32, 34, 36, 38, 40, 42, 44, 46, 48, 52, 56, 60, 64, 80, 96, 112, 128 };

/* Ports of services, the most used first. */
static const uint16_t services[] = { 80, 443, 22, 25, 53, 21, 23, 110, 143, 123, 161, 389, 1433,
	1521, 3306, 3389, 8080, 20, 69, 135, 137, 139, 445, 514, 636, 993, 995, 1080, 1723, 2049,
	5060, 5432, 5632, 6000, 8443, 111, 119, 179, 500, 1812 };

struct drawing {
	const struct kind *kind;
	bool ip6;
	uint64_t seed, state;
};

/* The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t
mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint32_t
draw(struct drawing *d, uint32_t below)
{
	d->state += 0x9e3779b97f4a7c15;
	return (uint32_t)((mix(d->state) >> 32) * below >> 32);
}

/* One of a table's entries, by their shares. */
static const struct entry *
draw_entry(struct drawing *d, const struct entry *entry)
{
	uint32_t sum = 0, at;

	for (const struct entry *e = entry; e->share > 0; e++)
		sum += e->share;
	for (at = draw(d, sum); at >= entry->share; entry++)
		at -= entry->share;
	return entry;
}

/* How often, of 256 times, the more popular half of a prefix is taken. */
static uint32_t
skew(bool ip6, unsigned int level)
{
	static const uint8_t of4[] = { 246, 226, 216, 200 };
	static const uint8_t of6[] = { 250, 250, 226, 216, 240, 240, 240, 240 };

	return ip6 ? of6[level / 16] : of4[level / 8];
}

/*
 * The bits of a prefix, from the top: each prefix has a more popular half, so that many prefixes
 * have long beginnings in common, and nest.
 */
static void
draw_prefix(struct drawing *d, uint64_t side, unsigned int len, uint32_t word[4])
{
	uint64_t at = mix(d->seed + side);

	for (unsigned int i = 0; i < len; i++) {
		uint32_t bit = (at & 1) ^ (draw(d, 256) >= skew(d->ip6, i));

		if (d->ip6 && i < 3) /* global unicast: 2000::/3 */
			bit = i == 2;
		word[i / 32] |= bit << (31 - i % 32);
		at = mix(at + 1 + bit);
	}
}

static void
draw_ports(struct drawing *d, uint8_t kind, uint16_t ports[2])
{
	/* Services are drawn from the smaller of two places: early ones more often. */
	const uint32_t one = draw(d, RTE_DIM(services)), two = draw(d, RTE_DIM(services));
	uint32_t range = draw(d, d->kind->ranges);
	uint16_t a, b;

	ports[0] = kind == HIGH ? 1024 : 0;
	ports[1] = kind == LOW ? 1023 : UINT16_MAX;
	if (kind == EXACT) {
		ports[0] = ports[1] = draw(d, 4) > 0 ? services[RTE_MIN(one, two)]
						     : (uint16_t)(1024 + draw(d, 2048));
	} else if (kind == RANGE) {
		a = (uint16_t)(1 + (mix(d->seed + range) >> 16) % 20000);
		b = (uint16_t)(1 + mix(d->seed + range) % (range % 2 == 0 ? 40 : 20000));
		ports[0] = a;
		ports[1] = (uint16_t)(a + b);
	}
}

/* The ports of a rule. Returns how specific they are. */
static uint32_t
draw_port_pair(struct drawing *d, struct hy_flow_match *m)
{
	static const uint8_t specific[] = {
		[ANY] = 0, [HIGH] = 2, [LOW] = 6, [RANGE] = 8, [EXACT] = 16
	};
	const struct entry *pair = draw_entry(d,
		m->proto == IPPROTO_TCP ? d->kind->tcp : d->kind->udp);

	if (pair->src != ANY) {
		m->fields |= HY_FLOW_SPORT;
		draw_ports(d, pair->src, m->sport);
	}
	if (pair->dst != ANY) {
		m->fields |= HY_FLOW_DPORT;
		draw_ports(d, pair->dst, m->dport);
	}
	return (uint32_t)specific[pair->src] + specific[pair->dst];
}

/* Returns how specific the match is. */
static uint32_t
draw_match(struct drawing *d, struct hy_flow_match *m)
{
	const struct entry *lengths = draw_entry(d, d->kind->lengths);
	const uint8_t proto = draw_entry(d, d->kind->protocols)->src;
	uint32_t specific = lengths->src + lengths->dst;

	memset(m, 0, sizeof(*m));
	m->fields = (d->ip6 ? HY_FLOW_IPV6 : 0) | (lengths->src > 0 ? HY_FLOW_SRC : 0) |
		(lengths->dst > 0 ? HY_FLOW_DST : 0);
	m->src_len = d->ip6 ? lengths6[lengths->src] : lengths->src;
	m->dst_len = d->ip6 ? lengths6[lengths->dst] : lengths->dst;
	draw_prefix(d, 1, m->src_len, m->src6);
	draw_prefix(d, 2, m->dst_len, m->dst6);
	if (proto != PROTO_ANY) {
		m->fields |= HY_FLOW_PROTO;
		m->proto = d->ip6 && proto == IPPROTO_ICMP ? IPPROTO_ICMPV6 : proto;
		specific += 8;
	}
	if (m->proto == IPPROTO_TCP || m->proto == IPPROTO_UDP)
		specific += draw_port_pair(d, m);
	if (m->fields == 0) { /* all of IPv4, and nothing else */
		m->fields = HY_FLOW_ETHER_TYPE;
		m->ether_type = 0x0800;
	}
	return specific;
}

/* Matches that were drawn, by their hash: indices + 1; 0 is a free place. */
struct seen {
	uint32_t *places;
	uint32_t mask;
};

/* Remembers match i of a table. Returns whether it is new. */
static bool
remember(struct seen *seen, const struct hy_flow_rule *rules, uint32_t i)
{
	const struct hy_flow_match *match = &rules[i].match;
	uint64_t hash = match->fields;
	uint32_t at;

	for (unsigned int w = 0; w < 4; w++)
		hash = mix(hash + match->src6[w]) + match->dst6[w];
	hash = mix(hash + ((uint64_t)match->sport[0] << 48) + ((uint64_t)match->sport[1] << 32) +
		((uint64_t)match->dport[0] << 16) + match->dport[1] + match->proto);
	hash = mix(hash + match->src_len * 256u + match->dst_len);
	for (at = hash & seen->mask; seen->places[at] != 0; at = (at + 1) & seen->mask)
		if (hy_flow_match_equal(&rules[seen->places[at] - 1].match, match))
			return false;
	seen->places[at] = i + 1;
	return true;
}

/* Draws different matches; order: for each its place among them, by how specific it is. */
static int
draw_all(struct drawing *d, uint32_t n, struct hy_flow_rule *rules, struct seen *seen,
	uint64_t *order)
{
	uint32_t specific, tries;

	for (uint32_t i = 0; i < n; i++) {
		memset(&rules[i], 0, sizeof(rules[i]));
		tries = 0;
		do {
			if (tries++ == 10000)
				return -ENOSPC;
			specific = draw_match(d, &rules[i].match);
		} while (!remember(seen, rules, i));
		rules[i].action = draw(d, 2) == 0 ? HY_RULE_PERMIT : HY_RULE_DENY;
		order[i] = (uint64_t)(128 - specific + draw(d, 12)) << 32 | i;
	}
	return 0;
}

static int
compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int
policy_generate(enum generate_kind kind, bool ip6, uint64_t seed, uint32_t n,
	struct hy_flow_rule *rules)
{
	struct drawing d = { &kinds[kind], ip6, mix(seed + kind * 2 + ip6), mix(~seed) };
	struct seen seen = { .mask = rte_align32pow2(2 * n + 1) - 1 };
	struct hy_flow_rule *drawn = malloc((n + 1) * sizeof(*drawn));
	uint64_t *order = malloc((n + 1) * sizeof(*order));
	int rc = -ENOMEM;

	seen.places = calloc(seen.mask + 1, sizeof(*seen.places));
	if (drawn != NULL && order != NULL && seen.places != NULL)
		rc = draw_all(&d, n, drawn, &seen, order);
	if (rc == 0)
		qsort(order, n, sizeof(*order), compare);
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		rules[i] = drawn[(uint32_t)order[i]];
		rules[i].id = i + 1;
	}
	free(seen.places);
	free(order);
	free(drawn);
	return rc;
}
