/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of fusions: it finds, by its own comparison, what a fusion gets wrong: an ip4_forward
 * that is spoiled in one way at a time. And it passes the same fusion when it is not spoiled.
 */

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include <hy_conform.h>
#include <hy_node.h>

#include "app/test/unit.h"
#include "drivers/nodes/generic/fused/ip4_forward.h"
#include "hal/conform/conform.h"

/* How a fusion is spoiled, beyond what it does to each packet. */
static bool passes_groups, passes_ttl_1, ignores_mtu, no_default, is_stale, no_carry, rests,
	says_why, masks_2_bits, masks_a_byte, leaves_groups;
/* Of what it hashes: ports of fragments, ports in padding, ports of anything, no protocol. */
static bool hashes_fragments, hashes_padding, hashes_any, no_protocol;

/* A call of the fusion, and what it has handled. */
struct call {
	struct hy_graph *graph;
	struct hy_node *const *nodes;
	void **objs;
	uint16_t *next;
	uint16_t n, done;
};

static void (*spoil)(struct call *call);
static unsigned int calls;

static uint8_t *
frame_of(const struct call *c, uint16_t i)
{
	return rte_pktmbuf_mtod((struct rte_mbuf *)c->objs[i], uint8_t *);
}

static bool
is_plain(const struct call *c, uint16_t i)
{
	return !RTE_MBUF_HAS_EXTBUF((struct rte_mbuf *)c->objs[i]);
}

/* The entry of a destination; 0: no route. */
static uint32_t
entry_of(const struct hy_ip4_view *view, uint32_t dst)
{
	uint32_t entry;

	if (rte_lpm_lookup(view->lpm, dst, &entry) == 0)
		return entry | RTE_LPM_LOOKUP_SUCCESS;
	return no_default ? 0 : view->default_entry;
}

/* A frame as another one, which has the flow that it is wrongly taken for. */
static void
flow_spoil(uint8_t *copy)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(copy + RTE_ETHER_HDR_LEN);

	if (hashes_fragments)
		ip->fragment_offset = 0;
	if (hashes_padding)
		ip->total_length = RTE_BE16(1500);
	if (hashes_any && ip->next_proto_id == IPPROTO_ICMP)
		ip->next_proto_id = IPPROTO_UDP;
	if (no_protocol && ip->next_proto_id == IPPROTO_TCP)
		ip->next_proto_id = IPPROTO_UDP;
}

/* The first next hops that were seen, for one that remembers them. */
static const struct hy_ip4_adjacency *
stale(const struct hy_ip4_adjacency *now, uint32_t id)
{
	static struct hy_ip4_adjacency seen[512];

	if (calls <= 1 || id >= RTE_DIM(seen))
		memset(seen, 0, sizeof(seen));
	if (id < RTE_DIM(seen) && seen[id].l2.ether_type == 0)
		seen[id] = *now;
	return id < RTE_DIM(seen) ? &seen[id] : now;
}

/* Forwards a packet, as the chain does unless a fault is wanted. */
static uint16_t
forward_one(struct hy_node *const nodes[], struct rte_mbuf *m)
{
	const struct hy_ip4_rewrite_ctx *rewrite = nodes[2]->ctx;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), copy[HY_IP4_FLOW_BYTES] = { 0 };
	const struct hy_ip4_adjacency *adjacency;
	struct hy_ip4_rewrite_port port;
	uint32_t dst, entry;
	uint16_t sum, next;

	memcpy(copy, frame, RTE_MIN(m->pkt_len, (uint32_t)sizeof(copy)));
	if (passes_groups)
		copy[0] &= (uint8_t)~RTE_ETHER_GROUP_ADDR;
	if (hy_pkt_cls_one(copy, m->pkt_len, false, &dst) != HY_PKT_CLS_NEXT_IP4_LOOKUP)
		return HY_DROP(0);
	entry = entry_of(((const struct hy_ip4_lookup_ctx *)nodes[1]->ctx)->view, dst);
	if (entry == 0)
		return HY_DROP(0);
	entry &= masks_2_bits ? 3 : masks_a_byte ? UINT8_MAX : HY_IP4_ID_MASK;
	flow_spoil(copy);
	adjacency = hy_ip4_adjacency_of(rewrite->view, entry, copy, m->pkt_len);
	if (leaves_groups)
		adjacency = &hy_ip4_adjacencies(rewrite->view)[entry];
	port = rewrite->port[adjacency->port];
	if (is_stale)
		adjacency = stale(adjacency, entry);
	if (ignores_mtu)
		port.max_len = UINT32_MAX;
	if (passes_ttl_1 && frame[22] == 1 && m->pkt_len <= port.max_len)
		frame[22]++;
	memcpy(&sum, frame + 24, sizeof(sum));
	next = hy_ip4_rewrite_one(frame, m->pkt_len, adjacency, &port);
	if (no_carry && (int16_t)next >= 0) {
		sum = rte_cpu_to_be_16((uint16_t)(rte_be_to_cpu_16(sum) + 0x100));
		memcpy(frame + 24, &sum, sizeof(sum));
	}
	return next;
}

static uint16_t
spoiled_stops(void *const objs[], uint16_t n, const char **why)
{
	if (says_why)
		return *why = "it rests", 0;
	return ip4_forward_stops(objs, n, 1, why);
}

static uint16_t
spoiled_run(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	struct call call = { graph, nodes, objs, next, n, 0 };
	const char *why;

	calls++;
	if (!rests && ip4_forward_stops(objs, n, 1, &why) == n) {
		for (; call.done < n; call.done++) {
			next[call.done] = forward_one(nodes, objs[call.done]);
			if ((int16_t)next[call.done] < 0)
				break;
		}
	}
	if (spoil != NULL)
		spoil(&call);
	return call.done;
}

HY_NODE_FUSION(ip4_forward, spoiled, .text = "For tests", .run = spoiled_run,
	.stops = spoiled_stops, IP4_FORWARD_CHAIN("scalar"));
/* As the one above, of a CPU that does not exist; of a variant, and of an edge that do not. */
HY_NODE_FUSION(ip4_forward, lacking, .text = "For tests", .run = spoiled_run,
	.chain = { { "pkt_cls", "lacking" }, { "ip4_lookup", "scalar" },
		{ "ip4_rewrite", "scalar" } },
	.edge = { HY_PKT_CLS_NEXT_IP4_LOOKUP, HY_IP4_LOOKUP_NEXT_REWRITE });
HY_NODE_FUSION(ip4_forward, lost, .text = "For tests", .run = spoiled_run,
	.chain = { { "pkt_cls", "scalar" }, { "ip4_lookup", "nosuch" },
		{ "ip4_rewrite", "scalar" } },
	.edge = { HY_PKT_CLS_NEXT_IP4_LOOKUP, HY_IP4_LOOKUP_NEXT_REWRITE });

static void
leaves_the_last_of_256(struct call *c)
{
	c->done -= c->done == HY_BURST_MAX;
}

static void
takes_another_edge(struct call *c)
{
	if (c->done > 8)
		c->next[c->done - 1] = (uint16_t)((c->next[c->done - 1] + 1) % 5);
}

static void
takes_no_edge(struct call *c)
{
	if (c->done > 8)
		c->next[8] = 1000;
}

static void
handles_one_more(struct call *c)
{
	if (c->done < c->n)
		c->next[c->done++] = 0;
}

static void
handles_more_than_there_are(struct call *c)
{
	c->done += c->done == c->n;
}

static void
writes_behind_the_header(struct call *c)
{
	if (c->done > 0 && rte_pktmbuf_pkt_len((struct rte_mbuf *)c->objs[0]) > 34)
		frame_of(c, 0)[34] ^= 1;
}

static void
sums_one_too_many(struct call *c)
{
	if (c->done > 0)
		frame_of(c, (uint16_t)(c->done - 1))[25]++;
}

static void
writes_behind_the_frame(struct call *c)
{
	if (c->done > 0 && is_plain(c, 0))
		frame_of(c, 0)[rte_pktmbuf_data_len((struct rte_mbuf *)c->objs[0])] = 0;
}

static volatile uint8_t seen;

static void
reads_behind_the_frame(struct call *c)
{
	for (uint16_t i = 0; i < c->done; i++)
		seen = *(volatile uint8_t *)(frame_of(c, i) +
			((const struct rte_mbuf *)c->objs[i])->data_len);
}

/* A packet that the nodes then overwrite in the same place. */
static void
writes_a_later_address(struct call *c)
{
	const uint16_t last = (uint16_t)(c->n - 1);

	if (c->done < last && ((const struct rte_mbuf *)c->objs[last])->data_len > 12)
		frame_of(c, last)[6] ^= 1;
}

static void
writes_a_later_mbuf(struct call *c)
{
	if (c->done < c->n)
		((struct rte_mbuf *)c->objs[c->n - 1])->hash.fdir.lo ^= 1;
}

static void
writes_metadata(struct call *c)
{
	if (c->done > 2)
		((struct rte_mbuf *)c->objs[2])->packet_type ^= RTE_PTYPE_L4_UDP;
}

static void
frees_one(struct call *c)
{
	if (c->done > 2)
		rte_pktmbuf_free(c->objs[2]);
}

static void
turns_two_around(struct call *c)
{
	if (c->done > 2)
		RTE_SWAP(c->objs[0], c->objs[1]);
}

static void
writes_a_lane(struct call *c)
{
	hy_lane(c->graph, c->nodes[0], HY_PKT_CLS_LANE_ROUTE)[c->n - 1]++;
}

static void
writes_a_context(struct call *c)
{
	((struct hy_ip4_rewrite_ctx *)c->nodes[2]->ctx)->port[RTE_MAX_ETHPORTS - 1].max_len++;
}

static void
counts_by_itself(struct call *c)
{
	hy_count(&c->nodes[0]->edges[HY_PKT_CLS_NEXT_IP4_LOOKUP].objs, 1);
}

#define MORE \
	"burst * packet *: the fusion handled * of * packets, and this one, which gets a drop, with " \
	"them: expected no more than *"
#define BYTE "burst * packet *: byte * is 0x*, expected 0x*"
/* Another next hop has another address, or is on another port, with another limit. */
#define HOP \
	"burst * packet *: @(the fusion gave it ip4_rewrite: edge *, expected ip4_rewrite: edge *|" \
	"the fusion handled *, and not this one: expected *|byte * is 0x*, expected 0x*)"

/* How it is spoiled, what is to be said (fnmatch(3)), and what is returned. */
static const struct {
	bool *flags[2];
	void (*spoil)(struct call *call);
	const char *text;
	int rc;
} spoils[] = {
	{ { &masks_2_bits }, NULL, HOP, -EILSEQ },
	{ { &masks_a_byte }, NULL, HOP, -EILSEQ },
	{ { &is_stale }, NULL, BYTE, -EILSEQ },
	{ { &leaves_groups }, NULL,
		"burst * packet *: the fusion handled * of * packets, and not this one: expected *, "
		"and it does not say why",
		-EILSEQ },
	{ { &hashes_fragments }, NULL, HOP, -EILSEQ },
	{ { &hashes_padding }, NULL, HOP, -EILSEQ },
	{ { &hashes_any }, NULL, HOP, -EILSEQ },
	{ { &no_protocol }, NULL, HOP, -EILSEQ },
	{ { &no_default }, NULL,
		"burst * packet *: the fusion handled * of * packets, and not this one: expected *, "
		"and it does not say why",
		-EILSEQ },
	{ { &passes_groups }, NULL, MORE, -EILSEQ },
	{ { &passes_ttl_1 }, NULL, MORE, -EILSEQ },
	{ { &ignores_mtu }, NULL, MORE, -EILSEQ },
	{ { &no_carry }, NULL, "burst * packet *: byte 2[45] is 0x*, expected 0x*", -EILSEQ },
	{ { &rests, &says_why }, NULL,
		"never ran: the fusion handled none of * packets that pass: it rests", -ENODATA },
	{ { &rests }, NULL,
		"burst * packet *: the fusion handled 0 of * packets, and not this one: expected *, "
		"and it does not say why",
		-EILSEQ },
	{ { NULL }, leaves_the_last_of_256,
		"burst * packet 255 *: the fusion handled 255 of 256 packets, and not this one: "
		"expected 256, and it does not say why",
		-EILSEQ },
	{ { NULL }, takes_another_edge,
		"burst * packet *: the fusion gave it ip4_rewrite: edge *, expected ip4_rewrite: "
		"edge *",
		-EILSEQ },
	{ { NULL }, takes_no_edge,
		"burst * packet *: the fusion gave it 0x3e8, which is no edge, expected "
		"ip4_rewrite: edge *",
		-EILSEQ },
	{ { NULL }, handles_one_more, /* one that gets a drop, or that it left for its segments */
		"burst * packet *: the fusion @(handled * of * packets, and this one, which gets a "
		"drop, with them: expected no more than *|gave it ip4_rewrite: edge 0, expected *)",
		-EILSEQ },
	{ { NULL }, handles_more_than_there_are,
		"burst * packet*: the fusion handled * of * packets", -EILSEQ },
	{ { NULL }, writes_behind_the_header, "burst * packet *: byte 34 is 0x*, expected 0x*",
		-EILSEQ },
	{ { NULL }, sums_one_too_many, "burst * packet *: byte 25 is 0x*, expected 0x*", -EILSEQ },
	{ { NULL }, writes_behind_the_frame,
		"burst * packet *: wrote to byte 1 behind its segment 0", -EILSEQ },
	{ { NULL }, reads_behind_the_frame,
		"burst * packet *: touched byte 1 past the end of its frame", -EFAULT },
	{ { NULL }, writes_a_later_address,
		"burst * packet *: the fusion did not handle it, but changed byte 6 from 0x* to 0x*",
		-EILSEQ },
	{ { NULL }, writes_a_later_mbuf,
		"burst * packet *: the fusion did not handle it, but changed the mbuf of its segment "
		"0",
		-EILSEQ },
	{ { NULL }, writes_metadata, "burst * packet *: packet_type is 0x*, expected 0x*",
		-EILSEQ },
	{ { NULL }, frees_one,
		"burst * packet *: was freed; a node hands packets on, or calls hy_release()",
		-EILSEQ },
	{ { NULL }, turns_two_around,
		"burst * packets): the fusion changed the order of the packets", -EILSEQ },
	{ { NULL }, writes_a_lane, "burst * packet *: the fusion wrote to lane ip4_route",
		-EILSEQ },
	{ { NULL }, writes_a_context,
		"burst * packet*: the fusion wrote to the context of ip4_rewrite", -EILSEQ },
	{ { NULL }, counts_by_itself, "burst * packet*: pkt_cls: edge 0 counted *, expected *",
		-EILSEQ },
};

static struct hy_hal *hal;

static void
spoil_with(void (*how)(struct call *call))
{
	spoil = how;
	calls = 0;
	passes_groups = passes_ttl_1 = ignores_mtu = no_default = is_stale = no_carry = false;
	rests = says_why = masks_2_bits = masks_a_byte = leaves_groups = false;
	hashes_fragments = hashes_padding = hashes_any = no_protocol = false;
}

static int
fuse_setup(void **state)
{
	RTE_SET_USED(state);
	unit_log_clear();
	spoil_with(NULL);
	return hy_hal_create(&hal);
}

static int
fuse_teardown(void **state)
{
	RTE_SET_USED(state);
	hy_hal_destroy(hal);
	return 0;
}

static int
run(const char *variant, uint64_t seed, struct hy_conform_result *result)
{
	return hy_conform_run(hal, "ip4_forward", variant,
		&(struct hy_conform_params){ .seed = seed }, result);
}

static void
spoiled_fusion_is_found_in_each_way(void **state)
{
	struct hy_conform_result result;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(spoils); i++) {
		int rc;

		spoil_with(spoils[i].spoil);
		for (unsigned int f = 0; f < 2 && spoils[i].flags[f] != NULL; f++)
			*spoils[i].flags[f] = true;
		rc = run("spoiled", 3, &result);
		if (rc != spoils[i].rc || fnmatch(spoils[i].text, result.text, FNM_EXTMATCH) != 0)
			fail_msg("%zu: %d \"%s\", not %d \"%s\"", i, rc, result.text, spoils[i].rc,
				spoils[i].text);
		assert_int_equal(result.outcome, HY_CONFORM_FAILED);
	}
	spoil_with(NULL);
	assert_int_equal(run("spoiled", 3, &result), 0);
	assert_int_equal(result.outcome, HY_CONFORM_PASSED);
	assert_string_equal(result.text, "");
	assert_true(calls > HY_CONFORM_CASES / 2);
}

/* The chain's outcomes are those of its nodes, but for the edges within it. */
static void
each_outcome_of_the_chain_and_each_extent_occurs(void **state)
{
	struct hy_conform_result result;
	uint64_t packets = 0;

	RTE_SET_USED(state);
	assert_int_equal(run("scalar", 4, &result), 0);
	assert_int_equal(result.nb_counts, 5 + 8 + 1 + 2);
	for (uint32_t i = 0; i < result.nb_counts; i++) {
		if (result.counts[i].packets < 100 && result.counts[i].excuse == NULL)
			fail_msg("%s: %ju", result.counts[i].outcome,
				(uintmax_t)result.counts[i].packets);
		packets += result.counts[i].packets;
	}
	assert_int_equal(packets, result.frames);
	assert_string_equal(result.counts[0].outcome, "ip4_rewrite: edge 0");
	assert_string_equal(result.counts[5].outcome, "pkt_cls: drop truncated");
	assert_true(result.changes > 100);
	assert_true(result.fused.handled > result.frames / 4);
	assert_true(result.fused.handled <= result.fused.passing);
	assert_true(result.fused.whole > 1000 && result.fused.stopped > 1000);
	assert_true(result.fused.fewer > 100);
	assert_string_equal(result.fused.why, "a packet has several segments");
}

static void
fusion_is_found_by_iteration_and_by_name(void **state)
{
	struct hy_conform_item item = { 0 };
	struct hy_conform_result result;
	bool found = false;

	RTE_SET_USED(state);
	while (hy_conform_next(&item)) {
		assert_int_equal(item.fusion,
			strcmp(item.family, "ip4_forward") == 0 ||
				strcmp(item.family, "ip6_forward") == 0 ||
				strcmp(item.family, "l2_forward") == 0);
		found |= item.fusion && strcmp(item.variant, "spoiled") == 0;
	}
	assert_true(found);
	assert_int_equal(run("nosuch", 1, &result), -ENOENT);
	assert_string_equal(result.text, "fusion 'ip4_forward' has no variant 'nosuch'");
}

static void
fusion_whose_chain_cannot_run_is_skipped_with_the_reason(void **state)
{
	struct hy_conform_result result;

	RTE_SET_USED(state);
	assert_int_equal(run("lacking", 1, &result), 0);
	assert_int_equal(result.outcome, HY_CONFORM_SKIPPED);
	assert_string_equal(result.text, "needs conform_isa: not probed");
	assert_int_equal(run("lost", 1, &result), 0);
	assert_int_equal(result.outcome, HY_CONFORM_SKIPPED);
	assert_string_equal(result.text,
		"its chain needs ip4_lookup/nosuch, which is not registered");
}

static void
fusion_is_compared_though_the_hal_offers_others_of_its_chain(void **state)
{
	char error[HY_HAL_ERROR_SIZE];
	struct hy_conform_result result;

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_plan(hal, error), 0);
	assert_int_equal(hy_hal_select(hal, error), 0);
	spoil_with(handles_one_more);
	assert_int_equal(run("spoiled", 3, &result), -EILSEQ);
	assert_int_equal(run("scalar", 3, &result), 0);
}

static void
extent_that_never_occurs_fails_the_run(void **state)
{
	const struct hy_fusion stops = { .stops = spoiled_stops }, never = { .stops = NULL };
	struct hy_conform_result result = { .cases = HY_CONFORM_CASES,
		.fused = { .passing = 9, .handled = 7, .whole = 1, .stopped = 1 } };

	RTE_SET_USED(state);
	assert_int_equal(conform_fuse_check(&never, &result), 0);
	assert_int_equal(conform_fuse_check(&stops, &result), -ENODATA);
	assert_string_equal(result.text,
		"the fusion never stopped where it says that it does (hy_fusion.stops)");
	result.fused.stopped = 0;
	assert_int_equal(conform_fuse_check(&never, &result), -ENODATA);
	assert_string_equal(result.text,
		"the fusion never stopped before a packet that does not pass");
	result.fused.whole = 0;
	assert_int_equal(conform_fuse_check(&never, &result), -ENODATA);
	assert_string_equal(result.text, "the fusion never handled a whole burst");
	/* Of a run too short to say so, only that it never ran. */
	result.cases--;
	assert_int_equal(conform_fuse_check(&never, &result), 0);
	result.fused.handled = 0;
	assert_int_equal(conform_fuse_check(&never, &result), -ENODATA);
	assert_string_equal(result.text,
		"never ran: the fusion handled none of 9 packets that pass");
}

static void
cost_of_a_fusion_is_that_of_its_whole_chain(void **state)
{
	struct hy_conform_cost cost;

	RTE_SET_USED(state);
	assert_int_equal(hy_conform_measure(hal, "ip4_forward", "scalar", 1, &cost), 0);
	assert_int_equal(cost.packets, 31 * 24 * HY_BURST_DEFAULT);
	assert_true(cost.clocks > 1 && cost.reference > 1);
	assert_true(cost.ratio > 0.3 && cost.ratio < 10);
}

#define FUSE_TEST(f) cmocka_unit_test_setup_teardown(f, fuse_setup, fuse_teardown)

static const struct CMUnitTest conform_fuse_tests[] = {
	FUSE_TEST(spoiled_fusion_is_found_in_each_way),
	FUSE_TEST(each_outcome_of_the_chain_and_each_extent_occurs),
	FUSE_TEST(fusion_is_found_by_iteration_and_by_name),
	FUSE_TEST(fusion_whose_chain_cannot_run_is_skipped_with_the_reason),
	FUSE_TEST(fusion_is_compared_though_the_hal_offers_others_of_its_chain),
	FUSE_TEST(extent_that_never_occurs_fails_the_run),
	FUSE_TEST(cost_of_a_fusion_is_that_of_its_whole_chain),
};

UNIT_SUITE(conform_fuse_tests)
