/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pkt_cls, its kernels alone: every reason, their precedence, every length, every place in a burst,
 * no read too many.
 */

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_cpuflags.h>

#include "drivers/nodes/generic/classify/pkt_cls_kernels.h"
#include "node_fixture.h"

#define PASS HY_PKT_CLS_NEXT_IP4_LOOKUP
#define UNTOUCHED 0xdeadbeef

/* A page of readable memory between two that are not. */
static uint8_t *page;
static size_t page_size;

static uint8_t *
page_end(void)
{
	uint8_t *pages;

	if (page == NULL) {
		page_size = (size_t)sysconf(_SC_PAGESIZE);
		pages = mmap(NULL, 3 * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(pages, MAP_FAILED);
		page = pages + page_size;
		assert_int_equal(mprotect(page, page_size, PROT_READ | PROT_WRITE), 0);
	}
	return page + page_size;
}

/*
 * Where a frame goes by the rules, in their order, read byte by byte. trusted: its packet type
 * says that it is IPv4 right behind Ethernet.
 */
static uint16_t
oracle(const uint8_t *f, uint32_t len, bool trusted, uint32_t *dst)
{
	const uint32_t type = len < 14 ? 0 : f[12] * 256u + f[13];
	uint32_t header, total;

	if (len < 14)
		return HY_DROP(HY_PKT_CLS_TRUNCATED);
	if (f[0] & 1)
		return HY_DROP(HY_PKT_CLS_L2_NOT_UNICAST);
	if (!trusted && (type == 0x8100 || type == 0x88a8 || type == 0x9100))
		return HY_DROP(HY_PKT_CLS_VLAN_UNKNOWN);
	if (!trusted && type != 0x0800)
		return HY_DROP(HY_PKT_CLS_NOT_IP4);
	if (len < 34)
		return HY_DROP(HY_PKT_CLS_TRUNCATED);
	header = (f[14] & 15) * 4;
	total = f[16] * 256u + f[17];
	if (f[14] >> 4 != 4 || header < 20)
		return HY_DROP(HY_PKT_CLS_BAD_HEADER);
	if (header > len - 14 || total > len - 14)
		return HY_DROP(HY_PKT_CLS_TRUNCATED);
	if (total < header)
		return HY_DROP(HY_PKT_CLS_BAD_HEADER);
	/* A field of 0xffff is another way to write 0, where 0 is right. */
	if (frame_checksum(f) % 0xffff != (f[24] * 256u + f[25]) % 0xffff)
		return HY_DROP(HY_PKT_CLS_BAD_CHECKSUM);
	if (f[30] == 0 || f[30] == 127 || f[30] >= 224)
		return HY_DROP(HY_PKT_CLS_MARTIAN_DST);
	*dst = (uint32_t)f[30] << 24 | f[31] << 16 | f[32] << 8 | f[33];
	return PASS;
}

static const struct {
	const char *name;
	hy_pkt_cls_kernel_t *run;
	enum rte_cpu_flag_t flag; /* that the CPU must have */
} kernels[] = {
#ifdef RTE_ARCH_X86_64
	{ "scalar", hy_pkt_cls_scalar, RTE_CPUFLAG_SSE2 },
	{ "avx2", hy_pkt_cls_avx2, RTE_CPUFLAG_AVX2 },
	{ "avx512", hy_pkt_cls_avx512, RTE_CPUFLAG_AVX512BW },
#elif defined(RTE_ARCH_ARM64)
	{ "scalar", hy_pkt_cls_scalar, RTE_CPUFLAG_NEON },
	{ "neon", hy_pkt_cls_neon, RTE_CPUFLAG_NEON },
#else
	{ "scalar", hy_pkt_cls_scalar, 0 },
#endif
};

static bool
cpu_can(size_t k)
{
	return k == 0 || rte_cpu_get_flag_enabled(kernels[k].flag) == 1;
}

#define WIDEST 16 /* frames that a kernel looks at together */

/* Runs a kernel on a frame among good ones, each time in another place. */
static void
check_among(size_t k, const uint8_t *frame, uint32_t len, uint16_t expected, uint32_t expected_dst)
{
	static uint8_t good[FRAME_MAX];
	static uint32_t good_len;
	static unsigned int place;
	const uint8_t *frames[WIDEST];
	uint32_t lens[WIDEST], dst[WIDEST];
	uint16_t next[WIDEST];

	if (good_len == 0)
		good_len = FRAME(good, .dst = IP4(10, 1, 2, 3), .payload = 26);
	place = (place + 1) % WIDEST;
	for (unsigned int i = 0; i < WIDEST; i++) {
		frames[i] = i == place ? frame : good;
		lens[i] = i == place ? len : good_len;
	}
	kernels[k].run(frames, lens, next, dst, WIDEST);
	for (unsigned int i = 0; i < WIDEST; i++) {
		const uint16_t want = i == place ? expected : PASS;
		const uint32_t want_dst = i == place ? expected_dst : IP4(10, 1, 2, 3);

		if (next[i] != want || (want == PASS && dst[i] != want_dst))
			fail_msg("%s, frame %u, odd one %u of %u bytes: next %d, not %d; "
				 "destination 0x%08x, not 0x%08x",
				kernels[k].name, i, place, lens[i], (int16_t)next[i], (int16_t)want,
				dst[i], want_dst);
	}
}

/* Runs all kernels on a frame and compares with the oracle; returns where it goes. */
static uint16_t
check(const uint8_t *frame, uint32_t len)
{
	const uint32_t ptype = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4, none = 0;
	uint32_t expected_dst = 0, dst = UNTOUCHED;
	uint16_t next = 0x5555, expected = oracle(frame, len, false, &expected_dst);

	for (size_t k = 0; k < RTE_DIM(kernels); k++)
		if (cpu_can(k))
			check_among(k, frame, len, expected, expected_dst);
	hy_pkt_cls_ptype(&frame, &len, &none, &next, &dst, 1);
	if (next != expected || (next == PASS && dst != expected_dst))
		fail_msg("no packet type, %u bytes: next %d, not %d", len, (int16_t)next,
			(int16_t)expected);
	expected = oracle(frame, len, true, &expected_dst);
	hy_pkt_cls_ptype(&frame, &len, &ptype, &next, &dst, 1);
	if (next != expected || (next == PASS && dst != expected_dst))
		fail_msg("packet type IPv4, %u bytes: next %d, not %d", len, (int16_t)next,
			(int16_t)expected);
	return oracle(frame, len, false, &expected_dst);
}

/* A frame of 60 bytes, or of len if that is set, with some bytes changed. */
struct vector {
	const char *what;
	struct {
		uint8_t at, value;
	} set[4]; /* at 0 with value 0 ends the list: the first byte is 2 in good frames */
	uint8_t len;
	bool sum; /* compute the checksum after the changes */
	uint16_t next;
};

#define V(what_, next_, ...) \
	{ \
		.what = (what_), .next = (next_), __VA_ARGS__ \
	}
#define DROP(reason) HY_DROP(HY_PKT_CLS_##reason)
#define SUM .sum = true

static const struct vector vectors[] = {
	V("a good frame", PASS, SUM),
	V("options", PASS, .set = { { 14, 0x4b }, { 17, 46 } }, SUM),
	V("no payload", PASS, .set = { { 17, 20 } }, SUM),
	V("no padding", PASS, .set = { { 17, 46 } }, SUM),
	V("class A, lowest", PASS, .set = { { 30, 1 } }, SUM),
	V("just below loopback", PASS, .set = { { 30, 126 } }, SUM),
	V("just above loopback", PASS, .set = { { 30, 128 } }, SUM),
	V("just below multicast", PASS, .set = { { 30, 223 } }, SUM),
	V("a fragment", PASS, .set = { { 20, 0x20 }, { 21, 7 } }, SUM),
	V("TTL 0 is for the rewrite", PASS, .set = { { 22, 0 } }, SUM),
	V("source is a group", PASS, .set = { { 6, 1 } }, SUM),
	V("13 bytes", DROP(TRUNCATED), .len = 13),
	V("33 bytes", DROP(TRUNCATED), .len = 33),
	V("total length beyond", DROP(TRUNCATED), .set = { { 17, 47 } }, SUM),
	V("total length far beyond", DROP(TRUNCATED), .set = { { 16, 255 } }, SUM),
	V("header beyond", DROP(TRUNCATED), .set = { { 14, 0x4c } }, SUM),
	V("group address", DROP(L2_NOT_UNICAST), .set = { { 0, 1 } }, SUM),
	V("broadcast", DROP(L2_NOT_UNICAST), .set = { { 0, 0xff } }, SUM),
	V("802.1Q", DROP(VLAN_UNKNOWN), .set = { { 12, 0x81 } }, SUM),
	V("802.1ad", DROP(VLAN_UNKNOWN), .set = { { 12, 0x88 }, { 13, 0xa8 } }, SUM),
	V("old QinQ", DROP(VLAN_UNKNOWN), .set = { { 12, 0x91 } }, SUM),
	V("0x9200 is no tag here", DROP(NOT_IP4), .set = { { 12, 0x92 } }, SUM),
	V("ARP", DROP(NOT_IP4), .set = { { 13, 6 } }, SUM),
	V("IPv6", DROP(NOT_IP4), .set = { { 12, 0x86 }, { 13, 0xdd } }, SUM),
	V("802.3 length", DROP(NOT_IP4), .set = { { 12, 0 }, { 13, 46 } }, SUM),
	V("swapped ether type", DROP(NOT_IP4), .set = { { 12, 0 }, { 13, 8 } }, SUM),
	V("version 3", DROP(BAD_HEADER), .set = { { 14, 0x35 } }, SUM),
	V("version 6", DROP(BAD_HEADER), .set = { { 14, 0x65 } }, SUM),
	V("IHL 4", DROP(BAD_HEADER), .set = { { 14, 0x44 } }, SUM),
	V("IHL 0", DROP(BAD_HEADER), .set = { { 14, 0x40 } }, SUM),
	V("total length 19", DROP(BAD_HEADER), .set = { { 17, 19 } }, SUM),
	V("total length 0", DROP(BAD_HEADER), .set = { { 17, 0 } }, SUM),
	V("total length within options", DROP(BAD_HEADER), .set = { { 14, 0x46 }, { 17, 23 } },
		SUM),
	V("checksum", DROP(BAD_CHECKSUM), .set = { { 24, 0x12 } }),
	V("TTL changed", DROP(BAD_CHECKSUM), .set = { { 22, 63 } }),
	V("an option changed", DROP(BAD_CHECKSUM), .set = { { 14, 0x46 }, { 36, 1 } }),
	V("0/8", DROP(MARTIAN_DST), .set = { { 30, 0 } }, SUM),
	V("127/8", DROP(MARTIAN_DST), .set = { { 30, 127 } }, SUM),
	V("224/4", DROP(MARTIAN_DST), .set = { { 30, 224 } }, SUM),
	V("239.x", DROP(MARTIAN_DST), .set = { { 30, 239 } }, SUM),
	V("240/4", DROP(MARTIAN_DST), .set = { { 30, 240 } }, SUM),
	V("255.x", DROP(MARTIAN_DST), .set = { { 30, 255 } }, SUM),
	/* Two faults in one frame: the first rule counts. */
	V("short, group", DROP(TRUNCATED), .set = { { 0, 1 } }, .len = 13),
	V("group, VLAN", DROP(L2_NOT_UNICAST), .set = { { 0, 1 }, { 12, 0x81 } }, SUM),
	V("VLAN, short", DROP(VLAN_UNKNOWN), .set = { { 12, 0x81 } }, .len = 33),
	V("not IPv4, short", DROP(NOT_IP4), .set = { { 13, 6 } }, .len = 33),
	V("not IPv4, version", DROP(NOT_IP4), .set = { { 13, 6 }, { 14, 0x65 } }),
	V("short, version", DROP(TRUNCATED), .set = { { 14, 0x65 } }, .len = 33),
	V("version, header beyond", DROP(BAD_HEADER), .set = { { 14, 0x6f } }),
	V("IHL, length beyond", DROP(BAD_HEADER), .set = { { 14, 0x44 }, { 17, 47 } }),
	V("header beyond, total in it", DROP(TRUNCATED), .set = { { 14, 0x4c }, { 17, 21 } }),
	V("total in header, checksum", DROP(BAD_HEADER), .set = { { 17, 19 } }),
	V("length beyond, checksum", DROP(TRUNCATED), .set = { { 17, 47 }, { 24, 1 } }),
	V("checksum, martian", DROP(BAD_CHECKSUM), .set = { { 30, 127 } }),
};

static void
each_rule_has_its_reason_and_the_first_counts(void **state)
{
	unsigned int seen[HY_PKT_CLS_MARTIAN_DST + 1] = { 0 };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(vectors); i++) {
		const struct vector *v = &vectors[i];
		uint8_t frame[FRAME_MAX];
		uint32_t len = FRAME(frame, .payload = 20, .padding = 6);
		uint16_t next;

		for (unsigned int s = 0; s < 4 && (v->set[s].at | v->set[s].value) != 0; s++)
			frame[v->set[s].at] = v->set[s].value;
		if (v->sum)
			frame_sum(frame);
		if (v->len != 0)
			len = v->len;
		assert_true(len == v->len || len == 60);
		next = check(frame, len);
		if (next != v->next)
			fail_msg("%s: %d, not %d", v->what, (int16_t)next, (int16_t)v->next);
		if (next != PASS)
			seen[(uint16_t)(HY_DROP(0) - next)]++;
	}
	for (size_t r = 0; r < RTE_DIM(seen); r++)
		assert_true(seen[r] > 0);
}

/* Every length with every IHL and total lengths around the limits, up against the guard page. */
static void
every_length_is_judged_without_reading_beyond_the_frame(void **state)
{
	uint8_t frame[FRAME_MAX];
	unsigned int compared = 0, passed = 0;

	RTE_SET_USED(state);
	for (uint32_t len = 0; len <= 80; len++) {
		uint8_t *at = page_end() - len;

		for (uint32_t ihl = 0; ihl < 16; ihl++) {
			const int totals[] = { 0, (int)ihl * 4 - 1, (int)ihl * 4, (int)len - 15,
				(int)len - 14, (int)len - 13, 0xffff };

			for (size_t t = 0; t < RTE_DIM(totals); t++, compared++) {
				FRAME(frame, .ihl = 15, .payload = 20);
				frame[14] = (uint8_t)(0x40 | ihl);
				frame[16] = (uint8_t)(totals[t] >> 8);
				frame[17] = (uint8_t)totals[t];
				frame_sum(frame);
				memcpy(at, frame, len);
				passed += check(at, len) == PASS;
			}
		}
	}
	assert_int_equal(compared, 81 * 16 * 7);
	assert_true(passed > 500);
}

/* A long frame of which only the first 74 bytes can be read. */
static void
nothing_is_read_beyond_the_longest_headers(void **state)
{
	uint8_t frame[FRAME_MAX];
	uint8_t *at = page_end() - HY_PKT_CLS_HEADERS;
	const uint32_t len = FRAME(frame, .ihl = 15, .payload = 1000);

	RTE_SET_USED(state);
	assert_int_equal(HY_PKT_CLS_HEADERS, 74);
	memcpy(at, frame, HY_PKT_CLS_HEADERS);
	assert_int_equal(check(at, len), PASS);
	assert_int_equal(check(at, 0xffffffff), PASS);
}

static void
guard_page_faults_when_it_is_read(void **state)
{
	const volatile uint8_t *beyond = page_end();
	pid_t child = fork();
	int status;

	RTE_SET_USED(state);
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		_exit(*beyond);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* A random frame, more often than not with something wrong. Returns its length. */
static uint32_t
frame_random(uint8_t *f, uint64_t *seed)
{
	static const uint8_t types[][2] = { { 0x81, 0 }, { 0x88, 0xa8 }, { 0x91, 0 }, { 8, 6 },
		{ 0x86, 0xdd }, { 0, 46 } };
	static const uint8_t nets[] = { 0, 1, 126, 127, 128, 223, 224, 255 };
	const uint32_t r = rnd(seed);
	uint32_t len = FRAME(f, .ihl = (uint8_t)(5 + rnd(seed) % 11),
		.payload = (uint16_t)(rnd(seed) % 40), .padding = (uint16_t)(rnd(seed) % 8),
		.id = (uint16_t)rnd(seed), .ttl = (uint8_t)rnd(seed), .dst = rnd(seed) | 1);

	if (r % 16 == 0)
		f[0] |= 1;
	if (r / 16 % 8 == 0)
		memcpy(f + 12, types[rnd(seed) % RTE_DIM(types)], 2);
	if (r / 128 % 16 == 0)
		f[14] = (uint8_t)rnd(seed);
	if (r / 2048 % 8 == 0)
		f[17] = (uint8_t)(f[17] + rnd(seed) % 64 - 32);
	if (r / 16384 % 4 == 0)
		f[30] = nets[rnd(seed) % RTE_DIM(nets)];
	frame_sum(f);
	if (r / 65536 % 8 == 0)
		f[14 + rnd(seed) % 20] ^= (uint8_t)(1u << rnd(seed) % 8);
	if (r / (65536 * 8) % 8 == 0)
		len = rnd(seed) % (len + 1);
	return len;
}

static void
random_frames_agree_with_the_rules(void **state)
{
	unsigned int seen[HY_PKT_CLS_MARTIAN_DST + 2] = { 0 };
	uint8_t frame[FRAME_MAX];
	uint64_t seed = 1;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 300000; i++) {
		const uint32_t len = frame_random(frame, &seed);
		const uint16_t next = check(frame, len);

		seen[next == PASS ? HY_PKT_CLS_MARTIAN_DST + 1 : (uint16_t)(HY_DROP(0) - next)]++;
	}
	for (size_t r = 0; r < RTE_DIM(seen); r++)
		assert_true(seen[r] > 3000);
}

static void
packet_type_counts_only_as_ip4_right_behind_ethernet(void **state)
{
	static const struct {
		uint32_t ptype;
		bool believed;
	} types[] = {
		{ RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4, true },
		{ RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT, true },
		{ RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN, true },
		{ RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_UDP, true },
		{ RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_TUNNEL_IP |
				RTE_PTYPE_INNER_L3_IPV6,
			true },
		{ 0, false },
		{ RTE_PTYPE_L2_ETHER, false },
		{ RTE_PTYPE_L3_IPV4, false },
		{ RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6, false },
		{ RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT, false },
		{ RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, false },
		{ RTE_PTYPE_L2_ETHER | RTE_PTYPE_INNER_L3_IPV4, false },
		{ RTE_PTYPE_L2_ETHER_VLAN | RTE_PTYPE_L3_IPV4, false },
		{ RTE_PTYPE_L2_ETHER_QINQ | RTE_PTYPE_L3_IPV4, false },
		{ RTE_PTYPE_L2_ETHER_PPPOE | RTE_PTYPE_L3_IPV4, false },
		{ RTE_PTYPE_L2_ETHER_MPLS | RTE_PTYPE_L3_IPV4, false },
		{ RTE_PTYPE_L2_ETHER_ARP, false },
	};
	uint8_t bytes[FRAME_MAX];
	const uint8_t *frame = bytes;
	const uint32_t len = FRAME(bytes, .payload = 20);

	RTE_SET_USED(state);
	bytes[13] = 6; /* the ether type says otherwise, to tell who is believed */
	for (size_t i = 0; i < RTE_DIM(types); i++) {
		uint16_t next = 0x5555;
		uint32_t dst = UNTOUCHED;

		hy_pkt_cls_ptype(&frame, &len, &types[i].ptype, &next, &dst, 1);
		if (next != (types[i].believed ? PASS : DROP(NOT_IP4)))
			fail_msg("packet type 0x%08x: %d", types[i].ptype, (int16_t)next);
	}
	/* A group address is seen all the same. */
	bytes[0] |= 1;
	{
		uint16_t next = 0;
		uint32_t dst;

		hy_pkt_cls_ptype(&frame, &len, &types[0].ptype, &next, &dst, 1);
		assert_int_equal(next, DROP(L2_NOT_UNICAST));
	}
}

/* What a NIC says that tells the truth, or nothing. */
static uint32_t
ptype_true(const uint8_t *f, uint32_t len, uint64_t *seed)
{
	const uint32_t type = len < 14 ? 0 : f[12] * 256u + f[13];

	if (len < 34 || rnd(seed) % 8 == 0)
		return 0;
	if (type == 0x0800)
		return RTE_PTYPE_L2_ETHER |
			(rnd(seed) % 2 ? RTE_PTYPE_L3_IPV4 : RTE_PTYPE_L3_IPV4_EXT_UNKNOWN);
	if (type == 0x8100)
		return RTE_PTYPE_L2_ETHER_VLAN | RTE_PTYPE_L3_IPV4;
	if (type == 0x88a8 || type == 0x9100)
		return RTE_PTYPE_L2_ETHER_QINQ | RTE_PTYPE_L3_IPV4;
	return RTE_PTYPE_L2_ETHER | (type == 0x86dd ? RTE_PTYPE_L3_IPV6 : 0);
}

/* What a kernel made of a burst; nothing may be written behind it. */
struct answer {
	uint16_t next[HY_BURST_MAX + 1];
	uint32_t dst[HY_BURST_MAX + 1];
};

static unsigned int
compare(const char *name, const struct answer *got, const uint8_t *const frame[],
	const uint32_t len[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t dst = 0;
		const uint16_t next = oracle(frame[i], len[i], false, &dst);

		if (got->next[i] != next || (next == PASS && got->dst[i] != dst))
			fail_msg("%s, frame %u of %u: next %d, not %d; destination 0x%08x, not "
				 "0x%08x",
				name, i, n, (int16_t)got->next[i], (int16_t)next, got->dst[i], dst);
	}
	assert_int_equal(got->next[n], 0x5555);
	assert_int_equal(got->dst[n], 0x55555555);
	return n;
}

/* Most frames good, or none, or a half. */
static void
kernels_agree_on_bursts_of_every_size(void **state)
{
	static uint8_t bytes[HY_BURST_MAX][160];
	const uint8_t *frame[HY_BURST_MAX] = { NULL };
	uint32_t len[HY_BURST_MAX] = { 0 }, ptype[HY_BURST_MAX] = { 0 };
	unsigned int compared = 0, runs = 0;
	static struct answer got;
	uint64_t seed = 2;

	RTE_SET_USED(state);
	for (uint32_t n = 0; n <= HY_BURST_MAX; n++) {
		const uint32_t odd = (uint32_t[]){ 1, 2, 10, 100 }[n % 4];

		for (uint32_t i = 0; i < n; i++) {
			frame[i] = bytes[i];
			if (rnd(&seed) % odd == 0)
				len[i] = frame_random(bytes[i], &seed);
			else
				len[i] = FRAME(bytes[i], .dst = rnd(&seed) % 0x7e000000 + 0x1000000,
					.payload = (uint16_t)(rnd(&seed) % 30));
			ptype[i] = ptype_true(bytes[i], len[i], &seed);
		}
		for (size_t k = 0; k < RTE_DIM(kernels); k++) {
			if (!cpu_can(k))
				continue;
			memset(&got, 0x55, sizeof(got));
			kernels[k].run(frame, len, got.next, got.dst, n);
			compared += compare(kernels[k].name, &got, frame, len, n);
			runs += n == 0;
		}
		memset(&got, 0x55, sizeof(got));
		hy_pkt_cls_ptype(frame, len, ptype, got.next, got.dst, n);
		compared += compare("ptype", &got, frame, len, n);
	}
	assert_int_equal(compared, 256 * 257 / 2 * (runs + 1));
}

static const struct CMUnitTest node_cls_tests[] = {
	NODE_TEST(each_rule_has_its_reason_and_the_first_counts),
	NODE_TEST(every_length_is_judged_without_reading_beyond_the_frame),
	NODE_TEST(nothing_is_read_beyond_the_longest_headers),
	NODE_TEST(guard_page_faults_when_it_is_read),
	NODE_TEST(random_frames_agree_with_the_rules),
	NODE_TEST(packet_type_counts_only_as_ip4_right_behind_ethernet),
	NODE_TEST(kernels_agree_on_bursts_of_every_size),
};

UNIT_SUITE(node_cls_tests)
