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

/* The fields that few rules have. */
static __rte_noinline bool
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

/* Beyond the addresses. */
static __rte_always_inline bool
in_fields(const struct hy_flow_match *m, const struct hy_flow_key *key)
{
	const uint32_t fields = m->fields;

	return ((fields & HY_FLOW_DPORT) == 0 || in_range(key->dport, m->dport)) &&
		((fields & HY_FLOW_SPORT) == 0 || in_range(key->sport, m->sport)) &&
		((fields & HY_FLOW_PROTO) == 0 || key->proto == m->proto) &&
		((fields & HY_FLOW_ETHER_TYPE) == 0 || key->ether_type == m->ether_type) &&
		((fields & HY_FLOW_VLAN) == 0 || key->vlan == m->vlan) &&
		((fields & HY_FLOW_DSCP) == 0 || key->dscp == m->dscp) &&
		((fields & ~(uint32_t)FEW) == 0 || in_others(m, key));
}

/* A packet of IPv6: its fields are of no rule for IPv4. */
static __rte_always_inline bool
matches_ip6(const struct hy_flow_match *m, const struct hy_flow_key *key)
{
	const uint32_t fields = m->fields;

	if ((fields & ~key->has) != 0 || (policy_is_ip(m) && (fields & HY_FLOW_IPV6) == 0))
		return false;
	return ((fields & HY_FLOW_SRC) == 0 || policy_in_prefix6(key->src6, m->src6, m->src_len)) &&
		((fields & HY_FLOW_DST) == 0 ||
			policy_in_prefix6(key->dst6, m->dst6, m->dst_len)) &&
		in_fields(m, key);
}

/* Another one: of IPv4, or without fields of IP. It lacks a field of every rule for IPv6. */
static __rte_always_inline bool
matches_other(const struct hy_flow_match *m, const struct hy_flow_key *key)
{
	const uint32_t fields = m->fields;

	return (fields & ~key->has) == 0 &&
		((fields & HY_FLOW_SRC) == 0 || in_prefix(key->src, m->src, m->src_len)) &&
		((fields & HY_FLOW_DST) == 0 || in_prefix(key->dst, m->dst, m->dst_len)) &&
		in_fields(m, key);
}

bool
hy_flow_matches(const struct hy_flow_match *m, const struct hy_flow_key *key)
{
	return (key->has & HY_FLOW_IPV6) != 0 ? matches_ip6(m, key) : matches_other(m, key);
}

static uint32_t
classify_ip6(const struct hy_policy_view *view, const struct hy_flow_key *key)
{
	for (uint32_t rank = 0; rank < view->nb_rules; rank++)
		if (matches_ip6(&view->rules[rank].rule.match, key))
			return rank;
	return HY_POLICY_NONE;
}

uint32_t
hy_policy_classify(const struct hy_policy_view *view, const struct hy_flow_key *key)
{
	if (unlikely((key->has & HY_FLOW_IPV6) != 0))
		return classify_ip6(view, key);
	for (uint32_t rank = 0; rank < view->nb_rules; rank++)
		if (matches_other(&view->rules[rank].rule.match, key))
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
