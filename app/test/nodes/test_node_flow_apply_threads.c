/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists are added and deleted while two workers do them, one of which rests at times: counts are exact, and
 * no packet is treated by a list of the number that its own list had.
 */

#include <errno.h>
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

#include "node_fixture.h"

#define WORKERS 2
#define SLOTS 8
#define MOST (SLOTS + 4) /* so that numbers are used again soon */
#define BURST 32
#define NONE UINT64_MAX
#define SECONDS 1
#define SECONDS_MOST 60 /* until each outcome was seen, on a busy machine */
#define LISTS_LEAST 200
#define FRAME_LEN 60

/* What a list makes of a packet: a mark with its generation, at one sink, and once more at the other. */
struct worker {
	struct hy_graph *graph;
	pthread_t thread;
	uint64_t seed;
	uint64_t packets[SLOTS], bytes[SLOTS]; /* sent by a slot's list of now */
	uint64_t sent, out, dropped, wrong, rests;
} __rte_cache_aligned;

static struct worker workers[WORKERS];
static _Atomic uint64_t slots[SLOTS]; /* generation and number of a list, or NONE */
static atomic_bool stop;
static struct rte_rcu_qsbr *qsbr;
static struct hy_flow_ops *ops;
static hy_node_id ids[4];

/* Packets of slots: each says in its bytes which generation it was sent by. */
static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct worker *w = &workers[hy_graph_worker(graph)];
	uint32_t *lane = hy_lane(graph, node, 0);
	uint16_t made = 0;

	for (uint16_t i = 0; i < n; i++) {
		const uint32_t slot = rnd(&w->seed) % SLOTS;
		const uint64_t now = atomic_load(&slots[slot]);
		const uint32_t generation = (uint32_t)(now >> 16);
		struct rte_mbuf *m;

		if (now == NONE)
			continue;
		m = rte_pktmbuf_alloc(pool);
		if (m == NULL)
			break;
		memset(rte_pktmbuf_append(m, FRAME_LEN), 0, FRAME_LEN);
		memcpy(rte_pktmbuf_mtod_offset(m, void *, 20), &generation, sizeof(generation));
		lane[made] = (uint32_t)(now & UINT16_MAX) << 16;
		objs[made++] = m;
		w->packets[slot]++;
		w->bytes[slot] += FRAME_LEN;
	}
	w->sent += made;
	if (rnd(&w->seed) % 32 == 0)
		rte_delay_us_sleep(200); /* in which lists are deleted */
	hy_stream_move(graph, node, 0, made);
	return made;
}

/* Edge 0 and 1: what is marked must be as its list says. */
static uint16_t
sink_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct worker *w = &workers[hy_graph_worker(graph)];

	RTE_SET_USED(node);
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];
		uint32_t generation;

		memcpy(&generation, rte_pktmbuf_mtod_offset(m, const void *, 20),
			sizeof(generation));
		w->wrong += (m->ol_flags & RTE_MBUF_F_RX_FDIR_ID) == 0 ||
			m->hash.fdir.hi != generation;
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
		{ .name = "ap_source",
			.flags = HY_NODE_SOURCE,
			.impl.process = source_process,
			.edges = { "flow_apply-ap" },
			.lanes = { HY_FLOW_ACTION_LANE } },
		{ .name = "ap_sink", .impl.process = sink_process },
		{ .name = "ap_drop", .impl.process = drop_process },
	};
	const struct hy_flow_apply_config config = { .ops = ops };
	hy_node_id id;

	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(hy_node_register(&descs[i], &ids[i]), 0);
	assert_int_equal(hy_node_lookup(HY_FLOW_APPLY_NODE, &id), 0);
	assert_int_equal(hy_node_clone(id, "ap", &ids[3]), 0);
	assert_int_equal(hy_node_config(ids[3], &config, sizeof(config)), 0);
	assert_int_equal(hy_node_edge_add(ids[3], "ap_sink", NULL), 0);
}

static void
graphs_make(void)
{
	static const char *const patterns[] = { "ap_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "ap_drop",
		.lanes = { HY_FLOW_ACTION_LANE },
		.burst = BURST,
		.socket = SOCKET_ID_ANY,
		.qsbr = qsbr };

	assert_int_equal(hy_graph_create("ap-0", &params, &workers[0].graph), 0);
	assert_int_equal(hy_graph_clone(workers[0].graph, "ap-1", 1, SOCKET_ID_ANY,
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

static uint64_t added, counted, early;

static void
list_add(uint32_t slot, uint32_t generation)
{
	const struct hy_flow_op list[] = {
		{ .type = HY_FLOW_OP_MARK, .mark = generation },
		{ .type = HY_FLOW_OP_OUTPUT },
		{ .type = HY_FLOW_OP_OUTPUT },
	};
	uint16_t number;
	int rc;

	while ((rc = hy_flow_ops_add(ops, list, generation % 2 == 0 ? 2 : 3, &number)) == -EAGAIN)
		rte_delay_us_sleep(20);
	assert_int_equal(rc, 0);
	for (unsigned int w = 0; w < WORKERS; w++)
		workers[w].packets[slot] = workers[w].bytes[slot] = 0;
	atomic_store(&slots[slot], (uint64_t)generation << 16 | number);
	added++;
}

static uint16_t decoy;

/* A list that no packet names, unless it has the number of one that was deleted just now. */
static void
decoy_add(void)
{
	const struct hy_flow_op list[] = { { .type = HY_FLOW_OP_OUTPUT } };
	int rc;

	while ((rc = hy_flow_ops_add(ops, list, 1, &decoy)) == -EAGAIN)
		rte_delay_us_sleep(20);
	assert_int_equal(rc, 0);
}

/* With packets on the way, that find no list; or after them, so that its counts are all of theirs. */
static void
list_delete(uint32_t slot, bool at_once)
{
	const uint16_t number = (uint16_t)atomic_load(&slots[slot]);
	uint64_t packets, bytes, due_packets = 0, due_bytes = 0;

	atomic_store(&slots[slot], NONE);
	if (at_once) {
		assert_int_equal(hy_flow_ops_delete(ops, number), 0);
		decoy_add();
	}
	while (!hy_grace_wait(qsbr, hy_grace_start(qsbr)))
		;
	if (at_once) {
		assert_int_equal(hy_flow_ops_delete(ops, decoy), 0);
		early++;
		return;
	}
	for (unsigned int w = 0; w < WORKERS; w++) {
		due_packets += workers[w].packets[slot];
		due_bytes += workers[w].bytes[slot];
	}
	assert_int_equal(hy_flow_ops_count(ops, number, &packets, &bytes), 0);
	assert_int_equal(packets, due_packets);
	assert_int_equal(bytes, due_bytes);
	counted += packets;
	assert_int_equal(hy_flow_ops_delete(ops, number), 0);
}

static uint64_t
no_lists(void)
{
	return dropped("ap-0", "flow_apply-ap", "no_list") +
		dropped("ap-1", "flow_apply-ap", "no_list");
}

static bool
is_seen(void)
{
	return added >= LISTS_LEAST && early > 10 && counted > 1000 && no_lists() > 0 &&
		__atomic_load_n(&workers[1].rests, __ATOMIC_RELAXED) > 10;
}

static void
run(void)
{
	const uint64_t begin = rte_get_timer_cycles(), hz = rte_get_timer_hz();
	uint32_t generation = 0;
	uint64_t seed = 9;

	for (uint32_t s = 0; s < SLOTS; s++)
		list_add(s, ++generation);
	for (uint32_t w = 0; w < WORKERS; w++)
		assert_int_equal(pthread_create(&workers[w].thread, NULL, work, &workers[w]), 0);
	while (rte_get_timer_cycles() - begin < SECONDS * hz ||
		(rte_get_timer_cycles() - begin < SECONDS_MOST * hz && !is_seen())) {
		const uint32_t slot = rnd(&seed) % SLOTS;

		list_delete(slot, rnd(&seed) % 4 == 0);
		list_add(slot, ++generation);
	}
	assert_int_equal(hy_flow_ops_destroy(ops), -EBUSY);
	atomic_store(&stop, true);
	for (uint32_t w = 0; w < WORKERS; w++)
		pthread_join(workers[w].thread, NULL);
}

static uint64_t
copies_of(const char *graph)
{
	struct hy_stats *stats;
	uint64_t value;

	assert_int_equal(hy_stats_read(graph, &stats), 0);
	value = hy_stats_find(stats, 0, "flow_apply-ap")->counters[HY_FLOW_APPLY_COPIES].value;
	hy_stats_free(stats);
	return value;
}

static void
lists_change_while_workers_do_them(void **state)
{
	struct hy_flow_ops_params params = {
		.name = "ap", .most = MOST, .workers = WORKERS, .socket = SOCKET_ID_ANY
	};
	uint64_t no_list = 0;

	RTE_SET_USED(state);
	qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(WORKERS), RTE_CACHE_LINE_SIZE);
	assert_int_equal(rte_rcu_qsbr_init(qsbr, WORKERS), 0);
	params.qsbr = qsbr;
	assert_int_equal(hy_flow_ops_create(&params, &ops), 0);
	memset(workers, 0, sizeof(workers));
	for (uint32_t w = 0; w < WORKERS; w++)
		workers[w].seed = 100 + w;
	nodes_make();
	graphs_make();
	run();
	for (uint32_t w = 0; w < WORKERS; w++) {
		const char *name = w == 0 ? "ap-0" : "ap-1";

		assert_int_equal(workers[w].wrong, 0);
		assert_int_equal(workers[w].sent + copies_of(name),
			workers[w].out + workers[w].dropped);
		no_list += dropped(name, "flow_apply-ap", "no_list");
		assert_int_equal(workers[w].dropped, dropped(name, "flow_apply-ap", "no_list"));
		assert_true(workers[w].out > 1000 && copies_of(name) > 100);
		assert_int_equal(hy_graph_destroy(workers[w].graph), 0);
	}
	print_message("%ju lists, of which %ju deleted early; %ju packets counted, %ju without a "
		      "list; %ju rests\n",
		(uintmax_t)added, (uintmax_t)early, (uintmax_t)counted, (uintmax_t)no_list,
		(uintmax_t)workers[1].rests);
	assert_true(added >= LISTS_LEAST && early > 10 && counted > 1000 && no_list > 0);
	assert_true(workers[1].rests > 10);
	for (unsigned int i = 4; i-- > 0;)
		assert_int_equal(hy_node_unregister(ids[i]), 0);
	assert_int_equal(hy_flow_ops_destroy(ops), 0);
	rte_free(qsbr);
}

static const struct CMUnitTest flow_apply_thread_tests[] = {
	NODE_TEST(lists_change_while_workers_do_them),
};

UNIT_SUITE(flow_apply_thread_tests)
