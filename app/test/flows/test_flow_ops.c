/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of lists of operations: what is refused, numbers, and when they are used again. */

#include <errno.h>
#include <string.h>

#include <rte_memory.h>

#include <hy_flow_ops.h>

#include "app/test/unit_worker.h"
#include "flows_fixture.h"

#define MOST 4

static const struct hy_flow_op send = { .type = HY_FLOW_OP_OUTPUT, .edge = 1 };

static struct hy_flow_ops *
ops_new(struct rte_rcu_qsbr *qsbr)
{
	const struct hy_flow_ops_params params = {
		.name = "test", .most = MOST, .workers = 2, .qsbr = qsbr, .socket = SOCKET_ID_ANY
	};
	struct hy_flow_ops *ops;

	assert_int_equal(hy_flow_ops_create(&params, &ops), 0);
	return ops;
}

static void
sets_that_cannot_be_are_refused(void **state)
{
	static const struct hy_flow_ops_params wrong[] = {
		{ .name = NULL, .most = 1, .workers = 1 },
		{ .name = "a b", .most = 1, .workers = 1 },
		{ .name = "a", .most = 0, .workers = 1 },
		{ .name = "a", .most = HY_FLOW_OPS_MOST + 1, .workers = 1 },
		{ .name = "a", .most = 1, .workers = 0 },
	};
	struct hy_flow_ops *ops;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < RTE_DIM(wrong); i++) {
		unit_log_clear();
		ops = (struct hy_flow_ops *)&i;
		assert_int_equal(hy_flow_ops_create(&wrong[i], &ops), -EINVAL);
		assert_null(ops);
		assert_int_equal(unit_log_lines(), 1);
	}
	assert_int_equal(hy_flow_ops_destroy(NULL), 0);
}

static void
set_that_memory_does_not_suffice_for_is_undone(void **state)
{
	const struct hy_flow_ops_params params = {
		.name = "test", .most = MOST, .workers = 2, .socket = SOCKET_ID_ANY
	};
	const unsigned int before = unit_heap_live();
	struct hy_flow_ops *ops;
	unsigned int failed = 0;
	uint16_t number;

	RTE_SET_USED(state);
	for (unsigned int nth = 1;; nth++) {
		int rc;

		unit_alloc_fail(nth);
		rc = hy_flow_ops_create(&params, &ops);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(unit_heap_live(), before);
		failed++;
	}
	assert_int_equal(failed, 4);
	unit_alloc_fail(1);
	assert_int_equal(hy_flow_ops_add(ops, &send, 1, &number), -ENOMEM);
	unit_alloc_fail(0);
	for (uint32_t i = 0; i < MOST; i++)
		assert_int_equal(hy_flow_ops_add(ops, &send, 1, &number), 0);
	assert_int_equal(hy_flow_ops_destroy(ops), 0);
	assert_int_equal(unit_heap_live(), before);
}

static void
operations_that_cannot_be_are_refused(void **state)
{
	static const struct hy_flow_op wrong[] = {
		{ .type = HY_FLOW_OP_OWN + 1 },
		{ .type = UINT8_MAX },
		{ .type = HY_FLOW_OP_PUSH_VLAN, .type16 = RTE_BE16(0x0800) },
		{ .type = HY_FLOW_OP_ENCAP, .vxlan = { .ttl = 64 } },
		{ .type = HY_FLOW_OP_ENCAP, .vxlan = { .port = RTE_BE16(4789) } },
		{ .type = HY_FLOW_OP_ENCAP,
			.vxlan = { .ttl = 64, .port = RTE_BE16(4789), .is_ip6 = 2 } },
	};
	struct hy_flow_op many[HY_FLOW_OPS_LIST + 1];
	struct hy_flow_ops *ops = ops_new(NULL);
	const unsigned int before = unit_heap_live();
	uint16_t number = 77;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < RTE_DIM(wrong); i++) {
		const struct hy_flow_op list[] = { send, wrong[i] };

		unit_log_clear();
		assert_int_equal(hy_flow_ops_add(ops, list, 2, &number), -EINVAL);
		assert_non_null(strstr(unit_log(), "operation 1 of a list"));
	}
	for (uint32_t i = 0; i < RTE_DIM(many); i++)
		many[i] = send;
	assert_int_equal(hy_flow_ops_add(ops, many, HY_FLOW_OPS_LIST + 1, &number), -EINVAL);
	assert_int_equal(number, 77);
	assert_int_equal(unit_heap_live(), before);
	assert_int_equal(hy_flow_ops_add(ops, many, HY_FLOW_OPS_LIST, &number), 0);
	assert_int_equal(hy_flow_ops_add(ops, NULL, 0, &number), 0);
	assert_int_equal(hy_flow_ops_destroy(ops), 0);
}

static void
number_of_a_deleted_list_is_used_again_only_after_a_grace_period(void **state)
{
	struct rte_rcu_qsbr *qsbr = qsbr_new(1);
	struct hy_flow_ops *ops = ops_new(qsbr);
	uint16_t number[MOST], again;
	uint64_t packets, bytes;
	uint32_t seen = 0;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < MOST; i++) {
		assert_int_equal(hy_flow_ops_add(ops, &send, 1, &number[i]), 0);
		seen |= 1u << number[i];
	}
	assert_int_equal(seen, (1u << MOST) - 1);
	assert_int_equal(hy_flow_ops_add(ops, &send, 1, &again), -ENOSPC);
	worker_begins();
	assert_int_equal(hy_flow_ops_delete(ops, number[2]), 0);
	assert_int_equal(hy_flow_ops_delete(ops, number[2]), -ENOENT);
	assert_int_equal(hy_flow_ops_count(ops, number[2], &packets, &bytes), -ENOENT);
	assert_int_equal(hy_flow_ops_add(ops, &send, 1, &again), -EAGAIN);
	assert_int_equal(hy_flow_ops_delete(ops, number[0]), 0);
	worker_reports();
	assert_int_equal(hy_flow_ops_delete(ops, number[3]), 0);
	assert_int_equal(hy_flow_ops_add(ops, &send, 1, &again), 0);
	assert_int_equal(hy_flow_ops_add(ops, &send, 1, &again), 0);
	assert_true(again == number[0] || again == number[2]);
	assert_int_equal(hy_flow_ops_add(ops, &send, 1, &again), -EAGAIN);
	worker_rests();
	assert_int_equal(hy_flow_ops_add(ops, &send, 1, &again), 0);
	assert_int_equal(again, number[3]);
	assert_int_equal(hy_flow_ops_count(ops, again, &packets, &bytes), 0);
	assert_int_equal(packets | bytes, 0);
	assert_int_equal(hy_flow_ops_count(ops, MOST, &packets, &bytes), -ENOENT);
	assert_int_equal(hy_flow_ops_delete(ops, UINT16_MAX), -ENOENT);
	worker_begins();
	assert_int_equal(hy_flow_ops_delete(ops, again), 0); /* and is freed with the set */
	worker_rests();
	assert_int_equal(hy_flow_ops_destroy(ops), 0);
}

static void
set_that_a_node_uses_is_not_destroyed(void **state)
{
	struct rte_rcu_qsbr *qsbr = qsbr_new(1);
	struct hy_flow_ops *ops = ops_new(qsbr);

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_ops_use(ops, 2, qsbr), -EINVAL);
	assert_int_equal(hy_flow_ops_use(ops, 1, NULL), -EINVAL);
	assert_int_equal(hy_flow_ops_use(ops, 1, qsbr), 0);
	assert_int_equal(hy_flow_ops_use(ops, 1, qsbr), 0);
	hy_flow_ops_unuse(ops);
	unit_log_clear();
	assert_int_equal(hy_flow_ops_destroy(ops), -EBUSY);
	assert_non_null(strstr(unit_log(), "1 nodes of graphs are attached"));
	assert_string_equal(hy_flow_ops_name(ops), "test");
	assert_int_equal(hy_flow_ops_workers(ops), 2);
	hy_flow_ops_unuse(ops);
	assert_int_equal(hy_flow_ops_destroy(ops), 0);
}

static const struct CMUnitTest flow_ops_tests[] = {
	cmocka_unit_test(sets_that_cannot_be_are_refused),
	cmocka_unit_test(set_that_memory_does_not_suffice_for_is_undone),
	cmocka_unit_test(operations_that_cannot_be_are_refused),
	cmocka_unit_test(number_of_a_deleted_list_is_used_again_only_after_a_grace_period),
	cmocka_unit_test(set_that_a_node_uses_is_not_destroyed),
};

UNIT_SUITE(flow_ops_tests)
