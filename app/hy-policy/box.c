/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of packets; see box.h. */

#include <string.h>

#include <netinet/in.h>
#include <rte_ether.h>
#include <rte_tcp.h>

#include "box.h"

#define L2 (HY_FLOW_SRC_MAC | HY_FLOW_DST_MAC | HY_FLOW_VLAN)
#define L3 (L2 | HY_FLOW_ETHER_TYPE)
#define IP4 (L3 | HY_FLOW_IP)
#define IP6 (IP4 | HY_FLOW_IPV6)
#define IP4_SHAPES \
	(1 << SHAPE_IP4 | 1 << SHAPE_PORTS4 | 1 << SHAPE_TCP4 | 1 << SHAPE_TUNNEL | \
		1 << SHAPE_ICMP4)

/* The fields that packets of a shape have; of VLAN tags, some have none. */
static const uint32_t has[SHAPES] = {
	[SHAPE_CUT] = 0,
	[SHAPE_TAG] = L2,
	[SHAPE_L2] = L3,
	[SHAPE_IP4] = IP4,
	[SHAPE_PORTS4] = IP4 | HY_FLOW_PORTS,
	[SHAPE_TCP4] = IP4 | HY_FLOW_PORTS | HY_FLOW_TCP,
	[SHAPE_TUNNEL] = IP4 | HY_FLOW_PORTS | HY_FLOW_TUNNEL,
	[SHAPE_ICMP4] = IP4 | HY_FLOW_ICMP,
	[SHAPE_UNKNOWN6] = IP6 & ~HY_FLOW_PROTO,
	[SHAPE_IP6] = IP6,
	[SHAPE_PORTS6] = IP6 | HY_FLOW_PORTS,
	[SHAPE_TCP6] = IP6 | HY_FLOW_PORTS | HY_FLOW_TCP,
	[SHAPE_ICMP6] = IP6 | HY_FLOW_ICMP,
};

static const uint32_t range_max[RANGES] = {
	[RANGE_TYPE] = UINT16_MAX,
	[RANGE_VLAN] = NO_VLAN,
	[RANGE_DSCP] = 63,
	[RANGE_SPORT] = UINT16_MAX,
	[RANGE_DPORT] = UINT16_MAX,
	[RANGE_TUNNEL] = (1 << 24) - 1,
	[RANGE_ICMP_TYPE] = UINT8_MAX,
	[RANGE_ICMP_CODE] = UINT8_MAX,
};

void
box_all(struct box *box)
{
	memset(box, 0, sizeof(*box));
	box->shapes = (1 << SHAPES) - 1;
	box->fragments = UINT8_MAX;
	for (int i = 0; i < RANGES; i++)
		box->range[i][1] = range_max[i];
	for (int side = 0; side < SIDES; side++)
		box->address[side][1] = ~(wide)0;
	memset(&box->proto, 0xff, sizeof(box->proto));
	memset(&box->flags, 0xff, sizeof(box->flags));
}

static bool
is_ip4(uint32_t fields)
{
	return (fields & HY_FLOW_IPV6) == 0 &&
		(fields &
			(HY_FLOW_IP | HY_FLOW_PORTS | HY_FLOW_TUNNEL | HY_FLOW_TCP |
				HY_FLOW_ICMP)) != 0;
}

static uint16_t
shapes_of(uint32_t fields)
{
	unsigned int shapes = 0;

	for (int shape = 0; shape < SHAPES; shape++)
		if ((fields & ~has[shape]) == 0)
			shapes |= 1u << shape;
	return (uint16_t)(is_ip4(fields) ? shapes & IP4_SHAPES : shapes);
}

static void
set_range(struct box *box, bool named, enum range range, uint32_t lo, uint32_t hi)
{
	if (named) {
		box->range[range][0] = lo;
		box->range[range][1] = hi;
	}
}

static void
set_address(struct box *box, bool named, enum side side, const uint32_t word[4], uint8_t len)
{
	wide address = 0;

	for (int w = 0; named && w < 4; w++)
		address |= (wide)word[w] << (96 - 32 * w);
	if (named) {
		box->address[side][0] = address;
		box->address[side][1] = address | (len == 128 ? 0 : ~(wide)0 >> len);
	}
}

static void
set_flags(struct box *box, const struct hy_flow_match *m)
{
	for (unsigned int flags = 0; flags <= UINT8_MAX; flags++)
		if ((flags & m->tcp_mask) != m->tcp_flags ||
			((m->fields & HY_FLOW_ESTABLISHED) != 0 &&
				(flags & (RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG)) == 0))
			octets_remove(&box->flags, flags);
}

void
box_of(const struct hy_flow_match *m, struct box *box)
{
	const uint32_t f = m->fields;

	box_all(box);
	box->shapes = shapes_of(f);
	set_range(box, f & HY_FLOW_ETHER_TYPE, RANGE_TYPE, m->ether_type, m->ether_type);
	set_range(box, f & HY_FLOW_VLAN, RANGE_VLAN, m->vlan, m->vlan);
	set_range(box, f & HY_FLOW_DSCP, RANGE_DSCP, m->dscp, m->dscp);
	set_range(box, f & HY_FLOW_SPORT, RANGE_SPORT, m->sport[0], m->sport[1]);
	set_range(box, f & HY_FLOW_DPORT, RANGE_DPORT, m->dport[0], m->dport[1]);
	set_range(box, f & HY_FLOW_TUNNEL, RANGE_TUNNEL, m->tunnel, m->tunnel);
	set_range(box, f & HY_FLOW_ICMP_TYPE, RANGE_ICMP_TYPE, m->icmp_type[0], m->icmp_type[1]);
	set_range(box, f & HY_FLOW_ICMP_CODE, RANGE_ICMP_CODE, m->icmp_code[0], m->icmp_code[1]);
	set_address(box, f & HY_FLOW_SRC, SRC, m->src6, m->src_len);
	set_address(box, f & HY_FLOW_DST, DST, m->dst6, m->dst_len);
	box->mac[SRC] = m->src_mac;
	box->mac[DST] = m->dst_mac;
	box->mac_mask[SRC] = m->src_mac_mask;
	box->mac_mask[DST] = m->dst_mac_mask;
	if ((f & HY_FLOW_PROTO) != 0) {
		memset(&box->proto, 0, sizeof(box->proto));
		octets_add(&box->proto, m->proto);
	}
	if ((f & HY_FLOW_FRAGMENT) != 0)
		box->fragments = m->fragments;
	if ((f & HY_FLOW_TCP) != 0)
		set_flags(box, m);
}

/* The protocols that a packet of a shape can have. */
static void
shape_protos(enum shape shape, struct octets *set)
{
	/* Headers of IPv6 that are no protocol of a packet (RFC 8200, RFC 4302). */
	static const uint8_t extensions[] = { IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT,
		IPPROTO_AH, IPPROTO_DSTOPTS };

	memset(set, 0, sizeof(*set));
	switch (shape) {
	case SHAPE_PORTS4:
	case SHAPE_PORTS6:
		octets_add(set, IPPROTO_UDP);
		octets_add(set, IPPROTO_SCTP);
		/* fall through */
	case SHAPE_TCP4:
	case SHAPE_TCP6:
		octets_add(set, IPPROTO_TCP);
		break;
	case SHAPE_TUNNEL:
		octets_add(set, IPPROTO_UDP);
		break;
	case SHAPE_ICMP4:
		octets_add(set, IPPROTO_ICMP);
		break;
	case SHAPE_ICMP6:
		octets_add(set, IPPROTO_ICMPV6);
		break;
	default:
		memset(set, 0xff, sizeof(*set));
	}
	for (size_t i = 0; shape == SHAPE_IP6 && i < RTE_DIM(extensions); i++)
		octets_remove(set, extensions[i]);
}

static uint8_t
shape_fragments(enum shape shape)
{
	switch (shape) {
	case SHAPE_CUT:
	case SHAPE_TAG:
	case SHAPE_L2:
		return UINT8_MAX; /* none has the field */
	case SHAPE_IP4:
	case SHAPE_IP6:
		return HY_FLOW_NO_FRAGMENT | HY_FLOW_FIRST_FRAGMENT | HY_FLOW_LATER_FRAGMENT;
	case SHAPE_UNKNOWN6:
		return HY_FLOW_UNKNOWN_FRAGMENT | HY_FLOW_LATER_FRAGMENT;
	default:
		return HY_FLOW_NO_FRAGMENT;
	}
}

/* All possible packets of a shape. */
static void
shape_box(enum shape shape, struct box *box)
{
	box_all(box);
	box->shapes = (uint16_t)(1u << shape);
	box->fragments = shape_fragments(shape);
	shape_protos(shape, &box->proto);
	if (shape == SHAPE_CUT)
		box->range[RANGE_VLAN][0] = NO_VLAN;
	if (shape >= SHAPE_IP4)
		box->range[RANGE_TYPE][0] = box->range[RANGE_TYPE][1] = shape < SHAPE_UNKNOWN6
			? RTE_ETHER_TYPE_IPV4
			: RTE_ETHER_TYPE_IPV6;
	if (shape == SHAPE_TUNNEL)
		box->range[RANGE_DPORT][0] = box->range[RANGE_DPORT][1] = HY_FLOW_VXLAN_PORT;
}

bool
box_part(const struct box *box, enum shape shape, struct box *part)
{
	struct box all;

	shape_box(shape, &all);
	if (!box_meets(&all, box))
		return false;
	box_common(&all, box, part);
	return true;
}

static bool
octets_meet(const struct octets *a, const struct octets *b)
{
	return ((a->bits[0] & b->bits[0]) | (a->bits[1] & b->bits[1]) | (a->bits[2] & b->bits[2]) |
		       (a->bits[3] & b->bits[3])) != 0;
}

static void
octets_common(struct octets *a, const struct octets *b)
{
	for (int i = 0; i < 4; i++)
		a->bits[i] &= b->bits[i];
}

static void
octets_without(struct octets *a, const struct octets *b)
{
	for (int i = 0; i < 4; i++)
		a->bits[i] &= ~b->bits[i];
}

bool
box_meets(const struct box *a, const struct box *b)
{
	bool meet = (a->shapes & b->shapes) != 0 && (a->fragments & b->fragments) != 0;

	for (int side = 0; side < SIDES && meet; side++)
		meet = a->address[side][0] <= b->address[side][1] &&
			b->address[side][0] <= a->address[side][1] &&
			((a->mac[side] ^ b->mac[side]) & a->mac_mask[side] & b->mac_mask[side]) ==
				0;
	for (int i = 0; i < RANGES && meet; i++)
		meet = a->range[i][0] <= b->range[i][1] && b->range[i][0] <= a->range[i][1];
	return meet && octets_meet(&a->proto, &b->proto) && octets_meet(&a->flags, &b->flags);
}

void
box_common(const struct box *a, const struct box *b, struct box *common)
{
	*common = *a;
	common->shapes &= b->shapes;
	common->fragments &= b->fragments;
	for (int side = 0; side < SIDES; side++) {
		common->address[side][0] = RTE_MAX(a->address[side][0], b->address[side][0]);
		common->address[side][1] = RTE_MIN(a->address[side][1], b->address[side][1]);
		common->mac[side] |= b->mac[side];
		common->mac_mask[side] |= b->mac_mask[side];
	}
	for (int i = 0; i < RANGES; i++) {
		common->range[i][0] = RTE_MAX(a->range[i][0], b->range[i][0]);
		common->range[i][1] = RTE_MIN(a->range[i][1], b->range[i][1]);
	}
	octets_common(&common->proto, &b->proto);
	octets_common(&common->flags, &b->flags);
}

/* The addresses of Ethernet with one of the known bits of b different: a box for each bit. */
static struct box *
without_mac(struct box *left, const struct box *b, enum side side, struct box *rest)
{
	for (uint64_t bits = b->mac_mask[side] & ~left->mac_mask[side]; bits != 0;
		bits &= bits - 1) {
		const uint64_t bit = bits & -bits;

		*rest = *left;
		rest->mac_mask[side] |= bit;
		rest->mac[side] |= ~b->mac[side] & bit;
		rest++;
		left->mac_mask[side] |= bit;
		left->mac[side] |= b->mac[side] & bit;
	}
	return rest;
}

static struct box *
without_address(struct box *left, const struct box *b, enum side side, struct box *rest)
{
	if (left->address[side][0] < b->address[side][0]) {
		*rest = *left;
		rest++->address[side][1] = b->address[side][0] - 1;
		left->address[side][0] = b->address[side][0];
	}
	if (left->address[side][1] > b->address[side][1]) {
		*rest = *left;
		rest++->address[side][0] = b->address[side][1] + 1;
		left->address[side][1] = b->address[side][1];
	}
	return rest;
}

static struct box *
without_range(struct box *left, const struct box *b, int i, struct box *rest)
{
	if (left->range[i][0] < b->range[i][0]) {
		*rest = *left;
		rest++->range[i][1] = b->range[i][0] - 1;
		left->range[i][0] = b->range[i][0];
	}
	if (left->range[i][1] > b->range[i][1]) {
		*rest = *left;
		rest++->range[i][0] = b->range[i][1] + 1;
		left->range[i][1] = b->range[i][1];
	}
	return rest;
}

/* Field by field: what is outside goes to a box of its own, what is inside is left. */
unsigned int
box_without(const struct box *part, const struct box *b, struct box rests[])
{
	struct box left = *part, *rest = rests;

	*rest = left;
	octets_without(&rest->proto, &b->proto);
	rest += !octets_empty(&rest->proto);
	octets_common(&left.proto, &b->proto);
	for (enum side side = SRC; side < SIDES; side++)
		rest = without_address(&left, b, side, rest);
	for (int i = 0; i < RANGES; i++)
		rest = without_range(&left, b, i, rest);
	*rest = left;
	rest->fragments &= (uint8_t)~b->fragments;
	rest += rest->fragments != 0;
	left.fragments &= b->fragments;
	*rest = left;
	octets_without(&rest->flags, &b->flags);
	rest += !octets_empty(&rest->flags);
	octets_common(&left.flags, &b->flags);
	for (enum side side = SRC; side < SIDES; side++)
		rest = without_mac(&left, b, side, rest);
	return (unsigned int)(rest - rests);
}
