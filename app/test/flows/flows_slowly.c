/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The oracle of key extraction: reads one byte at a time, each through a check of the length, and
 * writes fields by their place in network byte order.
 */

#include <netinet/in.h>
#include <string.h>

#include "flows_frames.h"

struct reader {
	const uint8_t *frame;
	uint32_t len;
	uint32_t at;
	bool past; /* a byte beyond the end was asked for */
};

static uint32_t
byte(struct reader *r)
{
	if (r->at >= r->len) {
		r->past = true;
		return 0;
	}
	return r->frame[r->at++];
}

static void
bytes(struct reader *r, void *to, uint32_t n)
{
	uint8_t *out = to;

	for (uint32_t i = 0; i < n; i++)
		out[i] = (uint8_t)byte(r);
}

static uint32_t
left(const struct reader *r)
{
	return r->len - r->at;
}

static void
cut(struct reader *r, struct hy_flows_key *key)
{
	key->kind |= HY_FLOWS_TRUNCATED;
	r->past = true;
}

static void
slowly_link(struct reader *r, struct hy_flows_key *key)
{
	uint8_t type[2] = { 0, 0 };

	if (r->len < 14) {
		cut(r, key);
		return;
	}
	bytes(r, key->dst_mac, 6);
	bytes(r, key->src_mac, 6);
	bytes(r, type, 2);
	for (int tag = 0; tag < 2; tag++) {
		uint8_t tci[2];

		if (!((type[0] == 0x81 || type[0] == 0x91) && type[1] == 0) &&
			!(type[0] == 0x88 && type[1] == 0xa8))
			break;
		if (left(r) < 4) {
			cut(r, key);
			return;
		}
		bytes(r, tci, 2);
		tci[0] |= 0x10;
		memcpy(tag == 0 ? &key->vlan : &key->vlan2, tci, 2);
		bytes(r, type, 2);
	}
	memcpy(&key->type, type, 2);
}

/* Returns whether the packet is whole, so that what it carries can be read. */
static bool
slowly_ip4(struct reader *r, struct hy_flows_key *key)
{
	const uint32_t start = r->at;
	uint32_t header, offset;

	if (left(r) < 20) {
		cut(r, key);
		return false;
	}
	header = byte(r);
	if (header / 16 != 4 || header % 16 < 5 || r->len - start < header % 16 * 4) {
		cut(r, key);
		return false;
	}
	key->kind |= HY_FLOWS_IP;
	key->tos = (uint8_t)byte(r);
	r->at = start + 6;
	offset = byte(r) * 256;
	offset += byte(r);
	key->ttl = (uint8_t)byte(r);
	key->proto = (uint8_t)byte(r);
	r->at = start + 12;
	bytes(r, &key->src, 4);
	bytes(r, &key->dst, 4);
	r->at = start + header % 16 * 4;
	if (offset % 8192 != 0)
		key->kind |= HY_FLOWS_LATER_FRAGMENT;
	else if ((offset & 0x2000) != 0)
		key->kind |= HY_FLOWS_FIRST_FRAGMENT;
	return (offset & 0x3fff) == 0;
}

static bool
is_extension(uint32_t type)
{
	return type == 0 || type == 43 || type == 44 || type == 51 || type == 60;
}

static bool
unknown(struct hy_flows_key *key)
{
	key->kind = (uint8_t)((key->kind & ~HY_FLOWS_FIRST_FRAGMENT) | HY_FLOWS_UNKNOWN_FRAGMENT);
	return false;
}

/* Returns as slowly_ip4() does, with r->at behind the extension headers. */
static bool
slowly_extensions(struct reader *r, uint32_t type, struct hy_flows_key *key)
{
	const uint32_t start = r->at;

	for (uint32_t n = 0; is_extension(type); n++) {
		const uint32_t at = r->at;
		uint32_t next, size, offset;

		if (n == 8)
			return unknown(key);
		if (left(r) < 8) {
			cut(r, key);
			return unknown(key);
		}
		next = byte(r);
		size = byte(r);
		size = type == 44 ? 8 : type == 51 ? (size + 2) * 4 : (size + 1) * 8;
		if (r->len - at < size) {
			cut(r, key);
			return unknown(key);
		}
		if (at + size - start > 128)
			return unknown(key);
		if (type == 44) {
			offset = byte(r) * 256;
			offset += byte(r);
			if (offset / 8 != 0) {
				key->kind = (uint8_t)((key->kind & ~HY_FLOWS_FIRST_FRAGMENT) |
					HY_FLOWS_LATER_FRAGMENT);
				if (!is_extension(next))
					key->proto = (uint8_t)next;
				return false;
			}
			if (offset % 2 == 1)
				key->kind |= HY_FLOWS_FIRST_FRAGMENT;
		}
		r->at = at + size;
		type = next;
	}
	key->proto = (uint8_t)type;
	return (key->kind & HY_FLOWS_FIRST_FRAGMENT) == 0;
}

static bool
slowly_ip6(struct reader *r, struct hy_flows_key *key)
{
	const uint32_t start = r->at;
	uint32_t first, second, next;

	if (left(r) < 40 || r->frame[r->at] / 16 != 6) {
		cut(r, key);
		return false;
	}
	key->kind |= HY_FLOWS_IP;
	first = byte(r);
	second = byte(r);
	key->tos = (uint8_t)(first % 16 * 16 + second / 16);
	r->at = start + 6;
	next = byte(r);
	key->ttl = (uint8_t)byte(r);
	bytes(r, key->src6, 16);
	bytes(r, key->dst6, 16);
	return slowly_extensions(r, next, key);
}

/* Returns whether there is a whole UDP header; r->at is behind it. */
static bool
slowly_transport(struct reader *r, struct hy_flows_key *key)
{
	const bool ip6 = key->type == RTE_BE16(0x86dd);
	const uint32_t start = r->at, n = left(r);
	uint32_t least = 0;

	switch (key->proto) {
	case IPPROTO_TCP:
		least = 20;
		if (n >= 14)
			key->tcp_flags = r->frame[start + 13];
		break;
	case IPPROTO_UDP:
		least = 8;
		break;
	case IPPROTO_SCTP:
		least = 12;
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		if (ip6 != (key->proto == IPPROTO_ICMPV6))
			return false;
		if (n < (ip6 ? 4u : 8u))
			key->kind |= HY_FLOWS_TRUNCATED;
		if (n >= 2) {
			memcpy((uint8_t *)&key->sport + 1, r->frame + start, 1);
			memcpy((uint8_t *)&key->dport + 1, r->frame + start + 1, 1);
		}
		return false;
	default:
		return false;
	}
	if (n < least)
		key->kind |= HY_FLOWS_TRUNCATED;
	if (n >= 4) {
		bytes(r, &key->sport, 2);
		bytes(r, &key->dport, 2);
	}
	r->at = start + 8;
	return key->proto == IPPROTO_UDP && n >= 8;
}

static void
slowly_arp(struct reader *r, struct hy_flows_key *key)
{
	static const uint8_t kind[] = { 0, 1, 8, 0, 6, 4 };
	const uint8_t *arp = r->frame + r->at;

	if (left(r) < 28)
		return;
	for (uint32_t i = 0; i < 6; i++)
		if (arp[i] != kind[i])
			return;
	key->proto = arp[6] * 256 + arp[7] > 255 ? 0 : arp[7];
	memcpy(&key->src, arp + 14, 4);
	memcpy(&key->dst, arp + 24, 4);
}

/* Returns whether a whole UDP header was read; r->at is behind it. */
static bool
slowly_headers(struct reader *r, struct hy_flows_key *key)
{
	bool whole = false;

	slowly_link(r, key);
	if (r->past)
		return false;
	if (key->type == RTE_BE16(0x0800))
		whole = slowly_ip4(r, key);
	else if (key->type == RTE_BE16(0x86dd))
		whole = slowly_ip6(r, key);
	else if (key->type == RTE_BE16(0x0806))
		slowly_arp(r, key);
	return whole && slowly_transport(r, key);
}

struct hy_flows_key
flows_key_slowly(const uint8_t *frame, uint32_t len, uint16_t port, bool tunnels)
{
	struct reader r = { .frame = frame, .len = len };
	struct hy_flows_key key = { .port = port }, inside = { .port = port };

	if (!slowly_headers(&r, &key) || !tunnels || key.dport != RTE_BE16(4789) || left(&r) < 8 ||
		(frame[r.at] & 8) == 0)
		return key;
	inside.kind = HY_FLOWS_TUNNELLED;
	memcpy(inside.vni, frame + r.at + 4, 3);
	inside.tunnel_src = key.src;
	inside.tunnel_dst = key.dst;
	memcpy(inside.tunnel_src6, key.src6, 16);
	memcpy(inside.tunnel_dst6, key.dst6, 16);
	r = (struct reader){ .frame = frame + r.at + 8, .len = len - r.at - 8 };
	slowly_headers(&r, &inside);
	return inside;
}
