/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups change while a worker forwards: each packet goes to a member that its group has or had, by that
 * one's port, and none is lost. A second worker rests in the middle of its walks.
 */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_cycles.h>
#include <rte_vect.h>

#include <hy_grace.h>
#include <hy_ip6_rewrite.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "group_fixture.h"

#define PACKETS 64
#define GROUPS 4 /* group g has members of the hops that are g modulo GROUPS */
#define EACH 8   /* hops of a group, at most */
#define ROUNDS_LEAST 300
#define SECONDS_MOST 2
#define SEEN_LEAST 1000 /* packets */
#define STALLS_LEAST 20

static union {
	struct rte_rcu_qsbr v;
	alignas(RTE_CACHE_LINE_SIZE) uint8_t room[1024];
} qsbr;

static struct {
	struct hy_graph *graph;
	struct hy_ip6_fib *fib6; /* NULL: packets are of IPv4 */
	uint32_t group[GROUPS];  /* the last one is made anew each time */
	atomic_uint now;         /* its id */
	atomic_bool stop;
	atomic_ullong sent, faults, stalls, stall_faults;
	atomic_uint members_seen; /* bits: which of a group's members had packets */
	char fault[200];
} t;

/* Hop number i of a group; its address says which. */
static struct hy_ip4_next_hop
hop_of(unsigned int group, unsigned int i, unsigned int number)
{
	return (struct hy_ip4_next_hop){ .port = (uint16_t)(number & 1),
		.mac = { { 6, (uint8_t)group, (uint8_t)i, 0, (uint8_t)(number >> 8),
			(uint8_t)number } } };
}

static void
check(const uint8_t *frame, unsigned int port)
{
	t.sent++;
	if (frame[0] == 6 && frame[1] == frame[32] && (frame[5] & 1) == port && frame[2] < EACH) {
		atomic_fetch_or(&t.members_seen, 1u << frame[2]);
		return;
	}
	if (t.faults++ == 0)
		snprintf(t.fault, sizeof(t.fault),
			"by port %u: %02x:%02x:%02x:%02x:%02x:%02x to %u", port, frame[0], frame[1],
			frame[2], frame[3], frame[4], frame[5], frame[32]);
}

/* A frame of UDP to a group, of a flow; at byte 32, it says to which. Returns its length. */
static uint32_t
frame_make(uint8_t frame[FRAME_MAX], unsigned int g, uint32_t flow)
{
	static const uint8_t head[] = { 0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, IPPROTO_UDP, 64 };
	uint32_t len, ports = RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr);

	if (t.fib6 == NULL) {
		len = FRAME(frame, .dst = IP4(10, 0, g, 1), .payload = 8);
		frame[RTE_ETHER_HDR_LEN + 9] = IPPROTO_UDP;
	} else {
		ports = RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv6_hdr);
		len = ports + 8;
		memset(frame, 0, len);
		memcpy(frame + 12, head, sizeof(head));
		frame[32] = (uint8_t)g;
	}
	memcpy(frame + ports, &flow, sizeof(flow));
	return len;
}

static void *
forward(void *arg)
{
	struct rte_mbuf **packets = arg;
	uint32_t lane[PACKETS], flow = 0;
	uint8_t frame[FRAME_MAX];

	while (!atomic_load(&t.stop)) {
		const uint32_t now = atomic_load(&t.now);

		for (unsigned int i = 0; i < PACKETS; i++) {
			const unsigned int g = i % GROUPS;

			memcpy(rte_pktmbuf_mtod(packets[i], void *), frame,
				frame_make(frame, g, flow++));
			lane[i] = g == GROUPS - 1 ? now : t.group[g];
		}
		rig_send(t.graph, packets, lane, PACKETS);
		if (out[0].n + out[1].n != PACKETS && t.faults++ == 0)
			snprintf(t.fault, sizeof(t.fault), "%u of a burst were dropped",
				out[RIG_DROP].n);
		for (unsigned int o = 0; o < RIG_OUTS; o++) {
			for (unsigned int i = 0; i < out[o].n && o != RIG_DROP; i++)
				check(rte_pktmbuf_mtod(out[o].packets[i], uint8_t *), o);
			out[o].n = 0;
		}
	}
	hy_graph_rest(t.graph);
	return NULL;
}

/* A worker that rests between its group, a bucket, and the member's adjacency. */
static void *
stall(void *arg)
{
	RTE_SET_USED(arg);
	rte_rcu_qsbr_thread_online(&qsbr.v, 1);
	for (uint32_t i = 0; !atomic_load(&t.stop); i++) {
		const struct hy_ip4_view *view = hy_ip4_fib_view(group_fib);
		const unsigned int g = i % GROUPS;
		const uint32_t id = g == GROUPS - 1 ? atomic_load(&t.now) : t.group[g];
		const struct hy_ip4_adjacency *adjacency = &hy_ip4_adjacencies(view)[id];
		const struct hy_ip4_buckets *buckets = hy_ip4_group_buckets(adjacency);
		uint32_t member;

		rte_delay_us_sleep(200);
		member = hy_ip4_group_member(buckets, i * 2654435761u);
		rte_delay_us_sleep(200);
		adjacency = &hy_ip4_adjacencies(view)[member];
		if (hy_ip4_is_group(adjacency) || adjacency->l2.dst_addr.addr_bytes[1] != g)
			t.stall_faults++;
		t.stalls++;
		rte_rcu_qsbr_quiescent(&qsbr.v, 1);
	}
	rte_rcu_qsbr_thread_offline(&qsbr.v, 1);
	return NULL;
}

/* A random part of a group's hops, with random weights: more buckets now and then. */
static unsigned int
some(unsigned int g, struct hy_ip4_member *members, const uint32_t hop[GROUPS][EACH],
	uint64_t *seed)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < EACH; i++)
		if (rnd(seed) % 2 == 0 || (n == 0 && i == EACH - 1))
			members[n++] = (struct hy_ip4_member){ hop[g][i], 1 + rnd(seed) % 20 };
	return n;
}

/* A worker without a CPU delays changes; they are then made again. */
#define MUST(call) \
	do { \
		int rc_; \
\
		do { \
			rc_ = (call); \
		} while (rc_ == -ETIMEDOUT); \
		assert_int_equal(rc_, 0); \
	} while (0)

/* One group is replaced by one like it, and goes; its routes would lead to the other one. */
static void
group_turn(const uint32_t hop[GROUPS][EACH], uint64_t *seed)
{
	const unsigned int g = GROUPS - 1;
	struct hy_ip4_member members[EACH];
	const unsigned int n = some(g, members, hop, seed);
	const uint32_t old = atomic_load(&t.now);
	uint64_t token;
	uint32_t id;

	MUST(hy_ip4_group_create(group_fib, members, n, old, &id));
	atomic_store(&t.now, id);
	/*
	 * The worker takes ids from there, not from a table: it has to be past that. Not by
	 * rte_rcu_qsbr_synchronize(), whose reads ThreadSanitizer does not see.
	 */
	token = hy_grace_start(&qsbr.v);
	while (!hy_grace_wait(&qsbr.v, token))
		;
	assert_int_equal(hy_ip4_group_delete(group_fib, old), 0);
}

/* A hop that is no member leaves, and comes back under any id. */
static void
hop_turn(unsigned int g, uint32_t hop[GROUPS][EACH], unsigned int number, uint64_t *seed)
{
	const unsigned int i = rnd(seed) % EACH;
	struct hy_ip4_next_hop new = hop_of(g, i, number);

	if (hy_ip4_next_hop_delete(group_fib, hop[g][i]) == 0)
		MUST(hy_ip4_next_hop_add(group_fib, &new, &hop[g][i]));
	else
		MUST(hy_ip4_next_hop_set(group_fib, hop[g][i], &new));
}

static unsigned int
groups_change(uint32_t hop[GROUPS][EACH])
{
	const uint64_t end = rte_get_timer_cycles() + SECONDS_MOST * rte_get_timer_hz();
	struct hy_ip4_member members[EACH];
	unsigned int rounds = 0;
	uint64_t seed = 1;

	while (rounds < ROUNDS_LEAST || rte_get_timer_cycles() < end ||
		atomic_load(&t.sent) < SEEN_LEAST || atomic_load(&t.stalls) < STALLS_LEAST) {
		const unsigned int g = rnd(&seed) % (GROUPS - 1), n = some(g, members, hop, &seed);

		MUST(hy_ip4_group_set(group_fib, t.group[g], members, n));
		hop_turn(rnd(&seed) % GROUPS, hop, rounds, &seed);
		assert_int_equal(hy_ip4_port_link(group_fib, rounds & 1, rnd(&seed) % 2 == 0), 0);
		group_turn(hop, &seed);
		rounds++;
	}
	return rounds;
}

static void
tables_make(uint32_t hop[GROUPS][EACH])
{
	const struct hy_ip4_fib_params params = { .max_routes = 1,
		.max_tbl8s = 1,
		.max_next_hops = 100,
		.socket = SOCKET_ID_ANY,
		.qsbr = &qsbr.v };
	struct hy_ip4_member members[EACH];
	uint64_t seed = 2;

	memset(&t, 0, sizeof(t));
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 2), 0);
	assert_int_equal(hy_ip4_fib_create("groups", &params, &group_fib), 0);
	for (uint16_t p = 0; p < 2; p++)
		assert_int_equal(hy_ip4_port_add(group_fib,
					 &(struct hy_ip4_port){ .port = p, .max_len = 1514 }),
			0);
	for (unsigned int g = 0; g < GROUPS; g++) {
		for (unsigned int i = 0; i < EACH; i++) {
			const struct hy_ip4_next_hop next_hop = hop_of(g, i, g);

			assert_int_equal(hy_ip4_next_hop_add(group_fib, &next_hop, &hop[g][i]), 0);
		}
		t.group[g] = group_create(members, some(g, members, hop, &seed), HY_IP4_NO_ID);
	}
	t.now = t.group[GROUPS - 1];
}

static void
graph_make(const char *node, const char *variant)
{
	const hy_node_id id = rig_clone(node, variant, NULL);
	const bool ip6 = strcmp(node, "ip6_rewrite") == 0;
	struct hy_ip4_rewrite_config rewrite;
	struct hy_ip6_rewrite_config rewrite6;
	char name[HY_NAME_SIZE];

	rig_qsbr = &qsbr.v;
	snprintf(name, sizeof(name), "%s-rig", node);
	rig_nodes(name);
	memset(&rewrite, 0xff, sizeof(rewrite));
	memset(&rewrite6, 0xff, sizeof(rewrite6));
	for (uint16_t p = 0; p < 2; p++) {
		snprintf(name, sizeof(name), "rig_out-%u", p);
		assert_int_equal(hy_node_edge_add(id, name, &rewrite.edge[p]), 0);
		rewrite6.edge[p] = rewrite.edge[p];
	}
	rewrite.tables = (struct hy_ip4_lookup_config){ .fibs = { group_fib }, .nb_fibs = 1 };
	if (ip6)
		assert_int_equal(hy_ip6_fib_create(group_fib, &t.fib6), 0);
	rewrite6.tables = (struct hy_ip6_lookup_config){ .fibs = { t.fib6 }, .nb_fibs = 1 };
	assert_int_equal(ip6 ? hy_node_config(id, &rewrite6, sizeof(rewrite6))
			     : hy_node_config(id, &rewrite, sizeof(rewrite)),
		0);
	t.graph = rig_graph(PACKETS);
}

static void
live_run(const char *node, const char *variant)
{
	struct rte_mbuf *packets[PACKETS];
	uint32_t hop[GROUPS][EACH];
	uint8_t frame[FRAME_MAX];
	pthread_t worker, staller;
	unsigned int rounds;

	tables_make(hop);
	graph_make(node, variant);
	for (unsigned int i = 0; i < PACKETS; i++)
		packets[i] = packet(frame, frame_make(frame, 0, 0));
	assert_int_equal(pthread_create(&worker, NULL, forward, packets), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, 1), 0);
	assert_int_equal(pthread_create(&staller, NULL, stall, NULL), 0);
	rounds = groups_change(hop);
	atomic_store(&t.stop, true);
	pthread_join(worker, NULL);
	pthread_join(staller, NULL);
	print_message("%s %s: %u rounds of changes; %ju packets, %ju stalls\n", node, variant,
		rounds, (uintmax_t)t.sent, (uintmax_t)t.stalls);
	if (t.faults > 0)
		fail_msg("%s %s: %ju faults: %s", node, variant, (uintmax_t)t.faults, t.fault);
	assert_int_equal(t.stall_faults, 0);
	assert_int_equal(t.members_seen, (1u << EACH) - 1);
	for (unsigned int i = 0; i < PACKETS; i++)
		rte_pktmbuf_free(packets[i]);
	rig_clear();
	hy_ip6_fib_destroy(t.fib6);
	hy_ip4_fib_destroy(group_fib);
	group_fib = NULL;
}

static void
packets_follow_groups_that_change(void **state)
{
	RTE_SET_USED(state);
	live_run("ip4_rewrite", "scalar");
	live_run("ip6_rewrite", "scalar");
#ifdef RTE_ARCH_ARM64
	live_run("ip4_rewrite", "neon");
#else
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0)
		live_run("ip4_rewrite", "avx2");
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0 &&
		rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512) == 0)
		live_run("ip4_rewrite", "avx512");
#endif
}

static const struct CMUnitTest node_group_live_tests[] = {
	GROUP_TEST(packets_follow_groups_that_change),
};

UNIT_SUITE(node_group_live_tests)
