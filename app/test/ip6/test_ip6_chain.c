/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv6 packets through pkt_cls, ip6_lookup and ip6_rewrite in a real graph, with each variant of
 * pkt_cls that this CPU has: a segment may end at any byte of the headers, and other families and faults
 * of a burst do not matter.
 */

#include <errno.h>

#include <hy_ip6_lookup.h>
#include <hy_ip6_rewrite.h>
#include <hy_pkt_cls.h>

#include "hal/internal/hal.h"
#include "ip6_fixture.h"

#define LEN 90

/* What becomes of it when it is sent to a port. */
static void
forwarded6(uint8_t frame[LEN], uint16_t port)
{
	memcpy(frame, rig_mac(1, port), 6);
	memcpy(frame + 6, rig_mac(0, port), 6);
	frame[21]--;
}

/*
 * rig_source, pkt_cls, ip6_lookup, ip6_rewrite, sinks; IPv4 goes to the first of them. IPv6 leads to the
 * next hop of port 1, or to a group of both.
 */
static struct hy_graph *
chain(const char *classifier, const char *lookup, const char *rewriter, bool to_group)
{
	const struct hy_ip4_member members[] = { { 0, 1 }, { 1, 1 } };
	struct hy_ip6_route route = ip6_route("2001:db8:1::/48", 1);
	struct hy_ip6_rewrite_config rewrite;
	struct hy_pkt_cls_config cls = { 0 };
	hy_node_id id;

	ip6_tables(2);
	if (to_group)
		assert_int_equal(hy_ip4_group_create(hops6, members, RTE_DIM(members), HY_IP4_NO_ID,
					 &route.next_hop),
			0);
	assert_int_equal(hy_ip6_routes_set(fib6, &route, 1, NULL), 0);
	memset(&rewrite, 0xff, sizeof(rewrite));
	rewrite.tables = (struct hy_ip6_lookup_config){ .fibs = { fib6 }, .nb_fibs = 1 };
	cls.ip6 = rewrite.tables;
	rig_nodes("pkt_cls-rig");
	id = rig_clone("ip6_rewrite", rewriter, NULL);
	assert_int_equal(hy_node_edge_add(id, "rig_out-0", &rewrite.edge[0]), 0);
	assert_int_equal(hy_node_edge_add(id, "rig_out-1", &rewrite.edge[1]), 0);
	assert_int_equal(hy_node_config(id, &rewrite, sizeof(rewrite)), 0);
	id = rig_clone("ip6_lookup", lookup, "ip6_rewrite-rig");
	assert_int_equal(hy_node_config(id, &rewrite.tables, sizeof(rewrite.tables)), 0);
	id = rig_clone("pkt_cls", classifier, "rig_out-0");
	assert_int_equal(hy_node_edge_add(id, "ip6_lookup-rig", &cls.ip6_edge), 0);
	assert_int_equal(hy_node_config(id, &cls, sizeof(cls)), 0);
	return rig_graph(0);
}

/* Sends a packet, which must come out at a port with these bytes. */
static void
assert_comes_out(struct hy_graph *graph, struct rte_mbuf *m, uint16_t port,
	const uint8_t expected[LEN])
{
	const unsigned int segments = m->nb_segs;

	rig_send(graph, &m, NULL, 1);
	assert_int_equal(out[port].n, 1);
	assert_packet(out[port].packets[0], expected, LEN, segments);
	rig_free();
}

/* Sends a frame to a port, with every boundary of two segments, and in segments of each size. */
static unsigned int
every_boundary(struct hy_graph *graph, const uint8_t frame[LEN], uint16_t port)
{
	uint8_t expected[LEN];

	memcpy(expected, frame, LEN);
	forwarded6(expected, port);
	for (uint32_t cut = 0; cut <= LEN; cut++)
		assert_comes_out(graph, packet_cut(frame, LEN, cut), port, expected);
	for (uint32_t size = 1; size <= LEN; size++)
		assert_comes_out(graph, packet_pieces(frame, LEN, size), port, expected);
	return LEN + 1 + LEN;
}

/* As the scalar kernel finds it in contiguous bytes. */
static uint16_t
member_port(const uint8_t frame[LEN])
{
	const struct hy_ip4_adjacency *adjacencies =
		hy_ip4_adjacencies(hy_ip6_fib_view(fib6)->next_hops);
	const struct hy_ip4_buckets *buckets = hy_ip4_group_buckets(&adjacencies[2]);

	return adjacencies[hy_ip4_group_member(buckets,
				   hy_ip6_flow_hash(buckets->seed, frame, LEN))]
		.port;
}

static void
a_group_is_found_in_any_segments(void **state)
{
	static const uint8_t next[] = { IPPROTO_UDP, IPPROTO_ESP, IPPROTO_FRAGMENT, IPPROTO_TCP };
	struct hy_graph *graph = chain("scalar", "batch", "scalar", true);
	unsigned int compared = 0, seen[RTE_DIM(next)][2] = { { 0 } };

	RTE_SET_USED(state);
	for (uint8_t flow = 0; flow < 8 * RTE_DIM(next); flow++) {
		const unsigned int kind = flow % RTE_DIM(next);
		uint8_t frame[LEN];
		uint16_t port;

		ip6_frame(frame, LEN);
		frame[20] = next[kind];
		frame[17] = (uint8_t)(flow * 3);  /* label */
		frame[37] = flow;                 /* source */
		frame[57] = (uint8_t)(flow * 11); /* port */
		port = member_port(frame);
		compared += every_boundary(graph, frame, port);
		seen[kind][port]++;
	}
	assert_int_equal(compared, 8 * RTE_DIM(next) * (LEN + 1 + LEN));
	for (unsigned int k = 0; k < RTE_DIM(next); k++)
		assert_true(seen[k][0] > 0 && seen[k][1] > 0);
}

static void
packets_to_a_group_are_dropped_as_others(void **state)
{
	static uint8_t frame[FRAME_MAX];
	struct hy_graph *graph = chain("scalar", "batch", "scalar", true);
	struct rte_mbuf *m;

	RTE_SET_USED(state);
	ip6_frame(frame, LEN);
	frame[18] = 1500 >> 8;
	frame[19] = 1500 & 0xff;
	for (uint8_t hops = 0; hops < 3; hops++) {
		frame[21] = hops;
		m = packet(frame, 1554);
		rig_send(graph, &m, NULL, 1);
		assert_int_equal(out[RIG_DROP].n, 1);
		rig_free();
	}
	assert_int_equal(dropped("rig", "ip6_rewrite-rig", "ttl_expired"), 2);
	assert_int_equal(dropped("rig", "ip6_rewrite-rig", "mtu_exceeded"), 1);
}

static void
segments_may_end_at_every_byte_of_an_ip6_header(void **state)
{
	static const struct {
		const char *classifier, *lookup, *rewriter;
	} chains[] = { { "scalar", "scalar", "scalar" }, { "ptype", "batch", "scalar" },
		{ "avx2", "batch", "avx2" }, { "avx512", "batch", "avx512" },
		{ "neon", "batch", "neon" } };
	unsigned int compared = 0, ran = 0;
	uint8_t frame[LEN];

	RTE_SET_USED(state);
	ip6_frame(frame, LEN);
	for (unsigned int v = 0; v < RTE_DIM(chains); v++) {
		struct hy_graph *graph;

		if (v > 1 &&
			(!rig_can_fuse(chains[v].rewriter) || !ip6_can_run(chains[v].rewriter)))
			continue;
		graph = chain(chains[v].classifier, chains[v].lookup, chains[v].rewriter, false);
		compared += every_boundary(graph, frame, 1);
		ran++;
		rig_clear();
		hy_ip6_fib_destroy(fib6);
		hy_ip4_fib_destroy(hops6);
		fib6 = NULL;
		hops6 = NULL;
	}
	assert_true(ran > 2); /* each kind of CPU has vectors */
	assert_int_equal(compared, ran * (LEN + 1 + LEN));
}

static void
a_truncated_ip6_header_is_dropped_at_every_length(void **state)
{
	uint8_t frame[LEN];
	struct hy_graph *graph;

	RTE_SET_USED(state);
	ip6_frame(frame, LEN);
	graph = chain("scalar", "batch", "scalar", false);
	for (uint32_t len = 0; len < LEN; len++) { /* the payload length says LEN */
		struct rte_mbuf *m = packet_cut(frame, len, len / 2);

		rig_send(graph, &m, NULL, 1);
		assert_int_equal(out[RIG_DROP].n, 1);
		rig_free();
	}
	assert_int_equal(dropped("rig", "pkt_cls-rig", "truncated"), LEN);
}

static void
a_node_without_an_edge_to_ip6_is_refused(void **state)
{
	struct hy_pkt_cls_config cls = { 0 };

	RTE_SET_USED(state);
	ip6_tables(2);
	cls.ip6 = (struct hy_ip6_lookup_config){ .fibs = { fib6 }, .nb_fibs = 1 };
	for (uint16_t edge = 0; edge < 2; edge++) {
		static const char *const patterns[] = { "rig_source" };
		const struct hy_graph_params params = { .patterns = patterns,
			.nb_patterns = 1,
			.ops = &hy_mbuf_ops,
			.drop_node = "rig_out-2",
			.lanes = { rig_lane },
			.socket = SOCKET_ID_ANY };
		struct hy_graph *graph;

		rig_nodes("pkt_cls-rig");
		cls.ip6_edge = edge; /* that of IPv4; none */
		assert_int_equal(hy_node_config(rig_clone("pkt_cls", "scalar", "rig_out-0"), &cls,
					 sizeof(cls)),
			0);
		unit_log_clear();
		assert_int_equal(hy_graph_create("rig", &params, &graph), -EINVAL);
		assert_non_null(strstr(unit_log(), "for IPv6; edges 1 to 0 are accepted"));
		rig_clear();
	}
}

static const struct CMUnitTest ip6_chain_tests[] = {
	IP6_TEST(segments_may_end_at_every_byte_of_an_ip6_header),
	IP6_TEST(a_group_is_found_in_any_segments),
	IP6_TEST(packets_to_a_group_are_dropped_as_others),
	IP6_TEST(a_truncated_ip6_header_is_dropped_at_every_length),
	IP6_TEST(a_node_without_an_edge_to_ip6_is_refused),
};

UNIT_SUITE(ip6_chain_tests)
