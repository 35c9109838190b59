/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conformance engine: it passes what does as the reference does, and finds, by its own checks,
 * what does not: a variant of pkt_cls that is spoiled in one way at a time.
 */

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include <hy_conform.h>

#include "app/test/unit.h"
#include "drivers/nodes/generic/classify/pkt_cls_kernels.h"

/* A burst that the spoiled variant has classified and not yet sent on. */
struct burst {
	struct hy_graph *graph;
	struct hy_node *node;
	struct rte_mbuf **packets;
	uint32_t *lane;
	uint16_t next[HY_BURST_MAX];
	uint16_t n;
};

static void (*spoil)(struct burst *burst);
static unsigned int calls;

static uint16_t
spoiled_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct burst burst = { graph, node, (struct rte_mbuf **)objs,
		hy_lane(graph, node, HY_PKT_CLS_LANE_ROUTE), { 0 }, n };
	uint8_t bounce[HY_BURST_MAX][HY_PKT_CLS_HEADERS];
	const uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX];

	hy_pkt_cls_frames(objs, n, bounce, frame, len);
	hy_pkt_cls_scalar(frame, len, burst.next, burst.lane, n);
	if (hy_pkt_cls_ip6_on(node))
		hy_pkt_cls_ip6_rest(node, frame, len, burst.next, burst.lane, n);
	calls++;
	if (spoil != NULL)
		spoil(&burst);
	hy_enqueue_next(graph, node, burst.next, objs, burst.n);
	return n;
}

HY_NODE_VARIANT(pkt_cls, spoiled, .text = "For tests", .impl.process = spoiled_process);

/* Instructions that the CPU lacks, or that nobody knows of. */
HY_CAPABILITY(conform_isa, .kind = HY_TARGET_PROCESS)
HY_NODE_VARIANT(pkt_cls, lacking, .text = "For tests", .impl.process = spoiled_process,
	.needs = { { .key = "conform_isa" } })
HY_NODE_VARIANT(pkt_cls, unheard, .text = "For tests", .impl.process = spoiled_process,
	.needs = { { .key = "conform_none" } })

/* The first packet of a burst that goes on, or that is dropped; n: there is none. */
static uint16_t
first(const struct burst *b, bool passes)
{
	uint16_t i = 0;

	while (i < b->n && (b->next[i] == HY_PKT_CLS_NEXT_IP4_LOOKUP) != passes)
		i++;
	return i;
}

static volatile uint8_t seen;

static void
reads_one_past(struct burst *b)
{
	for (uint16_t i = 0; i < b->n; i++)
		seen = *(rte_pktmbuf_mtod(b->packets[i], volatile uint8_t *) +
			b->packets[i]->data_len);
}

static void
reads_nine_past_the_last_segment(struct burst *b)
{
	for (uint16_t i = 0; i < b->n; i++) {
		const struct rte_mbuf *m = rte_pktmbuf_lastseg(b->packets[i]);

		if (b->packets[i]->nb_segs > 1)
			seen = *(rte_pktmbuf_mtod(m, volatile uint8_t *) + m->data_len + 8);
	}
}

static void
reads_one_before(struct burst *b)
{
	for (uint16_t i = 0; i < b->n; i++)
		seen = *(rte_pktmbuf_mtod(b->packets[i], volatile uint8_t *) - 1);
}

static void
writes_before(struct burst *b)
{
	for (uint16_t i = 0; i < b->n; i++)
		if (!RTE_MBUF_HAS_EXTBUF(b->packets[i]))
			rte_pktmbuf_mtod(b->packets[i], uint8_t *)[-3] = 0;
}

static void
writes_behind(struct burst *b)
{
	for (uint16_t i = 0; i < b->n; i++)
		if (!RTE_MBUF_HAS_EXTBUF(b->packets[i]))
			rte_pktmbuf_mtod(b->packets[i], uint8_t *)[b->packets[i]->data_len] = 0;
}

static void
writes_to_no_page(struct burst *b)
{
	volatile uintptr_t nowhere = 16;

	if (b->n > 0)
		*(volatile uint8_t *)nowhere = 0;
}

static void
swaps_edges_in_call_17(struct burst *b)
{
	if (calls == 17)
		b->next[0] = b->next[0] == HY_PKT_CLS_NEXT_IP4_LOOKUP ? HY_DROP(HY_PKT_CLS_NOT_IP4)
								      : HY_PKT_CLS_NEXT_IP4_LOOKUP;
}

static void
swaps_edges_in_bursts_of_251(struct burst *b)
{
	if (b->n == 251)
		b->next[250] = b->next[250] == HY_PKT_CLS_NEXT_IP4_LOOKUP
			? HY_DROP(HY_PKT_CLS_NOT_IP4)
			: HY_PKT_CLS_NEXT_IP4_LOOKUP;
}

static void
drops_for_another_reason(struct burst *b)
{
	const uint16_t i = first(b, false);

	if (i < b->n && b->next[i] == HY_DROP(HY_PKT_CLS_TRUNCATED))
		b->next[i] = HY_DROP(HY_PKT_CLS_NOT_IP4);
}

static void
counts_one_short(struct burst *b)
{
	struct hy_edge *e = &b->node->edges[(int16_t)HY_DROP(HY_PKT_CLS_BAD_CHECKSUM)];

	if (calls == 300)
		e->objs--;
}

static void
releases_what_it_should_drop(struct burst *b)
{
	const uint16_t last = (uint16_t)(b->n - 1);
	void *packet = b->packets[last];

	if (b->next[last] == HY_PKT_CLS_NEXT_IP4_LOOKUP)
		return;
	hy_release(b->graph, &packet, 1);
	b->n--;
}

static void
forgets_the_last_of_256(struct burst *b)
{
	b->n = RTE_MIN(b->n, (uint16_t)(HY_BURST_MAX - 1));
}

static void
sends_one_twice(struct burst *b)
{
	const uint16_t i = first(b, true);
	void *packet = b->packets[RTE_MIN(i, (uint16_t)(HY_BURST_MAX - 1))];

	if (i < b->n && b->n < 64)
		hy_enqueue(b->graph, b->node, HY_PKT_CLS_NEXT_IP4_LOOKUP, &packet, 1);
}

static void
turns_two_around(struct burst *b)
{
	const uint16_t i = first(b, true);

	if (i + 1 < b->n && b->next[i + 1] == HY_PKT_CLS_NEXT_IP4_LOOKUP) {
		RTE_SWAP(b->packets[i], b->packets[i + 1]);
		RTE_SWAP(b->lane[i], b->lane[i + 1]);
	}
}

static void
spoils_a_lane(struct burst *b)
{
	if (b->n > 40)
		b->lane[first(b, true)] ^= 0x80;
}

/* Right as long as the node is handed its whole stream. */
static void
forgets_where_a_part_starts(struct burst *b)
{
	uint32_t *whole = b->lane - b->graph->cursor;

	for (uint16_t i = 0; i < b->n; i++) {
		const uint32_t value = b->lane[i];

		b->lane[i] = 0;
		whole[i] = value;
	}
}

static void
writes_to_what_it_drops(struct burst *b)
{
	const uint16_t i = first(b, false);

	if (i < b->n && b->packets[i]->data_len > 20)
		rte_pktmbuf_mtod(b->packets[i], uint8_t *)[20] ^= 1;
}

static void
changes_metadata(struct burst *b)
{
	if (b->n == 3)
		b->packets[2]->packet_type ^= RTE_PTYPE_L4_UDP;
}

/* Whose marks these are, and more, is told by the port. */
static void
names_another_port(struct burst *b)
{
	const uint16_t i = first(b, true);

	if (i < b->n)
		b->packets[i]->port = 5;
}

/* A driver sends what segments say, whatever the packet's length is. */
static void
lengthens_an_empty_last_segment(struct burst *b)
{
	struct rte_mbuf *last = rte_pktmbuf_lastseg(b->packets[0]);

	if (last->data_len == 0)
		last->data_len = 1;
}

/* A driver takes as many descriptors as a packet says that it has segments. */
static void
miscounts_segments(struct burst *b)
{
	if (b->packets[0]->nb_segs > 1)
		b->packets[0]->nb_segs--;
}

static void
loses_an_empty_last_segment(struct burst *b)
{
	struct rte_mbuf *m = b->packets[0];

	if (m->nb_segs == 1 || rte_pktmbuf_lastseg(m)->data_len > 0)
		return;
	while (m->next->next != NULL)
		m = m->next;
	m->next = NULL;
}

/* Which a driver inserts, if the packet's flags say so. */
static void
changes_an_outer_tag(struct burst *b)
{
	b->packets[b->n - 1]->vlan_tci_outer = 7;
}

static void
cuts_a_byte_off(struct burst *b)
{
	if (b->packets[0]->nb_segs == 1 && b->packets[0]->pkt_len > 100)
		rte_pktmbuf_trim(b->packets[0], 1);
}

static void
runs_into_a_trap(struct burst *b)
{
	if (b->n == 5)
		__builtin_trap();
}

static void
never_returns(struct burst *b)
{
	while (b->n == 2)
		seen++;
}

/* How it is spoiled, what the engine is to say (fnmatch(3)), and what it returns. */
static const struct {
	void (*spoil)(struct burst *burst);
	const char *text;
	int rc;
} spoils[] = {
	{ reads_one_past, "burst * packet *: touched byte 1 past the end of its *", -EFAULT },
	{ reads_nine_past_the_last_segment,
		"burst * packet *segments): touched byte 9 past the end of its segment", -EFAULT },
	{ reads_one_before, "burst * packet *: touched byte 1 before its *", -EFAULT },
	{ writes_before, "burst * packet *: wrote to byte 3 before its segment 0", -EILSEQ },
	{ writes_behind, "burst * packet *: wrote to byte 1 behind its segment 0", -EILSEQ },
	{ writes_to_no_page,
		"burst 2 (1 packet): Segmentation fault at address 0x10, in no packet's guard page",
		-EFAULT },
	{ swaps_edges_in_call_17, "burst 18 (17 packets), packet 0 (*: got *, expected *",
		-EILSEQ },
	{ swaps_edges_in_bursts_of_251, "burst 252 (251 packets), packet 250 (*: got *, expected *",
		-EILSEQ },
	{ drops_for_another_reason, "burst * packet*: drop truncated counted *, expected *",
		-EILSEQ },
	{ counts_one_short, "burst * packet*: drop bad_checksum counted *, expected *", -EILSEQ },
	{ releases_what_it_should_drop, "burst * packet *: got a release, expected a drop",
		-EILSEQ },
	{ forgets_the_last_of_256,
		"burst 257 (256 packets), packet 255 (*: got nothing, expected *", -EILSEQ },
	{ sends_one_twice, "burst * packet *: sent 2 times, expected once", -EILSEQ },
	{ turns_two_around,
		"burst * packet *: came as number * to edge 0 (ip4_lookup), expected as number *",
		-EILSEQ },
	{ spoils_a_lane, "burst 42 * packet *: lane ip4_route is 0x*, expected 0x*", -EILSEQ },
	{ forgets_where_a_part_starts, "burst * packet *: lane ip4_route is 0x*, expected 0x*",
		-EILSEQ },
	{ writes_to_what_it_drops, "burst * packet *: byte 20 is 0x*, expected 0x*", -EILSEQ },
	{ changes_metadata, "burst * packets), packet 2 (*: packet_type is 0x*, expected 0x*",
		-EILSEQ },
	{ names_another_port, "burst * packet *: port is 0x5, expected 0x*", -EILSEQ },
	{ lengthens_an_empty_last_segment,
		"burst * packet 0 *: length of its segments is 0x*, expected 0x*", -EILSEQ },
	{ miscounts_segments, "burst * packet 0 *: nb_segs is 0x*, expected 0x*", -EILSEQ },
	{ loses_an_empty_last_segment, "burst * packet 0 *: nb_segs is 0x*, expected 0x*",
		-EILSEQ },
	{ changes_an_outer_tag,
		"burst 2 (1 packet), packet 0 (*: vlan_tci_outer is 0x7, expected 0x0", -EILSEQ },
	{ cuts_a_byte_off, "burst * packet 0 *: pkt_len is 0x*, expected 0x*", -EILSEQ },
	{ runs_into_a_trap, "burst 6 (5 packets): Illegal instruction", -EFAULT },
	{ never_returns, "burst 3 (2 packets): did not return", -ETIMEDOUT },
};

static struct hy_hal *hal;
static unsigned int heap_before;
static int64_t live_before;

static int
conform_setup(void **state)
{
	struct hy_conform_result result;

	RTE_SET_USED(state);
	unit_log_clear();
	assert_int_equal(hy_hal_create(&hal), 0);
	spoil = NULL;
	calls = 0;
	/* What DPDK keeps for ever of a first port, and of event devices, which stay. */
	hy_conform_run(hal, "ethdev_rx", "poll", &(struct hy_conform_params){ .cases = 1 },
		&result);
	hy_conform_run(hal, "event_rx", "single", &(struct hy_conform_params){ .cases = 1 },
		&result);
	heap_before = unit_heap_live();
	live_before = unit_alloc_live();
	return 0;
}

static int
conform_teardown(void **state)
{
	const unsigned int heap = unit_heap_live();
	const int64_t live = unit_alloc_live();

	RTE_SET_USED(state);
	hy_hal_destroy(hal);
	if (heap != heap_before || live != live_before)
		print_error("blocks of DPDK's heap: %u before, %u after; of malloc: %jd, %jd\n",
			heap_before, heap, (intmax_t)live_before, (intmax_t)live);
	return heap == heap_before && live == live_before ? 0 : -1;
}

/* Runs a variant with a seed. */
static int
run(const char *family, const char *variant, uint64_t seed, struct hy_conform_result *result)
{
	return hy_conform_run(hal, family, variant, &(struct hy_conform_params){ .seed = seed },
		result);
}

static void
every_variant_does_as_its_reference(void **state)
{
	struct hy_conform_item item = { 0 };
	struct hy_conform_result result;
	unsigned int ran = 0, skipped = 0;

	RTE_SET_USED(state);
	while (hy_conform_next(&item)) {
		int rc;

		/* Tried by test_conform_outcomes.c and test_conform_fuse6.c. */
		if (strcmp(item.variant, "mutant") == 0 || strcmp(item.variant, "astray") == 0) {
			skipped++;
			continue;
		}
		rc = run(item.family, item.variant, 7, &result);
		if (rc != 0)
			fail_msg("%s/%s: %d: %s", item.family, item.variant, rc, result.text);
		if (result.outcome == HY_CONFORM_SKIPPED) {
			assert_string_not_equal(result.text, "");
			skipped++;
			continue;
		}
		assert_string_equal(result.text, "");
		assert_true(result.cases >= HY_CONFORM_CASES);
		assert_true(result.frames > 400000);
		ran++;
	}
	assert_true(ran >= 10);
	assert_int_equal(ran + skipped, item.at);
}

static void
variant_is_not_run_without_what_it_needs_by_key(void **state)
{
	struct hy_conform_result result;

	RTE_SET_USED(state);
	assert_int_equal(run("pkt_cls", "lacking", 7, &result), 0);
	assert_int_equal(result.outcome, HY_CONFORM_SKIPPED);
	assert_string_equal(result.text, "needs conform_isa: not probed");
	assert_int_equal(run("pkt_cls", "unheard", 7, &result), 0);
	assert_int_equal(result.outcome, HY_CONFORM_SKIPPED);
	assert_string_equal(result.text, "needs conform_none: no pack has registered it");
}

static void
spoiled_variant_is_found_in_each_way(void **state)
{
	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(spoils); i++) {
		struct hy_conform_result result;
		int rc;

		spoil = spoils[i].spoil;
		calls = 0;
		rc = run("pkt_cls", "spoiled", 3, &result);
		if (rc != spoils[i].rc || fnmatch(spoils[i].text, result.text, 0) != 0)
			fail_msg("%zu: %d \"%s\", not %d \"%s\"", i, rc, result.text, spoils[i].rc,
				spoils[i].text);
		assert_int_equal(result.outcome, HY_CONFORM_FAILED);
		assert_true(result.cases < HY_CONFORM_CASES);
	}
	/* The engine itself is none the worse: the same variant, not spoiled, passes. */
	spoil = NULL;
	{
		struct hy_conform_result result;

		assert_int_equal(run("pkt_cls", "spoiled", 3, &result), 0);
		assert_int_equal(result.outcome, HY_CONFORM_PASSED);
	}
}

static void
packet_that_differs_is_shown(void **state)
{
	struct hy_conform_result result;
	unsigned int number = 0, n = 0, packet = 0, len = 0;

	RTE_SET_USED(state);
	spoil = swaps_edges_in_call_17;
	assert_int_equal(run("pkt_cls", "spoiled", 3, &result), -EILSEQ);
	assert_int_equal(sscanf(result.text, "burst %u (%u packets), packet %u (%u bytes", &number,
				 &n, &packet, &len),
		4);
	assert_int_equal(result.shown_len, RTE_MIN(len, (unsigned int)HY_CONFORM_SHOWN_BYTES));
}

static void
same_seed_makes_the_same_packets(void **state)
{
	struct hy_conform_result one, two, other;

	RTE_SET_USED(state);
	spoil = drops_for_another_reason;
	run("pkt_cls", "spoiled", 11, &one);
	run("pkt_cls", "spoiled", 11, &two);
	run("pkt_cls", "spoiled", 12, &other);
	assert_string_equal(one.text, two.text);
	assert_int_equal(one.frames, two.frames);
	spoil = NULL;
	run("pkt_cls", "spoiled", 11, &one);
	run("pkt_cls", "spoiled", 12, &other);
	assert_int_not_equal(one.frames, other.frames);
}

/* Captured frames are a fifth, and reach the node as they are. */
static void
captured_frames_are_sent_too(void **state)
{
	static const uint8_t arp[60] = { 0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x08, 0x06 };
	const uint8_t *const bytes[] = { arp };
	const uint32_t len[] = { sizeof(arp) };
	const struct hy_frames captures = { bytes, len, 1 };
	const struct hy_conform_params params = { .seed = 1, .captures = &captures };
	struct hy_conform_result result;

	RTE_SET_USED(state);
	assert_int_equal(hy_conform_run(hal, "pkt_cls", "scalar", &params, &result), 0);
	assert_true(result.captured > result.frames / 6 && result.captured < result.frames / 4);
}

static void
what_is_not_there_is_refused(void **state)
{
	struct hy_conform_result result;

	RTE_SET_USED(state);
	assert_int_equal(run("nosuch", "scalar", 1, &result), -ENOENT);
	assert_string_equal(result.text, "there is no family 'nosuch'");
	assert_int_equal(run("pkt_cls", "nosuch", 1, &result), -ENOENT);
	assert_string_equal(result.text, "family 'pkt_cls' has no variant 'nosuch'");
	assert_int_equal(result.outcome, HY_CONFORM_FAILED);
}

static void
cost_of_the_reference_beside_itself_is_the_same(void **state)
{
	struct hy_conform_cost cost;

	RTE_SET_USED(state);
	assert_int_equal(hy_conform_measure(hal, "pkt_cls", "scalar", 1, &cost), 0);
	assert_int_equal(cost.packets, 31 * 24 * HY_BURST_DEFAULT);
	assert_true(cost.clocks > 1 && cost.reference > 1);
	assert_true(cost.ratio > 0.5 && cost.ratio < 2);
}

static void
suite_is_registered_once_a_family(void **state)
{
	static const struct hy_suite twice = { .family = "pkt_cls" }, unnamed = { .family = "a b" };

	RTE_SET_USED(state);
	assert_int_equal(hy_suite_register(&twice), -EEXIST);
	assert_int_equal(hy_suite_register(&unnamed), -EINVAL);
	assert_ptr_equal(hy_suite_find("nosuch"), NULL);
}

#define CONFORM_TEST(f) cmocka_unit_test_setup_teardown(f, conform_setup, conform_teardown)

static const struct CMUnitTest conform_tests[] = {
	CONFORM_TEST(every_variant_does_as_its_reference),
	CONFORM_TEST(variant_is_not_run_without_what_it_needs_by_key),
	CONFORM_TEST(spoiled_variant_is_found_in_each_way),
	CONFORM_TEST(packet_that_differs_is_shown),
	CONFORM_TEST(same_seed_makes_the_same_packets),
	CONFORM_TEST(captured_frames_are_sent_too),
	CONFORM_TEST(what_is_not_there_is_refused),
	CONFORM_TEST(cost_of_the_reference_beside_itself_is_the_same),
	CONFORM_TEST(suite_is_registered_once_a_family),
};

UNIT_SUITE(conform_tests)
