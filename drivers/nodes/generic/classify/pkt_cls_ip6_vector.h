/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks of pkt_cls for WIDTH IPv6 headers at a time, side by side as in pkt_cls_checks.h, which a
 * file includes before this one. Frames that do not pass all of them go through the scalar check: the
 * vector refuses some that pass, to few addresses that hosts have. The file defines
 * PASS_IP6: the name of its pkt_cls_ip6_pass_t;
 * PASS_FEWER: the one for fewer than WIDTH frames.
 */
#pragma once

#include "pkt_cls_ip6.h"

enum ip6_number { IP6_HIGH, IP6_TYPE, VERSION, SIX, SHORT6, SIZE_PROTO, ONE, UNICAST, IP6_NUMBERS };

/* What the fields are compared with: see numbers in pkt_cls_checks.h. */
static const uint32_t ip6_numbers[IP6_NUMBERS] = {
	[IP6_HIGH] = 0xffff0000,
	[IP6_TYPE] = (uint32_t)RTE_BE16(RTE_ETHER_TYPE_IPV6) << 16,
	[VERSION] = 0xf0,
	[SIX] = 0x60,
	[SHORT6] = HY_PKT_CLS_IP6_LEAST - 1,
	[SIZE_PROTO] = 0xffffff,
	[ONE] = 1,
	[UNICAST] = 0xfe800000 - 1,
};

/*
 * Which of WIDTH frames, none shorter than HY_PKT_CLS_IP6_LEAST, do not pass all checks but that for a
 * group address. Writes of all frames payload length, next header and hop limit, as they lie in memory,
 * and the first bytes of all by or.
 */
VECTOR static __rte_always_inline uint32_t
wrong_ip6(const uint8_t *const frame[], lanes len, lanes *fields, uint8_t *byte0)
{
	const struct headers h = headers_after(frame, 8); /* bytes 10 to 41 */
	const uint32_t *number = ip6_numbers;
	MARKS right;

	__asm__("" : "+r"(number)); /* now the compiler does not know them */
	*fields = h.start.dword[2];
	right = equal(ALL_MARKS, h.start.dword[0] & NUMBER(IP6_HIGH), NUMBER(IP6_TYPE));
	right = equal(right, h.start.dword[1] & NUMBER(VERSION), NUMBER(SIX));
	right = below(right, swap32(*fields) >> 16, len - NUMBER(SHORT6));
	/* No payload and hop-by-hop options: a jumbogram. */
	right = below(right, (lanes){ 0 }, *fields & NUMBER(SIZE_PROTO));
	/* Neither ::, ::1 and their neighbours, nor from fe80:: on. */
	right = below(right, swap32(h.start.dword[3]) - NUMBER(ONE), NUMBER(UNICAST));
	right = below(right, swap32(h.rest.dword[3]) - NUMBER(ONE), NUMBER(UNICAST));
	*byte0 = h.byte0;
	return ~true_lanes(right) & UINT32_MAX >> (32 - WIDTH);
}

/*
 * Checks WIDTH frames, of which the first known ones pass and have been counted. Returns how many pass
 * before the first that does not.
 */
VECTOR static __rte_always_inline uint32_t
pass_vector(const uint8_t *const frame[], const uint32_t len[], uint32_t *options, uint32_t known)
{
	lanes lengths, fields;
	uint32_t wrong, none;
	uint8_t byte0 = 0;

	memcpy(&lengths, len, sizeof(lengths));
	wrong = true_lanes(below(ALL_MARKS, lengths, (lanes){ 0 } + HY_PKT_CLS_IP6_LEAST));
	if (likely(wrong == 0))
		wrong = wrong_ip6(frame, lengths, &fields, &byte0);
	if (unlikely(wrong != 0 || (byte0 & RTE_ETHER_GROUP_ADDR) != 0))
		return known + pkt_cls_ip6_pass(frame + known, len + known, options, WIDTH - known);
	static_assert(IPPROTO_HOPOPTS == 0, "hop-by-hop options are next header 0");
	none = true_lanes(equal(ALL_MARKS, fields & 0xff0000, (lanes){ 0 }));
	if (unlikely(none != 0))
		*options += (uint32_t)__builtin_popcount(none >> known);
	return WIDTH;
}

VECTOR uint32_t
PASS_IP6(const uint8_t *const frame[], const uint32_t len[], uint32_t *options, uint32_t n)
{
	uint32_t i, passed;

	if (n < WIDTH)
		return PASS_FEWER(frame, len, options, n);
	for (i = 0; i + WIDTH <= n; i += WIDTH) {
		passed = pass_vector(frame + i, len + i, options, 0);
		if (unlikely(passed < WIDTH))
			return i + passed;
	}
	if (i < n) { /* the last WIDTH frames, some of them once more, with the same result */
		const uint32_t again = i + WIDTH - n;

		i = n - WIDTH;
		i += pass_vector(frame + i, len + i, options, again);
	}
	return i;
}
