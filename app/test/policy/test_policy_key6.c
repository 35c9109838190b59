/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of IPv6: extension headers by kind, number and size, fragments, and cuts at every byte. */

#include <netinet/in.h>
#include <string.h>

#include "key_fixture.h"

#define HAS_IP6 \
	(HY_FLOW_SRC_MAC | HY_FLOW_DST_MAC | HY_FLOW_ETHER_TYPE | HY_FLOW_IPV6 | HY_FLOW_SRC | \
		HY_FLOW_DST | HY_FLOW_DSCP | HY_FLOW_FRAGMENT)
#define CUT HY_FLOW_TRUNCATED
#define L3 14
#define FRAME_MAX 1024

/* An extension header: its type, and its size in bytes; of fragments, the offset and the flag. */
struct extension {
	uint8_t type;
	uint16_t size;
	uint16_t offset;
};

struct shape {
	struct extension ext[10];
	unsigned int nb_ext, tags;
	uint8_t proto;
};

static uint32_t
ext_write(uint8_t *at, const struct extension *ext, uint8_t next)
{
	memset(at, 0xee, ext->size);
	at[0] = next;
	at[1] = (uint8_t)(ext->type == IPPROTO_AH ? ext->size / 4 - 2 : ext->size / 8 - 1);
	if (ext->type == IPPROTO_FRAGMENT) {
		at[2] = (uint8_t)(ext->offset >> 8);
		at[3] = (uint8_t)ext->offset;
	}
	return ext->size;
}

/* Writes a frame with 20 bytes after its headers. Returns where those start. */
static uint32_t
frame_write(uint8_t *f, const struct shape *s)
{
	static const uint8_t payload[20] = { 0x80, 0x39, 0x12, 0xb5, 0, 16, 0, 0, 8, 0, 0, 0, 0x50,
		0x12 };
	uint32_t at = 12;

	memcpy(f, "\x01\x02\x03\x04\x05\x06\xf1\xf2\xf3\xf4\xf5\xf6", 12);
	for (unsigned int t = 0; t < s->tags; t++, at += 4)
		memcpy(f + at, "\x81\x00\x01\x07", 4);
	memcpy(f + at, "\x86\xdd", 2);
	at += 2;
	memset(f + at, 0, 40);
	f[at] = 0x6b; /* traffic class 0xb9 */
	f[at + 1] = 0x9f;
	f[at + 6] = s->nb_ext == 0 ? s->proto : s->ext[0].type;
	for (uint8_t i = 0; i < 32; i++)
		f[at + 8 + i] = (uint8_t)(i + 1);
	at += 40;
	for (unsigned int e = 0; e < s->nb_ext; e++)
		at += ext_write(f + at, &s->ext[e],
			e + 1 < s->nb_ext ? s->ext[e + 1].type : s->proto);
	memcpy(f + at, payload, sizeof(payload));
	return at;
}

static uint32_t
l4_least(uint8_t proto)
{
	return proto == 6 ? 20 : proto == 132 ? 12 : proto == 17 ? 8 : proto == 58 ? 4 : 0;
}

static void
expected_l4(uint32_t left, uint8_t proto, struct hy_flow_key *key)
{
	if (left < l4_least(proto))
		key->has |= CUT;
	if (left >= 4 && (proto == 6 || proto == 17 || proto == 132)) {
		key->has |= HY_FLOW_PORTS;
		key->sport = 0x8039;
		key->dport = 4789;
	}
	if (left >= 14 && proto == 6) {
		key->has |= HY_FLOW_TCP_FLAGS | HY_FLOW_ESTABLISHED;
		key->tcp_flags = 0x12;
	}
	if (left >= 2 && proto == 58) {
		key->has |= HY_FLOW_ICMP;
		key->icmp_type = 0x80;
		key->icmp_code = 0x39;
	}
}

/*
 * What the extension headers are said to do, header by header. Returns where the payload starts; 0:
 * there is none to read.
 */
static uint32_t
expected_extensions(uint32_t len, const struct shape *s, uint32_t at, struct hy_flow_key *key)
{
	uint32_t bytes = 0;

	key->fragment = HY_FLOW_NO_FRAGMENT;
	for (unsigned int e = 0; e < s->nb_ext; e++) {
		const struct extension *ext = &s->ext[e];
		const bool over = e >= HY_FLOW_EXTENSIONS ||
			bytes + ext->size > HY_FLOW_EXTENSION_BYTES;
		const bool cut = e < HY_FLOW_EXTENSIONS && len < at + ext->size;

		if (over || cut) {
			key->has |= cut ? CUT : 0;
			key->fragment = HY_FLOW_UNKNOWN_FRAGMENT;
			return 0;
		}
		bytes += ext->size;
		at += ext->size;
		if (ext->type != IPPROTO_FRAGMENT)
			continue;
		if (ext->offset >= 8) {
			key->fragment = HY_FLOW_LATER_FRAGMENT;
			if (e + 1 == s->nb_ext) {
				key->has |= HY_FLOW_PROTO;
				key->proto = s->proto;
			}
			return 0;
		}
		if ((ext->offset & 1) != 0)
			key->fragment = HY_FLOW_FIRST_FRAGMENT;
	}
	key->has |= HY_FLOW_PROTO;
	key->proto = s->proto;
	return key->fragment == HY_FLOW_NO_FRAGMENT ? at : 0;
}

static struct hy_flow_key
expected(uint32_t len, const struct shape *s)
{
	const uint32_t l3 = L3 + 4 * s->tags;
	struct hy_flow_key key = { 0 };
	uint32_t l4;

	if (len >= 14) {
		key.has = HY_FLOW_SRC_MAC | HY_FLOW_DST_MAC;
		key.dst_mac = 0x010203040506;
		key.src_mac = 0xf1f2f3f4f5f6;
	}
	if (len >= 18 && s->tags > 0) {
		key.has |= HY_FLOW_VLAN;
		key.vlan = 0x107;
	}
	if (len >= l3) {
		key.has |= HY_FLOW_ETHER_TYPE;
		key.ether_type = 0x86dd;
	}
	if (len < l3 + 40) {
		key.has |= CUT;
		return key;
	}
	key.has |= HAS_IP6;
	key.dscp = 46;
	for (uint32_t w = 0; w < 4; w++) {
		key.src6[w] = 0x01020304 + w * 0x04040404;
		key.dst6[w] = 0x11121314 + w * 0x04040404;
	}
	l4 = expected_extensions(len, s, l3 + 40, &key);
	if (l4 != 0)
		expected_l4(len - l4, s->proto, &key);
	return key;
}

/* Compares keys of a frame cut at every byte. Returns their number. */
static unsigned int
compare(const struct shape *s, const char *what)
{
	uint8_t frame[FRAME_MAX];
	const uint32_t whole = frame_write(frame, s) + 20;

	for (uint32_t len = 0; len <= whole; len++) {
		const struct hy_flow_key got = key_of(frame, len), want = expected(len, s);

		assert_key(&got, &want, what);
	}
	return whole + 1;
}

static void
every_extension_is_walked_at_every_length_and_no_byte_more(void **state)
{
	static const uint8_t protos[] = { 6, 17, 132, 58, 1, 59, 50, 255 };
	static const struct extension kinds[] = { { IPPROTO_HOPOPTS, 8, 0 },
		{ IPPROTO_ROUTING, 24, 0 }, { IPPROTO_DSTOPTS, 64, 0 }, { IPPROTO_AH, 24, 0 },
		{ IPPROTO_AH, 8, 0 }, { IPPROTO_FRAGMENT, 8, 0 }, { IPPROTO_FRAGMENT, 8, 6 },
		{ IPPROTO_FRAGMENT, 8, 1 }, { IPPROTO_FRAGMENT, 8, 8 },
		{ IPPROTO_FRAGMENT, 8, 0xfff9 } };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (unsigned int p = 0; p < RTE_DIM(protos); p++) {
		struct shape s = { .proto = protos[p] };

		compared += compare(&s, "no extension");
		for (unsigned int a = 0; a < RTE_DIM(kinds); a++) {
			s.ext[0] = kinds[a];
			s.nb_ext = 1;
			s.tags = a % 3;
			compared += compare(&s, "one extension");
			for (unsigned int b = 0; b < RTE_DIM(kinds); b++) {
				s.ext[1] = kinds[b];
				s.nb_ext = 2;
				compared += compare(&s, "two extensions");
			}
		}
	}
	assert_true(compared > 50000);
}

static void
extensions_beyond_the_bounds_leave_the_packet_unknown(void **state)
{
	struct shape s = { .proto = 6 };
	uint8_t frame[FRAME_MAX];
	struct hy_flow_key got;
	uint32_t whole;

	RTE_SET_USED(state);
	for (unsigned int n = 0; n <= 10; n++) {
		s.nb_ext = n;
		for (unsigned int e = 0; e < n; e++)
			s.ext[e] = (struct extension){ IPPROTO_DSTOPTS, 16, 0 };
		compare(&s, "number");
		whole = frame_write(frame, &s) + 20;
		got = key_of(frame, whole);
		assert_int_equal(got.fragment,
			n <= HY_FLOW_EXTENSIONS ? HY_FLOW_NO_FRAGMENT : HY_FLOW_UNKNOWN_FRAGMENT);
		assert_int_equal(got.has & CUT, 0);
	}
	s.nb_ext = 2;
	for (uint16_t size = 8; size <= 256; size += 8) {
		s.ext[0] = (struct extension){ IPPROTO_HOPOPTS, 40, 0 };
		s.ext[1] = (struct extension){ IPPROTO_ROUTING, size, 0 };
		compare(&s, "size");
		whole = frame_write(frame, &s) + 20;
		got = key_of(frame, whole);
		assert_int_equal((got.has & HY_FLOW_PROTO) != 0,
			40u + size <= HY_FLOW_EXTENSION_BYTES);
		assert_int_equal(got.has & CUT, 0);
	}
}

static void
longest_headers_are_all_that_is_read(void **state)
{
	struct shape s = { .proto = 6, .tags = 2, .nb_ext = 8 };
	uint8_t frame[FRAME_MAX];
	struct hy_flow_key got, want;
	uint32_t l4;

	RTE_SET_USED(state);
	for (unsigned int e = 0; e < 8; e++)
		s.ext[e] = (struct extension){ IPPROTO_DSTOPTS, 16, 0 };
	l4 = frame_write(frame, &s);
	assert_int_equal(l4 + 14, HY_FLOW_HEADERS);
	want = expected(l4 + 20, &s);
	assert_int_equal(want.has & (HY_FLOW_TCP_FLAGS | HY_FLOW_ESTABLISHED | CUT),
		HY_FLOW_TCP_FLAGS | HY_FLOW_ESTABLISHED);
	got = key_of_piece(frame, HY_FLOW_HEADERS, l4 + 20);
	assert_key(&got, &want, "all headers");
	got = key_of_piece(frame, HY_FLOW_HEADERS, 9000);
	assert_key(&got, &want, "a longer frame");
}

/* Random bytes behind IPv6: whatever they announce, no byte beyond the bound is read. */
static void
random_headers_stay_within_the_bound(void **state)
{
	static const uint8_t types[] = { 0, 43, 44, 51, 60, 6, 17, 58 };
	unsigned int unknown = 0, later = 0, known = 0;
	uint64_t seed = 5;

	RTE_SET_USED(state);
	for (unsigned int round = 0; round < 200000; round++) {
		const struct shape s = { .proto = types[rnd(&seed) % RTE_DIM(types)] };
		uint8_t frame[FRAME_MAX];
		struct hy_flow_key key;

		for (uint32_t at = frame_write(frame, &s); at < 256; at++)
			frame[at] = rnd(&seed) % 2 ? types[rnd(&seed) % RTE_DIM(types)]
						   : (uint8_t)(rnd(&seed) % 4);
		key = key_of_piece(frame, HY_FLOW_HEADERS, 256 + rnd(&seed) % 2000);
		unknown += key.fragment == HY_FLOW_UNKNOWN_FRAGMENT;
		later += key.fragment == HY_FLOW_LATER_FRAGMENT;
		known += (key.has & HY_FLOW_PROTO) != 0;
	}
	assert_true(unknown > 1000 && later > 1000 && known > 1000);
}

static void
other_versions_are_not_ip6(void **state)
{
	const struct shape s = { .proto = 6 };
	uint8_t frame[FRAME_MAX];
	const uint32_t whole = frame_write(frame, &s) + 20;

	RTE_SET_USED(state);
	for (unsigned int version = 0; version < 16; version++) {
		const struct hy_flow_key want = expected(version == 6 ? whole : L3, &s);
		struct hy_flow_key got;

		frame[L3] = (uint8_t)(version << 4 | 0xb);
		got = key_of(frame, whole);
		assert_key(&got, &want, "version");
	}
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(every_extension_is_walked_at_every_length_and_no_byte_more),
	POLICY_TEST(extensions_beyond_the_bounds_leave_the_packet_unknown),
	POLICY_TEST(longest_headers_are_all_that_is_read),
	POLICY_TEST(random_headers_stay_within_the_bound),
	POLICY_TEST(other_versions_are_not_ip6),
};
UNIT_SUITE(tests)
