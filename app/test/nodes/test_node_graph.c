/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes one by one in real graphs: what they hand on in their lane, and what their init refuses. */

#include <errno.h>
#include <string.h>

#include <hy_ethdev.h>
#include <hy_mbuf.h>

#include "hal/internal/hal.h"
#include "node_fixture.h"

#define N 300

static struct rte_mbuf *packets[N];

static void
packets_make(void)
{
	uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .payload = 20);

	for (unsigned int i = 0; i < N; i++)
		packets[i] = packet(frame, len);
}

static void
pkt_cls_hands_on_the_destination(void **state)
{
	uint8_t frame[FRAME_MAX];

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < N; i++) {
		const uint32_t len = FRAME(frame, .dst = IP4(1 + i % 3, i, i / 2, 255 - i));

		packets[i] = packet(frame, len);
	}
	rig_nodes("pkt_cls-rig");
	rig_clone("pkt_cls", "scalar", "rig_out-0");
	rig_send(rig_graph(64), packets, NULL, N);
	assert_int_equal(out[0].n, N);
	for (uint32_t i = 0; i < N; i++) {
		assert_ptr_equal(out[0].packets[i], packets[i]);
		assert_int_equal(out[0].lane[i], IP4(1 + i % 3, i & 0xff, i / 2, (255 - i) & 0xff));
	}
}

/* Every variant that the HAL finds this CPU fit for. */
static void
ip4_lookup_hands_on_the_next_hop_and_touches_no_packet(void **state)
{
	const struct hy_selection *s;
	char error[HY_HAL_ERROR_SIZE];
	struct hy_hal *hal;
	unsigned int tested = 0;

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_create(&hal), 0);
	assert_int_equal(hy_hal_select(hal, error), 0);
	s = hy_hal_selection(hal, "ip4_lookup", 0);
	for (unsigned int c = 0; c < s->nb_candidates; c++) {
		static void *nonsense[N];
		uint32_t lane[N];
		unsigned int hit[RIG_OUTS] = { 0 };
		struct hy_ip4_lookup_config config = { .nb_fibs = 1 };

		if (s->candidates[c].fate > HY_FATE_OUTSCORED)
			continue;
		rig_nodes("ip4_lookup-rig");
		config.fibs[0] = rig_table(s->candidates[c].variant->impl.variant);
		assert_int_equal(hy_node_config(rig_clone("ip4_lookup",
							s->candidates[c].variant->impl.variant,
							"rig_out-0"),
					 &config, sizeof(config)),
			0);
		for (unsigned int i = 0; i < N; i++) {
			nonsense[i] = (void *)(uintptr_t)(16 + i);
			lane[i] = IP4(198, 18, i * 7 % 3, i & 0xff);
		}
		rig_send(rig_graph(100), (struct rte_mbuf **)nonsense, lane, N);
		for (unsigned int i = 0; i < N; i++) {
			const unsigned int net = i * 7 % 3;
			const unsigned int sink = net < 2 ? 0 : RIG_DROP;

			assert_ptr_equal(out[sink].packets[hit[sink]], nonsense[i]);
			assert_int_equal(out[sink].lane[hit[sink]], net < 2 ? net : 0);
			hit[sink]++;
		}
		assert_int_equal(hit[0], 200);
		assert_int_equal(out[0].n, 200);
		assert_int_equal(out[RIG_DROP].n, 100);
		assert_int_equal(dropped("rig", "ip4_lookup-rig", "no_route"), 100);
		out[0].n = out[RIG_DROP].n = 0; /* they are no packets */
		rig_clear();
		tested++;
	}
	hy_hal_destroy(hal);
	assert_true(tested >= 1);
}

static void
graph_takes_the_table_of_its_socket_or_the_first(void **state)
{
	static const struct {
		int socket;
		uint32_t id;
	} cases[] = { { 0, 1 }, { SOCKET_ID_ANY, 0 } };
	const struct hy_ip4_port port = { .port = 0, .max_len = 1514 };
	struct hy_ip4_lookup_config config = { .nb_fibs = 2 };
	hy_node_id id;

	RTE_SET_USED(state);
	/* A table on any socket and one on socket 0; the same address leads to different ids. */
	for (int i = 0; i < 2; i++) {
		const struct hy_ip4_fib_params params = { .max_routes = 1,
			.max_tbl8s = 1,
			.max_next_hops = 2,
			.socket = i == 0 ? SOCKET_ID_ANY : 0 };
		struct hy_ip4_next_hop hop = { .port = 0 };
		struct hy_ip4_route route = { .depth = 0 };

		assert_int_equal(hy_ip4_fib_create(i == 0 ? "any" : "zero", &params,
					 &config.fibs[i]),
			0);
		assert_int_equal(hy_ip4_port_add(config.fibs[i], &port), 0);
		for (; hop.mac.addr_bytes[5] <= i; hop.mac.addr_bytes[5]++)
			assert_int_equal(hy_ip4_next_hop_add(config.fibs[i], &hop, &route.next_hop),
				0);
		assert_int_equal(hy_ip4_route_add(config.fibs[i], &route), 0);
	}
	rig_nodes("ip4_lookup-rig");
	id = rig_clone("ip4_lookup", "scalar", "rig_out-0");
	assert_int_equal(hy_node_config(id, &config, sizeof(config)), 0);
	for (size_t c = 0; c < RTE_DIM(cases); c++) {
		static const char *const patterns[] = { "rig_source" };
		const struct hy_graph_params params = { .patterns = patterns,
			.nb_patterns = 1,
			.ops = &hy_mbuf_ops,
			.drop_node = "rig_out-2",
			.lanes = { "ip4_route" },
			.socket = cases[c].socket };
		struct hy_graph *graph;
		uint32_t lane = IP4(1, 2, 3, 4);
		struct rte_mbuf *none = NULL;

		assert_int_equal(hy_graph_create("sockets", &params, &graph), 0);
		rig_send(graph, &none, &lane, 1);
		assert_int_equal(out[0].n, 1);
		assert_int_equal(out[0].lane[0], cases[c].id);
		out[0].n = 0;
		hy_graph_destroy(graph);
	}
	hy_ip4_fib_destroy(config.fibs[0]);
	hy_ip4_fib_destroy(config.fibs[1]);
}

static void
ip4_rewrite_sends_each_packet_to_the_port_of_its_next_hop(void **state)
{
	static const char *const outs[] = { "rig_out-0", "rig_out-1" };
	struct hy_ip4_rewrite_config config;
	const hy_node_id id = rig_clone("ip4_rewrite", "scalar", NULL);
	uint32_t lane[N];
	unsigned int at[2] = { 0 };

	RTE_SET_USED(state);
	packets_make();
	memset(&config, 0xff, sizeof(config));
	config.tables = (struct hy_ip4_lookup_config){ .fibs = { rig_table("scalar") },
		.nb_fibs = 1 };
	/* Edges in the other order than ports. */
	assert_int_equal(hy_node_edge_add(id, outs[1], &config.edge[1]), 0);
	assert_int_equal(hy_node_edge_add(id, outs[0], &config.edge[0]), 0);
	assert_int_equal(config.edge[1], 0);
	assert_int_equal(hy_node_config(id, &config, sizeof(config)), 0);
	rig_nodes("ip4_rewrite-rig");
	for (unsigned int i = 0; i < N; i++)
		lane[i] = i % 5 == 0;
	rig_send(rig_graph(0), packets, lane, N);
	for (unsigned int i = 0; i < N; i++) {
		const unsigned int port = i % 5 == 0;

		assert_ptr_equal(out[port].packets[at[port]++], packets[i]);
		assert_memory_equal(rte_pktmbuf_mtod(packets[i], void *),
			rig_mac(1, (uint16_t)port), 6);
	}
	assert_int_equal(out[0].n, N - N / 5);
	assert_int_equal(out[1].n, N / 5);
}

static void
null_and_pkt_drop_free_what_they_get(void **state)
{
	static const char *const sinks[] = { "null", "pkt_drop" };
	const unsigned int all = rte_mempool_avail_count(pool);

	RTE_SET_USED(state);
	for (size_t s = 0; s < RTE_DIM(sinks); s++) {
		packets_make();
		assert_int_equal(rte_mempool_avail_count(pool), all - N);
		rig_nodes(sinks[s]);
		rig_send(rig_graph(64), packets, NULL, N);
		assert_int_equal(rte_mempool_avail_count(pool), all);
		rig_clear();
	}
}

/* Tries a graph of the rig's source and a clone of a node with some configuration. */
static int
graph_try(const char *node, const void *config, size_t size, uint16_t worker)
{
	static const char *const patterns[] = { "*-rig", "rig_source" };
	const bool source = strcmp(node, "ethdev_rx") == 0;
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = source ? 1 : 2,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { "ip4_route" },
		.worker = worker,
		.socket = SOCKET_ID_ANY };
	const struct hy_family *family = hy_family_find(node);
	struct hy_graph *graph = NULL;
	hy_node_id id;
	char name[HY_NAME_SIZE];
	int rc;

	snprintf(name, sizeof(name), "%s-rig", node);
	rig_nodes(source ? "null" : name);
	id = rig_clone(node, family->node.impl.variant,
		family->node.edges[0] == NULL ? NULL : "null");
	if (config != NULL)
		assert_int_equal(hy_node_config(id, config, size), 0);
	unit_log_clear();
	rc = hy_graph_create("try", &params, &graph);
	hy_graph_destroy(graph);
	if (rc < 0 && strstr(unit_log(), name) == NULL)
		fail_msg("the log does not name %s: %s", name, unit_log());
	rig_clear();
	return rc;
}

static void
nodes_without_their_configuration_are_refused(void **state)
{
	static const char *const names[] = { "ethdev_rx", "ethdev_tx", "ip4_lookup",
		"ip4_rewrite" };
	static const struct hy_ip4_lookup_config no_tables;
	static const struct hy_ip4_rewrite_config no_tables_either;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(names); i++)
		assert_int_equal(graph_try(names[i], NULL, 0, 0), -EINVAL);
	assert_int_equal(graph_try("ip4_lookup", &no_tables, sizeof(no_tables), 0), -EINVAL);
	assert_int_equal(graph_try("ip4_rewrite", &no_tables_either, sizeof(no_tables_either), 0),
		-EINVAL);
	assert_int_equal(graph_try("null", NULL, 0, 0), 0);
}

static void
worker_without_a_transmit_queue_of_its_own_is_refused(void **state)
{
	unsigned int refused = 0, taken = 0;

	RTE_SET_USED(state);
	for (uint16_t queues = 0; queues < 4; queues++) {
		for (uint16_t worker = 0; worker < 5; worker++) {
			const struct hy_ethdev_tx_config config = { .port = 0,
				.nb_queues = queues };
			const int rc = graph_try("ethdev_tx", &config, sizeof(config), worker);

			assert_int_equal(rc, worker < queues ? 0 : -EINVAL);
			rc == 0 ? taken++ : refused++;
		}
	}
	assert_int_equal(taken, 1 + 2 + 3);
	assert_int_equal(refused, 20 - taken);
}

/* Makes a graph whose ip4_rewrite has edges to ports 0 and 1, and is told another one for a port. */
static int
rewrite_try(unsigned int port, uint16_t edge)
{
	static const char *const patterns[] = { "rig_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { "ip4_route" },
		.socket = SOCKET_ID_ANY };
	struct hy_ip4_rewrite_config config;
	struct hy_graph *graph = NULL;
	hy_node_id id;
	int rc;

	rig_nodes("ip4_rewrite-rig");
	id = rig_clone("ip4_rewrite", "scalar", NULL);
	memset(&config, 0xff, sizeof(config));
	config.tables = (struct hy_ip4_lookup_config){ .fibs = { rig_table("scalar") },
		.nb_fibs = 1 };
	assert_int_equal(hy_node_edge_add(id, "rig_out-0", &config.edge[0]), 0);
	assert_int_equal(hy_node_edge_add(id, "rig_out-1", &config.edge[1]), 0);
	config.edge[port] = edge;
	assert_int_equal(hy_node_config(id, &config, sizeof(config)), 0);
	rc = hy_graph_create("try", &params, &graph);
	hy_graph_destroy(graph);
	rig_clear();
	return rc;
}

static void
port_of_the_table_without_an_edge_is_refused(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(rewrite_try(0, HY_IP4_NO_EDGE), -EINVAL);
	assert_int_equal(rewrite_try(1, HY_IP4_NO_EDGE), -EINVAL);
	assert_non_null(strstr(unit_log(), "has no edge for port 1 of its table"));
	assert_int_equal(rewrite_try(2, HY_IP4_NO_EDGE), 0); /* which the table has not */
}

/* Packets would be written out of the node's memory. */
static void
port_along_an_edge_that_is_not_there_is_refused(void **state)
{
	uint16_t edge = 0;

	RTE_SET_USED(state);
	while (edge < 9 && rewrite_try(1, edge) == 0)
		edge++;
	assert_in_range(edge, 2, 8); /* the family's own, and those to the two ports */
	for (unsigned int beyond = 0; beyond < 3; beyond++) {
		char text[64];

		snprintf(text, sizeof(text),
			"has no edge %u for port 1; edges 0 to %u are accepted", edge + beyond,
			edge - 1u);
		assert_int_equal(rewrite_try(1, (uint16_t)(edge + beyond)), -EINVAL);
		assert_non_null(strstr(unit_log(), text));
	}
	assert_int_equal(rewrite_try(2, edge), 0);
}

static const struct CMUnitTest node_graph_tests[] = {
	NODE_TEST(pkt_cls_hands_on_the_destination),
	NODE_TEST(ip4_lookup_hands_on_the_next_hop_and_touches_no_packet),
	NODE_TEST(graph_takes_the_table_of_its_socket_or_the_first),
	NODE_TEST(ip4_rewrite_sends_each_packet_to_the_port_of_its_next_hop),
	NODE_TEST(null_and_pkt_drop_free_what_they_get),
	NODE_TEST(nodes_without_their_configuration_are_refused),
	NODE_TEST(worker_without_a_transmit_queue_of_its_own_is_refused),
	NODE_TEST(port_of_the_table_without_an_edge_is_refused),
	NODE_TEST(port_along_an_edge_that_is_not_there_is_refused),
};

UNIT_SUITE(node_graph_tests)
