/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules checked: each part alone, and parts that no packet has together. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <netinet/in.h>
#include <rte_ether.h>
#include <rte_tcp.h>

#include "policy.h"

#define MAC_MAX ((UINT64_C(1) << 48) - 1)
#define ACK_RST (RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG)

/* Its value is to be returned. */
#define refuse(error, field, ...) \
	(snprintf(error, (error) == NULL ? 0 : HY_POLICY_ERROR_SIZE, \
		 RTE_FMT("%s: " RTE_FMT_HEAD(__VA_ARGS__, ), field, RTE_FMT_TAIL(__VA_ARGS__, ))), \
		-EINVAL)

bool
policy_has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP;
}

/* Of IPv4, the last three words are 0. */
static int
check_prefix(const struct policy_field *f, const struct hy_flow_rule *rule, char *error)
{
	const uint32_t *prefix = (const uint32_t *)((const char *)rule + f->at);
	const uint8_t len = *((const uint8_t *)rule + f->more);
	const uint8_t max = (rule->match.fields & HY_FLOW_IPV6) != 0 ? 128 : 32;

	if (len < 1 || len > max)
		return refuse(error, f->name, "length %u; 1 to %u are accepted", len, max);
	for (uint32_t w = 0; w < 4; w++)
		if (len < 32 * (w + 1) && (len <= 32 * w ? prefix[w] : prefix[w] << len % 32) != 0)
			return refuse(error, f->name, "bits beyond its length of %u are not 0",
				len);
	return 0;
}

static int
check_mac(const struct policy_field *f, const struct hy_flow_rule *rule, char *error)
{
	uint64_t value, mask;

	memcpy(&value, (const char *)rule + f->at, sizeof(value));
	memcpy(&mask, (const char *)rule + f->more, sizeof(mask));
	if (mask == 0 || mask > MAC_MAX)
		return refuse(error, f->name, "mask 0x%" PRIx64 "; 1 to 0x%" PRIx64 " are accepted",
			mask, MAC_MAX);
	if ((value & ~mask) != 0)
		return refuse(error, f->name, "bits beside its mask are not 0");
	return 0;
}

static int
check_flags(const struct hy_flow_match *m, const char *field, char *error)
{
	if (m->tcp_mask == 0)
		return refuse(error, field, "no flag is checked");
	if ((m->tcp_flags & ~m->tcp_mask) != 0)
		return refuse(error, field, "flags that are not checked are set");
	return 0;
}

/* Bytes of a field in a rule, whose value is 0 if it is not named. */
static size_t
field_bytes(const struct policy_field *f)
{
	switch (f->kind) {
	case POLICY_PREFIX:
		return 4 * f->size;
	case POLICY_RANGE:
		return 2 * f->size;
	default:
		return f->size;
	}
}

/* Likewise of its prefix length or its mask. */
static size_t
more_bytes(const struct policy_field *f)
{
	if (f->kind == POLICY_PREFIX || f->kind == POLICY_FLAGS)
		return sizeof(uint8_t);
	return f->kind == POLICY_MAC ? sizeof(uint64_t) : 0;
}

static bool
is_zero(const struct hy_flow_rule *rule, size_t at, size_t size)
{
	uint8_t all = 0;

	for (size_t i = 0; i < size; i++)
		all |= ((const uint8_t *)rule)[at + i];
	return all == 0;
}

static int
check_field(const struct policy_field *f, const struct hy_flow_rule *rule, char *error)
{
	const bool named = f->is_action ? rule->action == f->action
					: (rule->match.fields & f->bit) != 0;
	uint32_t value;

	if (!named)
		return is_zero(rule, f->at, field_bytes(f)) && is_zero(rule, f->more, more_bytes(f))
			? 0
			: refuse(error, f->name, "set, but not named");
	switch (f->kind) {
	case POLICY_WORD:
		return 0;
	case POLICY_PREFIX:
		return check_prefix(f, rule, error);
	case POLICY_MAC:
		return check_mac(f, rule, error);
	case POLICY_FLAGS:
		return check_flags(&rule->match, f->name, error);
	case POLICY_RANGE:
		if (policy_number(f, rule, 0) > policy_number(f, rule, 1))
			return refuse(error, f->name, "%u-%u is empty; the first one comes first",
				policy_number(f, rule, 0), policy_number(f, rule, 1));
		return 0;
	default:
		value = policy_number(f, rule, 0);
		if (value < f->min || value > f->max)
			return refuse(error, f->name, "%u; %u to %u are accepted", value, f->min,
				f->max);
		return 0;
	}
}

/* Fields that no packets of the rule's ether type have. */
static int
check_type(const struct hy_flow_match *m, char *error)
{
	const bool ip6 = (m->fields & HY_FLOW_IPV6) != 0;

	if ((m->fields & HY_FLOW_ETHER_TYPE) == 0 || !policy_is_ip(m))
		return 0;
	if (ip6 && m->ether_type != RTE_ETHER_TYPE_IPV6)
		return refuse(error, "type",
			"0x%04x has no IPv6 fields; those go with 0x86dd, or no type at all",
			m->ether_type);
	if (!ip6 && m->ether_type != RTE_ETHER_TYPE_IPV4)
		return refuse(error, "type",
			"0x%04x has no IPv4 fields; those go with 0x0800, or no type at all",
			m->ether_type);
	return 0;
}

/* Fields that no packets of the rule's protocol have. */
static int
check_proto(const struct hy_flow_match *m, char *error)
{
	const uint32_t f = m->fields;
	const uint8_t icmp = (f & HY_FLOW_IPV6) != 0 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;

	if ((f & HY_FLOW_PROTO) != 0 && (f & HY_FLOW_PORTS) != 0 && !policy_has_ports(m->proto))
		return refuse(error, "proto", "%u has no ports; tcp, udp and sctp have", m->proto);
	if ((f & HY_FLOW_PROTO) != 0 && (f & HY_FLOW_TCP) != 0 && m->proto != IPPROTO_TCP)
		return refuse(error, "proto", "%u has no TCP flags; only tcp has", m->proto);
	if ((f & HY_FLOW_PROTO) != 0 && (f & HY_FLOW_ICMP) != 0 && m->proto != icmp)
		return refuse(error, "proto", "%u has no type and code; ICMP has, which is %u",
			m->proto, icmp);
	if ((f & HY_FLOW_ICMP) != 0 && (f & (HY_FLOW_PORTS | HY_FLOW_TCP | HY_FLOW_TUNNEL)) != 0)
		return refuse(error, "icmp, code", "ICMP has no ports, TCP flags or tunnels");
	return 0;
}

/* Whether a tunnel's rule leaves out VXLAN. */
static bool
is_no_vxlan(const struct hy_flow_match *m)
{
	const uint32_t f = m->fields;

	return ((f & HY_FLOW_PROTO) != 0 && m->proto != IPPROTO_UDP) ||
		(f & (HY_FLOW_TCP | HY_FLOW_IPV6)) != 0 ||
		((f & HY_FLOW_DPORT) != 0 &&
			(m->dport[0] > HY_FLOW_VXLAN_PORT || m->dport[1] < HY_FLOW_VXLAN_PORT));
}

/* Fields that no packet has together. */
static int
check_together(const struct hy_flow_match *m, char *error)
{
	int rc = check_type(m, error);

	if (rc == 0)
		rc = check_proto(m, error);
	if (rc < 0)
		return rc;
	if ((m->fields & HY_FLOW_TUNNEL) != 0 && is_no_vxlan(m))
		return refuse(error, "tunnel", "VXLAN is over udp, to port %u%s",
			HY_FLOW_VXLAN_PORT,
			(m->fields & HY_FLOW_IPV6) != 0 ? ", in IPv4 here" : "");
	if ((m->fields & HY_FLOW_ESTABLISHED) != 0 && (m->tcp_mask & ACK_RST) == ACK_RST &&
		(m->tcp_flags & ACK_RST) == 0)
		return refuse(error, "established", "needs A or R, and flags excludes both");
	if ((m->fields & HY_FLOW_FRAGMENT) != 0 &&
		(m->fragments & policy_possible_fragments(m)) == 0)
		return refuse(error, "fragment",
			"no such packet has the rule's other fields; fragments have no ports, TCP "
			"flags or ICMP types, and unknown is IPv6 without a protocol");
	return 0;
}

int
hy_flow_rule_check(const struct hy_flow_rule *rule, char *error)
{
	const uint32_t fields = rule->match.fields;
	int rc = 0;

	if (rule->action > HY_RULE_TO_PORT)
		return refuse(error, "action", "%u is none", rule->action);
	if (rule->action == HY_RULE_CLASSIFY && rule->class_id == HY_FLOW_NO_CLASS)
		return refuse(error, "class", "0 is of packets that no rule matches; 1 to 65535");
	if ((fields & ~(uint32_t)HY_FLOW_EVERY) != 0)
		return refuse(error, "fields", "0x%x has bits that are no field", fields);
	if (rule->match.reserved != 0)
		return refuse(error, "reserved", "set, but not named");
	for (const struct policy_field *p = policy_fields; p < policy_fields + POLICY_FIELDS; p++)
		if (rc == 0 && (p->bit != 0 || p->is_action))
			rc = check_field(p, rule, error);
	return rc == 0 ? check_together(&rule->match, error) : rc;
}
