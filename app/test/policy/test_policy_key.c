/* SPDX-License-Identifier: BSD-3-Clause */
/* From frames to keys: every field, every length, every alignment, and no byte too many. */

#include <string.h>

#include "key_fixture.h"
#include "lib/policy/key.h"

#define MACS (HY_FLOW_SRC_MAC | HY_FLOW_DST_MAC)
#define HAS_ETHER (MACS | HY_FLOW_ETHER_TYPE)
#define HAS_IP4 (HAS_ETHER | HY_FLOW_IPV4 | HY_FLOW_IP)
#define CUT HY_FLOW_TRUNCATED
#define PAYLOAD 20

/* Ethernet with so many tags, IPv4 with so many words of options, and some bytes of payload. */
static uint32_t
frame_write(uint8_t *f, unsigned int tags, unsigned int options, uint8_t proto)
{
	static const uint8_t payload[PAYLOAD] = { 0x30, 0x39, 0x12, 0xb5, 0, 16, 0, 0, 0x08, 0, 0,
		0, 0x01, 0x02, 0x03, 0, 0, 0, 0, 0 };
	uint32_t at = 12;

	memcpy(f, "\x01\x02\x03\x04\x05\x06\xf1\xf2\xf3\xf4\xf5\xf6", 12);
	for (unsigned int t = 0; t < tags; t++, at += 4)
		memcpy(f + at,
			(const uint8_t[]){ t == 0 && tags > 1 ? 0x88 : 0x81,
				t == 0 && tags > 1 ? 0xa8 : 0x00, 0x61, (uint8_t)(0x07 + t) },
			4);
	f[at++] = 0x08;
	f[at++] = 0x00;
	memset(f + at, 0xee, 60);
	memcpy(f + at,
		(const uint8_t[]){ (uint8_t)(0x45 + options), 0xb9, 0, 0, 0, 1, 0x40, 0, 64, proto,
			0, 0, 10, 1, 2, 3, 192, 0, 2, 200 },
		20);
	at += 20 + 4 * options;
	memcpy(f + at, payload, sizeof(payload));
	return at + sizeof(payload);
}

/* The least bytes of a whole header. */
static uint32_t
l4_least(uint8_t proto)
{
	switch (proto) {
	case 6:
		return 20;
	case 132:
		return 12;
	case 1:
	case 17:
		return 8;
	default:
		return 0;
	}
}

/* What follows IPv4, of which so many bytes are there. */
static void
expected_l4(uint32_t left, uint8_t proto, struct hy_flow_key *key)
{
	if (left < l4_least(proto))
		key->has |= CUT;
	if (left >= 4 && (proto == 6 || proto == 17 || proto == 132)) {
		key->has |= HY_FLOW_PORTS;
		key->sport = 12345;
		key->dport = 4789;
	}
	if (left >= 14 && proto == 6) {
		key->has |= HY_FLOW_TCP_FLAGS;
		key->tcp_flags = 2;
	}
	if (left >= 2 && proto == 1) {
		key->has |= HY_FLOW_ICMP;
		key->icmp_type = 0x30;
		key->icmp_code = 0x39;
	}
	if (left >= 16 && proto == 17) {
		key->has |= HY_FLOW_TUNNEL;
		key->tunnel = 0x010203;
	}
}

/* The same by the layout of frame_write(), for a frame cut to len bytes. */
static struct hy_flow_key
expected(uint32_t len, unsigned int tags, unsigned int options, uint8_t proto)
{
	const uint32_t ip = 14 + 4 * tags, l4 = ip + 20 + 4 * options;
	struct hy_flow_key key = { 0 };

	if (len >= 14) {
		key.has |= MACS;
		key.dst_mac = 0x010203040506;
		key.src_mac = 0xf1f2f3f4f5f6;
	}
	if (tags > 0 && len >= 18) {
		key.has |= HY_FLOW_VLAN;
		key.vlan = 0x107;
	}
	if (len >= ip) {
		key.has |= HAS_ETHER;
		key.ether_type = 0x0800;
	}
	if (len < l4) {
		key.has |= CUT;
		return key;
	}
	key.has |= HAS_IP4;
	key.src = 0x0a010203;
	key.dst = 0xc00002c8;
	key.proto = proto;
	key.dscp = 46;
	key.fragment = HY_FLOW_NO_FRAGMENT;
	expected_l4(len - l4, proto, &key);
	return key;
}

static void
every_header_is_read_at_every_length_and_no_byte_more(void **state)
{
	static const uint8_t protos[] = { 1, 6, 17, 132, 255 };
	unsigned int compared = 0;
	uint8_t frame[HY_FLOW_HEADERS];

	RTE_SET_USED(state);
	for (unsigned int tags = 0; tags <= 2; tags++) {
		for (unsigned int options = 0; options <= 10; options++) {
			for (unsigned int p = 0; p < RTE_DIM(protos); p++) {
				const uint32_t whole = frame_write(frame, tags, options, protos[p]);

				for (uint32_t len = 0; len <= whole; len++, compared++) {
					const struct hy_flow_key got = key_of(frame, len),
								 want = expected(len, tags, options,
									 protos[p]);

					assert_key(&got, &want, "frame");
				}
			}
		}
	}
	assert_int_equal(compared, 5 * 11 * (55 + 59 + 63 + 3 * 20));
}

static void
fragments_of_ip4_have_a_kind_and_no_ports(void **state)
{
	static const struct {
		uint8_t high, low;
		enum hy_flow_fragment kind;
	} fields[] = { { 0x20, 0, HY_FLOW_FIRST_FRAGMENT }, { 0, 1, HY_FLOW_LATER_FRAGMENT },
		{ 0x20, 1, HY_FLOW_LATER_FRAGMENT }, { 0x1f, 0xff, HY_FLOW_LATER_FRAGMENT },
		{ 0x40, 0, HY_FLOW_NO_FRAGMENT }, { 0, 0, HY_FLOW_NO_FRAGMENT },
		{ 0x80, 0, HY_FLOW_NO_FRAGMENT } };
	static const uint8_t protos[] = { 1, 6, 17 };
	uint8_t frame[HY_FLOW_HEADERS];

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(fields) * RTE_DIM(protos); i++) {
		const uint8_t proto = protos[i % RTE_DIM(protos)];
		const enum hy_flow_fragment kind = fields[i / RTE_DIM(protos)].kind;
		uint32_t len = frame_write(frame, 0, 0, proto);
		struct hy_flow_key got, want = expected(len, 0, 0, proto);

		if (kind != HY_FLOW_NO_FRAGMENT) {
			/* Nothing is cut in a fragment without payload. */
			len = 34;
			want = expected(len, 0, 0, proto);
			want.has &= ~(uint32_t)CUT;
			want.fragment = (uint8_t)kind;
		}
		frame[20] = fields[i / RTE_DIM(protos)].high;
		frame[21] = fields[i / RTE_DIM(protos)].low;
		got = key_of(frame, len);
		assert_key(&got, &want, "fragment");
		got = key_of(frame, RTE_MAX(len, 40u));
		if (kind != HY_FLOW_NO_FRAGMENT)
			assert_key(&got, &want, "fragment with payload");
	}
}

static void
tcp_with_ack_or_rst_is_established(void **state)
{
	uint8_t frame[HY_FLOW_HEADERS];
	const uint32_t len = frame_write(frame, 0, 0, 6);
	unsigned int established = 0;

	RTE_SET_USED(state);
	for (unsigned int flags = 0; flags < 256; flags++) {
		struct hy_flow_key got, want = expected(len, 0, 0, 6);

		want.tcp_flags = frame[34 + 13] = (uint8_t)flags;
		want.has |= (flags & 0x14) != 0 ? HY_FLOW_ESTABLISHED : 0;
		got = key_of(frame, len);
		assert_key(&got, &want, "flags");
		established += (got.has & HY_FLOW_ESTABLISHED) != 0;
	}
	assert_int_equal(established, 192);
}

/* ICMPv6 in IPv4 is a protocol like any other. */
static void
types_are_of_the_icmp_of_the_ip(void **state)
{
	uint8_t frame[HY_FLOW_HEADERS];
	const uint32_t len = frame_write(frame, 0, 0, 58);
	const struct hy_flow_key got = key_of(frame, len), want = expected(len, 0, 0, 58);

	RTE_SET_USED(state);
	assert_key(&got, &want, "ICMPv6");
	assert_int_equal(want.has & HY_FLOW_ICMP, 0);
}

static void
malformed_headers_are_not_there_and_count_as_truncated(void **state)
{
	static const uint8_t version_ihl[] = { 0x44, 0x40, 0x55, 0x65, 0x05, 0x4f };
	uint8_t frame[HY_FLOW_HEADERS];

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(version_ihl); i++) {
		const uint32_t len = frame_write(frame, 0, 0, 17);
		const struct hy_flow_key want = expected(14, 0, 0, 17);
		struct hy_flow_key got;

		frame[14] = version_ihl[i];
		got = key_of(frame, len);
		assert_key(&got, &want, "version and length");
	}
}

static void
tunnel_needs_its_port_and_its_flag(void **state)
{
	uint8_t frame[HY_FLOW_HEADERS];
	const uint32_t len = frame_write(frame, 0, 0, 17);
	struct hy_flow_key want = expected(34 + 15, 0, 0, 17), got;

	RTE_SET_USED(state);
	frame[42] = 0xf7; /* all flags but that of a valid identifier */
	got = key_of(frame, len);
	assert_key(&got, &want, "flag");
	frame[42] = 0x08;
	frame[37] ^= 1;
	want.dport = 4788;
	got = key_of(frame, len);
	assert_key(&got, &want, "port");
}

static void
third_tag_and_other_types_are_an_ether_type(void **state)
{
	struct hy_flow_key want = { .has = HAS_ETHER | HY_FLOW_VLAN,
		.ether_type = 0x8100,
		.vlan = 0x107,
		.dst_mac = 0x010203040506,
		.src_mac = 0xf1f2f3f4f5f6 };
	uint8_t frame[HY_FLOW_HEADERS];
	struct hy_flow_key got;

	RTE_SET_USED(state);
	frame_write(frame, 2, 0, 17);
	memcpy(frame + 20, "\x81\x00", 2);
	got = key_of(frame, 60);
	assert_key(&got, &want, "three tags");
	memcpy(frame + 12, "\x81\x00\xe0\x00\x08\x06", 6);
	want.ether_type = 0x0806;
	want.vlan = 0;
	got = key_of(frame, 60);
	assert_key(&got, &want, "priority tag");
	memcpy(frame + 12, "\x91\x00\xff\xff\x88\xcc", 6);
	want.ether_type = 0x88cc;
	want.vlan = 0xfff;
	got = key_of(frame, 60);
	assert_key(&got, &want, "tag of 0x9100");
	memcpy(frame + 12, "\x08\x06", 2);
	want.ether_type = 0x0806;
	want.has = HAS_ETHER;
	want.vlan = 0;
	got = key_of(frame, 60);
	assert_key(&got, &want, "ARP");
}

/* A frame of any shape, mostly plain; headers are those of frame_write() with other values. */
static uint32_t
frame_any(uint8_t *f, uint64_t *seed)
{
	static const uint8_t protos[] = { 6, 6, 17, 17, 132, 1, 47, 58 };
	const unsigned int tags = rnd(seed) % 4 ? 0 : rnd(seed) % 3;
	const unsigned int options = rnd(seed) % 4 ? 0 : rnd(seed) % 11;
	const uint8_t proto = rnd(seed) % 8 ? protos[rnd(seed) % RTE_DIM(protos)]
					    : (uint8_t)rnd(seed);
	const uint32_t len = frame_write(f, tags, options, proto);
	uint8_t *ip = f + 14 + 4 * tags, *l4 = f + len - PAYLOAD;

	for (unsigned int i = 0; i < 12; i++)
		f[i] = (uint8_t)rnd(seed);
	ip[1] = (uint8_t)rnd(seed);
	if (rnd(seed) % 4 == 0)
		memcpy(ip + 6, (const uint8_t[]){ (uint8_t)rnd(seed), (uint8_t)rnd(seed) }, 2);
	for (unsigned int i = 12; i < 20; i++)
		ip[i] = (uint8_t)rnd(seed);
	for (unsigned int i = 0; i < PAYLOAD; i++)
		if (rnd(seed) % 2 == 0)
			l4[i] = (uint8_t)rnd(seed);
	if (rnd(seed) % 32 == 0)
		f[12 + rnd(seed) % (len - 12)] ^= (uint8_t)(1 << rnd(seed) % 8);
	return rnd(seed) % 4 ? len : rnd(seed) % (len + 1);
}

static void
short_way_makes_the_keys_of_the_long_one(void **state)
{
	const unsigned int frames = 400000;
	unsigned int plain = 0, tunnels = 0, established = 0, icmp = 0;
	uint64_t seed = 1;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < frames; i++) {
		uint8_t f[128];
		const uint32_t len = frame_any(f, &seed);
		const struct hy_flow_key key = key_of(f, len);
		struct hy_flow_key any;
		bool is_plain;

		memset(&any, 0x5a, sizeof(any));
		policy_key_any(f, len, &any);
		assert_key(&key, &any, "the long way's");
		is_plain = len >= 54 && f[12] == 8 && f[13] == 0 && f[14] == 0x45 &&
			(f[20] & 0x3f) == 0 && f[21] == 0;
		plain += is_plain;
		tunnels += is_plain && (key.has & HY_FLOW_TUNNEL) != 0;
		established += is_plain && (key.has & HY_FLOW_ESTABLISHED) != 0;
		icmp += is_plain && (key.has & HY_FLOW_ICMP) != 0;
	}
	print_message("%u frames: %u plain, of which %u tunnels, %u established, %u ICMP\n", frames,
		plain, tunnels, established, icmp);
	assert_in_range(plain, frames / 4, frames * 3 / 4);
	assert_true(tunnels > 1000 && established > 10000 && icmp > 10000);
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(short_way_makes_the_keys_of_the_long_one),
	POLICY_TEST(every_header_is_read_at_every_length_and_no_byte_more),
	POLICY_TEST(fragments_of_ip4_have_a_kind_and_no_ports),
	POLICY_TEST(tcp_with_ack_or_rst_is_established),
	POLICY_TEST(types_are_of_the_icmp_of_the_ip),
	POLICY_TEST(malformed_headers_are_not_there_and_count_as_truncated),
	POLICY_TEST(tunnel_needs_its_port_and_its_flag),
	POLICY_TEST(third_tag_and_other_types_are_an_ether_type),
};
UNIT_SUITE(tests)
