/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches applied to packets: the reference for everything that classifies. */

#include "policy.h"

/* Fields that IPv4's rules have most. */
#define FEW (HY_FLOW_ALL & ~HY_FLOW_TUNNEL)

static inline bool
in_range(uint16_t value, const uint16_t range[2])
{
	return value >= range[0] && value <= range[1];
}

static inline bool
in_octets(uint8_t value, const uint8_t range[2])
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
policy_in_prefix6(const uint32_t value[4], const uint32_t prefix[4], uint8_t len)
{
	unsigned int word = 0;

	for (; len >= 32; len -= 32, word++)
		if (value[word] != prefix[word])
			return false;
	return len == 0 || in_prefix(value[word], prefix[word], len);
}

/* Addresses of the rule's version of IP, which is the packet's too. */
static inline bool
in_addresses(const struct hy_flow_match *m, const struct hy_flow_key *key)
{
	if (unlikely((m->fields & HY_FLOW_IPV6) != 0))
		return ((m->fields & HY_FLOW_SRC) == 0 ||
			       policy_in_prefix6(key->src6, m->src6, m->src_len)) &&
			((m->fields & HY_FLOW_DST) == 0 ||
				policy_in_prefix6(key->dst6, m->dst6, m->dst_len));
	return ((m->fields & HY_FLOW_SRC) == 0 || in_prefix(key->src, m->src, m->src_len)) &&
		((m->fields & HY_FLOW_DST) == 0 || in_prefix(key->dst, m->dst, m->dst_len));
}

/* The fields that few rules have. */
static bool
in_others(const struct hy_flow_match *m, const struct hy_flow_key *key)
{
	const uint32_t fields = m->fields;

	return ((fields & HY_FLOW_TUNNEL) == 0 || key->tunnel == m->tunnel) &&
		((fields & HY_FLOW_SRC_MAC) == 0 ||
			(key->src_mac & m->src_mac_mask) == m->src_mac) &&
		((fields & HY_FLOW_DST_MAC) == 0 ||
			(key->dst_mac & m->dst_mac_mask) == m->dst_mac) &&
		((fields & HY_FLOW_TCP_FLAGS) == 0 ||
			(key->tcp_flags & m->tcp_mask) == m->tcp_flags) &&
		((fields & HY_FLOW_ICMP_TYPE) == 0 || in_octets(key->icmp_type, m->icmp_type)) &&
		((fields & HY_FLOW_ICMP_CODE) == 0 || in_octets(key->icmp_code, m->icmp_code)) &&
		((fields & HY_FLOW_FRAGMENT) == 0 || (key->fragment & m->fragments) != 0);
}

/*
 * Rules for IPv6 ask for HY_FLOW_IPV6, which only its packets have. IPv4's rules do not ask for
 * HY_FLOW_IPV4: they lack a field of every packet but IPv6's.
 */
bool
hy_flow_matches(const struct hy_flow_match *m, const struct hy_flow_key *key)
{
	const uint32_t fields = m->fields;

	if ((fields & ~key->has) != 0 ||
		(unlikely((key->has & HY_FLOW_IPV6) != 0) && (fields & HY_FLOW_IPV6) == 0 &&
			policy_is_ip(m)))
		return false;
	return in_addresses(m, key) &&
		((fields & HY_FLOW_DPORT) == 0 || in_range(key->dport, m->dport)) &&
		((fields & HY_FLOW_SPORT) == 0 || in_range(key->sport, m->sport)) &&
		((fields & HY_FLOW_PROTO) == 0 || key->proto == m->proto) &&
		((fields & HY_FLOW_ETHER_TYPE) == 0 || key->ether_type == m->ether_type) &&
		((fields & HY_FLOW_VLAN) == 0 || key->vlan == m->vlan) &&
		((fields & HY_FLOW_DSCP) == 0 || key->dscp == m->dscp) &&
		((fields & ~FEW) == 0 || in_others(m, key));
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
