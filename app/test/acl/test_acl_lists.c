/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists by name, places, and what is bound where. */

#include <errno.h>
#include <string.h>

#include "acl_fixture.h"

static void
bad_lists_are_refused(void **state)
{
	static const char *const bad[] = { "", "a b", "a=b", "a:b", "seventeen.letters",
		"\xc3\xa4" };
	struct hy_acl_params params = { .workers = ACL_WORKERS, .policy.max_rules = 4 };
	struct hy_acl *none = NULL;
	struct hy_policy *policy;

	RTE_SET_USED(state);
	assert_int_equal(hy_acl_create(&params, &none), -EINVAL);
	assert_null(none);
	params.qsbr = acl_qsbr;
	params.log_records = 100; /* no power of 2 less 1 */
	assert_int_equal(hy_acl_create(&params, &none), -EINVAL);
	params.log_records = 0;
	params.workers = 0;
	assert_int_equal(hy_acl_create(&params, &none), -EINVAL);
	acl_make(&(const struct hy_acl_params){ 0 });
	for (size_t i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(hy_acl_list_create(acl, bad[i], NULL, &policy), -EINVAL);
	list_make("Edge_1.a-b");
	assert_int_equal(hy_acl_list_create(acl, "Edge_1.a-b", NULL, &policy), -EEXIST);
	assert_null(hy_acl_list(acl, "Edge_1.a"));
	assert_string_equal(hy_acl_list_at(acl, 0), "Edge_1.a-b");
	assert_null(hy_acl_list_at(acl, 1));
	assert_int_equal(hy_acl_list_destroy(acl, "Edge_1.a"), -ENOENT);
}

static void
there_are_no_more_lists_than_numbers(void **state)
{
	struct hy_policy *policy;
	char name[8];

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .policy.max_rules = 1 });
	for (unsigned int i = 0; i < HY_ACL_LISTS; i++) {
		snprintf(name, sizeof(name), "l%u", i);
		list_make(name);
	}
	assert_int_equal(hy_acl_list_create(acl, "more", NULL, &policy), -ENOSPC);
	assert_int_equal(hy_acl_list_destroy(acl, "l5"), 0);
	assert_string_equal(hy_acl_list_at(acl, 5), "l6");
	list_make("more");
	assert_string_equal(hy_acl_list_at(acl, HY_ACL_LISTS - 1), "more");
}

static void
places_are_read_in_words(void **state)
{
	static const char *const bad[] = { "", "in", "in:", "in:x", "in:-1", "in:32", "on:0",
		"inn:0", "out:1 ", ":1", "out:1:1" };
	char error[HY_ACL_ERROR_SIZE];
	enum hy_acl_way way;
	uint16_t port;

	RTE_SET_USED(state);
	assert_int_equal(hy_acl_place_read("in:7", &port, &way, error), 0);
	assert_true(port == 7 && way == HY_ACL_IN);
	assert_int_equal(hy_acl_place_read("out:31", &port, &way, error), 0);
	assert_true(port == 31 && way == HY_ACL_OUT);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(hy_acl_place_read(bad[i], &port, &way, error), -EINVAL);
		assert_non_null(strstr(error,
			"is not in:PORT or out:PORT, with a port from 0 to 31"));
	}
}

static void
a_bound_list_cannot_be_destroyed(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	list_make("a");
	list_make("b");
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "c"), -ENOENT);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_OUT, "a"), -ENODEV);
	assert_int_equal(hy_acl_bind(acl, RTE_MAX_ETHPORTS, HY_ACL_IN, "a"), -ENODEV);
	assert_int_equal(hy_acl_unbind(acl, 0, HY_ACL_IN), -ENODEV);
	assert_null(hy_acl_bound(acl, RIG_PORT, HY_ACL_IN));
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	assert_string_equal(hy_acl_bound(acl, RIG_PORT, HY_ACL_IN), "a");
	assert_int_equal(hy_acl_list_destroy(acl, "a"), -EBUSY);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "b"), 0);
	assert_int_equal(hy_acl_list_destroy(acl, "a"), 0);
	assert_int_equal(hy_acl_list_destroy(acl, "b"), -EBUSY);
	assert_int_equal(hy_acl_unbind(acl, RIG_PORT, HY_ACL_IN), 0);
	assert_int_equal(hy_acl_unbind(acl, RIG_PORT, HY_ACL_IN), 0);
	assert_null(hy_acl_bound(acl, RIG_PORT, HY_ACL_IN));
	acl_send(graph, (const uint16_t[]){ 53 }, 1);
	assert_int_equal(out[0].n, 1);
	assert_int_equal(hy_acl_list_destroy(acl, "b"), 0);
}

static void
a_place_is_there_once_and_in_no_graph_while_nothing_is_bound(void **state)
{
	const struct hy_acl_place again = {
		.port = RIG_PORT, .way = HY_ACL_IN, .end = "rig_out-1"
	};
	const struct hy_acl_place taken = { .port = 4, .way = HY_ACL_IN, .end = "rig_out-0" };
	struct hy_graph *graph;
	struct hy_node *node;
	hy_node_id id;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	list_make("a");
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_place(acl, &again), -EEXIST);
	assert_int_equal(hy_acl_place(acl, &taken), -EEXIST);
	assert_int_equal(hy_node_lookup("acl_in-4", &id), -ENOENT);
	for (unsigned int round = 0; round < 3; round++) {
		assert_int_equal(hy_graph_node(graph, "acl_in-3", &node), -ENOENT);
		assert_int_equal(hy_graph_node(graph, "port_in-3", &node), -ENOENT);
		assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
		acl_send(graph, (const uint16_t[]){ 53 }, 1);
		assert_int_equal(hy_graph_node(graph, "acl_in-3", &node), 0);
		assert_int_equal(hy_graph_node(graph, "port_in-3", &node), 0);
		assert_int_equal(hy_acl_unbind(acl, RIG_PORT, HY_ACL_IN), 0);
		acl_send(graph, (const uint16_t[]){ 53 }, 1);
	}
	assert_int_equal(out[0].n, 6);
}

static void
a_graph_without_the_lists_workers_is_refused(void **state)
{
	struct rte_rcu_qsbr *own = acl_qsbr;
	struct hy_acl *none;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	list_make("a");
	acl_qsbr = NULL; /* of the graph */
	acl_rig(HY_ACL_IN);
	acl_qsbr = own;
	unit_log_clear();
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), -EINVAL);
	assert_non_null(strstr(unit_log(), "QSBR variable"));
	assert_null(hy_acl_bound(acl, RIG_PORT, HY_ACL_IN));
	none = NULL;
	hy_acl_destroy(none);
}

static const struct CMUnitTest tests[] = {
	ACL_TEST(bad_lists_are_refused),
	ACL_TEST(there_are_no_more_lists_than_numbers),
	ACL_TEST(places_are_read_in_words),
	ACL_TEST(a_bound_list_cannot_be_destroyed),
	ACL_TEST(a_place_is_there_once_and_in_no_graph_while_nothing_is_bound),
	ACL_TEST(a_graph_without_the_lists_workers_is_refused),
};

UNIT_SUITE(tests)
