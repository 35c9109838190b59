/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of packets, so that questions about rules have exact answers.
 *
 * What a rule can ask of a packet depends on which headers the packet has: its shape. The packets of
 * one shape that match a rule are a *box*: each field's value is in a set of its own, whatever the
 * others are. What is left of a box without another box is a few boxes.
 */
#pragma once

#include <hy_policy_view.h>

/* Which fields a packet has. Each shape comes behind those that have less. */
enum shape {
	SHAPE_CUT,    /* no whole Ethernet header */
	SHAPE_TAG,    /* addresses, and an ether type that is cut behind a VLAN tag */
	SHAPE_L2,     /* an ether type, no sound header of IP */
	SHAPE_IP4,    /* no header behind it that rules know, or it is cut, or a fragment */
	SHAPE_PORTS4, /* of UDP and SCTP; of TCP that is cut before the flags */
	SHAPE_TCP4,
	SHAPE_TUNNEL, /* VXLAN */
	SHAPE_ICMP4,
	SHAPE_UNKNOWN6, /* no protocol is known */
	SHAPE_IP6,
	SHAPE_PORTS6,
	SHAPE_TCP6,
	SHAPE_ICMP6,
	SHAPES
};

/* Fields that are ranges. */
enum range {
	RANGE_TYPE,
	RANGE_VLAN,
	RANGE_DSCP,
	RANGE_SPORT,
	RANGE_DPORT,
	RANGE_TUNNEL,
	RANGE_ICMP_TYPE,
	RANGE_ICMP_CODE,
	RANGES
};

#define NO_VLAN 4096 /* the place of packets without a tag, behind all ids */

enum side { SRC, DST, SIDES };

__extension__ typedef unsigned __int128 wide;

/* A set of numbers up to 255. */
struct octets {
	uint64_t bits[4];
};

struct box {
	uint16_t shapes; /* a bit for each: one in a part, several in a rule */
	uint8_t fragments;
	uint32_t range[RANGES][2];
	wide address[SIDES][2];               /* IPv4's are the highest 32 bits */
	uint64_t mac[SIDES], mac_mask[SIDES]; /* the bits that are known */
	struct octets proto, flags;
};

/* The packets that match, as far as it depends on the fields alone: see box_part(). */
void box_of(const struct hy_flow_match *match, struct box *box);
/* All packets. */
void box_all(struct box *box);
/* The possible packets of one shape among a box's. Returns false if there are none. */
bool box_part(const struct box *box, enum shape shape, struct box *part);

/* Whether a part and a rule's box have packets in common. */
bool box_meets(const struct box *part, const struct box *rule);
/* The packets that both have; they meet. */
void box_common(const struct box *part, const struct box *rule, struct box *common);

#define BOX_RESTS 128 /* most boxes that box_without() makes */
/* The packets of a part that a rule does not match. Returns the number of boxes. */
unsigned int box_without(const struct box *part, const struct box *rule, struct box rests[]);

static inline enum shape
box_shape(const struct box *part)
{
	return (enum shape)__builtin_ctz(part->shapes);
}

static inline bool
octets_has(const struct octets *set, unsigned int i)
{
	return (set->bits[i / 64] >> i % 64 & 1) != 0;
}

static inline void
octets_add(struct octets *set, unsigned int i)
{
	set->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void
octets_remove(struct octets *set, unsigned int i)
{
	set->bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static inline bool
octets_empty(const struct octets *set)
{
	return (set->bits[0] | set->bits[1] | set->bits[2] | set->bits[3]) == 0;
}
