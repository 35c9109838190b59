/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches of rules: checked, applied to packets, and compared. */

#include <errno.h>
#include <string.h>

#include <netinet/in.h>
#include <rte_ether.h>

#include "policy.h"

static inline bool
in_range(uint16_t value, const uint16_t range[2])
{
	return value >= range[0] && value <= range[1];
}

/* Of a length of at least 1. */
static inline bool
in_prefix(uint32_t value, uint32_t prefix, uint8_t len)
{
	return (value ^ prefix) >> (32 - len) == 0;
}

bool
hy_flow_matches(const struct hy_flow_match *m, const struct hy_flow_key *key)
{
	const uint32_t fields = m->fields;

	if ((fields & ~key->has) != 0)
		return false;
	return ((fields & HY_FLOW_SRC) == 0 || in_prefix(key->src, m->src, m->src_len)) &&
		((fields & HY_FLOW_DST) == 0 || in_prefix(key->dst, m->dst, m->dst_len)) &&
		((fields & HY_FLOW_DPORT) == 0 || in_range(key->dport, m->dport)) &&
		((fields & HY_FLOW_SPORT) == 0 || in_range(key->sport, m->sport)) &&
		((fields & HY_FLOW_PROTO) == 0 || key->proto == m->proto) &&
		((fields & HY_FLOW_ETHER_TYPE) == 0 || key->ether_type == m->ether_type) &&
		((fields & HY_FLOW_VLAN) == 0 || key->vlan == m->vlan) &&
		((fields & HY_FLOW_DSCP) == 0 || key->dscp == m->dscp) &&
		((fields & HY_FLOW_TUNNEL) == 0 || key->tunnel == m->tunnel);
}

uint32_t
hy_policy_classify(const struct hy_policy_view *view, const struct hy_flow_key *key)
{
	for (uint32_t rank = 0; rank < view->nb_rules; rank++)
		if (hy_flow_matches(&view->rules[rank].rule.match, key))
			return rank;
	return HY_POLICY_NONE;
}

void
hy_policy_classify_linear(const struct hy_policy_view *view, const struct hy_flow_key key[],
	uint32_t rank[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		rank[i] = hy_policy_classify(view, &key[i]);
}

static bool
has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP;
}

/* Adds the fields that a match implies: a tunnel implies UDP, and so on down to IPv4. */
static struct hy_flow_match
implied(const struct hy_flow_match *match)
{
	struct hy_flow_match m = *match;

	if ((m.fields & HY_FLOW_TUNNEL) != 0) {
		m.fields |= HY_FLOW_DPORT | HY_FLOW_PROTO;
		m.dport[0] = m.dport[1] = HY_FLOW_VXLAN_PORT;
		m.proto = IPPROTO_UDP;
	}
	if ((m.fields & (HY_FLOW_IP4 | HY_FLOW_PORTS)) != 0) {
		m.fields |= HY_FLOW_ETHER_TYPE;
		m.ether_type = RTE_ETHER_TYPE_IPV4;
	}
	return m;
}

/* Whether the ports of one match exclude the protocol of the other. */
static bool
lacks_ports(const struct hy_flow_match *a, const struct hy_flow_match *b)
{
	return (a->fields & HY_FLOW_PORTS) != 0 && (b->fields & HY_FLOW_PROTO) != 0 &&
		!has_ports(b->proto);
}

bool
hy_flow_overlap(const struct hy_flow_match *x, const struct hy_flow_match *y)
{
	const struct hy_flow_match a = implied(x), b = implied(y);
	const uint32_t both = a.fields & b.fields;

	if (lacks_ports(&a, &b) || lacks_ports(&b, &a))
		return false;
	return ((both & HY_FLOW_ETHER_TYPE) == 0 || a.ether_type == b.ether_type) &&
		((both & HY_FLOW_VLAN) == 0 || a.vlan == b.vlan) &&
		((both & HY_FLOW_SRC) == 0 ||
			in_prefix(a.src, b.src, RTE_MIN(a.src_len, b.src_len))) &&
		((both & HY_FLOW_DST) == 0 ||
			in_prefix(a.dst, b.dst, RTE_MIN(a.dst_len, b.dst_len))) &&
		((both & HY_FLOW_PROTO) == 0 || a.proto == b.proto) &&
		((both & HY_FLOW_SPORT) == 0 ||
			(a.sport[0] <= b.sport[1] && b.sport[0] <= a.sport[1])) &&
		((both & HY_FLOW_DPORT) == 0 ||
			(a.dport[0] <= b.dport[1] && b.dport[0] <= a.dport[1])) &&
		((both & HY_FLOW_DSCP) == 0 || a.dscp == b.dscp) &&
		((both & HY_FLOW_TUNNEL) == 0 || a.tunnel == b.tunnel);
}

bool
hy_flow_same(const struct hy_flow_match *x, const struct hy_flow_match *y)
{
	const struct hy_flow_match a = implied(x), b = implied(y);

	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Its value is to be returned. */
#define refuse(error, field, ...) \
	(snprintf(error, (error) == NULL ? 0 : HY_POLICY_ERROR_SIZE, \
		 RTE_FMT("%s: " RTE_FMT_HEAD(__VA_ARGS__, ), field, RTE_FMT_TAIL(__VA_ARGS__, ))), \
		-EINVAL)

static int
check_prefix(const char *field, uint32_t prefix, uint8_t len, char *error)
{
	if (len < 1 || len > 32)
		return refuse(error, field, "length %u; 1 to 32 are accepted", len);
	if (len < 32 && (prefix << len) != 0)
		return refuse(error, field, "bits beyond its length of %u are not 0", len);
	return 0;
}

static int
check_field(const struct policy_field *f, const struct hy_flow_rule *rule, char *error)
{
	const bool named = (rule->match.fields & f->bit) != 0;
	const uint16_t *range = (const uint16_t *)((const char *)rule + f->at);
	const uint32_t value = policy_number(f, rule);
	const uint8_t len = f->kind == POLICY_PREFIX ? *((const uint8_t *)rule + f->len) : 0;

	if (!named && (value != 0 || len != 0 || (f->kind == POLICY_PORTS && range[1] != 0)))
		return refuse(error, f->name, "set, but not named");
	if (!named)
		return 0;
	if (f->kind == POLICY_PREFIX)
		return check_prefix(f->name, value, len, error);
	if (f->kind == POLICY_PORTS && range[0] > range[1])
		return refuse(error, f->name, "%u-%u is empty; the first port comes first",
			range[0], range[1]);
	if (f->kind != POLICY_PORTS && (value < f->min || value > f->max))
		return refuse(error, f->name, "%u; %u to %u are accepted", value, f->min, f->max);
	return 0;
}

/* Fields that no packet has together. */
static int
check_together(const struct hy_flow_match *m, char *error)
{
	const uint32_t f = m->fields;

	if ((f & HY_FLOW_ETHER_TYPE) != 0 && m->ether_type != RTE_ETHER_TYPE_IPV4 &&
		(f & (HY_FLOW_IP4 | HY_FLOW_PORTS | HY_FLOW_TUNNEL)) != 0)
		return refuse(error, "type",
			"0x%04x has no IPv4 fields; those go with 0x0800, or no type at all",
			m->ether_type);
	if ((f & HY_FLOW_PORTS) != 0 && (f & HY_FLOW_PROTO) != 0 && !has_ports(m->proto))
		return refuse(error, "proto", "%u has no ports; tcp, udp and sctp have", m->proto);
	if ((f & HY_FLOW_TUNNEL) != 0 &&
		(((f & HY_FLOW_PROTO) != 0 && m->proto != IPPROTO_UDP) ||
			((f & HY_FLOW_DPORT) != 0 && !in_range(HY_FLOW_VXLAN_PORT, m->dport))))
		return refuse(error, "tunnel", "VXLAN is over udp, to port %u", HY_FLOW_VXLAN_PORT);
	return 0;
}

int
hy_flow_rule_check(const struct hy_flow_rule *rule, char *error)
{
	const uint32_t fields = rule->match.fields;
	int rc = 0;

	if (rule->class_id == HY_FLOW_NO_CLASS)
		rc = refuse(error, "class", "0 is of packets that no rule matches; 1 to 65535");
	else if (fields >= 2 * HY_FLOW_TUNNEL)
		rc = refuse(error, "fields", "0x%x has bits that are no field", fields);
	for (const struct policy_field *p = policy_fields; p < policy_fields + POLICY_FIELDS; p++)
		if (rc == 0 && p->bit != 0)
			rc = check_field(p, rule, error);
	return rc == 0 ? check_together(&rule->match, error) : rc;
}
