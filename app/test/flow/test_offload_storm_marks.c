/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes by marks of ports that fail at random, as in test_offload_storm.c. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "access_fixture.h"
#include "flow_fixture.h"

#ifdef SANITIZED
#define ROUNDS 40
#else
#define ROUNDS 120
#endif

static struct {
	unsigned int odds;
	bool may_stay;
	void *live[4096];
	uint32_t nb_live, nb_kept;
	uint64_t seed, calls, failed, dead, marked;
} st;

static bool
chance(unsigned int odds)
{
	return odds > 0 && rnd(&st.seed) % odds == 0;
}

static int
st_create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	static const int codes[] = { -EINVAL, -ENOSPC, -EAGAIN, -EEXIST, -ENOTSUP, -EIO, -ENOMEM,
		-ETIMEDOUT };
	int rc;

	st.calls++;
	if (chance(st.odds)) {
		const int code = codes[rnd(&st.seed) % RTE_DIM(codes)];

		st.failed++;
		error->message = NULL;
		st.may_stay |= code == -ETIMEDOUT;
		if (code == -ETIMEDOUT && chance(2) &&
			hy_flow_simulator.create(port, attr, items, actions, flow, error) == 0)
			st.nb_kept++;
		*flow = NULL;
		return code;
	}
	rc = hy_flow_simulator.create(port, attr, items, actions, flow, error);
	if (rc == 0)
		st.live[st.nb_live++] = *flow;
	return rc;
}

static int
st_destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	uint32_t at = 0;

	st.calls++;
	while (at < st.nb_live && st.live[at] != flow)
		at++;
	if (at == st.nb_live) {
		st.dead++;
		return -ENOENT;
	}
	st.live[at] = st.live[--st.nb_live];
	if (chance(st.odds)) {
		st.failed++;
		st.may_stay = true;
		error->message = NULL;
		if (chance(2))
			hy_flow_simulator.destroy(port, flow, error);
		else
			st.nb_kept++;
		return -EIO;
	}
	return hy_flow_simulator.destroy(port, flow, error);
}

static int
st_validate(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	st.calls++;
	if (chance(100 * st.odds)) {
		st.failed++;
		return -EIO;
	}
	return hy_flow_simulator.validate(port, attr, items, actions, error);
}

static struct hy_flow_provider st_provider;
static struct hy_offload_params params;

static void
st_lost(void)
{
	struct hy_flow_sim_stats s;

	hy_flow_sim_stats(R->sim, &s);
	if (s.rules == 0)
		st.nb_live = st.nb_kept = 0;
}

static void
again(void)
{
	struct hy_flow_sim_stats s;
	const unsigned int odds = st.odds;
	char reason[256];

	hy_offload_destroy(R->offload);
	R->offload = NULL;
	hy_flow_sim_stats(R->sim, &s);
	if (s.rules != st.nb_kept + st.nb_live || (st.nb_live > 0 && !st.may_stay))
		fail_msg("%u rules, kept %u, live %u", s.rules, st.nb_kept, st.nb_live);
	flow_traffic(100);
	st.odds = 0;
	st.may_stay = st.nb_live > 0;
	/* the next offload avoids what was kept, or the port is reset */
	if (chance(2) || st.nb_live > 0 ||
		hy_offload_create(R->policy, R->port->id, &params, &R->offload, reason,
			sizeof(reason)) != 0) {
		hy_flow_sim_flush(R->sim);
		hy_offload_kept_forget(R->port->id);
		st_lost();
		if (hy_offload_create(R->policy, R->port->id, &params, &R->offload, reason,
			    sizeof(reason)) != 0)
			fail_msg("no offload: %s", reason);
	}
	st.odds = odds;
}

static int
commit(bool cancelled)
{
	const struct hy_policy_listener listener = { .prepare = access_refuse };
	int rc;

	if (cancelled)
		assert_int_equal(hy_policy_listen(R->policy, &listener), 0);
	if (chance(4))
		unit_alloc_fail(1 + rnd(&st.seed) % 60);
	rc = hy_policy_commit(R->policy);
	unit_alloc_fail(0);
	if (cancelled)
		hy_policy_unlisten(R->policy, &listener);
	if (rc != 0)
		hy_policy_abort(R->policy);
	assert_true(rc == 0 || rc == -EPERM || rc == -ENOMEM || rc == -ETIMEDOUT);
	return rc;
}

static void
change(void)
{
	for (uint32_t n = 1 + rnd(&st.seed) % 6; n > 0; n--) {
		const uint32_t id = rnd(&st.seed) % 60;
		struct hy_flow_rule rule = flow_rule(id, &st.seed);

		if (chance(4)) {
			hy_policy_remove(R->policy, id);
			continue;
		}
		if (chance(3) || hy_policy_replace(R->policy, &rule) != 0) {
			hy_policy_remove(R->policy, id);
			hy_policy_add(R->policy, &rule);
		}
	}
	commit(chance(6));
}

static void
event(void)
{
	switch (rnd(&st.seed) % 3) {
	case 0:
		hy_offload_down(R->offload, true);
		flow_traffic(5);
		hy_flow_sim_stop(R->sim);
		st_lost();
		if (chance(2))
			change();
		hy_flow_sim_start(R->sim);
		break;
	case 1:
		hy_offload_down(R->offload, false);
		hy_flow_sim_flush(R->sim);
		st_lost();
		if (chance(2))
			change();
		break;
	default:
		hy_offload_recovers(R->offload);
		if (chance(2)) {
			hy_flow_sim_flush(R->sim);
			st_lost();
		} else {
			st.nb_kept += st.nb_live;
			st.nb_live = 0;
		}
	}
	flow_traffic(10);
	hy_offload_up(R->offload);
}

static void
st_open(const struct flow_profile *profile, uint64_t seed)
{
	memset(&st, 0, sizeof(st));
	st.seed = seed;
	st_provider = hy_flow_simulator;
	st_provider.create = st_create;
	st_provider.destroy = st_destroy;
	st_provider.validate = st_validate;
	params = (struct hy_offload_params){ .provider = &st_provider,
		.driver = hy_flow_driver_of(profile->driver),
		.settle_us = 1000,
		.age_us = 1,
		.max_rules = 32,
		.sample_every = 1u << 31, /* or software would be right about them */
		.demote_after = 1u << 30 };
	flow_open(profile, (struct hy_flow_sim_params){ 0 }, params);
	R->seed = seed + 1;
}

static void
st_round(void)
{
	st.odds = chance(3) ? 0 : 3 + rnd(&st.seed) % 20;
	change();
	flow_traffic(20);
	for (uint32_t n = rnd(&st.seed) % 6; n > 0; n--) {
		rte_delay_us_sleep(chance(2) ? 1100 : 10);
		if (chance(6))
			unit_alloc_fail(1 + rnd(&st.seed) % 10);
		hy_offload_poll(R->offload);
		unit_alloc_fail(0);
		flow_traffic(20);
	}
	if (chance(8))
		event();
	flow_traffic(20);
}

static void
run(const struct flow_profile *profile, uint64_t seed)
{
	uint32_t most = 0;

	st_open(profile, seed);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct hy_offload_stats s;

		st_round();
		s = flow_stats();
		most = RTE_MAX(most, s.hw_rules);
		if (chance(s.state == HY_OFFLOAD_UP ? 25 : 4)) {
			st.marked += s.marked;
			again();
		}
		if (R->wrong > 0 || st.dead > 0)
			fail_msg("%s, HALYARD_SEED=%ju, round %u: %ju wrong classes, %ju calls "
				 "with handles of no rule",
				profile->name, (uintmax_t)seed, i, (uintmax_t)R->wrong,
				(uintmax_t)st.dead);
	}
	st.odds = 0;
	st.marked += flow_stats().marked;
	again();
	print_message("%s: %ju of %ju calls failed; up to %u rules; %ju of %ju packets marked\n",
		profile->name, (uintmax_t)st.failed, (uintmax_t)st.calls, most,
		(uintmax_t)st.marked, (uintmax_t)R->compared);
	assert_true(st.failed > ROUNDS / 10 && st.marked > ROUNDS / 6 && most > 5);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(flow_teardown(NULL), 0);
}

static void
a_storm_of_failures_changes_no_class(void **state)
{
	const char *only = getenv("HALYARD_SEED");

	RTE_SET_USED(state);
	for (unsigned int p = 0; p < FLOW_PROFILES; p++)
		run(&flow_profiles[p], only == NULL ? 1 + p : strtoull(only, NULL, 0));
}

static const struct CMUnitTest tests[] = {
	FLOW_TEST(a_storm_of_failures_changes_no_class),
};
UNIT_SUITE(tests)
