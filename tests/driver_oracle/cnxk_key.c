/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>
#include <string.h>

#include "cnxk_key.h"

enum { LA, LB, LC, LD, LE };

/* Layer types, af/npc.h: enum npc_kpu_la_ltype and those that follow it. */
enum { LA_ETHER = 2, LA_CPT_HDR = 10 };
enum { LB_CTAG = 2, LB_STAG_QINQ = 3 };
enum { LC_PTP = 1, LC_IP = 2, LC_IP_OPT = 3, LC_IP6 = 4, LC_IP6_EXT = 5, LC_ARP = 6 };
enum { LD_TCP = 1, LD_UDP = 2, LD_SCTP = 4, LD_ICMP6 = 5, LD_GRE = 10 };
enum { LE_VXLAN = 1 };

#define VXLAN_PORT 4789

struct parsed {
	uint8_t type[KEX_LAYERS]; /* 0: not found */
	uint32_t at[KEX_LAYERS];
};

static uint16_t
be16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void
found(struct parsed *p, unsigned int layer, uint8_t type, uint32_t at)
{
	p->type[layer] = type;
	p->at[layer] = at;
}

/*
 * af/npc_profile.h, kpu5_cam_entries: in state NPC_S_KPU5_IP a protocol is looked at only where MF
 * and the fragment offset are 0, so that no fragment has a layer LD, the first neither. In state
 * NPC_S_KPU5_CPT_IP, of the second pass, it is looked at always.
 */
static void
parse_ip4(const struct kex *kex, const uint8_t *frame, uint32_t len, uint32_t at, bool second_pass,
	struct parsed *p)
{
	const uint8_t types[256] = { [IPPROTO_TCP] = LD_TCP,
		[IPPROTO_UDP] = LD_UDP,
		[IPPROTO_ICMP] = kex->icmp,
		[IPPROTO_SCTP] = LD_SCTP,
		[IPPROTO_GRE] = LD_GRE };
	const uint8_t *ip = frame + at;
	uint32_t l4;

	if (len - at < 20 || ip[0] >> 4 != 4)
		return;
	found(p, LC, ip[0] == 0x45 ? LC_IP : LC_IP_OPT, at);
	l4 = at + 4u * (ip[0] & 15);
	if (((be16(ip + 6) & 0x3fff) != 0 && !second_pass) || types[ip[9]] == 0 || l4 + 8 > len)
		return;
	found(p, LD, types[ip[9]], l4);
	if (ip[9] == IPPROTO_UDP && be16(frame + l4 + 2) == VXLAN_PORT && l4 + 16 <= len)
		found(p, LE, LE_VXLAN, l4 + 8);
}

/*
 * The same, in state NPC_S_KPU5_IP6, and kpu6_cam_entries: with extension headers, a packet is of
 * another type, of which no field is extracted. What is behind them may be found; it is here, as are
 * ports of a fragment, to be wary.
 */
static void
parse_ip6(const uint8_t *frame, uint32_t len, uint32_t at, struct parsed *p)
{
	static const uint8_t types[256] = { [IPPROTO_TCP] = LD_TCP,
		[IPPROTO_UDP] = LD_UDP,
		[IPPROTO_SCTP] = LD_SCTP,
		[IPPROTO_ICMPV6] = LD_ICMP6,
		[IPPROTO_GRE] = LD_GRE };
	uint8_t next = frame[at + 6];
	uint32_t l4 = at + 40;

	if (len - at < 40 || frame[at] >> 4 != 6)
		return;
	found(p, LC, LC_IP6, at);
	if (next == IPPROTO_HOPOPTS || next == IPPROTO_DSTOPTS || next == IPPROTO_FRAGMENT) {
		found(p, LC, LC_IP6_EXT, at);
		next = frame[l4];
		l4 += 8;
	}
	if (types[next] != 0 && l4 + 8 <= len)
		found(p, LD, types[next], l4);
}

static void
parse(const struct kex *kex, const uint8_t *frame, uint32_t len, bool second_pass, struct parsed *p)
{
	uint16_t type = be16(frame + 12);
	uint32_t at = 14;
	const bool service = type == 0x88a8 || type == 0x9100;
	unsigned int tags = 0;

	memset(p, 0, sizeof(*p));
	found(p, LA, second_pass ? LA_CPT_HDR : LA_ETHER, 0);
	while ((type == 0x8100 || type == 0x88a8 || type == 0x9100) && tags < 2 && at + 4 <= len) {
		type = be16(frame + at + 2);
		at += 4;
		tags++;
	}
	/* Its pointer stands at the tag's ether type. */
	if (tags > 0)
		found(p, LB, tags == 2 || service ? LB_STAG_QINQ : LB_CTAG, 12);
	switch (type) {
	case 0x0800:
		parse_ip4(kex, frame, len, at, second_pass, p);
		break;
	case 0x86dd:
		parse_ip6(frame, len, at, p);
		break;
	case 0x0806:
		found(p, LC, LC_ARP, at);
		break;
	case 0x88f7:
		found(p, LC, LC_PTP, at);
		break;
	default:
		break;
	}
}

/* af/npc.h, NPC_PARSE_NIBBLE_: a bit for each nibble of the parse result that begins the key. */
static void
head(const struct kex *kex, const struct parsed *p, const uint8_t *frame, uint16_t channel,
	uint64_t *key)
{
	uint8_t nibbles[31] = { channel & 15, (channel >> 4) & 15, (channel >> 8) & 15 };
	const bool l2b = memcmp(frame, "\xff\xff\xff\xff\xff\xff", 6) == 0;
	unsigned int bit = 0;

	nibbles[6] = (uint8_t)((frame[0] & 1 && !l2b) | l2b << 1);
	for (unsigned int layer = 0; layer < KEX_LAYERS; layer++)
		nibbles[9 + 3 * layer] = p->type[layer];
	for (unsigned int i = 0; i < 31; i++) {
		if ((kex->config >> i & 1) == 0)
			continue;
		key[bit / 64] |= (uint64_t)nibbles[i] << bit % 64;
		bit += 4;
	}
}

/* KEX_LD_CFG: length - 1 in 19:16, place in the header in 15:8, enabled in 7, in the key in 5:0. */
static void
piece(uint64_t config, const uint8_t *frame, uint32_t len, uint32_t at, uint8_t *key)
{
	const uint32_t size = (config >> 16 & 15) + 1, from = at + (config >> 8 & 255);
	const uint32_t to = config & 63;

	if ((config >> 7 & 1) == 0)
		return;
	/* The first byte on the wire is the most significant in the key. */
	for (uint32_t i = 0; i < size; i++)
		key[to + size - 1 - i] = from + i < len ? frame[from + i] : 0;
}

bool
kex_matches(const struct kex *kex, const struct kex_entry *entry, const uint8_t *frame,
	uint32_t len, uint16_t channel, bool second_pass)
{
	const unsigned int bits = 112u << (kex->config >> 32 & 7);
	uint64_t key[KEX_WORDS + 1] = { 0 };
	uint8_t bytes[8 * KEX_WORDS + 16];
	struct parsed p;

	if (len < 14)
		return false;
	parse(kex, frame, len, second_pass, &p);
	head(kex, &p, frame, channel, key);
	memcpy(bytes, key, sizeof(key));
	for (unsigned int layer = 0; layer < KEX_LAYERS; layer++)
		for (unsigned int i = 0; i < KEX_PIECES && p.type[layer] != 0; i++)
			piece(kex->pieces[layer][p.type[layer]][i], frame, len, p.at[layer], bytes);
	memcpy(key, bytes, 8 * KEX_WORDS);
	for (unsigned int i = 0; i < bits; i++) {
		const uint64_t bit = 1ull << i % 64;

		if ((entry->mask[i / 64] & bit) != 0 &&
			((key[i / 64] ^ entry->value[i / 64]) & bit) != 0)
			return false;
	}
	return true;
}
