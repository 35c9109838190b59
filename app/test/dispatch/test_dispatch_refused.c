/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that would take a dispatch's graphs away from it. */

#include <errno.h>
#include <string.h>

#include "dispatch_fixture.h"

static void
assert_only_the_dispatch(int rc)
{
	if (rc != -EPERM || strstr(unit_log(), "the graph belongs to a dispatch") == NULL)
		fail_msg("%d: %s", rc, unit_log());
	unit_log_clear();
}

/* With one worker, no node of a ring was there to refuse a clone: it walked by a plan that was freed. */
static void
graphs_of_a_dispatch_are_neither_cloned_nor_destroyed_nor_given_parameters(void **state)
{
	struct hy_graph *graph, *twin = NULL;
	struct hy_graph_params params;

	RTE_SET_USED(state);
	chain_add();
	for (uint16_t workers = 1; workers <= 2; workers++) {
		DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = workers);
		for (uint16_t w = 0; w < workers; w++) {
			graph = hy_dispatch_graph(dispatch, w);
			hy_graph_params_get(graph, &params);
			assert_only_the_dispatch(hy_graph_clone(graph, "twin", 2, SOCKET_ID_ANY,
				&twin));
			assert_only_the_dispatch(hy_graph_destroy(graph));
			assert_only_the_dispatch(hy_graph_update(graph, &params));
			assert_int_equal(hy_graph_update(graph, NULL), 0);
		}
		assert_null(twin);
		assert_int_equal(hy_dispatch_pin(dispatch, NULL, 0), 0);
		assert_only_the_dispatch(hy_graph_destroy(hy_dispatch_graph(dispatch, 0)));
		rig.sink.objs = 0;
		assert_int_equal(walk(0), BURST);
		assert_int_equal(rig.sink.objs, BURST);
		hy_dispatch_destroy(dispatch);
		dispatch = NULL;
	}
}

/* The dispatch was destroyed without the node, whose name nobody could have from then on. */
static void
the_source_of_an_idle_worker_is_in_no_other_graph(void **state)
{
	static const char *const idle[] = { "d-idle" };
	struct hy_graph *graph = NULL;
	hy_node_id id;

	RTE_SET_USED(state);
	chain_add();
	for (unsigned int round = 0; round < 2; round++) {
		DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 1);
		unit_log_clear();
		assert_int_equal(GRAPH_TRY("other", &graph, .patterns = idle, .nb_patterns = 1),
			-EINVAL);
		assert_non_null(strstr(unit_log(), "is for the graphs of dispatch 'd' alone"));
		assert_null(graph);
		assert_int_equal(walk(0), BURST);
		hy_dispatch_destroy(dispatch);
		dispatch = NULL;
		assert_int_equal(hy_node_lookup("d-idle", &id), -ENOENT);
	}
}

static unsigned int created_within;
static int created_rc;

/* Takes the name of the graph that is created next, and the ring that this is to read. */
static int
init_creates(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_graph_params params = { .patterns = (const char *[]){ "d-in-sink" },
		.nb_patterns = 1,
		.ops = &flow_ops,
		.worker = 1,
		.socket = SOCKET_ID_ANY };
	struct hy_graph *taker;

	RTE_SET_USED(node);
	RTE_SET_USED(config);
	if (strcmp(hy_graph_name(graph), "d-0") != 0 || dispatch != NULL)
		return 0;
	created_within++;
	created_rc = hy_graph_create("d-1", &params, &taker);
	return 0;
}

/* It read a ring that was freed when the dispatch could not be created, as its name was taken. */
static void
a_graph_that_has_the_name_of_a_dispatchs_own_has_no_node_of_it(void **state)
{
	const struct hy_node_impl impl = { .process = probe_pass, .init = init_creates };
	hy_node_id id;

	RTE_SET_USED(state);
	chain_add();
	created_within = 0;
	assert_int_equal(hy_node_lookup("work", &id), 0);
	assert_int_equal(hy_node_impl_set(id, &impl), 0);
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2,
		PINS({ "sink", WORKERS(1) }));
	assert_int_equal(created_within, 1);
	assert_int_equal(created_rc, -EINVAL);
	assert_int_equal(walk(0), BURST);
	assert_int_equal(walk(1), BURST);
	assert_int_equal(rig.sink.objs, BURST);
}

static unsigned int destroyed_within;

static int
init_destroys(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	if (dispatch != NULL) {
		destroyed_within++;
		unit_log_clear();
		hy_dispatch_destroy(dispatch);
	}
	return 0;
}

static void
a_dispatch_is_not_destroyed_from_within_its_own_change(void **state)
{
	const struct hy_node_impl impl = { .process = probe_pass, .init = init_destroys };
	hy_node_id id;

	RTE_SET_USED(state);
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2);
	destroyed_within = 0;
	assert_int_equal(hy_node_lookup("work", &id), 0);
	assert_int_equal(hy_node_impl_set(id, &impl), 0);
	assert_int_equal(hy_dispatch_pin(dispatch, NULL, 0), 0);
	assert_int_equal(destroyed_within, 1);
	assert_non_null(strstr(unit_log(), "refused: called in the middle of a change"));
	assert_int_equal(walk(0), BURST);
	assert_int_equal(rig.sink.objs, BURST);
}

static unsigned int grabbed_within;
static int grab_rc[3];

/* Takes the graph of worker 0, which is complete, while that of worker 1 is compiled. */
static int
init_grabs(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct hy_graph *other, *twin = NULL;
	struct hy_graph_params params;

	RTE_SET_USED(node);
	RTE_SET_USED(config);
	if (strcmp(hy_graph_name(graph), "d-1") != 0 || hy_graph_lookup("d-0", &other) < 0)
		return 0;
	grabbed_within++;
	hy_graph_params_get(other, &params);
	grab_rc[0] = hy_graph_clone(other, "twin", 2, SOCKET_ID_ANY, &twin);
	grab_rc[1] = hy_graph_update(other, &params);
	grab_rc[2] = hy_graph_destroy(other);
	return 0;
}

/* Another one, for the node to be initialised again. */
static int
init_grabs_anew(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	return init_grabs(graph, node, config);
}

/* A dispatch owned its graphs only before and after its changes. */
static void
an_init_takes_no_graph_from_a_dispatch_that_is_created_or_pinned(void **state)
{
	const struct hy_node_impl grabs = { .process = probe_pass, .init = init_grabs };
	const struct hy_node_impl anew = { .process = probe_pass, .init = init_grabs_anew };
	const struct hy_dispatch_pin pin = { "work", WORKERS(1) };
	struct hy_graph *twin;
	hy_node_id id;

	RTE_SET_USED(state);
	chain_add();
	assert_int_equal(hy_node_lookup("work", &id), 0);
	assert_int_equal(hy_node_impl_set(id, &grabs), 0);
	grabbed_within = 0;
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .pins = &pin,
		.nb_pins = 1);
	for (unsigned int change = 1; change <= 2; change++) {
		assert_int_equal(grabbed_within, change);
		assert_int_equal(grab_rc[0], -EPERM);
		assert_int_equal(grab_rc[1], change == 1 ? -EPERM : -EBUSY);
		assert_int_equal(grab_rc[2], -EPERM);
		assert_int_equal(hy_graph_lookup("twin", &twin), -ENOENT);
		if (change == 1) {
			assert_int_equal(hy_node_impl_set(id, &anew), 0);
			assert_int_equal(hy_dispatch_pin(dispatch, &pin, 1), 0);
		}
	}
	assert_int_equal(walk(0), BURST);
	assert_int_equal(walk(1), BURST);
	assert_int_equal(rig.sink.objs, BURST);
}

static unsigned int finis_within;

/* The graph of worker 0 goes first. */
static void
fini_destroys(const struct hy_graph *graph, struct hy_node *node)
{
	struct hy_graph *other;
	const char *refused;

	RTE_SET_USED(node);
	if (dispatch == NULL)
		return;
	finis_within++;
	unit_log_clear();
	obj_faults += hy_dispatch_destroy(dispatch) != 0;
	refused = strstr(unit_log(), "hy_dispatch_destroy() refused: called by itself");
	obj_faults += refused == NULL;
	obj_faults += hy_dispatch_pin(dispatch, NULL, 0) != -EDEADLK;
	if (strcmp(hy_graph_name(graph), "d-0") == 0) {
		obj_faults += hy_graph_lookup("d-1", &other) < 0;
		obj_faults += hy_graph_destroy(other) != -EPERM;
	} else {
		obj_faults += hy_graph_lookup("d-0", &other) != -ENOENT;
		obj_faults += hy_dispatch_graph(dispatch, 0) != NULL;
	}
}

/* A dispatch let go of all graphs before it destroyed the first. */
static void
a_fini_of_one_graph_of_a_dispatch_destroys_no_other(void **state)
{
	const struct hy_node_impl impl = { .process = probe_pass, .fini = fini_destroys };
	const struct hy_dispatch_pin pin = { "work", WORKERS(0, 1) };
	struct hy_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	chain_add();
	assert_int_equal(hy_node_lookup("work", &id), 0);
	assert_int_equal(hy_node_impl_set(id, &impl), 0);
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .pins = &pin,
		.nb_pins = 1);
	walk(0);
	finis_within = 0;
	hy_dispatch_destroy(dispatch);
	dispatch = NULL;
	assert_int_equal(finis_within, 2);
	assert_int_equal(hy_graph_lookup("d-1", &graph), -ENOENT);
}

static unsigned int clones_within, clones_made;

/* Of the graph that is being created or destroyed. */
static void
clone_try(const struct hy_graph *graph)
{
	struct hy_graph *twin;

	if (strcmp(hy_graph_name(graph), "twin") == 0)
		return;
	clones_within++;
	if (hy_graph_clone(graph, "twin", 2, SOCKET_ID_ANY, &twin) == -EPERM)
		return;
	clones_made++;
	hy_graph_destroy(twin);
}

static int
init_clones(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	clone_try(graph);
	return 0;
}

static void
fini_clones(const struct hy_graph *graph, struct hy_node *node)
{
	RTE_SET_USED(node);
	clone_try(graph);
}

/* A graph was not the dispatch's before its creation had ended, nor once its destruction began. */
static void
an_init_or_fini_of_a_dispatchs_graph_does_not_clone_it(void **state)
{
	const struct hy_node_impl impl = {
		.process = probe_pass, .init = init_clones, .fini = fini_clones
	};
	hy_node_id id;

	RTE_SET_USED(state);
	chain_add();
	assert_int_equal(hy_node_lookup("work", &id), 0);
	assert_int_equal(hy_node_impl_set(id, &impl), 0);
	for (uint16_t workers = 1; workers <= 2; workers++) {
		clones_within = clones_made = 0;
		DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = workers);
		assert_int_equal(clones_within, 1); /* in the graph of worker 0 */
		assert_int_equal(walk(0), BURST);
		hy_dispatch_destroy(dispatch);
		dispatch = NULL;
		assert_int_equal(clones_within, 2);
		assert_int_equal(clones_made, 0);
	}
}

static const struct CMUnitTest tests[] = {
	DISPATCH_TEST(an_init_or_fini_of_a_dispatchs_graph_does_not_clone_it),
	DISPATCH_TEST(a_graph_that_has_the_name_of_a_dispatchs_own_has_no_node_of_it),
	DISPATCH_TEST(graphs_of_a_dispatch_are_neither_cloned_nor_destroyed_nor_given_parameters),
	DISPATCH_TEST(the_source_of_an_idle_worker_is_in_no_other_graph),
	DISPATCH_TEST(a_dispatch_is_not_destroyed_from_within_its_own_change),
	DISPATCH_TEST(an_init_takes_no_graph_from_a_dispatch_that_is_created_or_pinned),
	DISPATCH_TEST(a_fini_of_one_graph_of_a_dispatch_destroys_no_other),
};

UNIT_SUITE(tests)
