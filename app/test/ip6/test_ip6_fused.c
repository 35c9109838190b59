/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both families through pkt_cls and what follows it, fused and apart: the same packets in bursts of any
 * size and mixture, with faults, while IPv6 is turned off and on. Each packet comes out at the same place
 * with the same bytes, behind those of its family that came before; all statistics are the same.
 */

#include <stdalign.h>

#include <rte_rcu_qsbr.h>

#include <hy_ip6_lookup.h>
#include <hy_ip6_rewrite.h>
#include <hy_pkt_cls.h>

#include "hal/internal/hal.h"
#include "ip6_fixture.h"

#define BURSTS 400
#define PACKETS (BURSTS * HY_BURST_MAX)
#define SIZE 64 /* of the graph's bursts: longer ones come in parts */
#define LEN4 64
#define LEN6 90

/* How packets are made faulty. The first is none. */
enum fault { NONE, TTL, NO_ROUTE, VERSION, LENGTH, GROUP, TYPE, OPTIONS, MARTIAN, FAULTS };

/* What became of each packet. */
static struct fate {
	uint8_t out;
	uint32_t sum;
} fates[2][PACKETS];

static union {
	struct rte_rcu_qsbr v;
	alignas(RTE_CACHE_LINE_SIZE) uint8_t room[1024];
} qsbr;

static struct hy_stats *stats[2];
static unsigned int made[2][FAULTS]; /* packets of each family and fault */

/* A clone without edges that other tests have added to the node. */
static hy_node_id
bare_clone(const char *node, const char *variant, const char *next)
{
	const hy_node_id id = rig_clone(node, variant, next);

	assert_int_equal(hy_node_edge_shrink(id, next != NULL), 0);
	return id;
}

/* A router of both families. The variants are those of a fusion, or of two. */
static struct hy_graph *
router(const char *variant, const char *lookup6, bool fused, const char *fused6)
{
	const hy_node_id rewrite4 = bare_clone("ip4_rewrite", variant, NULL);
	const hy_node_id rewrite6 = bare_clone("ip6_rewrite", variant, NULL);
	struct hy_ip4_rewrite_config config4;
	struct hy_ip6_rewrite_config config6;
	struct hy_pkt_cls_config cls = { 0 };
	hy_node_id id;

	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	rig_qsbr = &qsbr.v;
	rig_fused = true; /* sinks without lanes */
	rig_nodes("pkt_cls-rig");
	ip6_tables_in(HY_IP4_LPM, 2);
	memset(&config4, 0xff, sizeof(config4));
	memset(&config6, 0xff, sizeof(config6));
	config4.tables = (struct hy_ip4_lookup_config){ .fibs = { hops6 }, .nb_fibs = 1 };
	config6.tables = (struct hy_ip6_lookup_config){ .fibs = { fib6 }, .nb_fibs = 1 };
	for (unsigned int p = 0; p < 2; p++) {
		const char *to = p == 0 ? "rig_out-0" : "rig_out-1";
		const struct hy_ip4_route route = {
			.prefix = IP4(198, 18, p, 0), .depth = 24, .next_hop = p
		};

		assert_int_equal(hy_ip4_route_add(hops6, &route), 0);
		assert_int_equal(hy_node_edge_add(rewrite4, to, &config4.edge[p]), 0);
		assert_int_equal(hy_node_edge_add(rewrite6, to, &config6.edge[p]), 0);
	}
	assert_int_equal(hy_node_config(rewrite4, &config4, sizeof(config4)), 0);
	assert_int_equal(hy_node_config(rewrite6, &config6, sizeof(config6)), 0);
	id = rig_clone("ip4_lookup", variant, "ip4_rewrite-rig");
	assert_int_equal(hy_node_config(id, &config4.tables, sizeof(config4.tables)), 0);
	id = rig_clone("ip6_lookup", lookup6, "ip6_rewrite-rig");
	assert_int_equal(hy_node_config(id, &config6.tables, sizeof(config6.tables)), 0);
	id = bare_clone("pkt_cls", variant, "ip4_lookup-rig");
	cls.ip6 = config6.tables;
	assert_int_equal(hy_node_edge_add(id, "ip6_lookup-rig", &cls.ip6_edge), 0);
	assert_int_equal(hy_node_config(id, &cls, sizeof(cls)), 0);
	if (fused)
		rig_fuse(variant);
	if (fused6 != NULL)
		rig_fuse6(fused6);
	return rig_graph(SIZE);
}

static void
turn(bool on)
{
	const struct hy_ip6_route routes[] = { ip6_route("2001:db8::/48", 0),
		ip6_route("2001:db8:1::/48", 1) };

	assert_int_equal(hy_ip6_routes_set(fib6, routes, on ? 2 : 0, NULL), 0);
}

static void
spoil4(uint8_t *frame, enum fault fault)
{
	static const uint8_t at[] = { [TTL] = 22,
		[NO_ROUTE] = 30,
		[VERSION] = 14,
		[LENGTH] = 16,
		[GROUP] = 0,
		[TYPE] = 12,
		[OPTIONS] = 24,
		[MARTIAN] = 30 };
	static const uint8_t value[] = { [TTL] = 1,
		[NO_ROUTE] = 9,
		[VERSION] = 0x65,
		[LENGTH] = 9,
		[GROUP] = 1,
		[TYPE] = 0x12,
		[OPTIONS] = 0,
		[MARTIAN] = 127 };

	frame[at[fault]] = value[fault]; /* OPTIONS: a wrong checksum */
	if (fault != OPTIONS)
		frame_sum(frame);
}

static void
spoil6(uint8_t *frame, enum fault fault)
{
	static const uint8_t at[] = { [TTL] = 21,
		[NO_ROUTE] = 42,
		[VERSION] = 14,
		[LENGTH] = 18,
		[GROUP] = 0,
		[TYPE] = 12,
		[OPTIONS] = 20,
		[MARTIAN] = 38 };
	static const uint8_t value[] = { [TTL] = 1,
		[NO_ROUTE] = 9,
		[VERSION] = 0x45,
		[LENGTH] = 9,
		[GROUP] = 1,
		[TYPE] = 0x12,
		[OPTIONS] = 0,
		[MARTIAN] = 0xff };

	frame[at[fault]] = value[fault];
}

/* A packet with its number in its last bytes. */
static struct rte_mbuf *
make(uint32_t id, bool is6, enum fault fault, uint32_t port)
{
	const uint32_t len = is6 ? LEN6 : LEN4;
	uint8_t frame[LEN6];

	if (is6) {
		ip6_frame(frame, LEN6);
		frame[43] = (uint8_t)port;
	} else {
		FRAME(frame, .payload = LEN4 - 34, .dst = IP4(198, 18, port, 7));
	}
	if (fault != NONE && is6)
		spoil6(frame, fault);
	else if (fault != NONE)
		spoil4(frame, fault);
	memcpy(frame + len - sizeof(id), &id, sizeof(id));
	made[is6][fault]++;
	return packet(frame, len);
}

/* Takes what came to a sink. In each family, and where it is passed, numbers rise. */
static void
take(struct fate *fate, unsigned int o)
{
	uint32_t next[2] = { 0, 0 };

	for (unsigned int i = 0; i < out[o].n; i++) {
		const struct rte_mbuf *m = out[o].packets[i];
		const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);
		uint32_t id, sum = 0;

		memcpy(&id, bytes + m->pkt_len - sizeof(id), sizeof(id));
		assert_true(id < PACKETS && fate[id].sum == 0);
		for (uint32_t b = 0; b < m->pkt_len; b++)
			sum = sum * 31 + bytes[b] + 1;
		fate[id] = (struct fate){ (uint8_t)o, sum | 1 };
		if (o == RIG_DROP)
			continue;
		assert_true(id >= next[m->pkt_len == LEN6]);
		next[m->pkt_len == LEN6] = id + 1;
	}
}

/* Sends all bursts. Returns the number of packets. */
static uint32_t
drive(struct hy_graph *graph, struct fate *fate)
{
	static const uint32_t rates[] = { 0, 100, 20, 3 };
	struct rte_mbuf *packets[HY_BURST_MAX];
	uint64_t seed = 6;
	uint32_t id = 0;

	memset(fate, 0, sizeof(fates[0]));
	memset(made, 0, sizeof(made));
	for (unsigned int b = 0; b < BURSTS; b++) {
		const unsigned int n = 1 + rnd(&seed) % HY_BURST_MAX;
		const uint32_t rate = rates[b / 3 % RTE_DIM(rates)], share = b * 5 / 4 % 5;

		turn(b % 16 < 13);
		for (unsigned int i = 0; i < n; i++) {
			const uint32_t r = rnd(&seed);
			const bool faulty = rate > 0 && r % rate == 0;
			const enum fault fault = faulty ? r / rate % FAULTS : NONE;

			packets[i] = make(id++, rnd(&seed) % 4 < share, fault, rnd(&seed) % 2);
		}
		rig_send(graph, packets, NULL, n);
		for (unsigned int o = 0; o < RIG_OUTS; o++)
			take(fate, o);
		rig_free();
	}
	return id;
}

static void
compare_stats(void)
{
	unsigned int counted = 0;

	assert_int_equal(stats[0]->nb_nodes, stats[1]->nb_nodes);
	for (unsigned int i = 0; i < stats[0]->nb_nodes; i++) {
		const struct hy_node_stats *a = &stats[0]->nodes[i], *b = &stats[1]->nodes[i];

		assert_string_equal(a->name, b->name);
		assert_int_equal(a->objs, b->objs);
		for (unsigned int e = 0; e < a->nb_edges; e++, counted++)
			assert_int_equal(a->edges[e].objs, b->edges[e].objs);
		for (unsigned int d = 0; d < a->nb_drops; d++, counted++)
			assert_int_equal(a->drops[d].objs, b->drops[d].objs);
		for (unsigned int c = 0; c < a->nb_counters; c++, counted++)
			assert_int_equal(a->counters[c].value, b->counters[c].value);
	}
	assert_true(counted > 30);
}

static void
clear(void)
{
	rig_clear();
	hy_ip6_fib_destroy(fib6);
	hy_ip4_fib_destroy(hops6);
	fib6 = NULL;
	hops6 = NULL;
}

/* Compares apart with fused. Returns packets forwarded. */
static uint32_t
compare(const char *variant, const char *lookup6, bool fused4, const char *fused6)
{
	uint32_t n = 0, forwarded = 0;

	for (unsigned int fused = 0; fused < 2; fused++) {
		struct hy_graph *graph = router(variant, lookup6, fused == 1 && fused4,
			fused == 1 ? fused6 : NULL);

		rig_fused_objs = rig_fused_objs6 = 0;
		n = drive(graph, fates[fused]);
		assert_int_equal(hy_stats_read("rig", &stats[fused]), 0);
		clear();
		rig_part();
	}
	compare_stats();
	for (uint32_t i = 0; i < n; i++) {
		assert_true(fates[0][i].sum != 0); /* none is lost */
		assert_int_equal(fates[0][i].out, fates[1][i].out);
		assert_int_equal(fates[0][i].sum, fates[1][i].sum);
		forwarded += fates[0][i].out != RIG_DROP;
	}
	for (unsigned int f = 0; f < FAULTS; f++)
		assert_true(made[0][f] > 100 && made[1][f] > 100);
	hy_stats_free(stats[0]);
	hy_stats_free(stats[1]);
	return forwarded;
}

static void
both_families_are_forwarded_alike_fused_and_apart(void **state)
{
	static const char *const variants[] = { "scalar", "avx2", "avx512", "neon" };
	unsigned int pairs = 0;

	RTE_SET_USED(state);
	for (size_t v = 0; v < RTE_DIM(variants); v++) {
		const char *name = variants[v], *with = v == 0 ? "batch" : name;
		uint32_t forwarded;

		if (!rig_can_fuse(name) || !ip6_can_run(name))
			continue;
		forwarded = compare(name, "batch", true, with);
		print_message("# %s: of %u forwarded, %ju and %ju fused\n", name, forwarded,
			(uintmax_t)rig_fused_objs, (uintmax_t)rig_fused_objs6);
		assert_true(rig_fused_objs > forwarded / 4 && rig_fused_objs6 > forwarded / 8);
		pairs++;
	}
	assert_true(pairs > 0);
	compare("scalar", "scalar", true, "scalar");
	assert_true(rig_fused_objs6 > 5000);
}

/* As where a feature parts one of the two chains. */
static void
either_family_is_fused_without_the_other(void **state)
{
	RTE_SET_USED(state);
	compare("scalar", "batch", false, "batch");
	assert_true(rig_fused_objs == 0 && rig_fused_objs6 > 5000);
	compare("scalar", "batch", true, NULL);
	assert_true(rig_fused_objs > 5000 && rig_fused_objs6 == 0);
}

static const struct CMUnitTest ip6_fused_tests[] = {
	IP6_TEST(both_families_are_forwarded_alike_fused_and_apart),
	IP6_TEST(either_family_is_fused_without_the_other),
};

UNIT_SUITE(ip6_fused_tests)
