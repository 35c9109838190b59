/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A megaflow as a rule for hardware. What of its mask a rule cannot ask for follows from what it asks for,
 * or else the rule is wider: it matches more packets than the megaflow.
 *
 * What rules of a switch look at are single bits, such as those in which the addresses of two rules differ.
 * Hardware compares whole fields and prefixes, so masks get these instead: there are more megaflows then.
 */

#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>

#include <hy_policy_view.h>

#include "datapath.h"

#define DSCP 0xfc /* of TOS */
#define FRAGMENTS (HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT | HY_FLOWS_UNKNOWN_FRAGMENT)
/* Fields of which a packet has none unless it is whole, with a sound IP header. */
#define WHOLE (HY_FLOW_PORTS | HY_FLOW_TCP_FLAGS | HY_FLOW_ICMP)

/* The length of a prefix of `size` bytes; -1: it is none. */
static int
prefix_of(const void *mask, uint32_t size)
{
	const uint8_t *byte = mask;
	uint32_t len = 0;

	while (len < 8 * size && (byte[len / 8] >> (7 - len % 8) & 1) != 0)
		len++;
	for (uint32_t bit = len; bit < 8 * size; bit++)
		if ((byte[bit / 8] >> (7 - bit % 8) & 1) != 0)
			return -1;
	return (int)len;
}

static uint64_t
mac_of(const uint8_t mac[6])
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < RTE_ETHER_ADDR_LEN; i++)
		value = value << 8 | mac[i];
	return value;
}

static void
macs_put(const struct hy_flows_key *key, const struct hy_flows_key *mask,
	struct hy_flow_match *match)
{
	match->src_mac_mask = mac_of(mask->src_mac);
	match->dst_mac_mask = mac_of(mask->dst_mac);
	match->src_mac = mac_of(key->src_mac) & match->src_mac_mask;
	match->dst_mac = mac_of(key->dst_mac) & match->dst_mac_mask;
	match->fields |= (match->src_mac_mask != 0 ? HY_FLOW_SRC_MAC : 0) |
		(match->dst_mac_mask != 0 ? HY_FLOW_DST_MAC : 0);
}

/* The id of a tag. A rule cannot ask for its priority; nor for frames without one, so that it is wider. */
static bool
vlan_put(const struct hy_flows_key *key, const struct hy_flows_key *mask,
	struct hy_flow_match *match, bool *wider)
{
	const rte_be16_t id = HY_FLOWS_TAGGED | RTE_BE16(RTE_ETHER_MAX_VLAN_ID);

	if (mask->vlan2 != 0)
		return false;
	if (mask->vlan == 0)
		return true;
	if ((key->vlan & HY_FLOWS_TAGGED) == 0) {
		*wider = true;
		return true;
	}
	match->vlan = rte_be_to_cpu_16(key->vlan) & 0xfff;
	match->fields |= HY_FLOW_VLAN;
	return mask->vlan == id;
}

static bool
addresses4_put(const struct hy_flows_key *key, const struct hy_flows_key *mask,
	struct hy_flow_match *match)
{
	const int src = prefix_of(&mask->src, sizeof(mask->src));
	const int dst = prefix_of(&mask->dst, sizeof(mask->dst));

	if (src < 0 || dst < 0)
		return false;
	match->src_len = (uint8_t)src;
	match->dst_len = (uint8_t)dst;
	match->src = rte_be_to_cpu_32(key->src & mask->src);
	match->dst = rte_be_to_cpu_32(key->dst & mask->dst);
	match->fields |= (src > 0 ? HY_FLOW_SRC : 0) | (dst > 0 ? HY_FLOW_DST : 0);
	return true;
}

static void
words_put(const uint8_t key[16], const uint8_t mask[16], uint32_t words[4])
{
	for (unsigned int w = 0; w < 4; w++) {
		rte_be32_t value, bits;

		memcpy(&value, key + 4 * w, sizeof(value));
		memcpy(&bits, mask + 4 * w, sizeof(bits));
		words[w] = rte_be_to_cpu_32(value & bits);
	}
}

static bool
addresses6_put(const struct hy_flows_key *key, const struct hy_flows_key *mask,
	struct hy_flow_match *match)
{
	const int src = prefix_of(mask->src6, sizeof(mask->src6));
	const int dst = prefix_of(mask->dst6, sizeof(mask->dst6));

	if (src < 0 || dst < 0)
		return false;
	match->src_len = (uint8_t)src;
	match->dst_len = (uint8_t)dst;
	words_put(key->src6, mask->src6, match->src6);
	words_put(key->dst6, mask->dst6, match->dst6);
	match->fields |= HY_FLOW_IPV6 | (src > 0 ? HY_FLOW_SRC : 0) | (dst > 0 ? HY_FLOW_DST : 0);
	return true;
}

static bool
ports_put(const struct hy_flows_key *key, const struct hy_flows_key *mask,
	struct hy_flow_match *match)
{
	const uint16_t sport = rte_be_to_cpu_16(key->sport), dport = rte_be_to_cpu_16(key->dport);
	const bool icmp = key->proto == IPPROTO_ICMP || key->proto == IPPROTO_ICMPV6;

	if (mask->tcp_flags != 0) {
		match->tcp_flags = key->tcp_flags & mask->tcp_flags;
		match->tcp_mask = mask->tcp_flags;
		match->fields |= HY_FLOW_TCP_FLAGS;
	}
	if (mask->sport == 0 && mask->dport == 0)
		return true;
	if ((mask->sport != 0 && mask->sport != UINT16_MAX) ||
		(mask->dport != 0 && mask->dport != UINT16_MAX) || mask->proto != UINT8_MAX)
		return false;
	if (icmp) {
		match->icmp_type[0] = match->icmp_type[1] = mask->sport != 0 ? (uint8_t)sport : 0;
		match->icmp_code[0] = match->icmp_code[1] = mask->dport != 0 ? (uint8_t)dport : 0;
		match->fields |= (mask->sport != 0 ? HY_FLOW_ICMP_TYPE : 0) |
			(mask->dport != 0 ? HY_FLOW_ICMP_CODE : 0);
		return sport <= UINT8_MAX && dport <= UINT8_MAX;
	}
	match->sport[0] = match->sport[1] = mask->sport != 0 ? sport : 0;
	match->dport[0] = match->dport[1] = mask->dport != 0 ? dport : 0;
	match->fields |= (mask->sport != 0 ? HY_FLOW_SPORT : 0) |
		(mask->dport != 0 ? HY_FLOW_DPORT : 0);
	return true;
}

/* IP and what it carries; of other types, no rule can ask for more than the type. */
static bool
ip_put(const struct hy_flows_key *key, const struct hy_flows_key *mask, struct hy_flow_match *match,
	bool *wider)
{
	const bool ip4 = key->type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && mask->type == UINT16_MAX;
	const bool ip6 = key->type == RTE_BE16(RTE_ETHER_TYPE_IPV6) && mask->type == UINT16_MAX;
	const bool asks4 = (mask->src | mask->dst) != 0;
	const bool asks6 = memcmp(mask->src6, (const uint8_t[16]){ 0 }, 16) != 0 ||
		memcmp(mask->dst6, (const uint8_t[16]){ 0 }, 16) != 0;
	const bool asks = asks4 || asks6 || mask->proto != 0 || mask->tos != 0 ||
		(mask->sport | mask->dport) != 0 || mask->tcp_flags != 0;

	*wider |= mask->ttl != 0 || (mask->tos & (uint8_t)~DSCP) != 0;
	if (!asks)
		return true;
	if ((!ip4 && !ip6) || (ip4 && asks6) || (ip6 && asks4) ||
		(mask->proto != 0 && mask->proto != UINT8_MAX) ||
		((mask->tos & DSCP) != 0 && (mask->tos & DSCP) != DSCP))
		return false;
	if (mask->proto != 0) {
		match->proto = key->proto;
		match->fields |= HY_FLOW_PROTO;
	}
	if ((mask->tos & DSCP) != 0) {
		match->dscp = key->tos >> 2;
		match->fields |= HY_FLOW_DSCP;
	}
	return (ip4 ? addresses4_put(key, mask, match) : addresses6_put(key, mask, match)) &&
		ports_put(key, mask, match);
}

/* What kind of packet it is. A rule is wider if what it asks for does not say so. */
static bool
kind_put(const struct hy_flows_key *key, const struct hy_flows_key *mask,
	const struct hy_flow_match *match, bool *wider)
{
	const uint8_t looked = mask->kind & (uint8_t)~HY_FLOWS_TUNNELLED;
	const bool has_type = (match->fields & HY_FLOW_ETHER_TYPE) != 0;

	if ((looked & HY_FLOWS_TRUNCATED) != 0 || (key->kind & looked & FRAGMENTS) != 0)
		return false;
	if (has_type && match->ether_type != RTE_ETHER_TYPE_IPV4 &&
		match->ether_type != RTE_ETHER_TYPE_IPV6)
		return (key->kind & looked) == 0;
	*wider |= (looked & FRAGMENTS) != 0 && (match->fields & WHOLE) == 0;
	*wider |= (looked & HY_FLOWS_IP) != 0 && (key->kind & HY_FLOWS_IP) == 0;
	*wider |= (looked & HY_FLOWS_IP) != 0 && (match->fields & (HY_FLOW_IP4 | WHOLE)) == 0;
	return true;
}

/*
 * Whether a packet that a rule matches may come inside VXLAN, where software would read another frame
 * than hardware.
 */
static bool
may_be_tunnel(const struct hy_flow_match *match)
{
	if ((match->fields & HY_FLOW_ETHER_TYPE) != 0 && match->ether_type != RTE_ETHER_TYPE_IPV4 &&
		match->ether_type != RTE_ETHER_TYPE_IPV6)
		return false;
	if ((match->fields & HY_FLOW_PROTO) != 0 && match->proto != IPPROTO_UDP)
		return false;
	return (match->fields & HY_FLOW_DPORT) == 0 || match->dport[0] == HY_FLOW_VXLAN_PORT;
}

/* Has a mask of `size` bytes be a prefix with all its bits. */
static void
prefix_round(void *mask, uint32_t size)
{
	uint8_t *byte = mask;
	bool later = false;

	for (uint32_t bit = 8 * size; bit-- > 0;) {
		const uint8_t one = (uint8_t)(0x80 >> bit % 8);

		later |= (byte[bit / 8] & one) != 0;
		byte[bit / 8] |= later ? one : 0;
	}
}

/* The group bit alone stays alone: a rule about multicast is about all of it. */
static void
mac_round(uint8_t mask[6])
{
	static const uint8_t group[6] = { 1 }, none[6];

	if (memcmp(mask, none, sizeof(none)) != 0 && memcmp(mask, group, sizeof(group)) != 0)
		memset(mask, 0xff, sizeof(none));
}

#define ROUND(field, all) ((field) = (field) == 0 ? (field) : (field) | (all))

void
datapath_mask_round(struct hy_flows_key *mask)
{
	ROUND(mask->type, UINT16_MAX);
	ROUND(mask->proto, UINT8_MAX);
	ROUND(mask->sport, UINT16_MAX);
	ROUND(mask->dport, UINT16_MAX);
	ROUND(mask->vlan, HY_FLOWS_TAGGED | RTE_BE16(RTE_ETHER_MAX_VLAN_ID));
	if ((mask->tos & DSCP) != 0)
		mask->tos |= DSCP;
	mac_round(mask->src_mac);
	mac_round(mask->dst_mac);
	prefix_round(&mask->src, sizeof(mask->src));
	prefix_round(&mask->dst, sizeof(mask->dst));
	prefix_round(mask->src6, sizeof(mask->src6));
	prefix_round(mask->dst6, sizeof(mask->dst6));
}

enum datapath_match
datapath_match(const struct hy_flows_key *key, const struct hy_flows_key *mask, bool tunnels,
	struct hy_flow_match *match)
{
	static const uint8_t no_bits[16];
	bool wider = false;

	*match = (struct hy_flow_match){ 0 };
	if ((key->kind & HY_FLOWS_TUNNELLED) != 0 || memcmp(mask->vni, no_bits, 3) != 0 ||
		(mask->tunnel_src | mask->tunnel_dst) != 0 ||
		memcmp(mask->tunnel_src6, no_bits, 16) != 0 ||
		memcmp(mask->tunnel_dst6, no_bits, 16) != 0 ||
		(mask->type != 0 && mask->type != UINT16_MAX))
		return DATAPATH_MATCH_NONE;
	if (mask->type != 0) {
		match->ether_type = rte_be_to_cpu_16(key->type);
		match->fields |= HY_FLOW_ETHER_TYPE;
	}
	macs_put(key, mask, match);
	if (!vlan_put(key, mask, match, &wider) || !ip_put(key, mask, match, &wider) ||
		!kind_put(key, mask, match, &wider) ||
		hy_flow_rule_check(&(const struct hy_flow_rule){ .class_id = 1, .match = *match },
			NULL) < 0)
		return DATAPATH_MATCH_NONE;
	wider |= tunnels && may_be_tunnel(match);
	return wider ? DATAPATH_MATCH_WIDER : DATAPATH_MATCH_SAME;
}
