/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_graph's API: feature arcs. DPDK's own test of them is run by tests/test_compat.py. */

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <rte_graph_feature_arc_worker.h>
#include <rte_random.h>

#include "compat_fixture.h"

static PROCESS(nothing)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	return n;
}

/* Nodes of one test's arc, as the API wants them. */
struct nodes {
	struct rte_node_register *start, *end, *feature[3];
};

static void
node_fill(struct rte_node_register *reg, const char *name, uint64_t flags)
{
	memset(reg, 0, sizeof(*reg));
	snprintf(reg->name, sizeof(reg->name), "%s", name);
	reg->process = nothing;
	reg->flags = flags;
	reg->parent_id = RTE_NODE_ID_INVALID;
	reg->id = __rte_node_register(reg);
	assert_int_not_equal(reg->id, RTE_NODE_ID_INVALID);
}

static PROCESS(in_arc)
{
	return nothing(graph, node, objs, n);
}

/* Makes an arc without features. */
static struct rte_graph_feature_arc *
arc_add(struct nodes *nodes, const char *test, uint16_t indexes)
{
	static struct rte_node_register start_node, end_node, node0, node1, node2;
	struct rte_graph_feature_register end = {
		.arc_name = test,
		.feature_name = "end",
		.feature_process_fn = in_arc,
		.feature_node = &end_node,
	};
	struct rte_graph_feature_arc_register reg = {
		.arc_name = test,
		.max_features = 3,
		.max_indexes = indexes,
		.start_node = &start_node,
		.start_node_feature_process_fn = in_arc,
		.end_feature = &end,
	};
	rte_graph_feature_arc_t arc;

	*nodes = (struct nodes){ &start_node, &end_node, { &node0, &node1, &node2 } };
	node_fill(nodes->start, name_of(test, "start"), RTE_NODE_SOURCE_F);
	node_fill(nodes->end, name_of(test, "end"), 0);
	for (unsigned int f = 0; f < RTE_DIM(nodes->feature); f++) {
		char name[] = { 'f', (char)('0' + f), '\0' };

		node_fill(nodes->feature[f], name_of(test, name), 0);
	}
	assert_int_equal(rte_graph_feature_arc_init(2), 0);
	assert_int_equal(rte_graph_feature_arc_create(&reg, &arc), 0);
	assert_int_equal(rte_graph_feature_arc_create(&reg, NULL), -EEXIST);
	return rte_graph_feature_arc_get(arc);
}

static int
feature_add(struct nodes *nodes, const struct rte_graph_feature_arc *arc, unsigned int f,
	const char *name, const char *after, const char *before)
{
	struct rte_graph_feature_register reg = {
		.arc_name = arc->feature_arc_name,
		.feature_name = name,
		.feature_process_fn = in_arc,
		.feature_node = nodes->feature[f],
		.runs_after = after,
		.runs_before = before,
	};

	return rte_graph_feature_add(&reg);
}

/* Adds f0, f1 and f2 without constraints. */
static void
features_add(struct nodes *nodes, const struct rte_graph_feature_arc *arc)
{
	assert_int_equal(feature_add(nodes, arc, 0, "f0", NULL, NULL), 0);
	assert_int_equal(feature_add(nodes, arc, 1, "f1", NULL, NULL), 0);
	assert_int_equal(feature_add(nodes, arc, 2, "f2", NULL, NULL), 0);
}

/* Where a node's edge leads to, in the registry. */
static const char *
target(rte_node_t id, rte_edge_t edge)
{
	static char *names[16];

	assert_true(rte_node_edge_get(id, NULL) <= sizeof(names));
	assert_true(edge < rte_node_edge_get(id, names));
	return names[edge];
}

/* The features that an object of an index goes through, a bit each; checks that it comes to the end,
 * that edges lead to the nodes that the data belong to, and cookies are 100 * feature + index. */
static unsigned int
path(struct nodes *nodes, struct rte_graph_feature_arc *arc, uint32_t index)
{
	rte_graph_feature_data_t fdata = 0;
	rte_node_t at = nodes->start->id;
	unsigned int seen = 0;
	rte_edge_t edge = 0;

	assert_int_equal(rte_graph_feature_data_first_feature_get(arc, index, &fdata, &edge), 1);
	for (unsigned int steps = 0; steps < 5; steps++) {
		const char *to = target(at, edge);
		unsigned int f = 0;

		while (f < 3 && strcmp(to, nodes->feature[f]->name) != 0)
			f++;
		if (f == 3) {
			assert_string_equal(to, nodes->end->name);
			assert_int_equal(rte_graph_feature_data_next_feature_get(arc, &fdata,
						 &edge),
				0);
			return seen;
		}
		assert_int_equal(rte_graph_feature_data_app_cookie_get(arc, fdata),
			100 * f + index);
		seen |= 1u << f;
		at = nodes->feature[f]->id;
		assert_int_equal(rte_graph_feature_data_next_feature_get(arc, &fdata, &edge), 1);
	}
	fail_msg("no end");
	return 0;
}

static void
an_object_goes_through_what_is_enabled_on_its_index(void **state)
{
	struct nodes nodes;
	struct rte_graph_feature_arc *arc = arc_add(&nodes, __func__, 5);
	unsigned int want[5] = { 0 }, compared = 0;
	char name[] = "f0";

	RTE_SET_USED(state);
	features_add(&nodes, arc);
	for (unsigned int change = 0; change < 2000; change++) {
		const uint32_t index = (uint32_t)rte_rand_max(5);
		const unsigned int f = (unsigned int)rte_rand_max(3);
		const bool on = (want[index] >> f & 1) != 0;

		name[1] = (char)('0' + f);
		if (on)
			assert_int_equal(rte_graph_feature_disable(arc->feature_arc_index, index,
						 name, NULL),
				0);
		else
			assert_int_equal(rte_graph_feature_enable(arc->feature_arc_index, index,
						 name, (uint16_t)(100 * f + index), NULL),
				0);
		want[index] ^= 1u << f;
		for (uint32_t i = 0; i < 5; i++, compared++)
			assert_int_equal(path(&nodes, arc, i), want[i]);
	}
	assert_int_equal(compared, 10000);
	assert_int_equal(rte_graph_feature_arc_cleanup(), 0);
}

/* Lesson: an offset of 16 bits wrapped near 16,384 indexes. */
static void
the_last_of_65535_indexes_has_features_of_its_own(void **state)
{
	const uint32_t indexes[] = { 0, 16383, 16384, 32768, 65534 };
	struct nodes nodes;
	struct rte_graph_feature_arc *arc = arc_add(&nodes, __func__, UINT16_MAX);
	rte_graph_feature_data_t fdata = 0;
	rte_edge_t edge = 0;

	RTE_SET_USED(state);
	features_add(&nodes, arc);
	for (unsigned int i = 0; i < RTE_DIM(indexes); i++)
		assert_int_equal(rte_graph_feature_enable(arc->feature_arc_index, indexes[i], "f2",
					 (uint16_t)(200 + indexes[i]), NULL),
			0);
	for (unsigned int i = 0; i < RTE_DIM(indexes); i++) {
		assert_int_equal(rte_graph_feature_data_first_feature_get(arc, indexes[i], &fdata,
					 &edge),
			1);
		assert_string_equal(target(nodes.start->id, edge), nodes.feature[2]->name);
		assert_int_equal(rte_graph_feature_data_app_cookie_get(arc, fdata),
			(uint16_t)(200 + indexes[i]));
	}
	assert_int_equal(rte_graph_feature_arc_num_enabled_features(arc->feature_arc_index),
		RTE_DIM(indexes));
	assert_int_equal(path(&nodes, arc, 1), 0);
	assert_int_equal(rte_graph_feature_data_first_feature_get(arc, UINT16_MAX, &fdata, &edge),
		0);
	assert_int_equal(rte_graph_feature_arc_cleanup(), 0);
}

/* Lesson: "f10" found "f1". */
static void
features_are_found_by_their_whole_names_and_stand_in_order(void **state)
{
	struct nodes nodes;
	struct rte_graph_feature_arc *arc = arc_add(&nodes, __func__, 1);
	const rte_graph_feature_arc_t id = arc->feature_arc_index;
	rte_graph_feature_t f = RTE_GRAPH_FEATURE_INVALID;
	rte_node_t node;

	RTE_SET_USED(state);
	assert_int_equal(feature_add(&nodes, arc, 0, "f1", "f10", NULL), 0);
	assert_int_equal(rte_graph_feature_lookup(id, "f10", &f), -ENOENT);
	assert_int_equal(rte_graph_feature_enable(id, 0, "f1", 1, NULL), -EINVAL);
	assert_int_equal(feature_add(&nodes, arc, 1, "f10", NULL, NULL), 0);
	assert_int_equal(feature_add(&nodes, arc, 2, "f10", NULL, NULL), -EEXIST);
	assert_int_equal(feature_add(&nodes, arc, 2, "f2", "f1", "f10"), -EINVAL);
	assert_int_equal(feature_add(&nodes, arc, 2, "f2", "end", NULL), -EINVAL);
	assert_int_equal(rte_graph_feature_arc_num_features(id), 3);
	assert_int_equal(feature_add(&nodes, arc, 2, "f2", NULL, "f1"), 0);
	assert_int_equal(feature_add(&nodes, arc, 2, "f3", NULL, NULL), -ENOSPC);
	assert_string_equal(rte_graph_feature_arc_feature_to_name(id, 0), "f10");
	assert_string_equal(rte_graph_feature_arc_feature_to_name(id, 1), "f2");
	assert_string_equal(rte_graph_feature_arc_feature_to_name(id, 2), "f1");
	assert_string_equal(rte_graph_feature_arc_feature_to_name(id, 3), "end");
	assert_null(rte_graph_feature_arc_feature_to_name(id, 4));
	assert_int_equal(rte_graph_feature_lookup(id, "f1", &f), 0);
	assert_int_equal(f, 2);
	assert_int_equal(rte_graph_feature_arc_feature_to_node(id, f, &node), 0);
	assert_int_equal(node, nodes.feature[0]->id);
	assert_int_equal(rte_graph_feature_enable(id, 0, "f", 1, NULL), -ENOENT);
	assert_int_equal(rte_graph_feature_enable(id, 1, "f1", 1, NULL), -ERANGE);
	assert_int_equal(rte_graph_feature_disable(id, 0, "f1", NULL), -ENOENT);
	assert_int_equal(rte_graph_feature_enable(id, 0, "f1", 1, NULL), 0);
	assert_int_equal(rte_graph_feature_enable(id, 0, "f1", 1, NULL), -EEXIST);
	assert_int_equal(rte_graph_feature_arc_cleanup(), 0);
}

static void
nodes_of_an_arc_run_their_arcs_functions_until_it_is_destroyed(void **state)
{
	struct nodes nodes;
	struct rte_graph_feature_arc *arc = arc_add(&nodes, __func__, 1);
	const rte_graph_feature_arc_t id = arc->feature_arc_index;
	rte_graph_t graph;

	RTE_SET_USED(state);
	features_add(&nodes, arc);
	graph = graph_try("g", name_of(__func__, "*"));
	assert_int_not_equal(graph, RTE_GRAPH_ID_INVALID);
	assert_true(rte_graph_node_get(graph, nodes.start->id)->process == in_arc);
	assert_true(rte_graph_node_get(graph, nodes.feature[2]->id)->process == in_arc);
	assert_int_equal(rte_graph_feature_arc_destroy(id), -EBUSY);
	assert_int_equal(rte_graph_feature_arc_cleanup(), -EBUSY);
	assert_int_equal(rte_node_free(nodes.feature[0]->id), -1);
	assert_int_equal(rte_graph_destroy(graph), 0);
	assert_int_equal(rte_node_free(nodes.feature[0]->id), -1);
	assert_int_equal(rte_graph_feature_arc_destroy(id), 0);
	assert_null(rte_graph_feature_arc_get(id));
	graph = graph_try("g", name_of(__func__, "*"));
	assert_true(rte_graph_node_get(graph, nodes.start->id)->process == nothing);
	assert_int_equal(rte_graph_destroy(graph), 0);
	assert_int_equal(rte_graph_feature_arc_cleanup(), 0);
}

/* Words name edges by number: an object would follow one that is not there, or another one. */
static void
edges_of_an_arc_stay_until_it_is_destroyed(void **state)
{
	struct nodes nodes;
	struct rte_graph_feature_arc *arc = arc_add(&nodes, __func__, 1);
	const rte_graph_feature_arc_t id = arc->feature_arc_index;
	const char *others[5], *same[5];
	unsigned int refused = 0;

	RTE_SET_USED(state);
	features_add(&nodes, arc);
	assert_int_equal(rte_graph_feature_enable(id, 0, "f1", 100, NULL), 0);
	for (unsigned int n = 0; n < 3; n++) {
		const rte_node_t node = n == 0 ? nodes.start->id : nodes.feature[n]->id;
		const rte_edge_t edges = rte_node_edge_count(node);

		/* The end, which came first, and the features behind. */
		assert_int_equal(edges, n == 0 ? 4 : 3 - n);
		for (rte_edge_t e = 0; e < edges; e++, refused++) {
			unit_log_clear();
			rte_errno = 0;
			others[0] = N("other");
			assert_int_equal(rte_node_edge_update(node, e, others, 1), 0);
			assert_int_equal(rte_errno, EBUSY);
			assert_int_equal(unit_log_lines(), 1);
			assert_non_null(strstr(unit_log(), "an arc uses its edge"));
			rte_errno = 0;
			assert_int_equal(rte_node_edge_shrink(node, e), RTE_EDGE_ID_INVALID);
			assert_int_equal(rte_errno, EBUSY);
			same[e] = target(node, e);
		}
		/* What is left as it is, and edges of the program's own behind them. */
		assert_int_equal(rte_node_edge_update(node, 0, same, edges), edges);
		assert_int_equal(rte_node_edge_update(node, RTE_EDGE_ID_INVALID, others, 1), 1);
		assert_int_equal(rte_node_edge_update(node, edges, others, 1), 1);
		assert_int_equal(rte_node_edge_shrink(node, edges), edges);
	}
	assert_int_equal(refused, 4 + 2 + 1);
	assert_int_equal(path(&nodes, arc, 0), 2);
	assert_int_equal(rte_graph_feature_arc_destroy(id), 0);
	assert_int_equal(rte_node_edge_update(nodes.start->id, 0, others, 1), 1);
	assert_int_equal(rte_node_edge_shrink(nodes.start->id, 0), 0);
	assert_int_equal(rte_graph_feature_arc_cleanup(), 0);
}

static void
adding_a_feature_fails_clean_at_every_allocation(void **state)
{
	struct nodes nodes;
	struct rte_graph_feature_arc *arc = arc_add(&nodes, __func__, 1);
	const rte_node_t ids[] = { nodes.start->id, nodes.feature[0]->id, nodes.feature[1]->id };
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	assert_int_equal(feature_add(&nodes, arc, 0, "f0", NULL, NULL), 0);
	do {
		unit_alloc_fail(failed + 1);
		rc = feature_add(&nodes, arc, 1, "f1", NULL, NULL);
		unit_alloc_fail(0);
		failed += rc != 0;
		assert_int_equal(rc == 0 || rc == -ENOMEM, true);
		for (unsigned int i = 0; i < RTE_DIM(ids); i++)
			assert_int_equal(rte_node_edge_count(ids[i]), (rc == 0 ? 3u : 2u) - i);
		assert_int_equal(rte_graph_feature_arc_num_features(arc->feature_arc_index),
			rc == 0 ? 3 : 2);
		assert_int_equal(path(&nodes, arc, 0), 0);
	} while (rc != 0 && failed < 50);
	assert_in_range(failed, 3, 49);
	assert_int_equal(rte_graph_feature_arc_cleanup(), 0);
}

/* Sanitizers hand signals over later than they come. */
#if defined(RTE_ARCH_X86_64) && !defined(SANITIZED)
#define STEPS
#endif

#ifdef STEPS
/* Steps this thread instruction by instruction, and moves an index from f0 to f1 behind one. */
static volatile struct { /* as the handler changes it */
	rte_graph_feature_arc_t arc;
	unsigned int at; /* the change comes before this instruction, */
	unsigned int n;  /* after so many */
	sig_atomic_t on;
} step;

#define TRAP_FLAG 0x100

static void
stepped(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	RTE_SET_USED(signal);
	RTE_SET_USED(info);
	if (!step.on) {
		*flags &= ~TRAP_FLAG;
		return;
	}
	*flags |= TRAP_FLAG;
	if (step.n++ == step.at) {
		rte_graph_feature_disable(step.arc, 0, "f0", NULL);
		rte_graph_feature_enable(step.arc, 0, "f1", 2000, NULL);
	}
}

/* Where an object of index 0 goes. */
struct way {
	rte_graph_feature_data_t fdata;
	rte_edge_t edge;
};

static struct way
way_from(struct rte_graph_feature_arc *arc)
{
	struct way way = { 0 };

	assert_int_equal(rte_graph_feature_data_first_feature_get(arc, 0, &way.fdata, &way.edge),
		1);
	return way;
}

/* Finds the way, and lets the change come before an instruction of that, counted from 0. Returns
 * whether that was early enough for one. */
static bool
way_find(struct rte_graph_feature_arc *arc, unsigned int at, struct way *way)
{
	step.arc = arc->feature_arc_index;
	step.at = at;
	step.n = 0;
	step.on = true;
	raise(SIGTRAP);
	rte_graph_feature_data_first_feature_get(arc, 0, &way->fdata, &way->edge);
	step.on = false;
	return step.n > at;
}

/* Lesson: edge and data were two loads, so that an object could take one feature's edge with the
 * data of another. */
static void
an_edge_never_goes_with_the_data_of_another_feature(void **state)
{
	const struct sigaction trap = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO };
	unsigned int at = 0, as_before = 0, as_after = 0;
	struct rte_graph_feature_arc *arc;
	struct way before, after, found;
	struct sigaction old;
	struct nodes nodes;
	bool changed = true;

	RTE_SET_USED(state);
	arc = arc_add(&nodes, __func__, 1);
	features_add(&nodes, arc);
	assert_int_equal(sigaction(SIGTRAP, &trap, &old), 0);
	for (; changed; at++) {
		rte_graph_feature_disable(arc->feature_arc_index, 0, "f1", NULL);
		assert_int_equal(rte_graph_feature_enable(arc->feature_arc_index, 0, "f0", 1000,
					 NULL),
			0);
		before = way_from(arc);
		changed = way_find(arc, at, &found);
		after = way_from(arc);
		assert_int_equal(before.edge != after.edge && before.fdata != after.fdata, changed);
		if (found.edge == before.edge) {
			assert_int_equal(found.fdata, before.fdata);
			as_before++;
		} else {
			assert_int_equal(found.edge, after.edge);
			assert_int_equal(found.fdata, after.fdata);
			as_after++;
		}
	}
	assert_int_equal(sigaction(SIGTRAP, &old, NULL), 0);
	assert_int_equal(as_before + as_after, at);
	assert_true(as_before > 1 && as_after > 1);
	assert_int_equal(rte_graph_feature_arc_cleanup(), 0);
}
#endif

static void
arc_destroy(const char *arc_name, const char *feature_name, rte_node_t node, uint32_t index,
	bool is_enabled, uint16_t cookie)
{
	rte_graph_feature_arc_t arc;

	RTE_SET_USED(feature_name);
	RTE_SET_USED(node);
	RTE_SET_USED(index);
	RTE_SET_USED(cookie);
	if (is_enabled)
		return;
	assert_int_equal(rte_graph_feature_arc_lookup_by_name(arc_name, &arc), 0);
	assert_int_equal(rte_graph_feature_arc_destroy(arc), 0);
}

/* Under AddressSanitizer, what is looked at behind that would be seen. */
static void
who_is_told_that_a_feature_is_disabled_may_destroy_the_arc(void **state)
{
	struct nodes nodes;
	const struct rte_graph_feature_arc *arc = arc_add(&nodes, __func__, 2);
	const rte_graph_feature_arc_t id = arc->feature_arc_index;
	struct rte_graph_feature_register reg = {
		.arc_name = arc->feature_arc_name,
		.feature_name = "f",
		.feature_process_fn = in_arc,
		.feature_node = nodes.feature[0],
		.notifier_cb = arc_destroy,
	};

	RTE_SET_USED(state);
	assert_int_equal(rte_graph_feature_add(&reg), 0);
	assert_int_equal(rte_graph_feature_enable(id, 1, "f", 7, NULL), 0);
	assert_int_equal(rte_graph_feature_disable(id, 1, "f", NULL), 0);
	assert_null(rte_graph_feature_arc_get(id));
	assert_int_equal(rte_graph_feature_disable(id, 1, "f", NULL), -ENOENT);
	assert_int_equal(rte_graph_feature_arc_cleanup(), 0);
}

/* A reader that the thread which changes a feature waits for, and what that thread tells. */
static struct {
	struct rte_rcu_qsbr *qsbr;
	rte_graph_feature_arc_t arc;
	char arc_name[RTE_GRAPH_FEATURE_ARC_NAMELEN];
	char feature_name[RTE_GRAPH_FEATURE_ARC_NAMELEN];
	int rc;
} waiting;

static void
names_note(const char *arc_name, const char *feature_name, rte_node_t node, uint32_t index,
	bool is_enabled, uint16_t cookie)
{
	obj_faults += node == RTE_NODE_ID_INVALID || index != 1 || !is_enabled || cookie != 7;
	snprintf(waiting.arc_name, sizeof(waiting.arc_name), "%s", arc_name);
	snprintf(waiting.feature_name, sizeof(waiting.feature_name), "%s", feature_name);
}

static void *
enable_waiting(void *arg)
{
	RTE_SET_USED(arg);
	waiting.rc = rte_graph_feature_enable(waiting.arc, 1, "f", 7, waiting.qsbr);
	return NULL;
}

/* The arc was read for the notifier once its lock was released. */
static void
an_arc_may_be_destroyed_while_a_change_waits_for_readers(void **state)
{
	struct nodes nodes;
	struct rte_graph_feature_arc *arc = arc_add(&nodes, __func__, 2);
	struct rte_graph_feature_register reg = {
		.arc_name = arc->feature_arc_name,
		.feature_name = "f",
		.feature_process_fn = in_arc,
		.feature_node = nodes.feature[0],
		.notifier_cb = names_note,
	};
	pthread_t thread;

	RTE_SET_USED(state);
	waiting.arc = arc->feature_arc_index;
	waiting.qsbr = aligned_alloc(RTE_CACHE_LINE_SIZE, rte_rcu_qsbr_get_memsize(1));
	assert_non_null(waiting.qsbr);
	assert_int_equal(rte_rcu_qsbr_init(waiting.qsbr, 1), 0);
	rte_rcu_qsbr_thread_register(waiting.qsbr, 0);
	rte_rcu_qsbr_thread_online(waiting.qsbr, 0);
	assert_int_equal(rte_graph_feature_add(&reg), 0);
	assert_int_equal(pthread_create(&thread, NULL, enable_waiting, NULL), 0);
	while (rte_graph_feature_arc_is_any_feature_enabled(arc) == 0)
		sched_yield();
	mallopt(M_PERTURB, 0xa5); /* what is freed is overwritten */
	assert_int_equal(rte_graph_feature_arc_destroy(waiting.arc), 0);
	mallopt(M_PERTURB, 0);
	rte_rcu_qsbr_thread_offline(waiting.qsbr, 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(waiting.rc, 0);
	assert_string_equal(waiting.arc_name, __func__);
	assert_string_equal(waiting.feature_name, "f");
	free(waiting.qsbr);
	assert_int_equal(rte_graph_feature_arc_cleanup(), 0);
}

/* The mbuf's field is registered for good. */
static int
arc_setup(void **state)
{
	const int rc = rte_graph_feature_arc_init(0);

	return rc < 0 || rte_graph_feature_arc_cleanup() < 0 ? -1 : compat_setup(state);
}

#define ARC_TEST(f) cmocka_unit_test_setup_teardown(f, arc_setup, compat_teardown)

static const struct CMUnitTest compat_arc[] = {
	ARC_TEST(an_object_goes_through_what_is_enabled_on_its_index),
	ARC_TEST(the_last_of_65535_indexes_has_features_of_its_own),
	ARC_TEST(features_are_found_by_their_whole_names_and_stand_in_order),
	ARC_TEST(edges_of_an_arc_stay_until_it_is_destroyed),
	ARC_TEST(adding_a_feature_fails_clean_at_every_allocation),
	ARC_TEST(nodes_of_an_arc_run_their_arcs_functions_until_it_is_destroyed),
	ARC_TEST(who_is_told_that_a_feature_is_disabled_may_destroy_the_arc),
	ARC_TEST(an_arc_may_be_destroyed_while_a_change_waits_for_readers),
#ifdef STEPS
	ARC_TEST(an_edge_never_goes_with_the_data_of_another_feature),
#endif
};
UNIT_SUITE(compat_arc)
