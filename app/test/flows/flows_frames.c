/* SPDX-License-Identifier: BSD-3-Clause */
/* Random frames; see flows_frames.h. */

#include <netinet/in.h>
#include <string.h>

#include "flows_frames.h"

struct writer {
	uint8_t *frame;
	uint32_t at;
	uint64_t *seed;
};

uint64_t
flows_random64(uint64_t *seed)
{
	/* splitmix64 */
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t
flows_random(uint64_t *seed)
{
	return (uint32_t)(flows_random64(seed) >> 32);
}

static void
put8(struct writer *w, uint32_t value)
{
	w->frame[w->at++] = (uint8_t)value;
}

static void
put16(struct writer *w, uint32_t value)
{
	put8(w, value >> 8);
	put8(w, value);
}

/* Bytes of few values, so that masks find some equal. */
static void
put_any(struct writer *w, uint32_t n)
{
	while (n-- > 0)
		put8(w, flows_random(w->seed) % 4 == 0 ? flows_random(w->seed) : 1);
}

static bool
one_of(struct writer *w, uint32_t n)
{
	return flows_random(w->seed) % n == 0;
}

static void put_link(struct writer *w, uint32_t depth);

static void
put_vxlan(struct writer *w, uint32_t depth)
{
	put8(w, one_of(w, 8) ? 0 : 0x08);
	put_any(w, 7);
	put_link(w, depth + 1);
}

static void
put_transport(struct writer *w, uint8_t proto, uint32_t depth)
{
	const bool vxlan = proto == IPPROTO_UDP && depth < 2 && one_of(w, 2);

	put_any(w, 2);
	if (vxlan)
		put16(w, 4789);
	else
		put_any(w, 2);
	put_any(w, proto == IPPROTO_TCP ? 16 : 4); /* SCTP's header is cut at times */
	if (vxlan)
		put_vxlan(w, depth);
	put_any(w, flows_random(w->seed) % 20);
}

static uint8_t
any_proto(struct writer *w)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDP, IPPROTO_SCTP,
		IPPROTO_ICMP, IPPROTO_ICMPV6, IPPROTO_GRE };

	return protos[flows_random(w->seed) % RTE_DIM(protos)];
}

static void
put_ip4(struct writer *w, uint32_t depth)
{
	const uint32_t options = one_of(w, 8) ? flows_random(w->seed) % 11 : 0;
	const uint32_t fragment = !one_of(w, 8) ? 0x4000 * (flows_random(w->seed) % 2)
		: one_of(w, 4)                  ? 0x2000 /* the first */
						: flows_random(w->seed) & 0x3fff;
	const uint8_t proto = any_proto(w);

	put8(w, 0x40 | (5 + options));
	put_any(w, 5);
	put16(w, fragment);
	put8(w, 64);
	put8(w, proto);
	put_any(w, 2 + 8 + options * 4);
	put_transport(w, proto, depth);
}

static void
put_extension(struct writer *w, uint8_t type, uint8_t next)
{
	const uint32_t units = flows_random(w->seed) % 3;

	put8(w, next);
	put8(w, type == IPPROTO_FRAGMENT ? flows_random(w->seed) : units);
	if (type == IPPROTO_FRAGMENT) {
		put16(w, one_of(w, 3) ? 0 : one_of(w, 2) ? 1 : flows_random(w->seed));
		put_any(w, 4);
		return;
	}
	put_any(w, (type == IPPROTO_AH ? (units + 2) * 4 : (units + 1) * 8) - 2);
}

static void
put_ip6(struct writer *w, uint32_t depth)
{
	static const uint8_t types[] = { IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT,
		IPPROTO_AH, IPPROTO_DSTOPTS };
	const uint8_t proto = any_proto(w);
	uint8_t chain[11];
	uint32_t n = one_of(w, 2) ? 0 : flows_random(w->seed) % (one_of(w, 4) ? 10 : 4);

	for (uint32_t i = 0; i < n; i++)
		chain[i] = types[flows_random(w->seed) % RTE_DIM(types)];
	chain[n] = proto;
	put8(w, 0x60 | (flows_random(w->seed) & 0xf));
	put_any(w, 5);
	put8(w, chain[0]);
	put8(w, 64);
	put_any(w, 32);
	for (uint32_t i = 0; i < n; i++)
		put_extension(w, chain[i], chain[i + 1]);
	put_transport(w, proto, depth);
}

static void
put_arp(struct writer *w)
{
	put16(w, 1);
	put16(w, one_of(w, 8) ? 0x86dd : 0x0800);
	put16(w, one_of(w, 8) ? flows_random(w->seed) : 0x0604);
	put16(w, one_of(w, 8) ? 0x101 : 1 + flows_random(w->seed) % 2);
	put_any(w, 20);
}

static void
put_link(struct writer *w, uint32_t depth)
{
	static const uint16_t tags[] = { 0x8100, 0x88a8, 0x9100 };

	put_any(w, 12);
	for (uint32_t n = one_of(w, 2) ? flows_random(w->seed) % 4 : 0; n > 0; n--) {
		put16(w, tags[flows_random(w->seed) % RTE_DIM(tags)]);
		put_any(w, 2);
	}
	switch (flows_random(w->seed) % 8) {
	case 0:
		put16(w, 0x0806);
		put_arp(w);
		break;
	case 1:
	case 2:
	case 3:
		put16(w, 0x86dd);
		put_ip6(w, depth);
		break;
	default:
		put16(w, 0x0800);
		put_ip4(w, depth);
	}
}

uint32_t
flows_frame(uint8_t frame[FLOWS_FRAME_ROOM], uint64_t *seed)
{
	struct writer w = { .frame = frame, .seed = seed };

	put_link(&w, 0);
	if (one_of(&w, 10))
		frame[flows_random(seed) % w.at] = (uint8_t)flows_random(seed);
	return one_of(&w, 4) ? flows_random(seed) % (w.at + 1) : w.at;
}
