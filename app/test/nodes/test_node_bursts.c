/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The vector variants of pkt_cls and ip4_rewrite, and those of ip4_forward, in a real graph, in bursts
 * of every tail: one packet of a burst is unlike the others, at each place in turn.
 */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_cpuflags.h>

#include "node_fixture.h"

#define BURST_MOST 49 /* three vectors of 16, and one more */
#define HEADERS 34    /* bytes of Ethernet and IPv4 without options */

struct variant {
	const char *name;
	enum rte_cpu_flag_t flag; /* that the CPU must have */
};

/* Of pkt_cls and of ip4_rewrite. Those of ip4_forward are some of them. */
static const struct variant variants[] = {
#ifdef RTE_ARCH_X86_64
	{ "scalar", RTE_CPUFLAG_SSE2 },
	{ "avx2", RTE_CPUFLAG_AVX2 },
	{ "avx512", RTE_CPUFLAG_AVX512BW },
#elif defined(RTE_ARCH_ARM64)
	{ "scalar", RTE_CPUFLAG_NEON },
	{ "neon", RTE_CPUFLAG_NEON },
#endif
};

static bool
can_run(const struct variant *variant)
{
	return rte_cpu_get_flag_enabled(variant->flag) == 1;
}

/*
 * Calls run with a graph of each pair of variants, and of each fusion, that the CPU can run. What has
 * several segments in each burst is left to the nodes.
 */
static void
each_chain(void (*run)(struct hy_graph *graph), bool in_segments)
{
	unsigned int graphs = 0, fused = 0;

	for (size_t c = 0; c < RTE_DIM(variants); c++) {
		for (size_t r = 0; r < RTE_DIM(variants); r++) {
			if (!can_run(&variants[c]) || !can_run(&variants[r]))
				continue;
			rig_rewriter = variants[r].name;
			run(rig_chain(variants[c].name, "scalar", 64, NULL));
			rig_clear();
			graphs++;
		}
	}
	for (size_t f = 0; f < RTE_DIM(variants); f++) {
		if (!can_run(&variants[f]) || !rig_can_fuse(variants[f].name))
			continue;
		rig_rewriter = variants[f].name;
		rig_fused = true;
		rig_fused_objs = 0;
		run(rig_chain(variants[f].name, variants[f].name, 64, NULL));
		assert_true(in_segments ? rig_fused_objs == 0
					: rig_fused_objs > BURST_MOST * BURST_MOST / 2);
		rig_clear();
		fused++;
	}
	assert_true(graphs > 0 && fused > 0);
	rig_rewriter = "scalar";
}

/* A burst: packet i goes to port i % 2, except for the odd one. */
struct burst {
	struct rte_mbuf *packets[BURST_MOST];
	uint8_t frames[BURST_MOST][96];
	uint32_t lens[BURST_MOST];
	unsigned int n, odd;
};

static void
burst_make(struct burst *b, unsigned int n, unsigned int odd, bool one_port)
{
	b->n = n;
	b->odd = odd;
	for (unsigned int i = 0; i < n; i++) {
		b->lens[i] = FRAME(b->frames[i], .payload = 30, .id = (uint16_t)i,
			.ttl = (uint8_t)(2 + i), .dst = IP4(198, 18, one_port ? 1 : i % 2, 7));
		if (i != odd)
			b->packets[i] = packet(b->frames[i], b->lens[i]);
	}
}

/* Sends the burst; drops says whether the odd packet is dropped. */
static void
burst_check(struct burst *b, struct hy_graph *graph, bool drops)
{
	unsigned int at[RIG_OUTS] = { 0 }, segments[BURST_MOST];

	for (unsigned int i = 0; i < b->n; i++)
		segments[i] = b->packets[i]->nb_segs;
	rig_send(graph, b->packets, NULL, b->n);
	for (unsigned int i = 0; i < b->n; i++) {
		const bool drop = drops && i == b->odd;
		const unsigned int sink = drop ? RIG_DROP : b->frames[i][32];

		assert_true(at[sink] < out[sink].n);
		assert_ptr_equal(out[sink].packets[at[sink]++], b->packets[i]);
		if (!drop)
			frame_forward(b->frames[i], rig_mac(1, (uint16_t)sink),
				rig_mac(0, (uint16_t)sink));
		assert_packet(b->packets[i], b->frames[i], b->lens[i], segments[i]);
	}
	for (unsigned int i = 0; i < RIG_OUTS; i++)
		assert_int_equal(at[i], out[i].n);
	rig_free();
}

static unsigned int compared;

/* In bursts of each size, at changing places: the headers end a segment after each of their bytes. */
static void
cut_each(struct hy_graph *graph)
{
	for (unsigned int n = 1; n <= BURST_MOST; n++) {
		for (uint32_t cut = 0; cut <= HEADERS + 1; cut++, compared++) {
			const unsigned int odd = (cut * 7 + n / 2) % n;
			struct burst b;

			burst_make(&b, n, odd, cut % 2 == 0);
			b.packets[odd] = packet_cut(b.frames[odd], b.lens[odd], cut);
			burst_check(&b, graph, false);
		}
	}
}

static void
boundary_in_one_packet_of_a_burst_changes_nothing(void **state)
{
	RTE_SET_USED(state);
	compared = 0;
	each_chain(cut_each, true);
	assert_true(compared > 0 && compared % (BURST_MOST * (HEADERS + 2)) == 0);
}

/* The odd packet's fault: what is written where. All but the checksum of the last are made right. */
static const struct {
	uint8_t at, value;
	bool sum;
} faults[] = { { 22, 1, true }, { 22, 0, true }, { 14, 0x44, true }, { 30, 127, true },
	{ 30, 224, true }, { 0, 1, true }, { 12, 0x81, true }, { 17, 51, true }, { 17, 19, true },
	{ 31, 19, true } /* no route */, { 25, 1, false } };

static void
fault_each(struct hy_graph *graph)
{
	for (unsigned int n = 1; n <= BURST_MOST; n++) {
		for (unsigned int odd = 0; odd < n; odd++, compared++) {
			const unsigned int f = (n + odd) % RTE_DIM(faults);
			struct burst b;

			burst_make(&b, n, odd, odd % 2 == 0);
			b.frames[odd][faults[f].at] = (uint8_t)(faults[f].value +
				(faults[f].sum ? 0 : b.frames[odd][faults[f].at]));
			if (faults[f].sum)
				frame_sum(b.frames[odd]);
			b.packets[odd] = packet(b.frames[odd], b.lens[odd]);
			burst_check(&b, graph, true);
		}
	}
}

static void
fault_at_every_place_of_a_burst_drops_that_packet_alone(void **state)
{
	RTE_SET_USED(state);
	compared = 0;
	each_chain(fault_each, false);
	assert_true(compared > 0 && compared % (BURST_MOST * (BURST_MOST + 1) / 2) == 0);
}

/* Shorter than the headers: in one piece, and cut in two. */
static void
short_each(struct hy_graph *graph)
{
	for (unsigned int n = 1; n <= BURST_MOST; n++) {
		for (uint32_t len = 0; len < HEADERS; len++, compared++) {
			const unsigned int odd = (len * 7 + n) % n;
			struct burst b;

			burst_make(&b, n, odd, false);
			b.lens[odd] = len;
			b.packets[odd] = len % 2 == 0 ? packet(b.frames[odd], len)
						      : packet_cut(b.frames[odd], len, len / 2);
			burst_check(&b, graph, true);
		}
	}
}

static void
short_frame_in_a_burst_is_dropped_alone(void **state)
{
	RTE_SET_USED(state);
	compared = 0;
	each_chain(short_each, false);
	assert_true(compared > 0 && compared % (BURST_MOST * HEADERS) == 0);
}

/* The ports of the rig send frames of at most 1,514 bytes. */
static void
long_each(struct hy_graph *graph)
{
	static uint8_t frame[FRAME_MAX];

	for (unsigned int n = 1; n <= BURST_MOST; n++) {
		for (uint32_t len = 1513; len <= 1516; len++, compared++) {
			struct rte_mbuf *sent;
			struct burst b;

			burst_make(&b, n, n / 2, true);
			FRAME(frame, .payload = (uint16_t)(len - HEADERS),
				.dst = IP4(198, 18, 1, 7));
			b.packets[n / 2] = sent = packet(frame, len);
			rig_send(graph, b.packets, NULL, n);
			assert_int_equal(out[1].n, len > 1514 ? n - 1 : n);
			assert_int_equal(out[RIG_DROP].n, len > 1514);
			if (len <= 1514)
				frame_forward(frame, rig_mac(1, 1), rig_mac(0, 1));
			assert_packet(sent, frame, len, 1);
			rig_free();
		}
	}
}

static void
frame_too_long_in_a_burst_is_dropped_alone(void **state)
{
	RTE_SET_USED(state);
	compared = 0;
	each_chain(long_each, false);
	assert_true(compared > 0 && compared % (BURST_MOST * 4) == 0);
}

/* A frame of that checksum; or 0xffff, which is another 0. */
static uint32_t
frame_of_sum(uint8_t *frame, uint16_t sum)
{
	const uint32_t len = FRAME(frame, .dst = IP4(198, 18, sum % 2, 7));
	const uint32_t id = (frame_checksum(frame) + 0xffffu - sum) % 0xffff;

	frame[18] = (uint8_t)(id >> 8);
	frame[19] = (uint8_t)id;
	assert_int_equal(frame_checksum(frame), sum % 0xffff);
	frame[24] = (uint8_t)(sum >> 8);
	frame[25] = (uint8_t)sum;
	return len;
}

/* A TTL less is 0x0100 more in the checksum, which is carried around from 0xff00 on. */
static void
sum_each(struct hy_graph *graph)
{
	struct burst b = { .n = BURST_MOST, .odd = BURST_MOST };

	for (uint32_t sum = 0xfd00; sum < 0x10200; sum += b.n, compared++) {
		for (unsigned int i = 0; i < b.n; i++) {
			b.lens[i] = frame_of_sum(b.frames[i], (uint16_t)(sum + i));
			b.packets[i] = packet(b.frames[i], b.lens[i]);
		}
		burst_check(&b, graph, false);
	}
}

static void
every_checksum_that_wraps_is_right_in_a_burst(void **state)
{
	RTE_SET_USED(state);
	compared = 0;
	each_chain(sum_each, false);
	assert_true(compared > 0);
}

/* The pages of frames; no page beside one can be read. */
static uint8_t *pages[BURST_MOST];
static struct rte_mbuf_ext_shared_info keeper[BURST_MOST];
static size_t page_size;

static void
keep(void *page __rte_unused, void *arg __rte_unused)
{
}

/* A packet without room around its headers, at the end of a page or at its start. */
static struct rte_mbuf *
packet_tight(const uint8_t *frame, unsigned int i, bool at_end)
{
	uint8_t *at = pages[i] + (at_end ? page_size - HEADERS : 0);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memcpy(at, frame, HEADERS);
	keeper[i].free_cb = keep;
	rte_mbuf_ext_refcnt_set(&keeper[i], 1);
	rte_pktmbuf_attach_extbuf(m, at, RTE_BAD_IOVA, HEADERS, &keeper[i]);
	assert_non_null(rte_pktmbuf_append(m, HEADERS));
	return m;
}

static void
tight_each(struct hy_graph *graph)
{
	for (unsigned int n = 1; n <= BURST_MOST; n++) {
		for (unsigned int at_end = 0; at_end < 2; at_end++, compared++) {
			struct burst b = { .n = n, .odd = n };

			for (unsigned int i = 0; i < n; i++) {
				b.lens[i] = FRAME(b.frames[i], .id = (uint16_t)i,
					.dst = IP4(198, 18, i % 2, 7));
				b.packets[i] = packet_tight(b.frames[i], i, at_end != 0);
			}
			burst_check(&b, graph, false);
		}
	}
}

static void
nothing_beside_the_headers_is_touched(void **state)
{
	RTE_SET_USED(state);
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	for (unsigned int i = 0; i < BURST_MOST; i++) {
		uint8_t *at = mmap(NULL, 3 * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

		assert_true(at != MAP_FAILED);
		pages[i] = at + page_size;
		assert_int_equal(mprotect(pages[i], page_size, PROT_READ | PROT_WRITE), 0);
	}
	compared = 0;
	each_chain(tight_each, false);
	assert_true(compared > 0 && compared % (BURST_MOST * 2) == 0);
	for (unsigned int i = 0; i < BURST_MOST; i++)
		munmap(pages[i] - page_size, 3 * page_size);
}

static const struct CMUnitTest node_bursts_tests[] = {
	NODE_TEST(boundary_in_one_packet_of_a_burst_changes_nothing),
	NODE_TEST(fault_at_every_place_of_a_burst_drops_that_packet_alone),
	NODE_TEST(short_frame_in_a_burst_is_dropped_alone),
	NODE_TEST(frame_too_long_in_a_burst_is_dropped_alone),
	NODE_TEST(every_checksum_that_wraps_is_right_in_a_burst),
	NODE_TEST(nothing_beside_the_headers_is_touched),
};

UNIT_SUITE(node_bursts_tests)
