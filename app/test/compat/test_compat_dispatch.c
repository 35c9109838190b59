/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_graph's API: clones, models, and graphs that are bound to lcores. */

#include <string.h>

#include <rte_lcore.h>

#include "compat_fixture.h"

static void
pin(const char *node, unsigned int lcore)
{
	assert_int_equal(rte_graph_model_mcore_dispatch_node_lcore_affinity_set(node, lcore), 0);
}

/* A clone whose objects are released as the original's are. */
static struct rte_graph *
clone_add(const struct rte_graph *graph, const char *name)
{
	struct rte_graph_param prm = { 0 };
	const rte_graph_t id = rte_graph_clone(graph->id, name, &prm);

	assert_int_not_equal(id, RTE_GRAPH_ID_INVALID);
	return rte_graph_lookup(rte_graph_id_to_name(id));
}

static void
bind(const struct rte_graph *graph, unsigned int lcore)
{
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(graph->id, (int)lcore), 0);
	assert_int_equal(graph->dispatch.lcore_id, lcore);
}

/* Probes know one graph; these nodes run in several. A node that makes objects or ends them does so
 * in one of them. */
static PROCESS(make)
{
	struct probe *probe = probe_of(node);
	const uint16_t made = (uint16_t)RTE_MIN(probe->budget, (uint32_t)BURST);

	obj_faults += n != 0;
	for (uint16_t i = 0; i < made; i++) {
		struct obj *obj = &objs_all[objs_made];

		*obj = (struct obj){ .id = objs_made++ };
		objs[i] = obj;
	}
	probe->budget -= made;
	rte_node_enqueue(graph, node, 0, objs, made);
	return made;
}

static PROCESS(pass_on)
{
	RTE_SET_USED(objs);
	rte_node_next_stream_move(graph, node, 0);
	return n;
}

static PROCESS(end)
{
	struct probe *probe = probe_of(node);

	RTE_SET_USED(graph);
	for (uint16_t i = 0; i < n; i++)
		((struct obj *)objs[i])->seen++;
	probe->objs += n;
	return n;
}

static void
all_seen_once(uint32_t n)
{
	uint32_t compared = 0;

	assert_int_equal(objs_made, n);
	for (uint32_t i = 0; i < n; i++, compared++) {
		assert_int_equal(objs_all[i].seen, 1);
		assert_int_equal(objs_all[i].released, 0);
	}
	assert_int_equal(compared, n);
}

static void
a_graph_that_would_hand_over_bursts_is_refused_by_name(void **state)
{
	const unsigned int here = rte_lcore_id();
	struct probe src = { .budget = 300, .process = make }, sink = { 0 };
	struct rte_graph *graph, *clone;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), end, NULL);
	pin(N("sink"), here + 1);
	graph = graph_add("g", N("*"));
	assert_int_equal(rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH), 0);
	unit_log_clear();
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(graph->id, (int)here), -ENOTSUP);
	assert_int_equal(rte_errno, ENOTSUP);
	assert_int_equal(unit_log_lines(), 1);
	assert_non_null(strstr(unit_log(), N("sink")));
	assert_non_null(strstr(unit_log(), "hy_dispatch.h"));
	assert_int_equal(graph->dispatch.lcore_id, RTE_MAX_LCORE);

	pin(N("sink"), here); /* in graphs from now on */
	clone = clone_add(graph, "a");
	bind(clone, here);
	rte_graph_walk(clone);
	rte_graph_walk(clone);
	assert_int_equal(sink.objs, 300);
	all_seen_once(300);
}

/* Lesson: DPDK's own walk test set another model first, and compared 0 with 0. */
static void
a_walk_under_the_dispatch_model_moves_objects(void **state)
{
	struct probe src = { .budget = 5 * BURST, .process = make }, pass = { 0 }, sink = { 0 };
	struct rte_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("pass"));
	NODE(&pass, N("pass"), pass_on, N("sink"));
	NODE(&sink, N("sink"), end, NULL);
	graph = graph_add("g", N("*"));
	assert_int_equal(rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH), 0);
	assert_int_equal(rte_graph_worker_model_get(graph), RTE_GRAPH_MODEL_MCORE_DISPATCH);
	for (unsigned int walk = 1; walk <= 5; walk++) {
		rte_graph_walk(graph);
		assert_int_equal(src.node->total_objs, walk * BURST);
		assert_int_equal(pass.node->total_objs, walk * BURST);
		assert_int_equal(sink.node->total_objs, walk * BURST);
		assert_int_equal(sink.objs, walk * BURST);
	}
	all_seen_once(5 * BURST);
}

static void
bad_clones_models_and_lcores_are_refused(void **state)
{
	struct rte_graph_param prm = { 0 };
	struct rte_graph *graph, *clone;
	struct probe src = { 0 }, sink = { 0 };
	const unsigned int live = rte_graph_max_count();

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), end, NULL);
	graph = graph_add("g", N("*"));
	clone = clone_add(graph, "a");
	assert_string_equal(clone->name, "g-a");
	assert_int_equal(clone->dispatch.lcore_id, RTE_MAX_LCORE);
	assert_int_equal(rte_graph_clone(graph->id, "a", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(rte_graph_clone(clone->id, "b", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(rte_graph_clone(999, "b", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, ENOENT);
	assert_int_equal(rte_graph_clone(graph->id, "b", NULL), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(rte_graph_clone(graph->id, NULL, &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(rte_graph_max_count(), live + 2);
	assert_int_equal(rte_graph_worker_model_set(2), -EINVAL);
	assert_false(rte_graph_model_is_valid(2));
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(clone->id, 0), -EPERM);
	assert_int_equal(rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH), 0);
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(999, 0), -ENOENT);
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(clone->id, -1), -ENOLINK);
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(clone->id, RTE_MAX_LCORE),
		-ENOLINK);
	bind(clone, rte_lcore_id());
	rte_graph_model_mcore_dispatch_core_unbind(clone->id);
	assert_int_equal(clone->dispatch.lcore_id, RTE_MAX_LCORE);
	bind(graph, rte_lcore_id());
	assert_int_equal(rte_graph_model_mcore_dispatch_node_lcore_affinity_set(N("src"),
				 RTE_MAX_LCORE),
		-EINVAL);
	assert_int_equal(rte_graph_model_mcore_dispatch_node_lcore_affinity_set("none", 0),
		-EINVAL);
}

#ifdef HY_COMPAT_PCAP
static void
a_graph_with_pcap_enable_is_refused_by_name(void **state)
{
	const char *pattern = N("*");
	struct rte_graph_param prm = {
		.nb_node_patterns = 1, .node_patterns = &pattern, .pcap_enable = true
	};
	struct probe src = { 0 }, sink = { 0 };

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), end, NULL);
	unit_log_clear();
	assert_int_equal(rte_graph_create("g", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, ENOTSUP);
	assert_int_equal(unit_log_lines(), 1);
	assert_non_null(strstr(unit_log(), "pcap_enable"));
	assert_non_null(strstr(unit_log(), "hy_capture_start()"));
	prm.pcap_enable = false;
	assert_int_not_equal(rte_graph_create("g", &prm), RTE_GRAPH_ID_INVALID);
}
#endif

static const struct CMUnitTest compat_dispatch[] = {
	COMPAT_TEST(a_graph_that_would_hand_over_bursts_is_refused_by_name),
	COMPAT_TEST(a_walk_under_the_dispatch_model_moves_objects),
	COMPAT_TEST(bad_clones_models_and_lcores_are_refused),
#ifdef HY_COMPAT_PCAP
	COMPAT_TEST(a_graph_with_pcap_enable_is_refused_by_name),
#endif
};
UNIT_SUITE(compat_dispatch)
