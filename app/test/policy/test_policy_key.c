/* SPDX-License-Identifier: BSD-3-Clause */
/* From frames to keys: every field, every length, every alignment, and no byte too many. */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "policy_fixture.h"

#define HAS_ETHER HY_FLOW_ETHER_TYPE
#define HAS_IP4 (HAS_ETHER | HY_FLOW_IP4)
#define HAS_PORTS (HAS_IP4 | HY_FLOW_PORTS)

static uint8_t *page; /* between two that cannot be read */
static size_t page_size;

/* Makes a key of a frame that ends where readable memory does. */
static struct hy_flow_key
key_of(const uint8_t *frame, uint32_t len)
{
	struct hy_flow_key key;
	uint8_t *pages, *at;

	if (page == NULL) {
		page_size = (size_t)sysconf(_SC_PAGESIZE);
		pages = mmap(NULL, 3 * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(pages, MAP_FAILED);
		page = pages + page_size;
		assert_int_equal(mprotect(page, page_size, PROT_READ | PROT_WRITE), 0);
	}
	at = page + page_size - len;
	memcpy(at, frame, len);
	memset(&key, 0xa5, sizeof(key));
	hy_flow_key(at, len, &key);
	return key;
}

static void
assert_key(const struct hy_flow_key *got, const struct hy_flow_key *want, const char *what)
{
	if (got->has != want->has || got->src != want->src || got->dst != want->dst ||
		got->tunnel != want->tunnel || got->ether_type != want->ether_type ||
		got->vlan != want->vlan || got->sport != want->sport || got->dport != want->dport ||
		got->proto != want->proto || got->dscp != want->dscp)
		fail_msg("%s: has %x src %x dst %x tunnel %u type %x vlan %u ports %u %u proto %u "
			 "dscp %u; wanted has %x src %x dst %x tunnel %u type %x vlan %u ports %u "
			 "%u proto %u dscp %u",
			what, got->has, got->src, got->dst, got->tunnel, got->ether_type, got->vlan,
			got->sport, got->dport, got->proto, got->dscp, want->has, want->src,
			want->dst, want->tunnel, want->ether_type, want->vlan, want->sport,
			want->dport, want->proto, want->dscp);
}

/* Ethernet with so many tags, IPv4 with so many words of options, and 16 bytes of payload. */
static uint32_t
frame_write(uint8_t *f, unsigned int tags, unsigned int options, uint8_t proto)
{
	static const uint8_t payload[16] = { 0x30, 0x39, 0x12, 0xb5, 0, 16, 0, 0, 0x08, 0, 0, 0,
		0x01, 0x02, 0x03, 0 };
	uint32_t at = 12;

	memset(f, 0x02, 12);
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

/* The same by the layout of frame_write(), for a frame cut to len bytes. */
static struct hy_flow_key
expected(uint32_t len, unsigned int tags, unsigned int options, uint8_t proto)
{
	const uint32_t ip = 14 + 4 * tags, l4 = ip + 20 + 4 * options;
	const bool ports = proto == 6 || proto == 17 || proto == 132;
	struct hy_flow_key key = { 0 };

	if (tags > 0 && len >= 18) {
		key.has |= HY_FLOW_VLAN;
		key.vlan = 0x107;
	}
	if (len >= ip) {
		key.has |= HAS_ETHER;
		key.ether_type = 0x0800;
	}
	if (len >= l4) {
		key.has |= HAS_IP4;
		key.src = 0x0a010203;
		key.dst = 0xc00002c8;
		key.proto = proto;
		key.dscp = 46;
	}
	if (len >= l4 + 4 && ports) {
		key.has |= HAS_PORTS;
		key.sport = 12345;
		key.dport = 4789;
	}
	if (len >= l4 + 16 && proto == 17) {
		key.has |= HY_FLOW_TUNNEL;
		key.tunnel = 0x010203;
	}
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
	assert_int_equal(compared, 5 * 11 * (51 + 55 + 59 + 3 * 20));
}

static void
longest_headers_are_all_that_is_read(void **state)
{
	uint8_t frame[HY_FLOW_HEADERS];
	const uint32_t whole = frame_write(frame, 2, 10, 17);
	const struct hy_flow_key got = key_of(frame, whole), want = expected(whole, 2, 10, 17);
	struct hy_flow_key long_frame;

	RTE_SET_USED(state);
	assert_int_equal(whole, HY_FLOW_HEADERS);
	assert_key(&got, &want, "all headers");
	/* A length beyond the bytes that are there in one piece. */
	hy_flow_key(page + page_size - whole, 1514, &long_frame);
	assert_key(&long_frame, &want, "a longer frame");
}

static void
fragments_have_no_ports(void **state)
{
	static const struct {
		uint8_t high, low;
		bool ports;
	} fields[] = { { 0x20, 0, false }, { 0, 1, false }, { 0x20, 1, false },
		{ 0x1f, 0xff, false }, { 0x40, 0, true }, { 0, 0, true }, { 0x80, 0, true } };
	uint8_t frame[HY_FLOW_HEADERS];

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(fields); i++) {
		const uint32_t len = frame_write(frame, 0, 0, 17);
		struct hy_flow_key got, want = expected(fields[i].ports ? len : 34, 0, 0, 17);

		frame[20] = fields[i].high;
		frame[21] = fields[i].low;
		got = key_of(frame, len);
		assert_key(&got, &want, "fragment");
	}
}

static void
malformed_headers_are_not_there(void **state)
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
	struct hy_flow_key want = expected(len - 1, 0, 0, 17), got;

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
	const struct hy_flow_key tagged = {
		.has = HAS_ETHER | HY_FLOW_VLAN, .ether_type = 0x8100, .vlan = 0x107
	};
	const struct hy_flow_key arp = { .has = HAS_ETHER, .ether_type = 0x0806 };
	const struct hy_flow_key priority = { .has = HAS_ETHER | HY_FLOW_VLAN,
		.ether_type = 0x0806 };
	const struct hy_flow_key old = {
		.has = HAS_ETHER | HY_FLOW_VLAN, .ether_type = 0x86dd, .vlan = 0xfff
	};
	uint8_t frame[HY_FLOW_HEADERS];
	struct hy_flow_key got;

	RTE_SET_USED(state);
	frame_write(frame, 2, 0, 17);
	memcpy(frame + 20, "\x81\x00", 2);
	got = key_of(frame, 60);
	assert_key(&got, &tagged, "three tags");
	memcpy(frame + 12, "\x08\x06", 2);
	got = key_of(frame, 60);
	assert_key(&got, &arp, "ARP");
	memcpy(frame + 12, "\x81\x00\xe0\x00\x08\x06", 6);
	got = key_of(frame, 60);
	assert_key(&got, &priority, "priority tag");
	memcpy(frame + 12, "\x91\x00\xff\xff\x86\xdd", 6);
	got = key_of(frame, 60);
	assert_key(&got, &old, "tag of 0x9100");
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(every_header_is_read_at_every_length_and_no_byte_more),
	POLICY_TEST(longest_headers_are_all_that_is_read),
	POLICY_TEST(fragments_have_no_ports),
	POLICY_TEST(malformed_headers_are_not_there),
	POLICY_TEST(tunnel_needs_its_port_and_its_flag),
	POLICY_TEST(third_tag_and_other_types_are_an_ether_type),
};
UNIT_SUITE(tests)
