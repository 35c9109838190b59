/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a table frees is not used again while a worker may be reading it. The worker is played by
 * the test, which stops it in the middle of a lookup; a wait for it runs out after a second.
 */

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_mbuf.h>

#include "drivers/nodes/generic/fused/ip4_forward.h"
#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "node_fixture.h"

static union {
	struct rte_rcu_qsbr v;
	alignas(RTE_CACHE_LINE_SIZE) uint8_t room[1024];
} qsbr;

static struct hy_ip4_fib *fib;

/* A table, ports 0 and 1, so many next hops; a graph uses it, and reader 0 is in a walk. */
static void
table_in_use(enum hy_ip4_engine engine, uint32_t max_tbl8s, uint32_t next_hops)
{
	const struct hy_ip4_fib_params params = { .engine = engine,
		.max_routes = 16,
		.max_tbl8s = max_tbl8s,
		.max_next_hops = 64,
		.socket = SOCKET_ID_ANY,
		.qsbr = &qsbr.v };

	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	assert_int_equal(hy_ip4_fib_create("grace", &params, &fib), 0);
	for (uint16_t p = 0; p < 2; p++) {
		const struct hy_ip4_port port = { .port = p, .max_len = 1514 };

		assert_int_equal(hy_ip4_port_add(fib, &port), 0);
	}
	for (uint32_t i = 0; i < next_hops; i++) {
		const struct hy_ip4_next_hop hop = { .mac.addr_bytes[5] = (uint8_t)i };
		uint32_t id;

		assert_int_equal(hy_ip4_next_hop_add(fib, &hop, &id), 0);
		assert_int_equal(id, i);
	}
	fib->nb_users = 1;
	assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, 0), 0);
	rte_rcu_qsbr_thread_online(&qsbr.v, 0);
}

static void
worker_ends_its_walk(void)
{
	rte_rcu_qsbr_quiescent(&qsbr.v, 0);
}

static int
change(enum hy_ip4_verb verb, uint32_t prefix, uint8_t depth, uint32_t id)
{
	const struct hy_ip4_change change = { .verb = verb,
		.route = { .prefix = prefix, .depth = depth, .next_hop = id } };

	return hy_ip4_routes_change(fib, &change, 1, NULL);
}

static uint32_t
lookup(uint32_t dst)
{
	uint32_t id = UINT32_MAX;

	hy_ip4_lookup(fib, dst, &id);
	return id;
}

static void
tbl8_of_rte_lpm_waits_for_a_worker_that_may_be_in_it(void **state)
{
	const uint32_t *tbl24, *tbl8;
	uint32_t entry;

	RTE_SET_USED(state);
	table_in_use(HY_IP4_LPM, 1, 3);
	assert_int_equal(change(HY_IP4_ADD, IP4(10, 0, 0, 128), 25, 1), 0);
	tbl24 = (const uint32_t *)fib->view.lpm->tbl24;
	tbl8 = (const uint32_t *)fib->view.lpm->tbl8;
	entry = tbl24[IP4(10, 0, 0, 200) >> 8];
	assert_int_equal(entry >> 24 & 3, 3);
	/* The worker has read the first level, and then for long nothing. */
	assert_int_equal(change(HY_IP4_DELETE, IP4(10, 0, 0, 128), 25, 0), 0);
	assert_int_equal(change(HY_IP4_ADD, IP4(10, 0, 1, 128), 25, 2), -ETIMEDOUT);
	assert_int_equal(lookup(IP4(10, 0, 1, 200)), UINT32_MAX);
	assert_int_equal(hy_ip4_routes_get(fib, NULL, 0), 0);
	entry = tbl8[(entry & 0xffffff) * 256 + 200];
	assert_true((entry & RTE_LPM_LOOKUP_SUCCESS) == 0 || (entry & 0xffffff) == 1);
	worker_ends_its_walk();
	assert_int_equal(change(HY_IP4_ADD, IP4(10, 0, 1, 128), 25, 2), 0);
	assert_int_equal(lookup(IP4(10, 0, 1, 200)), 2);
}

static void
copy_of_rte_fib_waits_for_a_worker_that_may_be_in_it(void **state)
{
	const uint32_t dst = IP4(10, 0, 0, 200);
	struct rte_fib *shown;
	uint32_t address = dst;
	uint64_t id;

	RTE_SET_USED(state);
	table_in_use(HY_IP4_FIB, 1, 3);
	assert_int_equal(change(HY_IP4_ADD, IP4(10, 0, 0, 128), 25, 1), 0);
	worker_ends_its_walk();
	shown = fib->view.copy->rte_fib;
	assert_int_equal(change(HY_IP4_DELETE, IP4(10, 0, 0, 128), 25, 0), 0);
	assert_int_equal(lookup(dst), UINT32_MAX);
	assert_int_equal(change(HY_IP4_ADD, IP4(10, 0, 1, 128), 25, 2), -ETIMEDOUT);
	assert_int_equal(hy_ip4_routes_get(fib, NULL, 0), 0);
	/* The worker goes on in the table that it began with. */
	assert_int_equal(rte_fib_lookup_bulk(shown, &address, &id, 1), 0);
	assert_int_equal(id, 1);
	worker_ends_its_walk();
	assert_int_equal(change(HY_IP4_ADD, IP4(10, 0, 1, 128), 25, 2), 0);
	assert_int_equal(lookup(IP4(10, 0, 1, 200)), 2);
	assert_int_equal(lookup(dst), UINT32_MAX);
}

static void
next_hops_that_a_worker_reads_stay_as_they_are(void **state)
{
	struct hy_ip4_next_hop hop = { .port = 1, .mac.addr_bytes[5] = 100 };
	const struct hy_ip4_adjacency *worker;
	struct hy_ip4_next_hop got;

	RTE_SET_USED(state);
	table_in_use(HY_IP4_LPM, 1, 3);
	worker = hy_ip4_adjacencies(&fib->view);
	assert_int_equal(hy_ip4_next_hop_set(fib, 1, &hop), 0);
	assert_int_equal(worker[1].l2.dst_addr.addr_bytes[5], 1);
	assert_int_equal(worker[1].port, 0);
	assert_int_equal(hy_ip4_adjacencies(&fib->view)[1].l2.dst_addr.addr_bytes[5], 100);
	assert_int_equal(hy_ip4_adjacencies(&fib->view)[1].port, 1);
	/* The array that the worker has would be freed for another one. */
	hop.mac.addr_bytes[5] = 101;
	assert_int_equal(hy_ip4_next_hop_set(fib, 1, &hop), -ETIMEDOUT);
	assert_int_equal(hy_ip4_next_hop_get(fib, 1, &got, NULL), 0);
	assert_int_equal(got.mac.addr_bytes[5], 100);
	assert_int_equal(worker[1].l2.dst_addr.addr_bytes[5], 1);
	worker_ends_its_walk();
	assert_int_equal(hy_ip4_next_hop_set(fib, 1, &hop), 0);
	assert_int_equal(hy_ip4_adjacencies(&fib->view)[1].l2.dst_addr.addr_bytes[5], 101);
}

#define FRAME_ROOM 80 /* for what FRAME() writes */

/* Publishes two arrays of next hops in turn. */
static struct {
	struct hy_ip4_adjacency hops[2][1];
	struct hy_ip4_view *view;
	unsigned int turns;
	bool stop;
} turner;

static void *
turn(void *arg __rte_unused)
{
	for (unsigned int i = 0; !__atomic_load_n(&turner.stop, __ATOMIC_RELAXED); i++) {
		__atomic_store_n(&turner.view->adjacencies, turner.hops[i % 2], __ATOMIC_RELEASE);
		__atomic_fetch_add(&turner.turns, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* As hy_ip4_view.h says: all packets of a burst get their next hops from one array. */
static void
fusion_reads_the_array_of_next_hops_once_a_burst(void **state)
{
	static uint8_t frames[HY_BURST_MAX][FRAME_ROOM];
	static const struct hy_ip4_rewrite_port port = { .max_len = 1514, .edge = 3 };
	struct hy_ip4_view view;
	struct ip4_forward forward = { .hops = &view, .ports = &port };
	uint8_t *frame[HY_BURST_MAX], fresh[FRAME_ROOM];
	uint32_t len[HY_BURST_MAX], size, mixed = 0;
	uint16_t next[HY_BURST_MAX] = { 0 };
	pthread_t thread;

	RTE_SET_USED(state);
	table_in_use(HY_IP4_LPM, 1, 1);
	assert_int_equal(change(HY_IP4_ADD, IP4(10, 0, 0, 0), 8, 0), 0);
	view = fib->view;
	forward.lpm = view.lpm;
	turner.view = &view;
	turner.hops[1]->l2.dst_addr.addr_bytes[5] = 1;
	view.adjacencies = turner.hops[0];
	turner.turns = 0;
	turner.stop = false;
	size = FRAME(fresh, .dst = IP4(10, 1, 2, 3));
	for (unsigned int i = 0; i < HY_BURST_MAX; i++) {
		frame[i] = frames[i];
		len[i] = size;
	}
	assert_int_equal(pthread_create(&thread, NULL, turn, NULL), 0);
	for (uint32_t burst = 0;
		burst < 20000 || __atomic_load_n(&turner.turns, __ATOMIC_RELAXED) < 10000;
		burst++) {
		for (unsigned int i = 0; i < HY_BURST_MAX; i++)
			memcpy(frames[i], fresh, sizeof(fresh));
		if (ip4_forward_singly(&forward, frame, len, next, HY_BURST_MAX) != HY_BURST_MAX)
			break;
		for (unsigned int i = 1; i < HY_BURST_MAX; i++)
			mixed += frames[i][5] != frames[0][5];
	}
	__atomic_store_n(&turner.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_int_equal(next[HY_BURST_MAX - 1], 3); /* no burst stopped early */
	assert_int_equal(frames[HY_BURST_MAX - 1][22], fresh[22] - 1);
	assert_int_equal(mixed, 0);
}

static void
array_of_next_hops_that_grows_waits_for_a_worker(void **state)
{
	const struct hy_ip4_adjacency *worker;
	uint32_t id, n = 16;
	int rc = 0;

	RTE_SET_USED(state);
	table_in_use(HY_IP4_LPM, 1, 16);
	worker = hy_ip4_adjacencies(&fib->view);
	while (rc == 0 && n < 64) {
		const struct hy_ip4_next_hop hop = { .mac.addr_bytes[5] = (uint8_t)n };

		rc = hy_ip4_next_hop_add(fib, &hop, &id);
		n += rc == 0;
	}
	assert_int_equal(rc, -ETIMEDOUT); /* for the second time that room is doubled */
	assert_int_equal(n, 32);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(worker[i].l2.dst_addr.addr_bytes[5], i);
	worker_ends_its_walk();
	for (; n < 64; n++) {
		const struct hy_ip4_next_hop hop = { .mac.addr_bytes[5] = (uint8_t)n };

		worker_ends_its_walk();
		assert_int_equal(hy_ip4_next_hop_add(fib, &hop, &id), 0);
		assert_int_equal(id, n);
	}
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(hy_ip4_adjacencies(&fib->view)[i].l2.dst_addr.addr_bytes[5], i);
}

static void
id_is_given_out_again_when_no_worker_has_it(void **state)
{
	struct hy_ip4_next_hop hop = { .mac.addr_bytes[5] = 200 };
	uint32_t id;

	RTE_SET_USED(state);
	table_in_use(HY_IP4_LPM, 1, 3);
	assert_int_equal(hy_ip4_next_hop_delete(fib, 1), 0);
	assert_int_equal(hy_ip4_next_hop_add(fib, &hop, &id), 0);
	assert_int_equal(id, 3);
	/* Packets that are under way to the one that was deleted still get there. */
	assert_int_equal(hy_ip4_adjacencies(&fib->view)[1].l2.dst_addr.addr_bytes[5], 1);
	worker_ends_its_walk();
	hop.mac.addr_bytes[5] = 201;
	assert_int_equal(hy_ip4_next_hop_add(fib, &hop, &id), 0);
	assert_int_equal(id, 1);
	assert_int_equal(hy_ip4_next_hops(fib), 4);
}

static void
full_table_of_next_hops_waits_for_a_deleted_one(void **state)
{
	struct hy_ip4_next_hop hop = { .port = 0 };
	uint32_t id;

	RTE_SET_USED(state);
	table_in_use(HY_IP4_LPM, 1, 0);
	for (uint32_t i = 0; i < 64; i++) {
		hop.mac.addr_bytes[5] = (uint8_t)i;
		worker_ends_its_walk();
		assert_int_equal(hy_ip4_next_hop_add(fib, &hop, &id), 0);
	}
	hop.mac.addr_bytes[5] = 64;
	assert_int_equal(hy_ip4_next_hop_add(fib, &hop, &id), -ENOSPC);
	assert_int_equal(hy_ip4_next_hop_delete(fib, 7), 0);
	assert_int_equal(hy_ip4_next_hop_add(fib, &hop, &id), -ETIMEDOUT);
	worker_ends_its_walk();
	assert_int_equal(hy_ip4_next_hop_add(fib, &hop, &id), 0);
	assert_int_equal(id, 7);
}

static void
table_without_qsbr_refuses_what_would_free(enum hy_ip4_engine engine)
{
	const bool lpm = engine == HY_IP4_LPM;
	const struct hy_ip4_change two[] = {
		{ .verb = HY_IP4_ADD, .route = { .prefix = IP4(12, 0, 0, 0), .depth = 8 } },
		{ .verb = HY_IP4_ADD, .route = { .prefix = IP4(13, 0, 0, 0), .depth = 8 } },
	};
	struct hy_ip4_next_hop hop = { .mac.addr_bytes[5] = 50 };
	uint32_t id;

	table_in_use(engine, 1, 2);
	assert_int_equal(change(HY_IP4_ADD, IP4(10, 0, 0, 0), 8, 0), 0);
	fib->params.qsbr = NULL;
	assert_int_equal(change(HY_IP4_ADD, IP4(11, 0, 0, 0), 8, 0), lpm ? 0 : -EBUSY);
	assert_int_equal(change(HY_IP4_REPLACE, IP4(14, 0, 0, 0), 8, 0), lpm ? 0 : -EBUSY);
	assert_int_equal(change(HY_IP4_REPLACE, IP4(10, 0, 0, 0), 8, 1), -EBUSY);
	assert_int_equal(change(HY_IP4_DELETE, IP4(10, 0, 0, 0), 8, 0), -EBUSY);
	assert_int_equal(hy_ip4_routes_change(fib, two, 2, &id), -EBUSY);
	assert_int_equal(id, 2);
	assert_int_equal(hy_ip4_next_hop_delete(fib, 1), -EBUSY);
	assert_int_equal(hy_ip4_next_hop_set(fib, 1, &hop), -EBUSY);
	assert_int_equal(hy_ip4_next_hop_add(fib, &hop, &id), 0);
	assert_int_equal(id, 2);
	assert_int_equal(hy_ip4_routes_get(fib, NULL, 0), lpm ? 3 : 1);
	assert_int_equal(lookup(IP4(10, 1, 1, 1)), 0);
	/* When nobody reads any more, everything goes. */
	fib->nb_users = 0;
	assert_int_equal(change(HY_IP4_REPLACE, IP4(10, 0, 0, 0), 8, 1), 0);
	assert_int_equal(hy_ip4_routes_change(fib, two, 2, &id), 0);
	assert_int_equal(change(HY_IP4_DELETE, IP4(12, 0, 0, 0), 8, 0), 0);
	assert_int_equal(lookup(IP4(10, 1, 1, 1)), 1);
	fib->params.qsbr = &qsbr.v;
	fib->nb_users = 1;
}

static void
table_in_use_without_qsbr_refuses_what_would_free(void **state)
{
	RTE_SET_USED(state);
	table_without_qsbr_refuses_what_would_free(HY_IP4_LPM);
	rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
	hy_ip4_fib_destroy(fib);
	table_without_qsbr_refuses_what_would_free(HY_IP4_FIB);
}

static void
graph_that_does_not_report_is_refused(void **state)
{
	struct hy_ip4_lookup_config config = { .nb_fibs = 1 };
	static const char *const patterns[] = { "rig_source" };
	struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { "ip4_route" },
		.socket = SOCKET_ID_ANY };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	table_in_use(HY_IP4_LPM, 1, 1);
	rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
	rte_rcu_qsbr_thread_unregister(&qsbr.v, 0);
	fib->nb_users = 0;
	config.fibs[0] = fib;
	rig_nodes("ip4_lookup-rig");
	assert_int_equal(hy_node_config(rig_clone("ip4_lookup", "scalar", "rig_out-0"), &config,
				 sizeof(config)),
		0);
	unit_log_clear();
	assert_int_equal(hy_graph_create("silent", &params, &graph), -EINVAL);
	assert_non_null(strstr(unit_log(), "does not report to that table's QSBR variable"));
	assert_int_equal(fib->nb_users, 0);
	params.qsbr = &qsbr.v;
	assert_int_equal(hy_graph_create("silent", &params, &graph), 0);
	assert_int_equal(fib->nb_users, 1);
	hy_graph_destroy(graph);
	assert_int_equal(fib->nb_users, 0);
}

/* Frees the only tbl8 and, as the second change is wrong, needs it again. */
static void *
change_and_undo(void *result)
{
	const struct hy_ip4_change changes[] = {
		{ .verb = HY_IP4_DELETE, .route = { .prefix = IP4(10, 0, 0, 128), .depth = 25 } },
		{ .verb = HY_IP4_DELETE, .route = { .prefix = IP4(11, 0, 0, 0), .depth = 8 } },
	};

	*(int *)result = hy_ip4_routes_change(fib, changes, 2, NULL);
	return NULL;
}

/*
 * The writer had the table's mutex, and waited for a graph that was not walked any more. Its
 * destruction waited for the mutex, in fini(), before the graph was no reader any more.
 */
static void
graph_can_be_destroyed_while_a_writer_waits_for_it(void **state)
{
	struct hy_ip4_lookup_config config = { .nb_fibs = 1 };
	struct hy_graph *graph;
	pthread_t writer;
	uint64_t token;
	int result = 1;

	RTE_SET_USED(state);
	table_in_use(HY_IP4_LPM, 1, 1);
	rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
	rte_rcu_qsbr_thread_unregister(&qsbr.v, 0);
	fib->nb_users = 0;
	assert_int_equal(change(HY_IP4_ADD, IP4(10, 0, 0, 128), 25, 0), 0);
	config.fibs[0] = fib;
	rig_qsbr = &qsbr.v;
	rig_nodes("ip4_lookup-rig");
	assert_int_equal(hy_node_config(rig_clone("ip4_lookup", "scalar", "rig_out-0"), &config,
				 sizeof(config)),
		0);
	graph = rig_graph(32);
	hy_graph_walk(graph); /* the last one, of a worker that does not say so */
	token = __atomic_load_n(&qsbr.v.token, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&writer, NULL, change_and_undo, &result), 0);
	/* The tbl8 waits for the first token, and the writer for the second. */
	while (__atomic_load_n(&qsbr.v.token, __ATOMIC_ACQUIRE) < token + 2)
		rte_delay_us_sleep(100);
	rig_clear();
	pthread_join(writer, NULL);
	assert_int_equal(result, -ENOENT);
	assert_int_equal(lookup(IP4(10, 0, 0, 200)), 0);
}

static int
grace_teardown(void **state)
{
	if (fib != NULL)
		rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
	hy_ip4_fib_destroy(fib);
	fib = NULL;
	return node_teardown(state);
}

#define GRACE_TEST(f) cmocka_unit_test_setup_teardown(f, node_setup, grace_teardown)

static const struct CMUnitTest node_grace_tests[] = {
	GRACE_TEST(tbl8_of_rte_lpm_waits_for_a_worker_that_may_be_in_it),
	GRACE_TEST(copy_of_rte_fib_waits_for_a_worker_that_may_be_in_it),
	GRACE_TEST(next_hops_that_a_worker_reads_stay_as_they_are),
	GRACE_TEST(fusion_reads_the_array_of_next_hops_once_a_burst),
	GRACE_TEST(array_of_next_hops_that_grows_waits_for_a_worker),
	GRACE_TEST(id_is_given_out_again_when_no_worker_has_it),
	GRACE_TEST(full_table_of_next_hops_waits_for_a_deleted_one),
	GRACE_TEST(table_in_use_without_qsbr_refuses_what_would_free),
	GRACE_TEST(graph_that_does_not_report_is_refused),
	GRACE_TEST(graph_can_be_destroyed_while_a_writer_waits_for_it),
};

UNIT_SUITE(node_grace_tests)
