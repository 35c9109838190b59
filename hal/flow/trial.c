/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out what rules may ask of a port by trying, pattern by pattern.
 *
 * Each field is tried in addition to a rule that the port takes, and then all accepted fields are
 * tried together. This assumes that a port which takes a rule also takes one with fewer fields;
 * rules without any field, or without a port, are tried separately.
 */

#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include <hy_policy.h>

#include "lower.h"
#include "probe.h"

/* A rarely used VLAN id: a tagged rule may match traffic while it is tried. */
#define TAG 4094

/* A pattern that is being tried. */
struct pattern {
	struct attempt *attempt;
	struct hy_flow_limits declared; /* for lowering */
	unsigned int tag;
	enum hy_flow_pattern id;
	uint32_t base;  /* fields of every tried rule */
	uint32_t taken; /* so far; as in hy_flow_limits.takes */
};

static void
addresses_set(struct hy_flow_match *m, uint32_t bits)
{
	static const uint32_t ip4[4] = { HY_FLOW_NOBODY }, ip6[4] = HY_FLOW_NOBODY6;
	const bool is_ip6 = (m->fields & HY_FLOW_IPV6) != 0;
	const uint8_t len = (uint8_t)((is_ip6 ? 128 : 32) - ((bits & HY_FLOW_FORM_PREFIX) != 0));

	if ((bits & HY_FLOW_SRC) != 0) {
		memcpy(m->src6, is_ip6 ? ip6 : ip4, sizeof(ip4));
		m->src_len = len;
	}
	if ((bits & HY_FLOW_DST) != 0) {
		memcpy(m->dst6, is_ip6 ? ip6 : ip4, sizeof(ip4));
		m->dst_len = len;
	}
}

static void
macs_set(struct hy_flow_match *m, uint32_t bits)
{
	const uint64_t mask = HY_FLOW_MAC_WHOLE ^ ((bits & HY_FLOW_FORM_MAC) != 0);

	if ((bits & HY_FLOW_SRC_MAC) != 0) {
		m->src_mac = HY_FLOW_NOBODY_MAC;
		m->src_mac_mask = mask;
	}
	if ((bits & HY_FLOW_DST_MAC) != 0) {
		m->dst_mac = HY_FLOW_NOBODY_MAC;
		m->dst_mac_mask = mask;
	}
}

/* A rule with these fields and forms, and with values that do not occur in traffic. */
static struct hy_flow_match
rule_of(const struct pattern *p, uint32_t bits)
{
	const struct hy_flow_pattern_items *items = &hy_flow_patterns[p->id];
	struct hy_flow_match m = { .fields = bits & HY_FLOW_HARDWARE };

	if (items->proto != 0) {
		m.fields |= HY_FLOW_PROTO;
		m.proto = items->proto;
	} else if ((bits & HY_FLOW_PROTO) != 0) {
		m.proto = IPPROTO_UDP;
	}
	if (items->ip == HY_FLOW_IPV6) {
		m.fields |= HY_FLOW_IPV6;
	} else if (items->ip != 0 && (m.fields & ~HY_FLOW_MACS) == 0) {
		m.fields |= HY_FLOW_ETHER_TYPE;
		m.ether_type = RTE_ETHER_TYPE_IPV4;
	} else if ((bits & HY_FLOW_ETHER_TYPE) != 0) {
		m.ether_type = HY_FLOW_UNUSED_TYPE;
	}
	if (p->tag) {
		m.fields |= HY_FLOW_VLAN;
		m.vlan = TAG;
	}
	addresses_set(&m, bits);
	macs_set(&m, bits);
	if ((bits & HY_FLOW_SPORT) != 0)
		m.sport[0] = m.sport[1] = HY_FLOW_DISCARD;
	if ((bits & HY_FLOW_TUNNEL) != 0)
		m.fields &= ~HY_FLOW_DPORT; /* fixed by the tunnel */
	else if ((bits & HY_FLOW_DPORT) != 0)
		m.dport[0] = m.dport[1] = HY_FLOW_DISCARD;
	if ((bits & HY_FLOW_TUNNEL) != 0)
		m.tunnel = 1;
	if ((bits & HY_FLOW_DSCP) != 0)
		m.dscp = 1;
	if ((bits & HY_FLOW_TCP_FLAGS) != 0)
		m.tcp_mask = m.tcp_flags = 0x3f; /* no packet has all */
	if ((bits & HY_FLOW_ICMP_TYPE) != 0)
		m.icmp_type[0] = m.icmp_type[1] = 127; /* unassigned, or private */
	return m;
}

/* Tries a rule with exactly these fields and forms and the items of this pattern. */
static bool
is_taken(struct pattern *p, uint32_t bits)
{
	const struct hy_flow_match match = rule_of(p, bits);
	struct hy_flow_limits limits = p->declared;
	uint32_t *takes = limits.takes[p->tag];

	takes[p->id] &= ~HY_FLOW_FORM_WHOLE | (bits & HY_FLOW_FORM_WHOLE);
	/* The protocol is asked for by its item. */
	if (hy_flow_patterns[p->id].proto != 0)
		takes[HY_FLOW_PATTERN_IPV4] = takes[HY_FLOW_PATTERN_IPV6] = 0;
	return hy_flow_attempt(p->attempt, &limits, &match, 1, 0);
}

/* Finds a rule of the pattern that the port takes. Rules that are created must match no traffic. */
static bool
base_find(struct pattern *p)
{
	static const uint32_t ip[] = { HY_FLOW_SRC | HY_FLOW_DST,
		HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PORTS, HY_FLOW_DST, HY_FLOW_SRC };
	static const uint32_t l2[] = { HY_FLOW_ETHER_TYPE };
	const bool l2_only = p->id == HY_FLOW_PATTERN_L2;
	const uint32_t *bases = l2_only ? l2 : ip;
	const size_t n = l2_only ? RTE_DIM(l2) : RTE_DIM(ip);

	for (size_t i = 0; i < n; i++) {
		p->base = bases[i];
		if ((p->base & HY_FLOW_PORTS & ~hy_flow_patterns[p->id].fields) != 0)
			continue;
		if (is_taken(p, p->base))
			return true;
	}
	p->base = 0;
	return !p->attempt->driver->validates_for_good && is_taken(p, 0);
}

/* Rules without fields, or without a port. If trying means creating, rules name addresses too. */
static void
try_bare(struct pattern *p)
{
	const bool l4 = hy_flow_patterns[p->id].proto != 0;
	const bool bare = l4 && (p->base & HY_FLOW_PORTS) == 0;

	if (bare)
		p->taken |= HY_FLOW_FORM_BARE;
	if ((l4 && !bare) || (!p->attempt->driver->validates_for_good && !is_taken(p, 0)))
		return;
	p->taken |= HY_FLOW_FORM_ANY;
}

static void
try_fields(struct pattern *p, uint32_t declared)
{
	static const uint32_t bits[] = { HY_FLOW_SRC, HY_FLOW_DST, HY_FLOW_SPORT, HY_FLOW_DPORT,
		HY_FLOW_PROTO, HY_FLOW_FORM_PREFIX, HY_FLOW_DSCP, HY_FLOW_ETHER_TYPE,
		HY_FLOW_TUNNEL, HY_FLOW_SRC_MAC, HY_FLOW_DST_MAC, HY_FLOW_FORM_MAC,
		HY_FLOW_TCP_FLAGS, HY_FLOW_ICMP_TYPE, HY_FLOW_ICMP_CODE };
	const uint32_t l4 = hy_flow_patterns[p->id].fields;

	p->taken = p->base;
	for (size_t i = 0; i < RTE_DIM(bits); i++)
		if ((declared & bits[i] & ~p->taken) != 0 && is_taken(p, p->base | bits[i]))
			p->taken |= bits[i];
	if ((p->taken & l4) != 0 && (declared & HY_FLOW_FORM_WHOLE) != 0 &&
		is_taken(p, p->base | (p->taken & l4) | HY_FLOW_FORM_WHOLE))
		p->taken |= HY_FLOW_FORM_WHOLE;
}

/* If the port does not take all fields together, drops the least used ones first. */
static void
try_together(struct pattern *p)
{
	static const uint32_t least[] = { HY_FLOW_TUNNEL, HY_FLOW_SRC_MAC, HY_FLOW_DST_MAC,
		HY_FLOW_TCP_FLAGS, HY_FLOW_ICMP_CODE, HY_FLOW_ICMP_TYPE, HY_FLOW_DSCP,
		HY_FLOW_FORM_PREFIX, HY_FLOW_FORM_WHOLE, HY_FLOW_SPORT, HY_FLOW_PROTO,
		HY_FLOW_DPORT, HY_FLOW_SRC };

	for (size_t i = 0; i < RTE_DIM(least) && p->taken != p->base; i++) {
		if (is_taken(p, p->taken))
			return;
		p->taken &= ~least[i] | p->base;
	}
	p->taken = p->taken == p->base || is_taken(p, p->taken) ? p->taken : p->base;
}

static void
try_tag(struct attempt *a, struct hy_flow_limits *limits, unsigned int tag)
{
	struct pattern p = { .attempt = a, .declared = *limits, .tag = tag };

	for (unsigned int id = 0; id < HY_FLOW_PATTERNS; id++) {
		const uint32_t declared = limits->takes[tag][id];

		p.id = (enum hy_flow_pattern)id;
		limits->takes[tag][id] = 0;
		if (declared == 0 || !base_find(&p))
			continue;
		try_fields(&p, declared);
		try_together(&p);
		try_bare(&p);
		limits->takes[tag][id] = p.taken;
	}
}

static bool
takes_none(const struct hy_flow_limits *limits, unsigned int tag)
{
	uint32_t any = 0;

	for (unsigned int p = 0; p < HY_FLOW_PATTERNS; p++)
		any |= limits->takes[tag][p];
	return any == 0;
}

void
hy_flow_try_patterns(struct attempt *a, struct hy_flow_limits *limits)
{
	memcpy(limits->takes, a->declared->takes, sizeof(limits->takes));
	limits->whole_tags = a->declared->whole_tags;
	try_tag(a, limits, 0);
	if (limits->tags_change)
		memset(limits->takes[1], 0, sizeof(limits->takes[1]));
	if (takes_none(limits, 1))
		return;
	try_tag(a, limits, 1);
	if (!takes_none(limits, 1) || limits->whole_tags)
		return;
	limits->whole_tags = true;
	memcpy(limits->takes[1], a->declared->takes[1], sizeof(limits->takes[1]));
	try_tag(a, limits, 1);
}
