/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_lookup and flow_reinject in a graph: every mode against brute force, order, room, live changes. */

#include <errno.h>
#include <string.h>

#include <hy_flow_lookup.h>
#include <hy_mbuf.h>

#include "app/test/flows/flows_fixture.h"
#include "app/test/flows/flows_frames.h"

#include "node_fixture.h"

#define BURST 64
#define FRAMES 400 /* different ones that come again and again */
#define EDGES 2    /* rig_out-0 and -1 */

static const struct hy_flows_caches modes[] = {
	{ .exact = HY_FLOWS_EXACT_NONE },
	{ .exact = HY_FLOWS_EXACT_8K, .exact_one_in = 1 },
	{ .exact = HY_FLOWS_EXACT_8K, .exact_one_in = 100, .index = HY_FLOWS_INDEX_SMC },
	{ .exact = HY_FLOWS_EXACT_16K, .exact_one_in = 4, .index = HY_FLOWS_INDEX_DFC_POINTERS },
	{ .index = HY_FLOWS_INDEX_DFC },
	{ .index = HY_FLOWS_INDEX_SMC },
	{ .index = HY_FLOWS_INDEX_LINES },
	{ .frames = true },
	{ .frames = true, .index = HY_FLOWS_INDEX_LINES },
};

static struct hy_flow_table *the_table;
static hy_node_id lookup_id, reinject_id;
static struct rules the_rules;
static uint32_t version; /* of the rules */

/* The action of rule i; the last one is for packets that none matches. */
static uint32_t
action_of_rule(uint32_t i)
{
	static const uint16_t edges[] = { 0, HY_FLOW_ACTION_DENY, 1, EDGES, 0, 1 };

	return hy_flow_action(edges[(i + version) % RTE_DIM(edges)], (uint16_t)(i + 1));
}

static int
ask(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer)
{
	RTE_SET_USED(arg);
	answer->action = action_of_rule(rules_answer(&the_rules, key, &answer->mask));
	return 0;
}

static struct hy_flow_table_params
params_of(const struct hy_flows_caches *caches, uint32_t room)
{
	return (struct hy_flow_table_params){ .name = "test",
		.flows = { .max_flows = 20000,
			.max_masks = 4096,
			.max_port_masks = 1024,
			.pressed_idle = 1000,
			.workers = 1,
			.socket = SOCKET_ID_ANY,
			.qsbr = rig_qsbr,
			.seed = 3 },
		.caches = *caches,
		.upcalls = { .rules = ask, .room = room } };
}

static void
table_make(const struct hy_flows_caches *caches, uint32_t room)
{
	const struct hy_flow_table_params params = params_of(caches, room);

	assert_int_equal(hy_flow_table_create(&params, &the_table), 0);
}

static int
graph_make(struct hy_graph **graph)
{
	static const char *const patterns[] = { "rig_source", "flow_reinject-rig" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 2,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { HY_FLOW_ACTION_LANE },
		.burst = BURST,
		.socket = SOCKET_ID_ANY,
		.qsbr = rig_qsbr };

	return hy_graph_create("flows", &params, graph);
}

/* rig_source → flow_lookup → rig_out-0 and -1, and flow_reinject to the same. */
static void
nodes_make(void)
{
	const struct hy_flow_lookup_config config = { .table = the_table };
	uint16_t edge;

	rig_lane = HY_FLOW_ACTION_LANE;
	rig_nodes("flow_lookup-rig");
	lookup_id = rig_clone("flow_lookup", NULL, NULL);
	reinject_id = rig_clone("flow_reinject", NULL, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		const hy_node_id id = i == 0 ? lookup_id : reinject_id;

		assert_int_equal(hy_node_config(id, &config, sizeof(config)), 0);
		assert_int_equal(hy_node_edge_add(id, "rig_out-0", &edge), 0);
		assert_int_equal(hy_node_edge_add(id, "rig_out-1", &edge), 0);
	}
}

static void
done(struct hy_graph *graph)
{
	rig_free();
	hy_graph_destroy(graph);
	rig_clear();
	assert_int_equal(hy_flow_table_destroy(the_table), 0);
	the_table = NULL;
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static uint64_t
counter(const char *node, const char *name)
{
	uint64_t value = UINT64_MAX;
	struct hy_stats *stats;
	const struct hy_node_stats *s;

	assert_int_equal(hy_stats_read("flows", &stats), 0);
	s = hy_stats_find(stats, 0, node);
	assert_non_null(s);
	for (unsigned int c = 0; c < s->nb_counters; c++)
		if (strcmp(s->counters[c].name, name) == 0)
			value = s->counters[c].value;
	hy_stats_free(stats);
	assert_true(value != UINT64_MAX);
	return value;
}

/* Walks until all packets that are on the way have come back. */
static void
walk_until_back(struct hy_graph *graph)
{
	struct hy_flows_upcall_stats s;

	do {
		hy_flow_table_handle(the_table, UINT32_MAX);
		hy_graph_walk(graph);
		hy_flows_upcall_stats(hy_flow_table_upcalls(the_table), 0, &s);
	} while (s.taken < s.sent);
}

/* What the rules say of a packet, read byte by byte, one rule after the other. */
static uint32_t
action_by_force(const struct rte_mbuf *m)
{
	uint8_t bytes[FLOWS_FRAME_ROOM];
	const uint8_t *frame = rte_pktmbuf_read(m, 0, m->pkt_len, bytes);
	struct hy_flows_key key, looked_at;

	key = flows_key_slowly(frame, m->pkt_len, m->port, false);
	return action_of_rule(rules_answer(&the_rules, &key, &looked_at));
}

/* Whether all packets in sinks are where the rules say. Returns their number, and frees them. */
static uint32_t
sinks_check(uint32_t by_outcome[4])
{
	uint32_t n = 0;

	for (uint16_t sink = 0; sink < RIG_OUTS; sink++) {
		for (uint32_t k = 0; k < out[sink].n; k++, n++) {
			const uint32_t action = action_by_force(out[sink].packets[k]);
			const uint16_t edge = (uint16_t)action;

			assert_int_equal(edge < EDGES ? edge : RIG_DROP, sink);
			if (edge < EDGES)
				assert_int_equal(out[sink].lane[k], action);
			by_outcome[edge < EDGES ? edge : edge == EDGES ? 2 : 3]++;
		}
	}
	rig_free();
	return n;
}

static struct frames {
	uint8_t bytes[FRAMES][FLOWS_FRAME_ROOM];
	uint32_t len[FRAMES];
	uint16_t port[FRAMES];
} frames;

/* Frames, and rules that match some of them by some of their bits. */
static void
traffic_make(uint32_t masks, uint64_t *seed)
{
	for (uint32_t i = 0; i < FRAMES; i++) {
		frames.len[i] = flows_frame(frames.bytes[i], seed);
		frames.port[i] = (uint16_t)(flows_random(seed) % 3);
	}
	the_rules = rules_any(masks, seed);
	for (uint32_t r = 0; r < masks; r++) {
		const uint32_t i = flows_random(seed) % FRAMES;

		the_rules.mask[r].src = 0;
		the_rules.key[r] = flows_key_slowly(frames.bytes[i], frames.len[i], 0, false);
	}
}

static struct rte_mbuf *
any_packet(uint64_t *seed)
{
	const uint32_t i = flows_random(seed) % FRAMES;
	uint8_t fresh[FLOWS_FRAME_ROOM];
	const bool again = flows_random(seed) % 32 != 0;
	const uint32_t len = again ? frames.len[i] : flows_frame(fresh, seed);
	struct rte_mbuf *m = packet_random(again ? frames.bytes[i] : fresh, len,
		flows_random(seed) % 8 == 0 ? 40 : FLOWS_FRAME_ROOM, seed);

	m->port = frames.port[i];
	return m;
}

/* Sends packets in bursts of any size. Returns how many, all of which came through. */
static uint32_t
run(struct hy_graph *graph, uint32_t packets, uint64_t *seed, uint32_t by_outcome[4])
{
	uint32_t sent = 0, came = 0;

	while (sent < packets) {
		struct rte_mbuf *burst[2 * BURST];
		const uint32_t n = 1 + flows_random(seed) % (2 * BURST);

		for (uint32_t i = 0; i < n; i++)
			burst[i] = any_packet(seed);
		rig_send(graph, burst, NULL, n);
		walk_until_back(graph);
		sent += n;
		came += sinks_check(by_outcome);
		assert_int_equal(came, sent);
	}
	return sent;
}

static void
levels_check(const struct hy_flows_caches *caches, uint64_t packets)
{
	const uint64_t by_frame = counter("flow_lookup-rig", "frame_hits");
	const uint64_t exact = counter("flow_lookup-rig", "exact_hits");
	const uint64_t index = counter("flow_lookup-rig", "index_hits");
	const uint64_t masks = counter("flow_lookup-rig", "mask_hits");
	const uint64_t misses = counter("flow_lookup-rig", "misses");

	assert_int_equal(by_frame + exact + index + masks + misses, packets);
	assert_int_equal(by_frame > 0, caches->frames);
	assert_int_equal(exact > 0, caches->exact != HY_FLOWS_EXACT_NONE);
	assert_int_equal(index > 0, caches->index != HY_FLOWS_INDEX_NONE);
	assert_true(masks > 0 && misses > 0);
	assert_true(counter("flow_lookup-rig", "upcalls") >= misses);
}

static void
every_mode_of_the_nodes_gives_the_action_of_the_rules(void **state)
{
	static const uint32_t masks[] = { 1, 4, 16, 64 };
	const uint32_t packets = flows_packets(560000) / (RTE_DIM(modes) * RTE_DIM(masks));
	uint32_t by_outcome[4] = { 0 };
	uint64_t seed = 21, compared = 0;

	RTE_SET_USED(state);
	for (uint32_t mode = 0; mode < RTE_DIM(modes); mode++)
		for (uint32_t k = 0; k < RTE_DIM(masks); k++) {
			struct hy_graph *graph;
			uint32_t sent;

			traffic_make(masks[k], &seed);
			table_make(&modes[mode], 1024);
			nodes_make();
			assert_int_equal(graph_make(&graph), 0);
			sent = run(graph, packets, &seed, by_outcome);
			levels_check(&modes[mode], sent);
			compared += sent;
			done(graph);
		}
	print_message("%ju packets: %u, %u, %u without an edge, %u denied\n", (uintmax_t)compared,
		by_outcome[0], by_outcome[1], by_outcome[2], by_outcome[3]);
	assert_true(compared >= RTE_DIM(modes) * RTE_DIM(masks) * packets);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(by_outcome[i] > 1000);
}

static void
modes_are_switched_and_rules_change_while_packets_flow(void **state)
{
	uint32_t by_outcome[4] = { 0 };
	struct hy_graph *graph;
	uint64_t seed = 22;

	RTE_SET_USED(state);
	version = 0;
	traffic_make(16, &seed);
	table_make(&modes[0], 1024);
	nodes_make();
	assert_int_equal(graph_make(&graph), 0);
	for (uint32_t step = 0; step < 3 * RTE_DIM(modes); step++) {
		struct hy_flows *f = hy_flow_table_flows(the_table);

		assert_int_equal(hy_flows_caches_set(f, &modes[step % RTE_DIM(modes)]), 0);
		run(graph, 1000, &seed, by_outcome);
		version++;
		assert_true(hy_flows_revalidate(hy_flow_table_upcalls(the_table)) > 0);
		hy_flows_poll(f, step * 100, UINT32_MAX);
	}
	assert_true(counter("flow_lookup-rig", "frame_hits") > 0);
	assert_true(counter("flow_lookup-rig", "exact_hits") > 0);
	assert_true(counter("flow_lookup-rig", "index_hits") > 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(by_outcome[i] > 500);
	version = 0;
	done(graph);
}

/* Of a flow, with a number behind the headers. */
static struct rte_mbuf *
numbered(uint32_t flow, uint32_t sequence)
{
	uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .dst = IP4(198, 18, 0, flow), .payload = 8);
	struct rte_mbuf *m;

	memcpy(frame + len - sizeof(sequence), &sequence, sizeof(sequence));
	m = packet(frame, len);
	m->port = 0;
	return m;
}

#define FLOWS 16

/* Packets of a flow that left, in their order. */
static uint32_t
order_check(uint32_t due[FLOWS])
{
	uint32_t n = 0;

	for (uint16_t sink = 0; sink < EDGES; sink++)
		for (uint32_t k = 0; k < out[sink].n; k++, n++) {
			const struct rte_mbuf *m = out[sink].packets[k];
			const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
			const uint32_t flow = frame[33];
			uint32_t sequence;

			memcpy(&sequence, frame + m->data_len - sizeof(sequence), sizeof(sequence));
			assert_true(flow < FLOWS && sequence >= due[flow]);
			due[flow] = sequence + 1;
			assert_int_equal(flow % EDGES, sink);
		}
	return n;
}

/* The rule of a flow of numbered(); flows go, so that they are asked for again. */
static int
ask_by_destination(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer)
{
	RTE_SET_USED(arg);
	answer->mask.dst = UINT32_MAX;
	answer->action = hy_flow_action(rte_be_to_cpu_32(key->dst) % EDGES, 0);
	return 0;
}

static void
table_by_destination(uint32_t room)
{
	struct hy_flow_table_params params = params_of(&modes[6], room);

	params.upcalls.rules = ask_by_destination;
	assert_int_equal(hy_flow_table_create(&params, &the_table), 0);
}

static void
packets_of_a_flow_leave_in_order_and_none_is_lost_uncounted(void **state)
{
	uint32_t next[FLOWS] = { 0 }, due[FLOWS] = { 0 };
	uint64_t seed = 23, sent = 0, left = 0, lost = 0, full, gone;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	table_by_destination(64);
	nodes_make();
	assert_int_equal(graph_make(&graph), 0);
	for (uint32_t step = 0; step < 4000; step++) {
		struct rte_mbuf *burst[BURST];
		const uint32_t n = 1 + flows_random(&seed) % BURST;

		for (uint32_t i = 0; i < n; i++) {
			const uint32_t flow = flows_random(&seed) % FLOWS;

			burst[i] = numbered(flow, next[flow]++);
		}
		rig_send(graph, burst, NULL, n);
		sent += n;
		if (flows_random(&seed) % 2 == 0)
			hy_flow_table_handle(the_table, flows_random(&seed) % 24);
		if (flows_random(&seed) % 8 == 0)
			hy_flows_flush(hy_flow_table_flows(the_table), HY_FLOWS_ANY);
		lost += out[RIG_DROP].n;
		left += order_check(due);
		rig_free();
	}
	walk_until_back(graph);
	left += order_check(due);
	lost += out[RIG_DROP].n;
	assert_int_equal(sent, left + lost);
	full = dropped("flows", "flow_lookup-rig", "upcall_full");
	gone = dropped("flows", "flow_reinject-rig", "flow_deleted");
	assert_int_equal(full + gone, lost);
	assert_true(full > 1000 && gone > 100 && left > 10 * BURST);
	assert_true(counter("flow_lookup-rig", "behind") > 1000);
	done(graph);
}

static void
packets_that_wait_when_a_graph_ends_come_back_in_the_next_one(void **state)
{
	struct rte_mbuf *burst[4];
	struct hy_graph *graph;

	RTE_SET_USED(state);
	table_by_destination(16);
	nodes_make();
	assert_int_equal(graph_make(&graph), 0);
	for (uint32_t i = 0; i < 4; i++)
		burst[i] = numbered(i, 0);
	rig_send(graph, burst, NULL, 4);
	assert_int_equal(hy_flow_table_handle(the_table, 2), 2);
	assert_int_equal(hy_graph_destroy(graph), 0);
	assert_int_equal(graph_make(&graph), 0);
	hy_graph_walk(graph);
	assert_int_equal(out[0].n + out[1].n, 2);
	done(graph); /* frees the others with the table */
}

static void
action_that_names_an_edge_which_a_change_took_away_drops_packets(void **state)
{
	struct rte_mbuf *burst[2];
	struct hy_graph *graph;

	RTE_SET_USED(state);
	table_by_destination(16);
	nodes_make();
	assert_int_equal(graph_make(&graph), 0);
	for (uint32_t k = 0; k < 3; k++) { /* not known; known; known and without an edge */
		if (k == 2) {
			assert_int_equal(hy_node_edge_shrink(lookup_id, 1), 0);
			assert_int_equal(hy_graph_update(graph, NULL), 0);
		}
		for (uint32_t i = 0; i < 2; i++)
			burst[i] = numbered(i, k);
		rig_send(graph, burst, NULL, 2);
		walk_until_back(graph);
	}
	assert_int_equal(out[0].n, 3);
	assert_int_equal(out[1].n, 2);
	assert_int_equal(dropped("flows", "flow_lookup-rig", "no_edge"), 1);
	done(graph);
}

/* Each worker has its own way to the rules and back, and its own caches. */
static void
packets_come_back_to_the_worker_that_sent_them(void **state)
{
	struct hy_flow_table_params params = params_of(&modes[6], 16);
	struct hy_graph *graph[2];
	struct hy_flows_lookups l;
	struct rte_mbuf *m;

	RTE_SET_USED(state);
	params.upcalls.rules = ask_by_destination;
	params.flows.workers = 2;
	assert_int_equal(hy_flow_table_create(&params, &the_table), 0);
	nodes_make();
	assert_int_equal(graph_make(&graph[0]), 0);
	assert_int_equal(hy_graph_clone(graph[0], "flows-1", 1, SOCKET_ID_ANY, &graph[1]), 0);
	for (uint32_t w = 0; w < 2; w++) {
		m = numbered(w, 0);
		rig_send(graph[w], &m, NULL, 1);
	}
	assert_int_equal(hy_flow_table_handle(the_table, 16), 2);
	for (uint32_t w = 0; w < 2; w++) {
		hy_graph_walk(graph[w]);
		assert_int_equal(out[w].n, 1);
		assert_int_equal(out[1 - w].n, 0);
		rig_free();
		for (uint32_t k = 0; k < 2; k++) {
			m = numbered(1 - w, 0); /* that the other one has asked for */
			rig_send(graph[w], &m, NULL, 1);
		}
		assert_int_equal(out[1 - w].n, 2);
		rig_free();
		hy_flows_lookups(hy_flow_table_flows(the_table), w, &l);
		assert_int_equal(l.misses, 1);
		assert_int_equal(l.masks, 1);
		assert_int_equal(l.index, 1);
	}
	assert_int_equal(hy_graph_destroy(graph[1]), 0);
	done(graph[0]);
}

static void
worker_of_a_graph_with_upcalls_does_not_sleep(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	table_by_destination(16);
	nodes_make();
	assert_int_equal(graph_make(&graph), 0);
	assert_int_equal(hy_mbuf_ops.arm(graph, true), -ENOTSUP);
	done(graph);
}

static void
table_that_a_graph_uses_cannot_be_destroyed(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	table_by_destination(16);
	nodes_make();
	assert_ptr_equal(hy_flow_table_find("test"), the_table);
	assert_null(hy_flow_table_find("tes"));
	assert_string_equal(hy_flow_table_name(the_table), "test");
	assert_int_equal(graph_make(&graph), 0);
	unit_log_clear();
	assert_int_equal(hy_flow_table_destroy(the_table), -EBUSY);
	assert_non_null(strstr(unit_log(), "2 nodes of graphs"));
	assert_ptr_equal(hy_flow_table_find("test"), the_table);
	done(graph);
	assert_null(hy_flow_table_find("test"));
}

static void
assert_refused(const struct hy_flow_lookup_config *config, const char *why)
{
	struct hy_graph *graph;

	assert_int_equal(hy_node_config(lookup_id, config, sizeof(*config)), 0);
	unit_log_clear();
	assert_int_equal(graph_make(&graph), -EINVAL);
	if (strstr(unit_log(), why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", unit_log(), why);
}

static void
table_or_node_that_makes_no_sense_is_refused(void **state)
{
	struct hy_flow_table_params params = params_of(&modes[0], 16), bad;
	const struct hy_flow_lookup_config none = { .table = NULL };
	struct hy_flow_lookup_config config;
	struct hy_flow_table *other;

	RTE_SET_USED(state);
	table_make(&modes[0], 16);
	assert_int_equal(hy_flow_table_create(&params, &other), -EEXIST);
	assert_null(other);
	bad = params;
	bad.name = "no name";
	assert_int_equal(hy_flow_table_create(&bad, &other), -EINVAL);
	bad = params;
	bad.caches.index = HY_FLOWS_INDEXES;
	assert_int_equal(hy_flow_table_create(&bad, &other), -EINVAL);
	bad = params;
	bad.upcalls.room = 3;
	assert_int_equal(hy_flow_table_create(&bad, &other), -EINVAL);
	bad = params;
	bad.name = "other";
	bad.flows.qsbr = (void *)&bad;
	assert_int_equal(hy_flow_table_create(&bad, &other), 0);
	nodes_make();
	assert_refused(&none, "needs a struct hy_flow_lookup_config with a table");
	config = (struct hy_flow_lookup_config){ .table = other };
	assert_refused(&config, "table of flows 'other' has 1 workers, of its QSBR variable");
	assert_int_equal(hy_flow_table_destroy(other), 0); /* nothing is attached */
	done(NULL);
}

static const struct CMUnitTest flow_lookup_tests[] = {
	NODE_TEST(every_mode_of_the_nodes_gives_the_action_of_the_rules),
	NODE_TEST(modes_are_switched_and_rules_change_while_packets_flow),
	NODE_TEST(packets_of_a_flow_leave_in_order_and_none_is_lost_uncounted),
	NODE_TEST(packets_that_wait_when_a_graph_ends_come_back_in_the_next_one),
	NODE_TEST(action_that_names_an_edge_which_a_change_took_away_drops_packets),
	NODE_TEST(packets_come_back_to_the_worker_that_sent_them),
	NODE_TEST(worker_of_a_graph_with_upcalls_does_not_sleep),
	NODE_TEST(table_that_a_graph_uses_cannot_be_destroyed),
	NODE_TEST(table_or_node_that_makes_no_sense_is_refused),
};

UNIT_SUITE(flow_lookup_tests)
