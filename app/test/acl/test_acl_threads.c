/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that walk, rest and stall while lists are bound, unbound and changed. Each packet carries its
 * number, so that what comes out is held to what went in: nothing is lost, made up or overtaken.
 */

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "acl_fixture.h"

#define BURST 32
#define PORTS 8 /* destination ports, in turn */
#define RELOADS 1000
#define CHANGES 300
#define MOST 20000 /* rounds that are tried until workers have seen enough */

static struct worker {
	struct hy_graph *graph;
	struct rte_mempool *pool;
	pthread_t thread;
	bool rests;
	uint32_t made, last; /* numbers of packets: made so far; sent last */
	uint64_t sent, denied, faults, judged;
	uint32_t generation;  /* the class of the packet sent last */
	uint32_t generations; /* seen */
} workers[ACL_WORKERS];

static bool stop, stall, stalled;

#define NUMBER_AT 60 /* of a packet, in its payload */

static struct worker *
worker_of(const struct hy_graph *graph)
{
	return &workers[hy_graph_worker(graph)];
}

static uint16_t
make(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct worker *worker = worker_of(graph);
	uint32_t *class_id = hy_lane(graph, node, 0);
	uint16_t made = 0;

	if (__atomic_load_n(&stall, __ATOMIC_ACQUIRE) && worker == &workers[0]) {
		__atomic_store_n(&stalled, true, __ATOMIC_RELEASE);
		while (__atomic_load_n(&stall, __ATOMIC_ACQUIRE))
			usleep(100);
	}
	n = (uint16_t)RTE_MIN(n, BURST);
	while (made < n) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(worker->pool);
		uint8_t *frame;

		if (m == NULL)
			break;
		frame = (uint8_t *)rte_pktmbuf_append(m, 74);
		udp_write(frame, (uint16_t)(1 + worker->made % PORTS));
		memcpy(frame + NUMBER_AT, &worker->made, sizeof(worker->made));
		worker->made++;
		class_id[made] = 0;
		objs[made++] = m;
	}
	hy_stream_move(graph, node, 0, made);
	return made;
}

static uint32_t
number_of(const struct rte_mbuf *m)
{
	uint32_t number;

	memcpy(&number, rte_pktmbuf_mtod_offset(m, const char *, NUMBER_AT), sizeof(number));
	return number;
}

/* Rules of generation g give packets to ports of its parity the class g, and deny others. */
static uint16_t
end(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct worker *worker = worker_of(graph);
	const uint32_t *class_id = hy_lane(graph, node, 0);

	for (uint16_t i = 0; i < n; i++) {
		const uint32_t number = number_of(objs[i]), g = class_id[i];

		worker->faults += worker->sent > 0 && number <= worker->last;
		worker->last = number;
		worker->sent++;
		if (g == 0)
			continue; /* by no list */
		worker->faults += g < worker->generation || (1 + number % PORTS) % 2 != g % 2;
		__atomic_store_n(&worker->generations,
			worker->generations + (g != worker->generation), __ATOMIC_RELAXED);
		worker->generation = g;
		worker->judged++;
	}
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, n);
	return n;
}

static uint16_t
drop(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	worker_of(graph)->denied += n;
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, n);
	return n;
}

static void *
work(void *arg)
{
	struct worker *worker = arg;

	for (uint64_t walks = 1; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); walks++) {
		hy_graph_walk(worker->graph);
		if (worker->rests && walks % 20 == 0) {
			hy_graph_rest(worker->graph);
			usleep(100);
		}
	}
	hy_graph_rest(worker->graph);
	return NULL;
}

static hy_node_id node_ids[3];

static void
rig_start(void)
{
	static const char *const patterns[] = { "acl_src" };
	const struct hy_node_desc nodes[] = {
		{ .name = "acl_src",
			.flags = HY_NODE_SOURCE,
			.impl.process = make,
			.edges = { "acl_end" },
			.lanes = { HY_FLOW_CLASS_LANE } },
		{ .name = "acl_end", .impl.process = end, .lanes = { HY_FLOW_CLASS_LANE } },
		{ .name = "acl_drop", .impl.process = drop },
	};
	const struct hy_acl_place place = { .port = RIG_PORT, .way = HY_ACL_IN, .end = "acl_end" };

	for (unsigned int i = 0; i < RTE_DIM(nodes); i++)
		assert_int_equal(hy_node_register(&nodes[i], &node_ids[i]), 0);
	assert_int_equal(hy_acl_place(acl, &place), 0);
	stop = stall = stalled = false;
	for (uint16_t w = 0; w < ACL_WORKERS; w++) {
		struct worker *worker = &workers[w];
		char name[16];
		const struct hy_graph_params params = { .patterns = patterns,
			.nb_patterns = 1,
			.ops = &hy_mbuf_ops,
			.drop_node = "acl_drop",
			.lanes = { HY_FLOW_CLASS_LANE, HY_ARC_LANE },
			.burst = BURST,
			.worker = w,
			.socket = SOCKET_ID_ANY,
			.qsbr = acl_qsbr };

		*worker = (struct worker){ .rests = w == 1 };
		snprintf(name, sizeof(name), "acl-%u", w);
		worker->pool = rte_pktmbuf_pool_create(name, 4 * BURST, 0, 0,
			RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
		assert_non_null(worker->pool);
		assert_int_equal(hy_graph_create(name, &params, &worker->graph), 0);
		assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
	}
}

/* Every packet made was sent or denied; the denied ones are the list's; no buffer is in use. */
static void
rig_stop(uint64_t denied[ACL_WORKERS])
{
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (unsigned int w = 0; w < ACL_WORKERS; w++) {
		struct worker *worker = &workers[w];

		pthread_join(worker->thread, NULL);
		assert_int_equal(worker->faults, 0);
		assert_int_equal(worker->made, worker->sent + worker->denied);
		assert_int_equal(hy_graph_destroy(worker->graph), 0);
		denied[w] = worker->denied;
		assert_int_equal(rte_mempool_in_use_count(worker->pool), 0);
		rte_mempool_free(worker->pool);
	}
	hy_acl_destroy(acl);
	acl = NULL;
	for (unsigned int i = 0; i < RTE_DIM(node_ids); i++)
		assert_int_equal(hy_node_unregister(node_ids[i]), 0);
}

/* On a machine with much to do, a worker may have no CPU for a second. */
static void
bound_set(const char *name)
{
	int rc;

	do
		rc = name == NULL ? hy_acl_unbind(acl, RIG_PORT, HY_ACL_IN)
				  : hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, name);
	while (rc == -ETIMEDOUT);
	assert_int_equal(rc, 0);
}

/* A worker that the machine does not run for two seconds is no fault. */
static void
list_gone(const char *name)
{
	int rc;

	do
		rc = hy_acl_list_destroy(acl, name);
	while (rc == -ETIMEDOUT);
	assert_int_equal(rc, 0);
}

static void
generation_commit(struct hy_policy *policy, uint32_t g)
{
	int rc;

	for (uint16_t port = 1; port <= PORTS; port++) {
		const bool passes = port % 2 == g % 2;
		const struct hy_flow_rule rule = { .id = port,
			.action = passes ? HY_RULE_CLASSIFY : HY_RULE_DENY,
			.class_id = passes ? (uint16_t)g : 0,
			.match = { .fields = HY_FLOW_PROTO | HY_FLOW_DPORT,
				.proto = IPPROTO_UDP,
				.dport = { port, port } } };

		assert_int_equal(g == 1 ? hy_policy_add(policy, &rule)
					: hy_policy_replace(policy, &rule),
			0);
	}
	do
		rc = hy_policy_commit(policy);
	while (rc == -ETIMEDOUT);
	assert_int_equal(rc, 0);
}

static bool
all_have_seen(uint32_t n)
{
	for (unsigned int w = 0; w < ACL_WORKERS; w++)
		if (__atomic_load_n(&workers[w].generations, __ATOMIC_RELAXED) < n)
			return false;
	return true;
}

static void
each_verdict_is_that_of_the_rules_before_or_after_a_reload(void **state)
{
	uint64_t denied[ACL_WORKERS], sum = 0;
	struct hy_acl_counts counts;
	struct hy_policy *policy;
	unsigned int heap = 0;
	int64_t live = 0;
	uint32_t g = 1;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	policy = list_make("a");
	generation_commit(policy, g);
	rig_start();
	bound_set("a");
	while (g < RELOADS || (g < MOST && !all_have_seen(RELOADS / 10))) {
		generation_commit(policy, ++g);
		rte_delay_us_sleep(100);
		if (g == RELOADS / 10) {
			generation_commit(policy, ++g); /* frees what the one before left */
			heap = unit_heap_live();
			live = unit_alloc_live();
		}
	}
	assert_true(all_have_seen(RELOADS / 10));
	generation_commit(policy, ++g);
	assert_in_range(unit_heap_live(), heap - 4, heap + 4);
	assert_in_range(unit_alloc_live() - live + 8, 0, 16);
	assert_int_equal(hy_acl_counts(acl, "a", &counts), 0);
	bound_set(NULL);
	rte_delay_us_sleep(2000);
	assert_int_equal(hy_acl_counts(acl, "a", &counts), 0);
	rig_stop(denied);
	for (unsigned int w = 0; w < ACL_WORKERS; w++) {
		assert_true(workers[w].judged > 1000);
		sum += denied[w];
	}
	assert_true(sum > 1000);
	assert_int_equal(counts.denied, sum);
	assert_int_equal(counts.permitted, workers[0].judged + workers[1].judged);
	print_message("%u reloads, %ju packets judged\n", g,
		(uintmax_t)(counts.denied + counts.permitted));
}

static void
lists_come_and_go_and_no_packet_is_lost_or_overtaken(void **state)
{
	static const char *const order[] = { "a", "b", NULL, "b", "a", NULL };
	uint64_t denied[ACL_WORKERS];
	struct hy_acl_counts a, b;
	struct hy_policy *policy;
	unsigned int change = 0;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	policy = list_make("a");
	rule_add(policy, 1, 3, HY_RULE_DENY, 0, true);
	rules_commit(policy);
	policy = list_make("b");
	rule_add(policy, 1, 4, HY_RULE_DENY, 0, false);
	rules_commit(policy);
	rig_start();
	do {
		bound_set(order[change % RTE_DIM(order)]);
		rte_delay_us_sleep(200);
		assert_int_equal(hy_acl_counts(acl, "a", &a), 0);
		assert_int_equal(hy_acl_counts(acl, "b", &b), 0);
		change++;
	} while (change < CHANGES || (change < MOST && (a.denied < 1000 || b.denied < 1000)));
	bound_set(NULL);
	list_gone("b");
	rte_delay_us_sleep(2000);
	assert_int_equal(hy_acl_counts(acl, "a", &a), 0);
	rig_stop(denied);
	assert_true(a.denied >= 1000 && b.denied >= 1000);
	assert_int_equal(denied[0] + denied[1], a.denied + b.denied);
	print_message("%u changes, %u + %u packets\n", change, workers[0].made, workers[1].made);
}

static void
a_stalled_worker_delays_a_change_and_nothing_else(void **state)
{
	uint64_t denied[ACL_WORKERS];
	struct hy_policy *policy;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	policy = list_make("a");
	rule_add(policy, 1, 0, HY_RULE_DENY, 0, false);
	rules_commit(policy);
	list_make("b");
	rig_start();
	bound_set("a");
	__atomic_store_n(&stall, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&stalled, __ATOMIC_ACQUIRE))
		usleep(100);
	assert_int_equal(hy_acl_list_destroy(acl, "b"), -ETIMEDOUT);
	assert_non_null(hy_acl_list(acl, "b"));
	assert_int_equal(hy_policy_remove(policy, 1), 0);
	assert_int_equal(hy_policy_commit(policy), 0); /* what was there before is freed later */
	__atomic_store_n(&stall, false, __ATOMIC_RELEASE);
	bound_set("b");
	list_gone("a");
	rig_stop(denied);
	assert_true(denied[0] + denied[1] > 0);
	assert_true(workers[0].sent > 0 && workers[1].sent > 0);
}

static const struct CMUnitTest tests[] = {
	ACL_TEST(each_verdict_is_that_of_the_rules_before_or_after_a_reload),
	ACL_TEST(lists_come_and_go_and_no_packet_is_lost_or_overtaken),
	ACL_TEST(a_stalled_worker_delays_a_change_and_nothing_else),
};

UNIT_SUITE(tests)
