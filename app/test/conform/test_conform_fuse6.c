/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of fusions that pick their packets: an ip6_forward that is spoiled in one way at a time is
 * found, and the same fusion passes when it is not spoiled.
 */

#include <errno.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <string.h>

#include <hy_conform.h>
#include <hy_ip6_rewrite.h>
#include <hy_node.h>

#include "app/test/unit.h"
#include "drivers/nodes/generic/classify/pkt_cls_ip6.h"
#include "drivers/nodes/generic/fused/forward.h"
#include "drivers/nodes/generic/fused/ip6_forward.h"

/* How a fusion is spoiled. */
static bool passes_hop_1, ignores_mtu, passes_jumbograms, passes_groups, counts_none, counts_more,
	writes_type, takes_halves, picks_none, picks_others, picks_beyond, picks_once;
static unsigned int calls, picks;

static uint32_t
look_up(const struct hy_ip6_trie *trie, const uint8_t *address)
{
	uint8_t copy[HY_IP6_BYTES];

	memcpy(copy, address, sizeof(copy));
	if (takes_halves)
		memset(copy + 8, 0, 8);
	return hy_ip6_find(trie, copy);
}

/* Forwards a packet, as the chain does unless a fault is wanted. */
static uint16_t
forward_one(struct hy_node *const nodes[], struct rte_mbuf *m)
{
	const struct hy_ip6_rewrite_ctx *rewrite = nodes[2]->ctx;
	const struct hy_ip6_trie *trie =
		hy_ip6_trie(((const struct hy_ip6_lookup_ctx *)nodes[1]->ctx)->view);
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), copy[HY_IP6_LOOKUP_HEADERS];
	const struct hy_ip4_adjacency *adjacency;
	struct hy_ip4_rewrite_port port;
	uint32_t entry;
	uint16_t next;

	if (m->pkt_len < sizeof(copy) || !hy_pkt_cls_says_ip6(frame) ||
		(!passes_groups && (frame[0] & RTE_ETHER_GROUP_ADDR) != 0))
		return HY_DROP(0);
	memcpy(copy, frame, sizeof(copy));
	if (passes_jumbograms && copy[18] == 0 && copy[19] == 0)
		copy[20] = IPPROTO_NONE;
	if (pkt_cls_ip6_one(copy, m->pkt_len, 1) != 1)
		return HY_DROP(0);
	entry = look_up(trie, frame + 38);
	if (entry == 0)
		return HY_DROP(0);
	adjacency = &hy_ip4_adjacencies(rewrite->view->next_hops)[entry - 1];
	port = rewrite->port[adjacency->port];
	if (ignores_mtu)
		port.max_len = UINT32_MAX;
	if (passes_hop_1 && frame[21] == 1 && m->pkt_len <= port.max_len)
		frame[21]++;
	next = hy_ip6_rewrite_one(frame, m->pkt_len, adjacency, &port);
	if (writes_type && (int16_t)next >= 0)
		frame[12] = 8;
	return next;
}

static uint16_t
spoiled_run(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	uint16_t done = 0, options = 0;
	const char *why;

	RTE_SET_USED(graph);
	calls++;
	if (!hy_pkt_cls_ip6_on(nodes[0]) || forward_stops(objs, n, &why) < n)
		return 0;
	for (; done < n; done++) {
		const uint8_t *frame = rte_pktmbuf_mtod((struct rte_mbuf *)objs[done], uint8_t *);
		const uint16_t to = forward_one(nodes, objs[done]);

		if ((int16_t)to < 0)
			break;
		next[done] = to;
		options += frame[20] == IPPROTO_HOPOPTS;
	}
	options += counts_more && done > 0 && done < n;
	if (!counts_none)
		hy_counter_add(nodes[1], HY_IP6_LOOKUP_HOP_BY_HOP, options);
	return done;
}

static void
spoiled_pick(struct hy_node *const nodes[], void *const objs[], uint16_t n,
	uint64_t mine[HY_FUSE_WORDS])
{
	picks++;
	hy_fusion_find("ip6_forward-scalar")->pick(nodes, objs, n, mine);
	for (uint16_t i = 0; i < n; i++) {
		const uint64_t bit = UINT64_C(1) << i % 64;
		const bool is = (mine[i / 64] & bit) != 0;

		if (picks_none ||
			(picks_once && is && i > 0 && (mine[(i - 1) / 64] >> (i - 1) % 64 & 1)))
			mine[i / 64] &= ~bit;
		if (picks_others)
			mine[i / 64] |= bit;
	}
	if (picks_beyond && n % 64 != 0)
		mine[n / 64] |= UINT64_C(1) << n % 64;
}

HY_NODE_FUSION(ip6_forward, spoiled, .text = "For tests", .run = spoiled_run, .pick = spoiled_pick,
	.stops = forward_stops,
	.chain = { { "pkt_cls", "scalar" }, { "ip6_lookup", "scalar" },
		{ "ip6_rewrite", "scalar" } },
	.edge = { IP6_FORWARD_EDGE, HY_IP6_LOOKUP_NEXT_REWRITE });
/* By an edge that pkt_cls has not, nor is the next to be added. */
HY_NODE_FUSION(ip6_forward, astray, .text = "For tests", .run = spoiled_run, .pick = spoiled_pick,
	.chain = { { "pkt_cls", "scalar" }, { "ip6_lookup", "scalar" },
		{ "ip6_rewrite", "scalar" } },
	.edge = { IP6_FORWARD_EDGE + 1, HY_IP6_LOOKUP_NEXT_REWRITE });

#define MORE \
	"burst * packet *: the fusion handled * of * packets, and this one, which gets a drop, with " \
	"them: expected no more than *"
#define COUNTER "burst * packet*: ip6_lookup: counter hop_by_hop counted *, expected *"

/* How it is spoiled, and what is to be said (fnmatch(3)). */
static const struct {
	bool *flag;
	const char *text;
} spoils[] = {
	{ &passes_hop_1, MORE },
	{ &ignores_mtu, MORE },
	{ &passes_jumbograms, MORE },
	{ &passes_groups, MORE },
	{ &counts_none, COUNTER },
	{ &counts_more, COUNTER },
	{ &writes_type, "burst * packet *: byte 12 is 0x08, expected 0x86" },
	{ &takes_halves,
		"burst * packet *: @(the fusion gave it ip6_rewrite: edge *, expected ip6_rewrite: "
		"edge *|the fusion handled *: expected *|byte * is 0x*, expected 0x*)" },
	{ &picks_none,
		"burst * packet *: the fusion did not pick this packet, which gets "
		"ip6_rewrite: edge *" },
	{ &picks_once,
		"burst * packet *: the fusion did not pick this packet, which gets "
		"ip6_rewrite: edge *" },
	{ &picks_others,
		"burst * packet *: the fusion picked this packet, which gets pkt_cls: "
		"edge 0 (ip4_lookup)" },
	{ &picks_beyond, "burst * packet*: the fusion picked packet * of *" },
};

static struct hy_hal *hal;

static int
fuse_setup(void **state)
{
	RTE_SET_USED(state);
	calls = picks = 0;
	return hy_hal_create(&hal);
}

static int
fuse_teardown(void **state)
{
	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(spoils); i++)
		*spoils[i].flag = false;
	hy_hal_destroy(hal);
	return 0;
}

static int
run(const char *variant, uint64_t seed, struct hy_conform_result *result)
{
	return hy_conform_run(hal, "ip6_forward", variant,
		&(struct hy_conform_params){ .seed = seed }, result);
}

static void
spoiled_fusion_that_picks_is_found_in_each_way(void **state)
{
	struct hy_conform_result result;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(spoils); i++) {
		int rc;

		*spoils[i].flag = true;
		rc = run("spoiled", 3, &result);
		*spoils[i].flag = false;
		if (rc != -EILSEQ || fnmatch(spoils[i].text, result.text, FNM_EXTMATCH) != 0)
			fail_msg("%zu: %d \"%s\", not \"%s\"", i, rc, result.text, spoils[i].text);
		assert_int_equal(result.outcome, HY_CONFORM_FAILED);
	}
	calls = picks = 0;
	assert_int_equal(run("spoiled", 3, &result), 0);
	assert_string_equal(result.text, "");
	assert_int_equal(result.outcome, HY_CONFORM_PASSED);
	assert_true(calls > HY_CONFORM_CASES / 2 && picks > HY_CONFORM_CASES / 4);
}

static void
each_outcome_of_an_ip6_chain_and_each_extent_occurs(void **state)
{
	struct hy_conform_result result;
	uint64_t packets = 0;

	RTE_SET_USED(state);
	assert_int_equal(run("batch", 4, &result), 0);
	assert_int_equal(result.nb_counts, 5 + 1 + 8 + 1 + 2);
	for (uint32_t i = 0; i < result.nb_counts; i++) {
		if (result.counts[i].packets < 100)
			fail_msg("%s: %ju", result.counts[i].outcome,
				(uintmax_t)result.counts[i].packets);
		packets += result.counts[i].packets;
	}
	assert_int_equal(packets, result.frames);
	assert_string_equal(result.counts[0].outcome, "ip6_rewrite: edge 0");
	assert_string_equal(result.counts[5].outcome, "pkt_cls: edge 0 (ip4_lookup)");
	assert_true(result.changes > 100);
	assert_true(result.fused.handled > result.frames / 4);
	assert_true(result.fused.handled <= result.fused.passing);
	assert_true(result.fused.whole > 1000 && result.fused.stopped > 1000);
	assert_true(result.fused.fewer > 100);
	assert_string_equal(result.fused.why, "a packet has several segments");
}

static void
edge_that_no_program_adds_first_is_no_chain(void **state)
{
	struct hy_conform_result result;

	RTE_SET_USED(state);
	assert_int_equal(run("astray", 1, &result), -ENODATA);
	assert_string_equal(result.text,
		"never ran: its chain takes edge 2 of pkt_cls, which has none");
}

#define FUSE_TEST(f) cmocka_unit_test_setup_teardown(f, fuse_setup, fuse_teardown)

static const struct CMUnitTest tests[] = {
	FUSE_TEST(spoiled_fusion_that_picks_is_found_in_each_way),
	FUSE_TEST(each_outcome_of_an_ip6_chain_and_each_extent_occurs),
	FUSE_TEST(edge_that_no_program_adds_first_is_no_chain),
};

UNIT_SUITE(tests)
