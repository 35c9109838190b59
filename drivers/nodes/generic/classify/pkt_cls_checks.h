/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks of pkt_cls for WIDTH headers at a time. They are transposed, so that a vector holds one
 * field of all of them and each check is one comparison. The checks recognize IPv4 without options
 * that may be forwarded.
 *
 * A file defines these before it includes this one:
 * VECTOR: target attribute of the instruction set;
 * WIDTH: 32-bit lanes of a vector: 4, 8 or 16;
 * lanes: vector type, a GCC vector of uint32_t;
 * swap32(v): the lanes with their bytes reversed.
 *
 * It also defines what pkt_cls_columns.h needs, and how it marks frames, one of:
 * true_lanes(v): bit i is set if lane i is all ones, clear if it is 0;
 * MARKS: a type, a bit for each frame, with equal(m, v, w) and below(m, v, w): the frames of m of which
 * v equals w, or is less than w.
 */
#pragma once

#include "pkt_cls_columns.h"
#include "pkt_cls_kernels.h"

/* Shortest frame that the vector checks read: Ethernet, and IPv4 without options. */
#define SHORTEST (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))

#ifndef MARKS
#define MARKS lanes
#define ALL_MARKS (~(lanes){ 0 })
#define equal(m, v, w) ((m) & (lanes)((v) == (w)))
#define below(m, v, w) ((m) & (lanes)((v) < (w)))
#else
#define ALL_MARKS ((MARKS)UINT32_MAX)
#define true_lanes(m) ((uint32_t)(m))
#endif

/* Sum of the header's 16-bit words, folded once: 0xffff if the checksum is correct. */
VECTOR static __rte_always_inline lanes
header_sum(lanes first, const struct columns *rest, lanes low)
{
	lanes sum = (first & low) + (first >> 16);

	for (unsigned int i = 0; i < 4; i++)
		sum += (rest->dword[i] & low) + (rest->dword[i] >> 16);
	return (sum & low) + (sum >> 16);
}

enum number { HIGH, TYPE, BYTE, VHL, LOW, SHORT, LEAST, NET, NETS, LOOPBACK, HOSTS, NUMBERS };

/*
 * What the fields are compared with. Read from memory, as operands: of constants that it knows, GCC
 * makes vectors by shuffles, which the transposition already keeps busy.
 */
static const uint32_t numbers[NUMBERS] = {
	[HIGH] = 0xffff0000,
	[TYPE] = (uint32_t)RTE_BE16(RTE_ETHER_TYPE_IPV4) << 16,
	[BYTE] = 0xff,
	[VHL] = RTE_IPV4_VHL_DEF,
	[LOW] = 0xffff,
	[SHORT] = SHORTEST - 1,
	[LEAST] = sizeof(struct rte_ipv4_hdr),
	[NET] = UINT32_C(1) << 24,
	[NETS] = UINT32_C(223) << 24,
	[LOOPBACK] = UINT32_C(127) << 24,
	[HOSTS] = 0xffffff,
};

#define NUMBER(of) ((lanes){ 0 } + number[of])

/*
 * Which of WIDTH frames, none shorter than SHORTEST, do not pass all checks but that for a group
 * address. Writes of all frames the destination, and TTL, protocol and checksum as they lie in memory,
 * and the first bytes of all by or.
 */
VECTOR static __rte_always_inline uint32_t
wrong_ones(const uint8_t *const frame[], lanes len, lanes *dst, lanes *ttl, uint8_t *byte0)
{
	const struct headers h = headers(frame);
	const lanes first = h.start.dword[3];
	const uint32_t *number = numbers;
	MARKS right;

	__asm__("" : "+r"(number)); /* now the compiler does not know them */
	*dst = swap32(h.rest.dword[3]);
	*ttl = h.rest.dword[1];
	right = equal(ALL_MARKS, h.start.dword[2] & NUMBER(HIGH), NUMBER(TYPE));
	right = equal(right, first & NUMBER(BYTE), NUMBER(VHL));
	/* A total length of less than 20 wraps around, to more than a frame has after Ethernet. */
	right = below(right, (swap32(first) & NUMBER(LOW)) - NUMBER(LEAST), len - NUMBER(SHORT));
	right = equal(right, header_sum(first, &h.rest, NUMBER(LOW)), NUMBER(LOW));
	/* From 1/8 to 223/8, except for 127/8. */
	right = below(right, *dst - NUMBER(NET), NUMBER(NETS));
	right = below(right, NUMBER(HOSTS), *dst ^ NUMBER(LOOPBACK));
	*byte0 = h.byte0;
	return ~true_lanes(right) & UINT32_MAX >> (32 - WIDTH);
}
