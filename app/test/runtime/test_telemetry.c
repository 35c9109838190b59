/* SPDX-License-Identifier: BSD-3-Clause */
/* What telemetry answers of a program's own nodes, whose texts may be in any language. */

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <hy_mbuf.h>
#include <hy_workers.h>

#include "lib/runtime/report/telemetry.h"
#include "telemetry_fixture.h"
#include "unit.h"

static struct rte_tel_data *entry; /* the last one: DPDK frees it once it has been sent */
static bool ended;

/* Stands in for DPDK's. */
int
rte_tel_data_add_dict_container(struct rte_tel_data *data, const char *name,
	struct rte_tel_data *added, int keep)
{
	RTE_SET_USED(data);
	RTE_SET_USED(name);
	RTE_SET_USED(keep);
	rte_tel_data_free(entry);
	entry = added;
	return 0;
}

static uint16_t
nothing(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	return 0;
}

static void *
client_main(void *data)
{
	for (unsigned int i = 0; i < HY_TELEMETRY_REPORT; i++)
		if (strcmp(hy_telemetry_report[i].name, "/drops") == 0)
			hy_telemetry_report[i].call("/halyard/drops", NULL, data);
	__atomic_store_n(&ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/* DPDK takes the bytes of other characters for indexes into a table: the answer was no JSON. */
static void
texts_of_nodes_in_any_language_are_answered_in_ascii(void **state)
{
	const struct hy_node_desc source = { .name = "languages",
		.impl.process = nothing,
		.flags = HY_NODE_SOURCE,
		.drops = { { "expired", HY_SEV_INFO, "TTL \u2264 1, \"d\u00e9j\u00e0\"" } } };
	const struct hy_node_desc sink = { .name = "languages_sink", .impl.process = nothing };
	const char *pattern = source.name;
	const struct hy_graph_params params = { .patterns = &pattern,
		.nb_patterns = 1,
		.drop_node = sink.name,
		.ops = &hy_mbuf_ops,
		.socket = SOCKET_ID_ANY };
	const struct hy_report report = { .under_way = 0 };
	struct rte_tel_data *data = rte_tel_data_alloc();
	struct hy_graph *graph;
	pthread_t client;
	hy_node_id id;

	RTE_SET_USED(state);
	assert_non_null(data);
	assert_int_equal(hy_node_register(&source, &id), 0);
	assert_int_equal(hy_node_register(&sink, &id), 0);
	assert_int_equal(hy_graph_create("worker-languages", &params, &graph), 0);
	hy_telemetry_poll(&report); /* from now on there are answers */
	assert_int_equal(pthread_create(&client, NULL, client_main, data), 0);
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
		hy_telemetry_poll(&report);
		usleep(1000);
	}
	pthread_join(client, NULL);
	hy_telemetry_end();
	assert_string_equal(telemetry_text, "TTL ??? 1, \"d??j??\"");
	assert_non_null(entry);
	rte_tel_data_free(entry);
	rte_tel_data_free(data);
	hy_graph_destroy(graph);
}

static const struct CMUnitTest telemetry_tests[] = {
	cmocka_unit_test(texts_of_nodes_in_any_language_are_answered_in_ascii),
};

UNIT_SUITE(telemetry_tests)
