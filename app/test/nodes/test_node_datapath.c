/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of a switch change while two workers send packets through it, one of which rests at times: no
 * packet is treated by rules that were gone for a grace period, rules count each packet once, and lists that
 * nothing names any more are deleted.
 */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_flow_apply.h>
#include <hy_flow_lookup.h>
#include <hy_grace.h>
#include <hy_mbuf.h>

#include "lib/datapath/datapath.h"

#include "node_fixture.h"

#define WORKERS 2
#define SLOTS 8 /* rules, each of which marks packets with its generation */
#define FLOWS 6 /* fewer than slots, so that some packets are answered without a megaflow */
#define BURST 32
#define FRAME_LEN 60
#define MBUFS 8191 /* of a worker */
#define SECONDS 1
#define SECONDS_MOST 60 /* until each outcome was seen, on a busy machine */
#define AT_SLOT 33      /* the last byte of the IPv4 destination */
#define AT_LEAST 44     /* the oldest generation that may treat a packet */

struct worker {
	struct hy_graph *graph;
	struct rte_mempool
		*pool; /* its own: ThreadSanitizer does not see how a shared one passes mbufs on */
	pthread_t thread;
	uint64_t seed, sent, out, dropped, wrong, fresh, rests;
	uint64_t by_slot[SLOTS]; /* that came out */
} __rte_cache_aligned;

static struct worker workers[WORKERS];
static struct hy_workers all;
static struct hy_datapath *datapath;
static atomic_uint least[SLOTS];
static atomic_bool stop, ending;
static hy_node_id ids[7];

static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct worker *w = &workers[hy_graph_worker(graph)];
	uint8_t frame[FRAME_MAX];
	uint16_t made = 0;

	if (atomic_load(&ending))
		return 0;
	for (n = RTE_MIN(n, (uint16_t)(1 + rnd(&w->seed) % BURST)); made < n; made++) {
		const uint32_t slot = rnd(&w->seed) % SLOTS, oldest = atomic_load(&least[slot]);
		struct rte_mbuf *m = rte_pktmbuf_alloc(w->pool);

		assert_non_null(m);
		FRAME(frame, .dst = IP4(10, 0, 0, slot), .payload = FRAME_LEN - 34);
		memcpy(rte_pktmbuf_append(m, FRAME_LEN), frame, FRAME_LEN);
		memcpy(rte_pktmbuf_mtod_offset(m, void *, AT_LEAST), &oldest, sizeof(oldest));
		m->port = 0;
		objs[made] = m;
	}
	w->sent += made;
	if (rnd(&w->seed) % 64 == 0)
		rte_delay_us_sleep(100);
	hy_stream_move(graph, node, 0, made);
	return made;
}

/* Between a packet's lookup and what its list says: time in which a list could go. */
static uint16_t
slow_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	if (rnd(&workers[hy_graph_worker(graph)].seed) % 16 == 0)
		rte_delay_us_sleep(200);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
sink_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct worker *w = &workers[hy_graph_worker(graph)];

	RTE_SET_USED(node);
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];
		const uint32_t slot = *rte_pktmbuf_mtod_offset(m, const uint8_t *, AT_SLOT);
		uint32_t oldest;

		memcpy(&oldest, rte_pktmbuf_mtod_offset(m, const void *, AT_LEAST), sizeof(oldest));
		w->wrong += m->hash.fdir.hi < oldest;
		w->fresh += m->hash.fdir.hi > oldest; /* before the change was known to be over */
		w->by_slot[slot]++;
	}
	w->out += n;
	hy_release(graph, objs, n);
	return n;
}

static uint16_t
drop_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	workers[hy_graph_worker(graph)].dropped += n;
	hy_release(graph, objs, n);
	return n;
}

static void
nodes_make(void)
{
	const struct hy_node_desc descs[] = {
		{ .name = "dp_source",
			.flags = HY_NODE_SOURCE,
			.impl.process = source_process,
			.edges = { "flow_lookup-dp" } },
		{ .name = "dp_sink", .impl.process = sink_process },
		{ .name = "dp_drop", .impl.process = drop_process },
		{ .name = "dp_slow", .impl.process = slow_process, .edges = { "flow_apply-dp" } },
	};
	static const char *const names[] = { HY_FLOW_APPLY_NODE, HY_FLOW_LOOKUP_NODE,
		HY_FLOW_REINJECT_NODE };
	const struct hy_flow_apply_config lists = { .ops = datapath->lists.ops };
	const struct hy_flow_lookup_config flows = { .table = datapath->table };
	hy_node_id id;

	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(hy_node_register(&descs[i], &ids[i]), 0);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(hy_node_lookup(names[i], &id), 0);
		assert_int_equal(hy_node_clone(id, "dp", &ids[4 + i]), 0);
		assert_int_equal(hy_node_edge_add(ids[4 + i], i == 0 ? "dp_sink" : "dp_slow", NULL),
			0);
		assert_int_equal(i == 0 ? hy_node_config(ids[4], &lists, sizeof(lists))
					: hy_node_config(ids[4 + i], &flows, sizeof(flows)),
			0);
	}
}

static void
graphs_make(void)
{
	static const char *const patterns[] = { "flow_reinject-dp", "dp_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = RTE_DIM(patterns),
		.ops = &hy_mbuf_ops,
		.drop_node = "dp_drop",
		.lanes = { HY_FLOW_ACTION_LANE },
		.burst = BURST,
		.socket = SOCKET_ID_ANY,
		.qsbr = all.qsbr };

	assert_int_equal(hy_graph_create("dp-0", &params, &workers[0].graph), 0);
	assert_int_equal(hy_graph_clone(workers[0].graph, "dp-1", 1, SOCKET_ID_ANY,
				 &workers[1].graph),
		0);
}

static void *
work(void *arg)
{
	struct worker *w = arg;
	uint64_t seed = w->seed + 1;

	while (!atomic_load(&stop)) {
		hy_graph_walk(w->graph);
		sched_yield(); /* there may be fewer CPUs than threads */
		if (w == &workers[1] && rnd(&seed) % 64 == 0) {
			hy_graph_rest(w->graph);
			__atomic_fetch_add(&w->rests, 1, __ATOMIC_RELAXED);
			rte_delay_us_sleep(500);
		}
	}
	hy_graph_rest(w->graph);
	return NULL;
}

static uint64_t changes, deleted_lists;

static uint32_t
lists_now(void)
{
	return datapath_lists_counts(&datapath->lists).lists;
}

/* Rounds of collection. */
static void
poll(void)
{
	static uint64_t now;

	now = RTE_MAX(now, datapath_now());
	for (unsigned int i = 0; i < 8; i++) {
		const uint32_t lists = lists_now();
		uint32_t left;

		hy_datapath_poll(datapath, now += 1000);
		left = lists_now();
		deleted_lists += lists > left ? lists - left : 0;
	}
}

/* Gives a slot's rule another generation, in one of two ways. It is not yet followed. */
static void
rule_put(uint32_t slot, uint32_t generation, bool strict)
{
	char error[HY_DATAPATH_ERROR_SIZE], text[160];

	snprintf(text, sizeof(text),
		"cookie=%u,ip,nw_dst=10.0.0.%u actions=set_field:%u->pkt_mark,output:1", slot, slot,
		generation);
	if (hy_datapath_put(datapath, strict ? HY_DATAPATH_MODIFY_STRICT : HY_DATAPATH_MODIFY, text,
		    NULL, error) < 0)
		fail_msg("%s", error);
}

/* Some slots change together; then tells when the old rules are gone. */
static void
rules_change(uint32_t first, uint32_t n, uint32_t generation, uint64_t *seed)
{
	for (uint32_t i = 0; i < n; i++)
		rule_put((first + i) % SLOTS, generation, rnd(seed) % 2 == 0);
	hy_datapath_commit(datapath);
	if (rnd(seed) % 2 == 0)
		poll(); /* while workers may still do what the old list says */
	while (!hy_grace_wait(all.qsbr, hy_grace_start(all.qsbr)))
		;
	for (uint32_t i = 0; i < n; i++)
		atomic_store(&least[(first + i) % SLOTS], generation);
	changes += n;
}

/* Other rules come and go, by which masks change. */
static void
decoys(uint64_t *seed)
{
	char error[HY_DATAPATH_ERROR_SIZE], text[160];
	const bool adds = rnd(seed) % 2 == 0;

	snprintf(text, sizeof(text), "%sudp,tp_dst=%u%s", adds ? "priority=99," : "",
		(unsigned int)(rnd(seed) % 16), adds ? " actions=drop" : "");
	if (hy_datapath_change(datapath, adds ? HY_DATAPATH_ADD : HY_DATAPATH_DELETE, text, NULL,
		    error) < 0)
		fail_msg("%s: %s", text, error);
}

static uint64_t
rests(void)
{
	return __atomic_load_n(&workers[1].rests, __ATOMIC_RELAXED);
}

static void
run(void)
{
	const uint64_t begin = rte_get_timer_cycles(), hz = rte_get_timer_hz();
	uint64_t seed = 5;
	uint32_t generation = 1;

	for (uint32_t w = 0; w < WORKERS; w++)
		assert_int_equal(pthread_create(&workers[w].thread, NULL, work, &workers[w]), 0);
	while (rte_get_timer_cycles() - begin < SECONDS * hz ||
		(rte_get_timer_cycles() - begin < SECONDS_MOST * hz &&
			(changes < 100 || rests() < 10 || deleted_lists < 50))) {
		rules_change(rnd(&seed) % SLOTS, 1 + rnd(&seed) % 3, ++generation, &seed);
		decoys(&seed);
		poll();
	}
	atomic_store(&ending, true);
	while (hy_datapath_waiting(datapath) > 0)
		sched_yield();
	atomic_store(&stop, true);
	for (uint32_t w = 0; w < WORKERS; w++)
		pthread_join(workers[w].thread, NULL);
	for (unsigned int i = 0; i < 8; i++)
		poll();
}

/* Packets that a slot's rule has counted. */
static uint64_t
counted(uint32_t slot)
{
	char error[HY_DATAPATH_ERROR_SIZE], text[64], *printed = NULL;
	struct hy_vswitch_rule select;
	uint64_t packets = UINT64_MAX, bytes = 0;
	size_t size;
	FILE *file = open_memstream(&printed, &size);

	snprintf(text, sizeof(text), "ip,nw_dst=10.0.0.%u", slot);
	assert_int_equal(hy_vswitch_read(datapath->rules, text, HY_VSWITCH_SELECT, &select, error),
		0);
	assert_int_equal(hy_datapath_rules_print(datapath, &select, file), 0);
	assert_int_equal(fclose(file), 0);
	assert_non_null(strstr(printed, "n_packets="));
	assert_int_equal(sscanf(strstr(printed, "n_packets="), "n_packets=%ju,n_bytes=%ju",
				 &packets, &bytes),
		2);
	assert_int_equal(bytes, packets * FRAME_LEN);
	free(printed);
	return packets;
}

static void
switch_make(void)
{
	const struct hy_vswitch_port ports[] = { { .number = 1, .name = "out", .port = 1 } };
	const struct hy_vswitch_port in = { .number = 2, .name = "in", .port = 0 };
	const struct hy_datapath_params params = { .ports = ports,
		.nb_ports = 1,
		.max_flows = FLOWS,
		.caches = { .exact = HY_FLOWS_EXACT_8K,
			.exact_one_in = 2,
			.index = HY_FLOWS_INDEX_LINES,
			.lines_log = 8 } };
	char error[HY_DATAPATH_ERROR_SIZE], text[128];

	all.nb = WORKERS;
	all.qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(WORKERS), RTE_CACHE_LINE_SIZE);
	assert_int_equal(rte_rcu_qsbr_init(all.qsbr, WORKERS), 0);
	for (uint32_t w = 0; w < WORKERS; w++)
		all.worker[w].socket = SOCKET_ID_ANY;
	assert_int_equal(hy_datapath_create(&params, &datapath, error), 0);
	assert_int_equal(hy_vswitch_port_add(datapath->rules, &in), 0);
	for (uint32_t s = 0; s < SLOTS; s++) {
		snprintf(text, sizeof(text),
			"cookie=%u,ip,nw_dst=10.0.0.%u actions=set_field:1->pkt_mark,output:1", s,
			s);
		assert_int_equal(hy_datapath_change(datapath, HY_DATAPATH_ADD, text, NULL, error),
			0);
	}
	if (hy_datapath_start(datapath, &all, error) < 0)
		fail_msg("%s", error);
}

static void
rules_of_a_switch_change_under_load(void **state)
{
	uint64_t due[SLOTS] = { 0 }, fresh = 0, refused = 0;

	RTE_SET_USED(state);
	memset(workers, 0, sizeof(workers));
	for (uint32_t w = 0; w < WORKERS; w++) {
		workers[w].seed = 200 + w;
		workers[w].pool = rte_pktmbuf_pool_create(w == 0 ? "dp-0" : "dp-1", MBUFS, 0, 0,
			RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
		assert_non_null(workers[w].pool);
	}
	switch_make();
	nodes_make();
	graphs_make();
	run();
	for (uint32_t w = 0; w < WORKERS; w++) {
		const char *graph = w == 0 ? "dp-0" : "dp-1";
		struct hy_flows_upcall_stats stats;

		hy_flows_upcall_stats(hy_flow_table_upcalls(datapath->table), w, &stats);
		refused += stats.refused;
		assert_int_equal(workers[w].wrong, 0);
		assert_int_equal(dropped(graph, "flow_apply-dp", "no_list"), 0);
		assert_int_equal(workers[w].sent, workers[w].out + workers[w].dropped);
		assert_true(workers[w].out > 1000);
		fresh += workers[w].fresh;
		for (uint32_t s = 0; s < SLOTS; s++)
			due[s] += workers[w].by_slot[s];
		assert_int_equal(hy_graph_destroy(workers[w].graph), 0);
	}
	for (uint32_t s = 0; s < SLOTS; s++)
		assert_int_equal(counted(s), due[s]);
	print_message(
		"%ju changes, %ju lists deleted, %u left; %ju rests; %ju packets by newer rules\n",
		(uintmax_t)changes, (uintmax_t)deleted_lists, lists_now(), (uintmax_t)rests(),
		(uintmax_t)fresh);
	assert_true(changes >= 100 && deleted_lists >= 50 && rests() >= 10 && fresh > 0);
	assert_true(refused > 0);
	assert_in_range(lists_now(), 1, 3 * SLOTS);
	for (unsigned int i = 7; i-- > 0;)
		assert_int_equal(hy_node_unregister(ids[i]), 0);
	hy_datapath_destroy(datapath);
	for (uint32_t w = 0; w < WORKERS; w++) {
		assert_int_equal(rte_mempool_in_use_count(workers[w].pool), 0);
		rte_mempool_free(workers[w].pool);
	}
	rte_free(all.qsbr);
}

static const struct CMUnitTest datapath_tests[] = {
	NODE_TEST(rules_of_a_switch_change_under_load),
};

UNIT_SUITE(datapath_tests)
