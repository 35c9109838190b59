/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch whose megaflows are in the hardware of its port, of each profile: rules change at random, and each
 * packet, marked, dropped or neither, is treated as the rules say at that time, and counted by them once.
 */

#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_flow_apply.h>
#include <hy_flow_lookup.h>
#include <hy_mbuf.h>

#include "lib/datapath/datapath.h"
#include "lib/datapath/datapath_offload.h"

#include "datapath_traffic.h"
#include "flow_fixture.h"

#define ROUNDS 100
#define STEADY 10 /* rounds more, in which rules stay */
#define BURST 32
#define BURSTS 4 /* of a round */
#define AT_COOKIE \
	50 /* in a frame: the rule that the brute force found, and what is to become of it */

/* What becomes of a packet. */
enum { DROPS = 0, LEAVES = 1 };

static struct port *port, *other;
static struct hy_hal *hal;
static struct hy_workers all;
static struct hy_datapath *datapath;
static struct hy_graph *graph;
static hy_node_id ids[3];
static struct rte_mbuf *queue[BURST];
static uint16_t queued;
static uint64_t seed, now_ms, dropped_hw, came, wrong, met, changes;
static struct hy_vswitch_answer answer;
static uint32_t most; /* megaflows in hardware; 0: the default */

static uint16_t
source_process(struct hy_graph *g, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t made = RTE_MIN(n, queued);

	memcpy(objs, queue, made * sizeof(*objs));
	queued -= made;
	memmove(queue, queue + made, queued * sizeof(*queue));
	hy_stream_move(g, node, 0, made);
	return made;
}

static void
took(void **objs, uint16_t n, uint8_t fate)
{
	for (uint16_t i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod((struct rte_mbuf *)objs[i], uint8_t *);

		wrong += frame[AT_COOKIE] != fate;
		if (fate == LEAVES) /* the list says by which rule it leaves */
			wrong += ((struct rte_mbuf *)objs[i])->hash.fdir.hi != frame[AT_COOKIE + 1];
	}
	came += n;
}

static uint16_t
sink_process(struct hy_graph *g, struct hy_node *node __rte_unused, void **objs, uint16_t n)
{
	took(objs, n, LEAVES);
	hy_release(g, objs, n);
	return n;
}

static uint16_t
drop_process(struct hy_graph *g, struct hy_node *node __rte_unused, void **objs, uint16_t n)
{
	took(objs, n, DROPS);
	hy_release(g, objs, n);
	return n;
}

static hy_node_id
clone_to(const char *node, const char *variant, const char *next)
{
	const hy_node_id id = rig_clone(node, variant, NULL);

	assert_int_equal(hy_node_edge_add(id, next, NULL), 0);
	return id;
}

static void
graph_make(void)
{
	const struct hy_node_desc descs[] = {
		{ .name = "od_source",
			.flags = HY_NODE_SOURCE,
			.impl.process = source_process,
			.edges = { "flow_lookup-rig" } },
		{ .name = "od_sink", .impl.process = sink_process },
		{ .name = "od_drop", .impl.process = drop_process },
	};
	static const char *const patterns[] = { "od_source", "flow_reinject-rig" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = RTE_DIM(patterns),
		.ops = &hy_mbuf_ops,
		.drop_node = "od_drop",
		.lanes = { HY_FLOW_ACTION_LANE },
		.burst = BURST,
		.socket = SOCKET_ID_ANY,
		.qsbr = all.qsbr };
	const struct hy_flow_apply_config lists = { .ops = datapath->lists.ops };
	const struct hy_flow_lookup_config flows = { .table = datapath->table,
		.marks = datapath->offload->marks };
	hy_node_id apply, lookup, reinject;

	for (unsigned int i = 0; i < RTE_DIM(descs); i++)
		assert_int_equal(hy_node_register(&descs[i], &ids[i]), 0);
	apply = clone_to("flow_apply", NULL, "od_sink");
	assert_int_equal(hy_node_edge_add(apply, "od_drop", NULL), 0); /* back to the port: never */
	lookup = clone_to("flow_lookup", "mark", "flow_apply-rig");
	reinject = clone_to("flow_reinject", NULL, "flow_apply-rig");
	assert_int_equal(hy_node_config(apply, &lists, sizeof(lists)), 0);
	assert_int_equal(hy_node_config(lookup, &flows, sizeof(flows)), 0);
	assert_int_equal(hy_node_config(reinject, &flows, sizeof(flows)), 0);
	assert_int_equal(hy_graph_create("od", &params, &graph), 0);
	hy_graph_rest(graph);
}

static void
rule_change(enum hy_datapath_change what, const char *text)
{
	char error[HY_DATAPATH_ERROR_SIZE];
	uint32_t n;

	if (hy_datapath_change(datapath, what, text, &n, error) < 0)
		fail_msg("%s: %s", text, error);
}

static void
open_switch(const struct flow_profile *profile, const struct hy_flow_sim_params *sim)
{
	const struct hy_offload_params offload = { .provider = &hy_flow_simulator,
		.driver = hy_flow_driver_of(profile->driver),
		.settle_us = 1000,
		.sample_every = 16,
		.max_rules = most };
	struct hy_vswitch_port ports[] = { { .number = 2, .name = "out" },
		{ .number = 1, .name = "in" } };
	const struct hy_datapath_params params = { .ports = ports,
		.nb_ports = 2,
		.max_flows = 4096,
		.caches = { .index = HY_FLOWS_INDEX_LINES, .lines_log = 8 } };
	char error[HY_DATAPATH_ERROR_SIZE];

	port = port_open(1, 1, 16);
	other = port_open(1, 1, 16);
	assert_int_equal(rte_eth_promiscuous_enable(port->id), 0);
	assert_int_equal(hy_flow_sim_attach(port->id, sim), 0);
	assert_int_equal(hy_flow_sim_attach(other->id, sim), 0);
	assert_int_equal(hy_hal_create(&hal), 0);
	ports[0].port = other->id;
	ports[1].port = port->id;
	all.nb = 1;
	all.qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
	assert_int_equal(rte_rcu_qsbr_init(all.qsbr, 1), 0);
	all.worker[0].socket = SOCKET_ID_ANY;
	assert_int_equal(hy_datapath_create(&params, &datapath, error), 0);
	assert_int_equal(hy_datapath_offload(datapath, hal, &all, &offload), 0);
	assert_int_equal(hy_datapath_offload(datapath, hal, &all, &offload), -EEXIST);
	/* Before there are megaflows. */
	rule_change(HY_DATAPATH_ADD, "priority=9,dl_type=0x1234 actions=drop");
	if (hy_datapath_start(datapath, &all, error) < 0)
		fail_msg("%s", error);
	graph_make();
}

static void
close_switch(void)
{
	assert_int_equal(hy_graph_destroy(graph), 0);
	rig_clear();
	for (unsigned int i = RTE_DIM(ids); i-- > 0;)
		assert_int_equal(hy_node_unregister(ids[i]), 0);
	hy_datapath_destroy(datapath);
	hy_policy_wait_destroyed();
	hy_hal_destroy(hal);
	hy_flow_sim_detach(port->id);
	hy_flow_sim_detach(other->id);
	ports_close();
	rte_free(all.qsbr);
}

static void
rules_change(void)
{
	char error[HY_DATAPATH_ERROR_SIZE], text[256];
	const uint32_t what = rnd(&seed) % 4;
	uint32_t n = 0;

	datapath_rule(text, sizeof(text), what == 3, &seed);
	if (hy_datapath_change(datapath,
		    what == 3           ? HY_DATAPATH_DELETE_STRICT
			    : what == 2 ? HY_DATAPATH_MODIFY
					: HY_DATAPATH_ADD,
		    text, &n, error) < 0)
		fail_msg("%s: %s", text, error);
	changes++;
}

/* Asks the rules, notes in the frame what is to become of it, and passes it through the hardware. */
static void
packet_send(uint8_t *frame, uint32_t len)
{
	struct rte_mbuf *m;
	struct hy_flows_key key;
	uint8_t fate = DROPS, cookie = 0;

	hy_flows_key(frame, len, port->id, HY_FLOWS_PARSE_ALL, &key);
	hy_vswitch_translate(datapath->rules, &key, &answer);
	met += answer.nb_rules;
	for (uint32_t i = 0; i < answer.nb_ops; i++) {
		if (answer.ops[i].type == HY_FLOW_OP_MARK)
			cookie = (uint8_t)answer.ops[i].mark;
		fate = answer.ops[i].type == HY_FLOW_OP_OUTPUT ? LEAVES : fate;
	}
	frame[AT_COOKIE] = fate;
	frame[AT_COOKIE + 1] = cookie;
	m = packet(frame, len);
	m->port = port->id;
	if (hy_flow_sim_rx(hy_flow_sim_of(port->id), &m, 1) == 1) {
		queue[queued++] = m;
		return;
	}
	wrong += fate != DROPS;
	dropped_hw++;
}

static void
traffic(uint64_t *sent)
{
	for (unsigned int b = 0; b < BURSTS; b++) {
		uint64_t until;

		for (unsigned int i = 0; i < BURST; i++) {
			uint8_t frame[FRAME_MAX];

			packet_send(frame, datapath_frame(frame, &seed));
		}
		*sent += BURST;
		until = rte_get_timer_cycles() + 20 * rte_get_timer_hz();
		while (came + dropped_hw < *sent && rte_get_timer_cycles() < until)
			hy_graph_walk(graph);
		hy_graph_rest(graph);
		assert_int_equal(came + dropped_hw, *sent);
	}
}

/* Hardware gets what is used. */
static void
settle(void)
{
	for (unsigned int i = 0; i < 6; i++) {
		rte_delay_us_sleep(1100);
		hy_datapath_poll(datapath, now_ms += 100);
	}
}

/* Packets that all rules have counted. */
static uint64_t
counted(void)
{
	char *printed = NULL;
	uint64_t sum = 0;
	size_t size;
	FILE *file = open_memstream(&printed, &size);

	assert_int_equal(hy_datapath_rules_print(datapath, NULL, file), 0);
	assert_int_equal(fclose(file), 0);
	for (const char *at = printed; (at = strstr(at, "n_packets=")) != NULL; at++)
		sum += strtoull(at + strlen("n_packets="), NULL, 10);
	free(printed);
	return sum;
}

static struct hy_offload_stats
offload_stats(void)
{
	struct hy_offload_stats stats;

	hy_offload_stats(hy_offload_of(port->id), &stats);
	return stats;
}

static void
run(const struct flow_profile *profile)
{
	const struct hy_flow_sim_params sim = { .profile = profile->name };
	struct hy_offload_stats s;
	uint64_t sent = 0, before;

	seed = 77;
	now_ms = datapath_now();
	dropped_hw = came = wrong = changes = 0;
	open_switch(profile, &sim);
	for (unsigned int r = 0; r < ROUNDS; r++) {
		if (r % 2 == 0)
			rules_change();
		traffic(&sent);
		settle();
	}
	before = counted();
	met = 0;
	for (unsigned int r = 0; r < STEADY; r++) {
		traffic(&sent);
		settle();
	}
	assert_int_equal(counted() - before, met);
	assert_true(met > 100);
	s = offload_stats();
	print_message("%s: %ju packets, %ju changes; %u rules in hardware, %ju dropped there, "
		      "%ju marked, %ju stale, %ju compared and refused, %ju sampled\n",
		profile->name, (uintmax_t)sent, (uintmax_t)changes, s.hw_rules,
		(uintmax_t)dropped_hw, (uintmax_t)s.marked, (uintmax_t)s.stale,
		(uintmax_t)s.fragments, (uintmax_t)s.sampled);
	assert_int_equal(wrong, 0);
	assert_int_equal(s.mismatches, 0);
	assert_int_equal(s.leaked, 0);
	assert_int_equal(s.state, HY_OFFLOAD_UP);
	assert_int_equal(s.dropped, dropped_hw);
	assert_true(s.marked > sent / 50 && s.sampled + s.fragments > 0);
	assert_int_equal(dropped_hw > 0, s.limits.drops);
	close_switch();
}

static void
packets_follow_the_rules_beside_hardware_that_marks_and_drops(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int p = 0; p < FLOW_PROFILES; p++)
		run(&flow_profiles[p]);
}

static void
begin(void)
{
	static const struct hy_flow_sim_params sim = { .profile = "mlx5" };

	seed = 5;
	now_ms = datapath_now();
	dropped_hw = came = wrong = changes = 0;
	open_switch(&flow_profiles[2], &sim);
}

/* Sends packets of UDP to a port. Returns how many hardware dropped. */
static uint64_t
udp_send(uint8_t dport, uint32_t n)
{
	const uint64_t before = dropped_hw, done = came;

	for (uint32_t i = 0; i < n; i++) {
		struct frame_spec spec = {
			.dst = IP4(10, 0, 0, 1), .ttl = 64, .payload = FRAME_LEN - 34
		};
		uint8_t frame[FRAME_MAX];

		frame_write(frame, &spec);
		memset(frame + 34, 0, 20);
		frame[14 + 9] = 17;
		frame[37] = dport;
		frame_sum(frame);
		packet_send(frame, FRAME_LEN);
	}
	for (uint32_t i = 0; i < 1000 && came + dropped_hw < done + before + n; i++) {
		hy_graph_walk(graph);
		rte_delay_us_sleep(100);
	}
	assert_int_equal(came + dropped_hw, done + before + n);
	return dropped_hw - before;
}

/* Likewise, when offloads that had nothing to do are polled seldom. */
static void
settle_all(void)
{
	for (unsigned int i = 0; i < 3; i++) {
		settle();
		rte_delay_us_sleep(60000);
	}
	settle();
}

/* Rules that the hardware of the port gets, and that drop. */
static uint32_t
denies(void)
{
	struct hy_flow_rule rules[64];
	struct hy_policy *policy = datapath->offload->port[port->id]->policy;
	const uint32_t nb = hy_policy_rules_get(policy, rules, RTE_DIM(rules));
	uint32_t n = 0;

	assert_true(nb <= RTE_DIM(rules));
	for (uint32_t i = 0; i < nb; i++)
		n += rules[i].action == HY_RULE_DENY;
	return n;
}

/* More megaflows than a poll looks at, of packets that nobody sends. */
static void
megaflows_add(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hy_flows_flow flow = { .key = { .port = other->id,
						      .type = RTE_BE16(0x0800),
						      .kind = HY_FLOWS_IP,
						      .proto = 6,
						      .src = rte_cpu_to_be_32(i) } };
		const struct hy_flows_key key = flow.key;

		assert_int_equal(datapath_ask(datapath, &key, &flow), 0);
		flow.key = key;
		flow.mask.type = UINT16_MAX;
		flow.mask.src = UINT32_MAX;
		assert_int_equal(hy_flows_add(hy_datapath_flows(datapath), &flow), 0);
	}
}

/* A drop that waits for the end of a look at megaflows must not come after the rules forward its packets. */
static void
a_drop_that_waits_does_not_come_after_a_change(void **state)
{
	RTE_SET_USED(state);
	begin();
	rule_change(HY_DATAPATH_ADD, "cookie=1,priority=1,udp,tp_dst=1 actions=drop");
	for (unsigned int i = 0; i < 2; i++) /* the first of them ask the rules */
		udp_send(1, BURST);
	hy_graph_rest(graph);
	megaflows_add(2000);
	hy_datapath_poll(datapath, now_ms += 1000); /* the look begins with the next one, */
	hy_datapath_poll(datapath, now_ms += 1);    /* which does not end it */
	assert_true(datapath->offload->cursor != HY_FLOWS_END);
	assert_int_equal(datapath->offload->port[port->id]->nb_in, 1);
	rule_change(HY_DATAPATH_MODIFY,
		"cookie=1,udp,tp_dst=1 actions=set_field:1->pkt_mark,output:2");
	assert_int_equal(denies(), 0);
	assert_int_equal(datapath->offload->port[port->id]->nb_in, 0);
	rule_change(HY_DATAPATH_MODIFY, "cookie=1,udp,tp_dst=1 actions=drop");
	udp_send(1, BURST);
	hy_graph_rest(graph);
	settle_all();
	assert_int_equal(denies(), 1); /* its place is found again */
	assert_int_equal(udp_send(1, BURST), BURST);
	hy_graph_rest(graph);
	assert_int_equal(wrong, 0);
	close_switch();
}

/* A worker stalls, so that hardware cannot follow; then the port comes back from being down. */
static void
a_port_that_comes_back_does_not_drop_by_rules_as_they_were(void **state)
{
	const struct datapath_port *at;
	uint64_t token;

	RTE_SET_USED(state);
	begin();
	at = datapath->offload->port[port->id];
	rule_change(HY_DATAPATH_ADD, "cookie=1,priority=1,udp,tp_dst=1 actions=drop");
	rule_change(HY_DATAPATH_ADD, "cookie=2,priority=1,udp,tp_dst=2 actions=drop");
	for (uint8_t i = 0; i < 4; i++) /* the first of them ask the rules */
		udp_send(1 + i % 2, BURST);
	hy_graph_rest(graph);
	settle_all();
	assert_int_equal(udp_send(1, BURST), BURST);
	assert_int_equal(udp_send(2, BURST), BURST);
	hy_graph_walk(graph); /* the worker does not rest, nor go on */
	rule_change(HY_DATAPATH_MODIFY, "udp,tp_dst=2 actions=set_field:2->pkt_mark,output:2");
	rule_change(HY_DATAPATH_MODIFY, "udp,tp_dst=1 actions=set_field:1->pkt_mark,output:2");
	assert_true(at->stopped && datapath->offload->late);
	assert_int_equal(denies(), 1);
	token = datapath->offload->token;
	for (unsigned int i = 0; i < 8; i++) /* nothing is tried that waits */
		hy_datapath_poll(datapath, now_ms += 1000);
	assert_int_equal(datapath->offload->token, token);
	assert_int_equal(hy_offload_up(hy_offload_of(port->id)), 0);
	for (unsigned int i = 0; i < 4; i++) {
		rte_delay_us_sleep(60000);
		hy_datapath_poll(datapath, now_ms += 10);
	}
	assert_int_equal(offload_stats().state, HY_OFFLOAD_UP);
	assert_int_equal(offload_stats().hw_rules, 0);
	assert_int_equal(udp_send(1, BURST), 0);
	hy_graph_rest(graph);
	settle_all();
	assert_false(at->stopped);
	assert_int_equal(denies(), 0);
	assert_int_equal(udp_send(1, BURST), 0);
	hy_graph_rest(graph);
	settle_all();
	assert_true(offload_stats().hw_rules > 0);
	assert_int_equal(wrong, 0);
	close_switch();
}

/* A change is committed without each allocation in turn, and the port restarts in between at times. */
static void
hardware_drops_nothing_that_rules_forward_if_memory_fails(void **state)
{
	unsigned int nth = 0, count, stops = 0;
	char error[HY_DATAPATH_ERROR_SIZE];

	RTE_SET_USED(state);
	begin();
	rule_change(HY_DATAPATH_ADD, "cookie=1,priority=1,udp,tp_dst=1 actions=drop");
	do {
		for (unsigned int i = 0; i < 8 && udp_send(1, BURST) < BURST; i++) {
			hy_graph_rest(graph);
			rte_delay_us_sleep(51000);
			settle();
		}
		hy_graph_rest(graph);
		assert_int_equal(udp_send(1, BURST), BURST);
		hy_graph_rest(graph);
		assert_int_equal(hy_datapath_put(datapath, HY_DATAPATH_MODIFY,
					 "cookie=1,udp actions=set_field:1->pkt_mark,output:2",
					 NULL, error),
			0);
		unit_alloc_fail(++nth);
		hy_datapath_commit(datapath);
		count = unit_alloc_count();
		unit_alloc_fail(0);
		stops += datapath->offload->port[port->id]->stopped;
		if (nth % 2 == 0) {
			hy_offload_down(hy_offload_of(port->id), true);
			assert_int_equal(hy_offload_up(hy_offload_of(port->id)), 0);
			rte_delay_us_sleep(51000);
			hy_datapath_poll(datapath, now_ms += 1);
		}
		assert_int_equal(udp_send(1, BURST), 0);
		hy_graph_rest(graph);
		rule_change(HY_DATAPATH_MODIFY, "cookie=1,udp actions=drop");
	} while (count >= nth);
	print_message("%u allocations, %u of which stop the port\n", nth - 1, stops);
	assert_true(nth > 5 && stops > 2 && stops < nth - 1);
	assert_int_equal(wrong, 0);
	close_switch();
}

/* Of 12 megaflows, hardware gets 8: the last four become the busiest; those before them were, and are used. */
static void
busy_megaflows_get_the_places_of_others_before_them(void **state)
{
	uint64_t before, sent = 0;
	char text[128];

	RTE_SET_USED(state);
	most = 8;
	begin();
	most = 0;
	for (unsigned int d = 1; d <= 12; d++) {
		snprintf(text, sizeof(text),
			"cookie=%u,udp,tp_dst=%u actions=set_field:%u->pkt_mark,output:2", d, d, d);
		rule_change(HY_DATAPATH_ADD, text);
	}
	for (unsigned int i = 0; i < 4000; i++)
		udp_send((uint8_t)(1 + i % 8), BURST);
	hy_graph_rest(graph);
	settle_all();
	assert_int_equal(offload_stats().hw_rules, 8);
	for (unsigned int r = 0; r < 8; r++) {
		before = offload_stats().marked;
		sent = 0;
		for (uint8_t i = 0; i < 40; i++, sent += BURST)
			udp_send(9 + i % 4, BURST);
		for (uint8_t d = 1; d <= 8; d++)
			udp_send(d, 1);
		hy_graph_rest(graph);
		rte_delay_us_sleep(51000);
		settle();
	}
	assert_int_equal(offload_stats().hw_rules, 8);
	assert_true(offload_stats().marked - before >= sent);
	assert_int_equal(wrong, 0);
	close_switch();
}

static const struct CMUnitTest offload_datapath_tests[] = {
	NODE_TEST(packets_follow_the_rules_beside_hardware_that_marks_and_drops),
	NODE_TEST(a_drop_that_waits_does_not_come_after_a_change),
	NODE_TEST(a_port_that_comes_back_does_not_drop_by_rules_as_they_were),
	NODE_TEST(busy_megaflows_get_the_places_of_others_before_them),
	NODE_TEST(hardware_drops_nothing_that_rules_forward_if_memory_fails),
};

UNIT_SUITE(offload_datapath_tests)
