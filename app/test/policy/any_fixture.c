/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of all fields, and keys that packets can have; see any_fixture.h. */

#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>

#include "any_fixture.h"

#define MAC ((UINT64_C(1) << 48) - 1)

static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_ICMP,
	IPPROTO_ICMPV6 };

static uint64_t
rnd64(uint64_t *seed)
{
	return (uint64_t)rnd(seed) << 32 | rnd(seed);
}

static void
prefix_any(uint32_t prefix[4], uint8_t *len, bool ip6, bool few, uint64_t *seed)
{
	const unsigned int words = ip6 ? 4 : 1;

	*len = (uint8_t)(1 + rnd(seed) % (32 * words));
	for (unsigned int w = 0; w < words; w++) {
		prefix[w] = few ? 0x0a000000 | rnd(seed) % 2 << 16 : rnd(seed);
		if (*len <= 32 * w)
			prefix[w] = 0;
		else if (*len < 32 * (w + 1))
			prefix[w] &= UINT32_MAX << (32 - *len % 32);
	}
}

static void
mac_any(uint64_t *mac, uint64_t *mask, bool few, uint64_t *seed)
{
	static const uint64_t masks[] = { MAC, 0xffffff000000, 0x010000000000, 0xff };

	*mask = few || rnd(seed) % 2 ? masks[rnd(seed) % RTE_DIM(masks)] : 1 + rnd64(seed) % MAC;
	*mac = (few ? rnd64(seed) % 2 * 0x010000000001 : rnd64(seed)) & *mask;
}

static void
ports_any(uint16_t range[2], bool few, uint64_t *seed)
{
	const uint16_t a = (uint16_t)(few ? 4787 + rnd(seed) % 4 : rnd(seed)),
		       b = (uint16_t)(few ? 4787 + rnd(seed) % 4 : rnd(seed));

	range[0] = RTE_MIN(a, b);
	range[1] = rnd(seed) % 3 == 0 ? range[0] : RTE_MAX(a, b);
}

static void
octets_any(uint8_t range[2], bool few, uint64_t *seed)
{
	const uint8_t a = (uint8_t)(few ? rnd(seed) % 4 : rnd(seed)),
		      b = (uint8_t)(few ? rnd(seed) % 4 : rnd(seed));

	range[0] = RTE_MIN(a, b);
	range[1] = rnd(seed) % 3 == 0 ? range[0] : RTE_MAX(a, b);
}

/* Fields by chance, of a frame that can be, mostly. */
static uint32_t
fields_any(uint64_t *seed)
{
	static const uint32_t l4[] = { HY_FLOW_PORTS, HY_FLOW_PORTS | HY_FLOW_TCP, HY_FLOW_TCP,
		HY_FLOW_ICMP, HY_FLOW_TUNNEL | HY_FLOW_DPORT, HY_FLOW_TUNNEL, 0, HY_FLOW_FRAGMENT };
	static const uint32_t l2 = HY_FLOW_SRC_MAC | HY_FLOW_DST_MAC | HY_FLOW_VLAN |
		HY_FLOW_ETHER_TYPE;
	const uint32_t more = l4[rnd(seed) % RTE_DIM(l4)];
	const uint32_t ip = more |
		(HY_FLOW_IP & (more == 0 ? UINT32_MAX : ~(uint32_t)HY_FLOW_FRAGMENT));
	const uint32_t ip6 = rnd(seed) % 2 && (more & HY_FLOW_TUNNEL) == 0 ? HY_FLOW_IPV6 : 0;

	switch (rnd(seed) % 8) {
	case 0:
		return rnd(seed) & l2;
	case 1:
		return rnd(seed) & HY_FLOW_EVERY;
	case 2:
		return ip | l2 | ip6;
	default:
		return (rnd(seed) & rnd(seed) & l2) | (rnd(seed) & rnd(seed) & HY_FLOW_IP) |
			(rnd(seed) & more) | ip6;
	}
}

static void
l2_any(struct hy_flow_match *m, bool few, uint64_t *seed)
{
	static const uint16_t types[] = { RTE_ETHER_TYPE_IPV4, RTE_ETHER_TYPE_IPV6,
		RTE_ETHER_TYPE_ARP };
	const uint32_t f = m->fields;

	if ((f & HY_FLOW_ETHER_TYPE) != 0)
		m->ether_type = few || rnd(seed) % 4 ? types[rnd(seed) % RTE_DIM(types)]
						     : (uint16_t)(0x600 + rnd(seed) % 0xfa00);
	if ((f & HY_FLOW_VLAN) != 0)
		m->vlan = (uint16_t)(1 + rnd(seed) % (few ? 2 : 4094));
	if ((f & HY_FLOW_SRC_MAC) != 0)
		mac_any(&m->src_mac, &m->src_mac_mask, few, seed);
	if ((f & HY_FLOW_DST_MAC) != 0)
		mac_any(&m->dst_mac, &m->dst_mac_mask, few, seed);
}

static void
ip_any(struct hy_flow_match *m, bool few, uint64_t *seed)
{
	const bool ip6 = (m->fields & HY_FLOW_IPV6) != 0;

	if ((m->fields & HY_FLOW_SRC) != 0)
		prefix_any(m->src6, &m->src_len, ip6, few, seed);
	if ((m->fields & HY_FLOW_DST) != 0)
		prefix_any(m->dst6, &m->dst_len, ip6, few, seed);
	if ((m->fields & HY_FLOW_PROTO) != 0)
		m->proto = few || rnd(seed) % 4 ? protos[rnd(seed) % RTE_DIM(protos)]
						: (uint8_t)rnd(seed);
	if ((m->fields & HY_FLOW_DSCP) != 0)
		m->dscp = (uint8_t)(rnd(seed) % (few ? 2 : 64));
	if ((m->fields & HY_FLOW_FRAGMENT) != 0)
		m->fragments = (uint8_t)(1 + rnd(seed) % 15);
}

static void
l4_any(struct hy_flow_match *m, bool few, uint64_t *seed)
{
	const uint32_t f = m->fields;

	if ((f & HY_FLOW_SPORT) != 0)
		ports_any(m->sport, few, seed);
	if ((f & HY_FLOW_DPORT) != 0)
		ports_any(m->dport, few, seed);
	if ((f & HY_FLOW_TUNNEL) != 0)
		m->tunnel = rnd(seed) % (few ? 2 : 1 << 24);
	if ((f & HY_FLOW_TCP_FLAGS) != 0) {
		m->tcp_mask = (uint8_t)(1 + rnd(seed) % 255) & (few ? 0x16 : 0xff);
		m->tcp_flags = (uint8_t)rnd(seed) & m->tcp_mask;
	}
	if ((f & HY_FLOW_ICMP_TYPE) != 0)
		octets_any(m->icmp_type, few, seed);
	if ((f & HY_FLOW_ICMP_CODE) != 0)
		octets_any(m->icmp_code, few, seed);
}

/* Makes the protocol one that can have the other fields, three times in four. */
static void
proto_mend(struct hy_flow_match *m, uint64_t *seed)
{
	if ((m->fields & HY_FLOW_PROTO) == 0 || rnd(seed) % 4 == 0)
		return;
	if ((m->fields & HY_FLOW_TUNNEL) != 0)
		m->proto = IPPROTO_UDP;
	if ((m->fields & HY_FLOW_TCP) != 0)
		m->proto = IPPROTO_TCP;
	if ((m->fields & HY_FLOW_ICMP) != 0)
		m->proto = (m->fields & HY_FLOW_IPV6) != 0 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
}

struct hy_flow_rule
any_rule(bool few, uint64_t *seed)
{
	struct hy_flow_rule rule;

	do {
		rule = (struct hy_flow_rule){ .id = rnd(seed),
			.precedence = rnd(seed) % 1000,
			.action = (uint8_t)(rnd(seed) % (HY_RULE_TO_PORT + 1)),
			.log = rnd(seed) % 4 == 0,
			.match.fields = fields_any(seed) };
		if (rule.action == HY_RULE_CLASSIFY)
			rule.class_id = (uint16_t)(1 + rnd(seed) % UINT16_MAX);
		if (rule.action == HY_RULE_TO_PORT)
			rule.port = (uint16_t)rnd(seed);
		l2_any(&rule.match, few, seed);
		ip_any(&rule.match, few, seed);
		l4_any(&rule.match, few, seed);
		proto_mend(&rule.match, seed);
	} while (hy_flow_rule_check(&rule, NULL) < 0);
	return rule;
}

/* What stands behind IP in a packet that is no fragment. */
static uint32_t
l4_has(const struct hy_flow_key *key, unsigned int version)
{
	switch (key->proto) {
	case IPPROTO_TCP:
		return HY_FLOW_PORTS | HY_FLOW_TCP_FLAGS |
			((key->tcp_flags & 0x14) != 0 ? HY_FLOW_ESTABLISHED : 0);
	case IPPROTO_UDP:
		return HY_FLOW_PORTS |
			(key->dport == HY_FLOW_VXLAN_PORT && version == 4 ? HY_FLOW_TUNNEL : 0);
	case IPPROTO_SCTP:
		return HY_FLOW_PORTS;
	case IPPROTO_ICMP:
		return version == 4 ? HY_FLOW_ICMP : 0;
	case IPPROTO_ICMPV6:
		return version == 6 ? HY_FLOW_ICMP : 0;
	default:
		return 0;
	}
}

static void
clear_missing(struct hy_flow_key *key)
{
	const uint32_t has = key->has;

	if ((has & HY_FLOW_IPV6) == 0)
		for (unsigned int w = (has & HY_FLOW_IPV4) != 0; w < 4; w++)
			key->src6[w] = key->dst6[w] = 0;
	key->vlan = (has & HY_FLOW_VLAN) != 0 ? key->vlan : 0;
	key->proto = (has & HY_FLOW_PROTO) != 0 ? key->proto : 0;
	key->dscp = (has & HY_FLOW_DSCP) != 0 ? key->dscp : 0;
	key->fragment = (has & HY_FLOW_FRAGMENT) != 0 ? key->fragment : 0;
	key->sport = (has & HY_FLOW_PORTS) != 0 ? key->sport : 0;
	key->dport = (has & HY_FLOW_PORTS) != 0 ? key->dport : 0;
	key->tunnel = (has & HY_FLOW_TUNNEL) != 0 ? key->tunnel : 0;
	key->tcp_flags = (has & HY_FLOW_TCP_FLAGS) != 0 ? key->tcp_flags : 0;
	key->icmp_type = (has & HY_FLOW_ICMP) != 0 ? key->icmp_type : 0;
	key->icmp_code = (has & HY_FLOW_ICMP) != 0 ? key->icmp_code : 0;
}

void
any_key_finish(struct hy_flow_key *key, unsigned int version, bool tagged)
{
	key->has = HY_FLOW_SRC_MAC | HY_FLOW_DST_MAC | HY_FLOW_ETHER_TYPE |
		(tagged ? HY_FLOW_VLAN : 0);
	if (version != 0) {
		key->has |= HY_FLOW_IP | (version == 6 ? HY_FLOW_IPV6 : HY_FLOW_IPV4);
		key->ether_type = version == 6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4;
		if (key->fragment == HY_FLOW_UNKNOWN_FRAGMENT && version == 4)
			key->fragment = HY_FLOW_LATER_FRAGMENT;
		if (key->fragment == HY_FLOW_UNKNOWN_FRAGMENT)
			key->has &= ~(uint32_t)HY_FLOW_PROTO;
		if (key->fragment == HY_FLOW_NO_FRAGMENT)
			key->has |= l4_has(key, version);
	}
	clear_missing(key);
}

static uint16_t
near_range(bool named, uint16_t first, uint16_t last, uint64_t *seed)
{
	static const int beside[] = { 0, 0, 0, 0, 0, 0, 0, 1 };
	const int by = beside[rnd(seed) % RTE_DIM(beside)];

	if (!named)
		return (uint16_t)rnd(seed);
	return (uint16_t)(rnd(seed) % 2 ? first - by : last + by);
}

static void
near_prefix(uint32_t address[4], const uint32_t prefix[4], uint8_t len, uint64_t *seed)
{
	for (unsigned int w = 0; w < 4; w++)
		address[w] = prefix[w] |
			(len <= 32 * w                       ? rnd(seed)
					: len >= 32 * w + 32 ? 0
							     : rnd(seed) >> len % 32);
	if (len > 0 && rnd(seed) % 8 == 0) {
		const unsigned int bit = rnd(seed) % len;

		address[bit / 32] ^= UINT32_C(0x80000000) >> bit % 32;
	}
}

struct hy_flow_key
any_key(const struct hy_flow_match *m, uint64_t *seed)
{
	const uint32_t f = m->fields;
	const bool ip6 = (f & HY_FLOW_IPV6) != 0 || (f == 0 && rnd(seed) % 2) ||
		((f & HY_FLOW_ETHER_TYPE) != 0 && m->ether_type == RTE_ETHER_TYPE_IPV6);
	const bool other = (f & HY_FLOW_ETHER_TYPE) != 0 && m->ether_type != RTE_ETHER_TYPE_IPV4 &&
		m->ether_type != RTE_ETHER_TYPE_IPV6;
	unsigned int version = other ? 0 : ip6 ? 6 : 4;
	struct hy_flow_key key = {
		.tunnel = f & HY_FLOW_TUNNEL ? m->tunnel : rnd(seed) % 2,
		.src_mac = (rnd64(seed) & MAC & ~m->src_mac_mask) | m->src_mac,
		.dst_mac = (rnd64(seed) & MAC & ~m->dst_mac_mask) | m->dst_mac,
		.ether_type = f & HY_FLOW_ETHER_TYPE ? m->ether_type : RTE_ETHER_TYPE_ARP,
		.vlan = f & HY_FLOW_VLAN ? m->vlan : (uint16_t)(rnd(seed) % 4096),
		.sport = near_range(f & HY_FLOW_SPORT, m->sport[0], m->sport[1], seed),
		.dport = near_range(f & HY_FLOW_DPORT, m->dport[0], m->dport[1], seed),
		.proto = f & HY_FLOW_PROTO ? m->proto : protos[rnd(seed) % RTE_DIM(protos)],
		.dscp = f & HY_FLOW_DSCP ? m->dscp : (uint8_t)(rnd(seed) % 64),
		.tcp_flags = (uint8_t)((rnd(seed) & ~(uint32_t)m->tcp_mask) | m->tcp_flags),
		.icmp_type = (uint8_t)near_range(f & HY_FLOW_ICMP_TYPE, m->icmp_type[0],
			m->icmp_type[1], seed),
		.icmp_code = (uint8_t)near_range(f & HY_FLOW_ICMP_CODE, m->icmp_code[0],
			m->icmp_code[1], seed),
		.fragment = rnd(seed) % 4 ? HY_FLOW_NO_FRAGMENT : (uint8_t)(1 << rnd(seed) % 4),
	};

	near_prefix(key.src6, m->src6, m->src_len, seed);
	near_prefix(key.dst6, m->dst6, m->dst_len, seed);
	if ((f & HY_FLOW_TUNNEL) != 0) {
		key.proto = IPPROTO_UDP;
		key.dport = HY_FLOW_VXLAN_PORT;
	}
	if ((f & HY_FLOW_TCP) != 0)
		key.proto = IPPROTO_TCP;
	if ((f & HY_FLOW_ICMP) != 0)
		key.proto = ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	switch (rnd(seed) % 16) { /* one in four misses, perhaps */
	case 0:
		version = version == 4 ? 6 : 4;
		break;
	case 1:
		key.src_mac ^= UINT64_C(1) << rnd(seed) % 48;
		break;
	case 2:
		key.tcp_flags ^= (uint8_t)(1 << rnd(seed) % 8);
		break;
	case 3:
		key.dst_mac ^= UINT64_C(1) << rnd(seed) % 48;
		break;
	default:
		break;
	}
	any_key_finish(&key, version, (f & HY_FLOW_VLAN) != 0 ? rnd(seed) % 8 : rnd(seed) % 2);
	return key;
}
