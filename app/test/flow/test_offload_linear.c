/* SPDX-License-Identifier: BSD-3-Clause */
/* Long lists: no call under the offload's lock takes time for each pair of rules, or of slots. */

#include <errno.h>
#include <string.h>
#include <time.h>

#include "access_fixture.h"

#define LONG 20000
#define PAIRS 6000

/* What one call may take of this thread's time; each took more than twice as long. */
#ifdef SANITIZED
#define SLOWER 10
#else
#define SLOWER 1
#endif

/* Microseconds of this thread: others may run meanwhile. */
static uint64_t
cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t
poll_us(uint32_t *done)
{
	const uint64_t begin = cpu_us();

	*done = hy_offload_poll(A.offload);
	return cpu_us() - begin;
}

static void
long_open(const char *profile, const char *driver, uint32_t rules)
{
	const struct hy_flow_sim_params sim = { .profile = profile };

	access_open_long(driver, &sim, rules + 16);
}

/* Once it is known which rules overlap, all were tried in one poll, each beside all others. */
static void
rules_that_no_port_takes_made_polls_quadratic(void **state)
{
	uint64_t most = 0, all = 0;
	unsigned int polls = 0;
	uint32_t done;

	RTE_SET_USED(state);
	long_open("mlx5", "mlx5_pci", LONG);
	for (uint32_t id = 1; id <= LONG; id++) {
		struct hy_flow_rule deny = access_source(id, HY_RULE_DENY, IP4(10, 0, 0, 0) + id,
			32);

		deny.match.fields |= HY_FLOW_PROTO | HY_FLOW_DPORT;
		deny.match.proto = 6;
		deny.match.dport[0] = 80;
		deny.match.dport[1] = 90;
		assert_int_equal(hy_policy_add(A.policy, &deny), 0);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
	for (int restart = 0; restart < 2; restart++) {
		most = all = polls = 0;
		do {
			const uint64_t us = poll_us(&done);

			most = RTE_MAX(most, us);
			all += us;
			polls++;
		} while (done > 0);
		print_message("%u polls took %ju us, the longest %ju us\n", polls, (uintmax_t)all,
			(uintmax_t)most);
		assert_true(restart == 0 || most < 100000 * SLOWER);
		assert_string_equal(hy_offload_reason(A.offload, 1), "a range of ports");
		assert_string_equal(hy_offload_reason(A.offload, LONG), "a range of ports");
		hy_offload_down(A.offload, true);
		hy_offload_up(A.offload);
	}
}

static int
query_fails(uint16_t port, void *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error)
{
	RTE_SET_USED(port);
	RTE_SET_USED(flow);
	RTE_SET_USED(count);
	return rte_flow_error_set(error, EIO, RTE_FLOW_ERROR_TYPE_HANDLE, NULL, "no counter");
}

/* Permits of one source each, and denies of their networks. */
static void
pairs_open(uint32_t pairs, uint32_t rest)
{
	unsigned int polls = 0;

	long_open("mlx5", "mlx5_pci", 2 * pairs + rest);
	for (uint32_t i = 0; i < pairs; i++) {
		const struct hy_flow_rule permit = access_source(1 + i, HY_RULE_PERMIT,
						  IP4(10, 0, 0, 0) + 4 * i, 32),
					  deny = access_source(1 + pairs + i, HY_RULE_DENY,
						  IP4(10, 0, 0, 0) + 4 * i, 30);

		assert_int_equal(hy_policy_add(A.policy, &permit), 0);
		assert_int_equal(hy_policy_add(A.policy, &deny), 0);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
	for (; access_stats().drop_rules < pairs && polls < 1000; polls++)
		access_settle();
	assert_int_equal(access_stats().drop_rules, pairs);
	assert_int_equal(access_stats().hw_rules, 2 * pairs);
	for (uint32_t i = 0; i < rest; i++) {
		const struct hy_flow_rule permit = access_source(1 + 2 * pairs + i, HY_RULE_PERMIT,
			IP4(20, 0, 0, 0) + i, 32);

		assert_int_equal(hy_policy_add(A.policy, &permit), 0);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
}

static void
counters_that_cannot_be_read_made_a_report_quadratic(void **state)
{
	uint64_t begin, read, next;
	uint32_t done;

	RTE_SET_USED(state);
	pairs_open(PAIRS, 2 * PAIRS);
	A.provider.query = query_fails;
	begin = cpu_us();
	hy_offload_read(A.offload);
	read = cpu_us() - begin;
	next = poll_us(&done);
	print_message("a report took %ju us, the poll behind it %ju us\n", (uintmax_t)read,
		(uintmax_t)next);
	assert_int_equal(access_stats().hw_rules, 0);
	assert_string_equal(hy_offload_reason(A.offload, 1 + PAIRS),
		"the port refuses it: no counter");
	assert_true(read < 80000 * SLOWER);
	assert_true(next < 150000 * SLOWER);
}

static const void *kept; /* a rule that the port does not remove */

static int
keep_one(uint16_t port, void *flow, struct rte_flow_error *error)
{
	if (flow == kept)
		return rte_flow_error_set(error, EIO, RTE_FLOW_ERROR_TYPE_HANDLE, NULL, "busy");
	return hy_flow_simulator.destroy(port, flow, error);
}

static void
a_kept_deny_made_the_removal_of_permits_quadratic(void **state)
{
	uint64_t commit, us, most = 0;
	uint32_t done;

	RTE_SET_USED(state);
	pairs_open(PAIRS, 0);
	for (uint32_t i = 0; i < A.offload->nb_slots; i++)
		if (A.offload->flows[i].state == FLOW_LIVE && A.offload->flows[i].drop)
			kept = A.offload->flows[i].handle;
	A.provider.destroy = keep_one;
	for (uint32_t i = 1; i <= 2 * PAIRS; i++)
		hy_policy_remove(A.policy, i);
	us = cpu_us();
	assert_int_equal(hy_policy_commit(A.policy), 0);
	commit = cpu_us() - us;
	for (int i = 0; i < 1000 && A.offload->leaving > 1; i++) {
		us = poll_us(&done);
		most = RTE_MAX(most, us);
	}
	assert_int_equal(A.offload->leaving, 1);
	assert_int_equal(A.offload->stuck, 1);
	assert_int_equal(access_stats().state, HY_OFFLOAD_DEMOTED);
	assert_true(most > 0 && most < 120000 * SLOWER);
	print_message("the commit took %ju us, polls %ju us at most; %u leaving\n",
		(uintmax_t)commit, (uintmax_t)most, A.offload->leaving);
}

/* Permits of many queues need a group each, of which cnxk has few. */
static void
permits_without_a_group_made_polls_quadratic(void **state)
{
	uint64_t us = 0, most = 0;
	uint32_t done;

	RTE_SET_USED(state);
	long_open("cnxk", "net_cn10k", 2 * PAIRS);
	A.offload->spread.nb_queues = 2;
	A.offload->room = 0;
	for (uint32_t i = 0; i < PAIRS; i++) {
		const struct hy_flow_rule permit = access_source(1 + i, HY_RULE_PERMIT,
						  IP4(10, 0, 0, 0) + 4 * i, 32),
					  deny = access_source(1 + PAIRS + i, HY_RULE_DENY,
						  IP4(10, 0, 0, 0) + 4 * i, 30);

		assert_int_equal(hy_policy_add(A.policy, &permit), 0);
		assert_int_equal(hy_policy_add(A.policy, &deny), 0);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
	for (int i = 0; i < 60; i++) {
		us = poll_us(&done);
		most = RTE_MAX(most, us);
	}
	print_message("polls took %ju us at most, %ju us in the end; %u in hardware\n",
		(uintmax_t)most, (uintmax_t)us, A.offload->live);
	assert_string_equal(hy_offload_reason(A.offload, 1), "the port has no room");
	assert_true(us < 20000 * SLOWER);
}

static const struct CMUnitTest offload_linear_tests[] = {
	ACCESS_TEST(rules_that_no_port_takes_made_polls_quadratic),
	ACCESS_TEST(counters_that_cannot_be_read_made_a_report_quadratic),
	ACCESS_TEST(a_kept_deny_made_the_removal_of_permits_quadratic),
	ACCESS_TEST(permits_without_a_group_made_polls_quadratic),
};

UNIT_SUITE(offload_linear_tests)
