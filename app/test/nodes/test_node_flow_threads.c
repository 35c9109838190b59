/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_lookup and flow_reinject while flows change, workers rest, stall and end; and under attack. */

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include <hy_flow_lookup.h>
#include <hy_mbuf.h>

#include "app/test/flows/flows_frames.h"
#include "app/test/unit_worker.h"

#include "node_fixture.h"

#define BURST 32
#define FLOWS 16
#define UNKNOWN UINT16_MAX /* in place of a generation: the rules answered this packet alone */
#define ROUNDS 6           /* workers, one after the other */
#define ROUNDS_MOST 300    /* until they have seen enough: they may have little of a CPU */

static struct hy_flow_table *the_table;
static struct rte_rcu_qsbr *qsbr;
static struct hy_graph *graph;
static uint64_t handed_out; /* packets of earlier workers that were dropped or left with a table */

/* Installs nothing: flows are the test's. */
static int
ask(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer)
{
	RTE_SET_USED(arg);
	RTE_SET_USED(key);
	answer->mask.dst = UINT32_MAX;
	answer->action = hy_flow_action(0, UNKNOWN);
	return 1;
}

static void
table_make(hy_flows_rules_t *rules, struct rte_rcu_qsbr *variable, uint32_t flows, uint32_t room)
{
	const struct hy_flow_table_params params = { .name = "test",
		.flows = { .max_flows = flows,
			.max_masks = 128,
			.max_port_masks = 64,
			.pressed_idle = 50,
			.workers = 1,
			.socket = SOCKET_ID_ANY,
			.qsbr = variable,
			.seed = 3 },
		.caches = { .exact = HY_FLOWS_EXACT_8K,
			.exact_one_in = 2,
			.index = HY_FLOWS_INDEX_LINES,
			.lines_log = 8 },
		.upcalls = { .rules = rules, .room = room } };

	assert_int_equal(hy_flow_table_create(&params, &the_table), 0);
}

static hy_node_id ids[2]; /* flow_lookup, flow_reinject */

static void
nodes_make(void)
{
	rig_lane = HY_FLOW_ACTION_LANE;
	rig_nodes("flow_lookup-rig");
	ids[0] = rig_clone("flow_lookup", NULL, NULL);
	ids[1] = rig_clone("flow_reinject", NULL, NULL);
	/* So that sinks know what was answered. */
	assert_int_equal(hy_node_edge_add(ids[0], "rig_out-0", NULL), 0);
	assert_int_equal(hy_node_edge_add(ids[1], "rig_out-1", NULL), 0);
}

static void
graph_make(struct rte_rcu_qsbr *variable)
{
	static const char *const patterns[] = { "rig_source", "flow_reinject-rig" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 2,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { HY_FLOW_ACTION_LANE },
		.burst = BURST,
		.socket = SOCKET_ID_ANY,
		.qsbr = variable };
	struct hy_flow_lookup_config config = { .table = the_table };

	memset(config.rss, true, sizeof(config.rss));
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(hy_node_config(ids[i], &config, sizeof(config)), 0);
	assert_int_equal(hy_graph_create("flows", &params, &graph), 0);
}

static struct rte_mbuf *
packet_to(uint32_t dst)
{
	uint8_t frame[FRAME_MAX];
	struct rte_mbuf *m = packet(frame, FRAME(frame, .dst = dst, .payload = 16));

	m->port = 0;
	return m;
}

static uint32_t
dst_of(const struct rte_mbuf *m)
{
	rte_be32_t dst;

	memcpy(&dst, rte_pktmbuf_mtod_offset(m, const void *, 30), sizeof(dst));
	return rte_be_to_cpu_32(dst);
}

/* The worker. */

static atomic_uint gone[FLOWS]; /* generations up to this one are deleted */
static atomic_bool stop;

static struct {
	uint64_t sent, out, dropped, rests, stalls;
	uint64_t fresh[2], wrong[2]; /* found, answered: of a generation; of one that is gone */
	uint64_t gone;               /* answered by a megaflow that is deleted */
} did;

/* With what was gone before packets were sent. */
static void
leave(const unsigned int before[FLOWS])
{
	for (unsigned int sink = 0; sink < 2; sink++)
		for (uint32_t k = 0; k < out[sink].n; k++) {
			const uint32_t flow = dst_of(out[sink].packets[k]) % FLOWS;
			const uint16_t has = (uint16_t)(out[sink].lane[k] >> 16);

			did.fresh[sink] += has != UNKNOWN;
			did.wrong[sink] += has <= before[flow];
		}
	did.out += out[0].n + out[1].n;
	did.dropped += out[RIG_DROP].n;
	rig_free();
}

static void *
worker(void *arg)
{
	uint64_t seed = *(const uint64_t *)arg;

	while (!atomic_load(&stop)) {
		const uint32_t what = flows_random(&seed) % 512;
		struct rte_mbuf *burst[BURST];
		unsigned int before[FLOWS];

		for (uint32_t f = 0; f < FLOWS; f++)
			before[f] = atomic_load(&gone[f]);
		for (uint32_t i = 0; i < BURST; i++)
			burst[i] = packet_to(IP4(198, 18, 0, flows_random(&seed) % FLOWS));
		rig_send(graph, burst, NULL, BURST);
		did.sent += BURST;
		leave(before);
		if (what == 0) {
			hy_graph_rest(graph);
			did.rests++;
		}
		did.stalls += what == 1;
		if (what <= 1)
			rte_delay_us_sleep(2000);
	}
	return NULL; /* without rest: it is the graph's end that lets others go on */
}

/* The control plane. */

static uint16_t generation[FLOWS];
static uint64_t added, deleted, switched, masks;

static struct hy_flows_flow
flow_now(uint32_t f)
{
	return (struct hy_flows_flow){ .key = { .dst = rte_cpu_to_be_32(IP4(198, 18, 0, f)) },
		.mask = { .dst = UINT32_MAX },
		.action = hy_flow_action(0, generation[f]) };
}

/* Adds a megaflow of the next generation, or deletes one and waits until no packet can meet it. */
static void
flow_change(uint32_t f)
{
	struct hy_flows *flows = hy_flow_table_flows(the_table);
	struct hy_flows_flow flow = flow_now(f);

	if (hy_flows_delete(flows, &flow.key, &flow.mask) < 0) {
		generation[f]++;
		flow = flow_now(f);
		added += hy_flows_add(flows, &flow) == 0;
		return;
	}
	rte_rcu_qsbr_synchronize(qsbr, RTE_QSBR_THRID_INVALID);
	atomic_store(&gone[f], generation[f]);
	deleted++;
}

/* A megaflow of no packet comes or goes, with its mask. */
static void
mask_change(struct hy_flows *flows)
{
	const struct hy_flows_flow stranger = { .key = { .src = RTE_BE32(1) },
		.mask = { .src = UINT32_MAX, .ttl = UINT8_MAX } };

	if (hy_flows_delete(flows, &stranger.key, &stranger.mask) < 0)
		assert_int_equal(hy_flows_add(flows, &stranger), 0);
	masks++;
}

static void
control(uint64_t *seed, uint64_t until)
{
	static const struct hy_flows_caches kinds[] = { { .index = HY_FLOWS_INDEX_DFC },
		{ .exact = HY_FLOWS_EXACT_16K,
			.exact_one_in = 1,
			.index = HY_FLOWS_INDEX_LINES,
			.lines_log = 4 },
		{ .frames = true },
		{ .frames = true, .index = HY_FLOWS_INDEX_LINES, .lines_log = 4 },
		{ .exact = HY_FLOWS_EXACT_NONE } };
	struct hy_flows *flows = hy_flow_table_flows(the_table);

	while (rte_get_timer_cycles() < until) {
		flow_change(flows_random(seed) % FLOWS);
		if (flows_random(seed) % 8 == 0)
			mask_change(flows);
		if (flows_random(seed) % 64 != 0)
			continue;
		assert_int_equal(hy_flows_caches_set(flows,
					 &kinds[flows_random(seed) % RTE_DIM(kinds)]),
			0);
		assert_true(hy_flow_table_destroy(the_table) < 0);
		switched++;
	}
}

/* One worker's life: its graph ends when the thread has, and the table with what is on the way. */
static void
round_run(uint64_t seed)
{
	uint64_t workers_seed = ~seed;
	const uint64_t until = rte_get_timer_cycles() + rte_get_timer_hz() / 3;
	struct hy_flows_upcall_stats s;
	pthread_t thread;

	table_make(ask, qsbr, 100, 64);
	assert_int_equal(hy_flow_table_run(the_table), 0);
	for (uint32_t f = 0; f < FLOWS; f++)
		atomic_store(&gone[f], generation[f]);
	graph_make(qsbr);
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, worker, &workers_seed), 0);
	control(&seed, until);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	did.gone += dropped("flows", "flow_reinject-rig", "flow_deleted");
	assert_int_equal(hy_graph_destroy(graph), 0);
	hy_flows_upcall_stats(hy_flow_table_upcalls(the_table), 0, &s);
	handed_out += s.sent - s.taken;
	assert_int_equal(hy_flow_table_destroy(the_table), 0);
}

static bool
is_enough(void)
{
	return did.fresh[0] > 1000 && did.fresh[1] > 0 && did.gone > 0 && added > ROUNDS &&
		deleted > ROUNDS && switched > 0 && masks > ROUNDS;
}

static void
deleted_flow_is_met_by_no_packet_after_a_grace_period(void **state)
{
	const unsigned int lost = (RTE_SET_USED(state), rte_mempool_in_use_count(pool));

	qsbr = qsbr_new(1);
	memset(&did, 0, sizeof(did));
	nodes_make();
	for (uint64_t round = 1; round <= ROUNDS || (round <= ROUNDS_MOST && !is_enough()); round++)
		round_run(round);
	print_message("%ju out, %ju dropped, %ju and %ju by %ju flows, of which %ju deleted, %ju "
		      "too late; %ju masks, %ju switches, %ju rests, %ju stalls\n",
		(uintmax_t)did.out, (uintmax_t)did.dropped, (uintmax_t)did.fresh[0],
		(uintmax_t)did.fresh[1], (uintmax_t)added, (uintmax_t)deleted, (uintmax_t)did.gone,
		(uintmax_t)masks, (uintmax_t)switched, (uintmax_t)did.rests, (uintmax_t)did.stalls);
	assert_int_equal(did.sent, did.out + did.dropped + handed_out);
	assert_int_equal(did.wrong[0], 0);
	assert_int_equal(did.wrong[1], 0);
	assert_true(is_enough());
	assert_int_equal(rte_mempool_in_use_count(pool), lost);
	rig_clear();
}

/* A sender at port 1 has each of his packets make a flow, and some a mask; port 0 has FLOWS. */
static int
ask_attacked(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer)
{
	const uint32_t dst = rte_be_to_cpu_32(key->dst);

	RTE_SET_USED(arg);
	answer->mask.dst = UINT32_MAX;
	answer->action = hy_flow_action(0, key->port);
	if (key->port == 1)
		answer->mask.src = dst % 4 == 0 ? rte_cpu_to_be_32(dst * 2654435761u)
						: RTE_BE32(0xff);
	answer->idle = 1000;
	return 0;
}

static void
flows_at_work_go_on_and_memory_stays_bounded_under_attack(void **state)
{
	const uint32_t max_flows = 500, steps = 20000;
	uint64_t seed = 5, good = 0, good_out = 0, bad = 0, out_all = 0, full = 0;
	struct hy_flows_upcall_stats u;
	struct hy_flows_stats s;
	size_t before;

	RTE_SET_USED(state);
	nodes_make();
	table_make(ask_attacked, NULL, max_flows, 64);
	graph_make(NULL);
	before = unit_heap_bytes();
	for (uint32_t step = 0; step < steps; step++) {
		struct rte_mbuf *burst[BURST];

		for (uint32_t i = 0; i < BURST; i++) {
			const bool attack = i % 2 == 1 && step > 100;

			burst[i] = packet_to(attack ? flows_random(&seed)
						    : IP4(198, 18, 0, i % FLOWS));
			burst[i]->port = attack;
			burst[i]->hash.rss = 7; /* the same of all, and believed at first */
			burst[i]->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
			good += !attack;
			bad += attack;
		}
		rig_send(graph, burst, NULL, BURST);
		for (uint32_t sink = 0; sink < 2; sink++)
			for (uint32_t k = 0; k < out[sink].n; k++)
				good_out += out[sink].lane[k] == hy_flow_action(0, 0);
		out_all += out[0].n + out[1].n;
		full += out[RIG_DROP].n;
		rig_free();
		hy_flow_table_handle(the_table, 4); /* too slow for all */
		hy_flows_poll(hy_flow_table_flows(the_table), step / 10, 64);
	}
	hy_flows_upcall_stats(hy_flow_table_upcalls(the_table), 0, &u);
	hy_flows_stats(hy_flow_table_flows(the_table), &s);
	print_message("%ju of %ju good ones and %ju of %ju others came out; %ju full; %u flows, %u "
		      "masks, %zu KiB more\n",
		(uintmax_t)good_out, (uintmax_t)good, (uintmax_t)(out_all - good_out),
		(uintmax_t)bad, (uintmax_t)full, s.flows, s.masks,
		(unit_heap_bytes() - before) / 1024);
	assert_int_equal(good + bad, out_all + full + u.sent - u.taken);
	assert_int_equal(dropped("flows", "flow_lookup-rig", "upcall_full"), full);
	assert_true(good_out >= good / 2 && full > steps && bad > 10 * (uint64_t)steps);
	assert_true(s.flows <= max_flows && s.masks == 65 && s.refused_masks > 1000);
	assert_true(s.evicted + s.idled > 100);
	assert_true(unit_heap_bytes() - before < 3 * 128 * 1280 + 80 * 2 * max_flows);
	assert_int_equal(hy_graph_destroy(graph), 0);
	assert_int_equal(hy_flow_table_destroy(the_table), 0);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	rig_clear();
}

static const struct CMUnitTest flow_thread_tests[] = {
	NODE_TEST(deleted_flow_is_met_by_no_packet_after_a_grace_period),
	NODE_TEST(flows_at_work_go_on_and_memory_stays_bounded_under_attack),
};

UNIT_SUITE(flow_thread_tests)
