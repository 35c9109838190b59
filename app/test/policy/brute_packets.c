/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets whose fields are known because they were made of them: see brute.h. */

#include <string.h>

#include "brute.h"

#define TCP 6
#define UDP 17
#define SCTP 132
#define HOP_BY_HOP 0
#define FRAGMENT 44
#define DESTINATION 60

uint32_t
brute_random(uint64_t *seed)
{
	uint64_t x = *seed; /* xorshift64* */

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*seed = x;
	return (uint32_t)(x * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

/* Adds 1 to an address, or takes it away. */
static void
address_step(uint32_t address[4], uint32_t words, bool up)
{
	for (uint32_t w = words; w-- > 0;) {
		address[w] += up ? 1u : UINT32_MAX;
		if (address[w] != (up ? 0 : UINT32_MAX))
			break;
	}
}

/* Within a prefix, at its ends or just beyond them. */
static void
address_pick(const uint32_t base[4], const uint32_t mask[4], uint32_t words, uint64_t *seed,
	uint32_t address[4])
{
	const uint32_t how = brute_random(seed) % 8;

	for (uint32_t w = 0; w < words; w++) {
		const uint32_t free = how == 0 || how == 2 ? 0
			: how == 1 || how == 3             ? UINT32_MAX
							   : brute_random(seed);

		address[w] = base[w] | (free & ~mask[w]);
	}
	if (how == 2 || how == 3)
		address_step(address, words, how == 3);
}

static uint32_t
port_pick(const uint32_t range[2], uint64_t *seed)
{
	const uint32_t r = brute_random(seed);

	switch (r % 8) {
	case 0:
		return range[0];
	case 1:
		return range[1];
	case 2:
		return (range[0] - 1) & UINT16_MAX;
	case 3:
		return (range[1] + 1) & UINT16_MAX;
	default:
		return range[0] + (r >> 8) % (range[1] - range[0] + 1);
	}
}

/* Protocols that no extension header of IPv6 has for its number. */
static uint32_t
proto_pick(uint64_t *seed)
{
	static const uint8_t protos[] = { TCP, TCP, TCP, UDP, UDP, UDP, SCTP, 1, 2, 47, 58, 89, 132,
		254 };

	return protos[brute_random(seed) % sizeof(protos)];
}

/* Fields of a rule, or random ones. */
static void
fields_pick(const struct brute *brute, uint64_t *seed, struct brute_packet *p)
{
	const struct brute_rule any = { .port = { { 0, UINT16_MAX }, { 0, UINT16_MAX } } };
	const bool aimed = brute_random(seed) % 8 != 0;
	const struct brute_rule *rule = aimed ? &brute->rules[brute_random(seed) % brute->n] : &any;
	const bool ip6 = (rule->needs & BRUTE_IP6) != 0 ||
		((rule->needs & (BRUTE_IP4 | BRUTE_TYPE)) == 0 && brute_random(seed) % 2 == 0);
	const bool other = rule->proto_mask == 0 || brute_random(seed) % 16 == 0;

	p->has = BRUTE_TYPE | (ip6 ? BRUTE_IP6 : BRUTE_IP4) | BRUTE_PROTO;
	p->type = ip6 ? 0x86dd : 0x0800;
	for (uint32_t side = 0; side < 2; side++) {
		address_pick(rule->address[side], rule->address_mask[side], ip6 ? 4 : 1, seed,
			p->address[side]);
		p->port[side] = port_pick(rule->port[side], seed);
	}
	p->proto = other ? proto_pick(seed) : rule->proto;
}

static void
put(struct brute_packet *p, uint32_t value, uint32_t bytes)
{
	while (bytes-- > 0)
		p->frame[p->len++] = (uint8_t)(value >> 8 * bytes);
}

static void
ethernet_put(struct brute_packet *p, uint64_t *seed)
{
	const uint32_t r = brute_random(seed);
	const uint32_t tags = r % 8 == 0 ? 2 : r % 8 == 1 ? 1 : 0;

	for (uint32_t i = 0; i < 12; i++)
		put(p, i % 6 == 0 ? 2 : r >> i, 1);
	for (uint32_t t = tags; t > 0; t--) {
		put(p, t == 2 ? 0x88a8 : 0x8100, 2);
		put(p, brute_random(seed), 2);
	}
	put(p, p->type, 2);
	p->kinds |= tags > 0 ? 1u << BRUTE_TAG : 0;
}

/* Chooses what fragment it is. */
static enum brute_kind
fragment_pick(struct brute_packet *p, uint64_t *seed)
{
	const uint32_t r = brute_random(seed) % 16;
	const bool ip6 = (p->has & BRUTE_IP6) != 0;
	const enum brute_kind kind = r == 0 ? BRUTE_FIRST
		: r == 1                    ? BRUTE_LATER
		: r == 2 && ip6             ? BRUTE_ATOMIC
					    : BRUTE_PLAIN;

	p->kinds |= 1u << kind;
	return kind;
}

static void
ip4_put(struct brute_packet *p, uint64_t *seed)
{
	const uint32_t r = brute_random(seed);
	const uint32_t words = r % 4 == 0 ? 6 + (r >> 8) % 10 : 5;
	const enum brute_kind kind = fragment_pick(p, seed);

	put(p, 0x40 | words, 1);
	put(p, r >> 16, 1);
	put(p, r, 2);
	put(p, r >> 8, 2);
	put(p, kind == BRUTE_FIRST ? 0x2000 : kind == BRUTE_LATER ? 1 + r % 0x1ffe : r & 0x4000, 2);
	put(p, 64, 1);
	put(p, p->proto, 1);
	put(p, r, 2);
	put(p, p->address[0][0], 4);
	put(p, p->address[1][0], 4);
	for (uint32_t w = 5; w < words; w++)
		put(p, brute_random(seed), 4);
	p->kinds |= words > 5 ? 1u << BRUTE_OPTIONS : 0;
}

static void
ip6_put(struct brute_packet *p, uint64_t *seed)
{
	const uint32_t r = brute_random(seed);
	const enum brute_kind kind = fragment_pick(p, seed);
	const bool fragment = kind != BRUTE_PLAIN;
	const uint32_t options = r % 4 == 0 ? 1 + (r >> 8) % 2 : 0;
	const uint32_t last = fragment ? FRAGMENT : p->proto;

	put(p, 0x60000000 | r >> 12, 4);
	put(p, r, 2);
	put(p, options > 0 ? HOP_BY_HOP : last, 1);
	put(p, 64, 1);
	for (uint32_t i = 0; i < 8; i++)
		put(p, p->address[i / 4][i % 4], 4);
	for (uint32_t i = 1; i <= options; i++) {
		const uint32_t eights = 1 + brute_random(seed) % 3;

		put(p, i < options ? DESTINATION : last, 1);
		put(p, eights - 1, 1);
		for (uint32_t b = 2; b < 8 * eights; b++)
			put(p, brute_random(seed), 1);
	}
	if (fragment) {
		put(p, p->proto, 1);
		put(p, 0, 1);
		put(p,
			kind == BRUTE_FIRST           ? 1
				: kind == BRUTE_LATER ? 8 + (r & 0xfff8) % 0xff00
						      : 0,
			2);
		put(p, brute_random(seed), 4);
	}
	p->kinds |= options > 0 ? 1u << BRUTE_OPTIONS : 0;
}

/* Cuts some packets. Fields that are cut off are not there. */
static void
cut(struct brute_packet *p, uint32_t ip, uint32_t l4, uint64_t *seed)
{
	const uint32_t r = brute_random(seed), base = ip + 40;

	if (r % 16 == 0) {
		p->len = l4 + (r >> 8) % 24;
	} else if (r % 16 == 1) {
		p->len = ip + (r >> 8) % (l4 - ip);
		p->kinds |= 1u << BRUTE_CUT;
		p->has &= ~(uint32_t)BRUTE_PROTO;
		if ((p->has & BRUTE_IP4) != 0 || p->len < base)
			p->has = BRUTE_TYPE;
	}
	if ((p->has & BRUTE_PORTS) != 0 && p->len < l4 + 4) {
		p->has &= ~(uint32_t)BRUTE_PORTS;
		p->kinds |= p->len >= l4 ? 1u << BRUTE_NO_PORTS : 0;
	}
}

void
brute_packet(const struct brute *brute, uint64_t *seed, struct brute_packet *p)
{
	const unsigned int fragments = 1u << BRUTE_FIRST | 1u << BRUTE_LATER;
	uint32_t ip, l4;

	memset(p, 0, sizeof(*p));
	fields_pick(brute, seed, p);
	ethernet_put(p, seed);
	ip = p->len;
	if ((p->has & BRUTE_IP6) != 0)
		ip6_put(p, seed);
	else
		ip4_put(p, seed);
	l4 = p->len;
	put(p, p->port[0], 2);
	put(p, p->port[1], 2);
	for (uint32_t i = 0; i < 8; i++) /* a header of TCP without options */
		put(p, i == 2 ? 0x50100000 : brute_random(seed), 4);
	if ((p->proto == TCP || p->proto == UDP || p->proto == SCTP) && (p->kinds & fragments) == 0)
		p->has |= BRUTE_PORTS;
	cut(p, ip, l4, seed);
	/* What it lacks matches no rule that asks for it, and any other. */
	if ((p->has & BRUTE_PORTS) == 0)
		p->port[0] = p->port[1] = 0;
}
