/* SPDX-License-Identifier: BSD-3-Clause */
/* The Flow Director of an E810: see e810.h. */

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_gre.h>
#include <rte_ip.h>
#include <rte_sctp.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "e810.h"

/* What the parser found: the type, and where headers begin; 0: there is none. */
struct found {
	unsigned int ptype;
	uint32_t at[E810_HEADERS];
};

static uint16_t
word_at(const uint8_t *frame, uint32_t len, uint32_t at)
{
	return at + 2 > len ? 0 : (uint16_t)(frame[at] << 8 | frame[at + 1]);
}

/* The types of IPv4 alone, and by how much those within GRE are larger. */
#define IN_GRE (E810_GRE_IP4_UDP - E810_IP4_UDP)

static unsigned int
find_l4(uint8_t proto, uint32_t at, uint32_t len, struct found *found)
{
	static const struct {
		uint8_t proto, size;
		enum e810_header header;
		enum e810_ptype ptype;
	} kinds[] = {
		{ IPPROTO_UDP, sizeof(struct rte_udp_hdr), E810_UDP, E810_IP4_UDP },
		{ IPPROTO_TCP, sizeof(struct rte_tcp_hdr), E810_TCP, E810_IP4_TCP },
		{ IPPROTO_SCTP, sizeof(struct rte_sctp_hdr), E810_SCTP, E810_IP4_SCTP },
		{ IPPROTO_ICMP, 8, 0, E810_IP4_ICMP },
	};

	for (size_t i = 0; i < RTE_DIM(kinds); i++) {
		if (kinds[i].proto != proto || at + kinds[i].size > len)
			continue;
		found->at[kinds[i].header] = at;
		return kinds[i].ptype;
	}
	return E810_IP4_PAY;
}

/* The type of an IPv4 packet, as if nothing were around it. */
static unsigned int
find_ip4(const uint8_t *frame, uint32_t at, uint32_t len, uint32_t *behind, uint8_t *proto,
	struct found *found)
{
	const struct rte_ipv4_hdr *ip = (const void *)(frame + at);

	if (at + sizeof(*ip) > len || ip->version_ihl >> 4 != IPVERSION)
		return E810_MAC;
	*proto = ip->next_proto_id;
	*behind = at + rte_ipv4_hdr_len(ip);
	if ((ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG)) !=
		0) {
		*proto = 0;
		return E810_IP4_FRAG;
	}
	return find_l4(*proto, *behind, len, found);
}

/* The types of IPv6 are those of IPv4, by so much larger. Extension headers make no difference. */
#define IN_IP6 (E810_IP6_PAY - E810_IP4_PAY)

static void
find_ip6(const uint8_t *frame, uint32_t at, uint32_t len, struct found *found)
{
	const struct rte_ipv6_hdr *ip = (const void *)(frame + at);
	uint32_t behind = at + sizeof(*ip);
	uint8_t proto;

	if (behind > len || frame[at] >> 4 != 6)
		return;
	found->at[E810_IP6] = at;
	proto = ip->proto;
	while ((proto == IPPROTO_HOPOPTS || proto == IPPROTO_DSTOPTS) && behind + 8 <= len) {
		proto = frame[behind];
		behind += 8u * (1 + frame[behind + 1]);
	}
	found->ptype = proto == IPPROTO_FRAGMENT ? (unsigned int)E810_IP6_FRAG
						 : IN_IP6 + find_l4(proto, behind, len, found);
}

static void
find_outer_ip4(const uint8_t *frame, uint32_t at, uint32_t len, struct found *found)
{
	uint32_t behind = at, inner;
	unsigned int type;
	uint8_t proto = 0;

	found->ptype = find_ip4(frame, at, len, &behind, &proto, found);
	if (found->ptype == E810_MAC)
		return;
	found->at[E810_IP4] = at;
	if (proto == IPPROTO_IPIP)
		found->ptype = E810_IP4_IP4_PAY;
	if (proto != IPPROTO_GRE || behind + sizeof(struct rte_gre_hdr) > len)
		return;
	/* A header without options, and IPv4 in it; others are not told apart. */
	inner = behind + sizeof(struct rte_gre_hdr);
	found->ptype = E810_GRE_PAY;
	if (word_at(frame, len, behind) != 0 ||
		word_at(frame, len, behind + 2) != RTE_ETHER_TYPE_IPV4)
		return;
	type = find_ip4(frame, inner, len, &behind, &proto, found);
	if (type != E810_MAC)
		found->ptype = IN_GRE + type;
}

static void
find(const uint8_t *frame, uint32_t len, struct found *found)
{
	uint32_t at = 2 * RTE_ETHER_ADDR_LEN;
	uint16_t type = word_at(frame, len, at);

	memset(found, 0, sizeof(*found));
	for (int tags = 0; tags < 2 && (type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ);
		tags++) {
		at += sizeof(struct rte_vlan_hdr);
		type = word_at(frame, len, at);
	}
	found->at[E810_ETHER_TYPE] = at;
	found->ptype = E810_MAC;
	if (type == RTE_ETHER_TYPE_LLDP)
		found->ptype = E810_LLDP;
	else if (type == RTE_ETHER_TYPE_ARP)
		found->ptype = E810_ARP;
	else if (type == RTE_ETHER_TYPE_IPV6)
		find_ip6(frame, at + sizeof(type), len, found);
	else if (type == RTE_ETHER_TYPE_IPV4)
		find_outer_ip4(frame, at + sizeof(type), len, found);
}

static void
extract(const struct e810_profile *profile, const uint8_t *frame, uint32_t len,
	const struct found *found, uint16_t *value)
{
	for (unsigned int i = 0; i < profile->n; i++) {
		const struct e810_word *word = &profile->words[i];
		const uint32_t at = found->at[word->header];

		value[i] = at == 0 ? 0 : word_at(frame, len, at + word->at) & word->mask;
	}
}

/* The profile for packets of a type, of which there is one at most; E810_PROFILES: none. */
static unsigned int
profile_of(const struct e810 *nic, unsigned int ptype)
{
	unsigned int i = 0;

	while (i < E810_PROFILES && (nic->profiles[i].n == 0 || !nic->profiles[i].ptypes[ptype]))
		i++;
	return i;
}

static struct e810_filter *
filter_of(const struct e810 *nic, const uint8_t *frame, uint32_t len, struct e810_filter *like)
{
	const struct e810_profile *profile;
	struct found found;

	memset(like, 0, sizeof(*like));
	find(frame, len, &found);
	like->profile = profile_of(nic, found.ptype);
	if (like->profile == E810_PROFILES)
		return NULL;
	profile = &nic->profiles[like->profile];
	extract(profile, frame, len, &found, like->value);
	for (uint32_t i = 0; i < nic->n; i++)
		if (nic->filters[i].profile == like->profile &&
			memcmp(nic->filters[i].value, like->value,
				profile->n * sizeof(like->value[0])) == 0)
			return &nic->filters[i];
	return NULL;
}

int
e810_program(struct e810 *nic, bool add, const uint8_t *packet, uint32_t len, uint32_t id,
	bool reports)
{
	struct e810_filter like, *filter = filter_of(nic, packet, len, &like);

	if (like.profile == E810_PROFILES)
		return -EPROTO;
	if (!add) {
		if (filter == NULL)
			return -ENOENT;
		*filter = nic->filters[--nic->n];
		return 0;
	}
	if (filter == NULL) {
		if (nic->filters == NULL)
			nic->filters = calloc(nic->room, sizeof(*nic->filters));
		if (nic->filters == NULL || nic->n == nic->room)
			return -ENOSPC;
		filter = &nic->filters[nic->n++];
	}
	*filter = like;
	filter->id = id;
	filter->reports = reports;
	return 0;
}

static void
exchange(uint8_t *a, uint8_t *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const uint8_t byte = a[i];

		a[i] = b[i];
		b[i] = byte;
	}
}

void
e810_reverse(uint8_t *packet, uint32_t len)
{
	static const enum e810_header ports[] = { E810_UDP, E810_TCP, E810_SCTP };
	struct found found;

	find(packet, len, &found);
	if (found.at[E810_IP4] != 0) {
		struct rte_ipv4_hdr *ip = (void *)(packet + found.at[E810_IP4]);

		exchange((uint8_t *)&ip->src_addr, (uint8_t *)&ip->dst_addr, sizeof(ip->src_addr));
	}
	if (found.at[E810_IP6] != 0)
		exchange(packet + found.at[E810_IP6] + 8, packet + found.at[E810_IP6] + 24, 16);
	for (size_t i = 0; i < RTE_DIM(ports); i++) {
		uint8_t *l4 = packet + found.at[ports[i]];

		if (found.at[ports[i]] != 0)
			exchange(l4, l4 + 2, 2);
	}
}

bool
e810_matches(const struct e810 *nic, const uint8_t *frame, uint32_t len)
{
	struct e810_filter like;
	const struct e810_filter *filter = filter_of(nic, frame, len, &like);

	return filter != NULL && filter->reports;
}
