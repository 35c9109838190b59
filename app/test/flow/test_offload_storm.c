/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access lists on ports that fail at random: each call of the driver, each allocation, stops, resets,
 * recoveries and cancelled commits, with packets before, between and in the calls.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "access_fixture.h"

#define HANDLES 4096
#ifdef SANITIZED
#define ROUNDS 80
#else
#define ROUNDS 200
#endif

static struct storm {
	unsigned int odds;   /* one in so many calls fails; 0: none */
	bool keeps;          /* rules may stay that the port was to remove, or did not answer for */
	bool may_stay;       /* rules, since one that they guard may be there still */
	void *live[HANDLES]; /* rules that the port has and that the offload may name */
	uint32_t nb_live, nb_kept; /* kept: in the port, but their handles must not be used */
	struct hy_flow_match ghosts[HANDLES]; /* kept rules that drop packets */
	uint32_t nb_ghosts;
	uint64_t seed;
	uint64_t calls, failed, dead, excused, wrong, dropped, arrived, during;
	uint64_t stayed;            /* rules that the port has kept */
	unsigned int demoted, down; /* rounds */
} storm, sum;

static bool
chance(unsigned int odds)
{
	return odds > 0 && rnd(&storm.seed) % odds == 0;
}

static struct hy_flow_rule
storm_rule(uint32_t id)
{
	static const uint8_t actions[] = { HY_RULE_DENY, HY_RULE_DENY, HY_RULE_DENY, HY_RULE_PERMIT,
		HY_RULE_PERMIT, HY_RULE_COUNT };
	static const uint8_t lens[] = { 8, 16, 24, 32, 32, 32 };
	const uint64_t r = rnd(&storm.seed);
	struct hy_flow_rule rule = { .id = id,
		.precedence = r % 12,
		.action = actions[r / 16 % RTE_DIM(actions)],
		.class_id = HY_FLOW_NO_CLASS };
	struct hy_flow_match *m = &rule.match;

	rule.log = r / 128 % 32 == 0;
	m->fields = HY_FLOW_SRC;
	m->src_len = lens[r / 4096 % RTE_DIM(lens)];
	m->src = IP4(10, r >> 20 & 1, r >> 21 & 1, 1 + (r >> 22 & 3)) &
		UINT32_MAX << (32 - m->src_len);
	if ((r >> 25 & 3) == 0) {
		m->fields |= HY_FLOW_DST;
		m->dst_len = (r >> 27 & 1) != 0 ? 32 : 16;
		m->dst = IP4(198, 18, 0, 1 + (r >> 28 & 1)) & UINT32_MAX << (32 - m->dst_len);
	}
	if ((r >> 30 & 7) == 0) {
		m->fields |= HY_FLOW_PROTO | HY_FLOW_DPORT;
		m->proto = 17;
		m->dport[0] = m->dport[1] = 53;
	}
	if (A.by_ports) {
		m->fields = HY_FLOW_5_TUPLE;
		m->src_len = m->dst_len = 32;
		m->src = IP4(10, 0, 0, 1 + (r >> 22 & 3));
		m->dst = IP4(198, 18, 0, 1 + (r >> 28 & 1));
		m->proto = 6;
		m->sport[0] = m->sport[1] = 1024;
		m->dport[0] = m->dport[1] = (r >> 33 & 1) != 0 ? 53 : 80;
	}
	return rule;
}

static bool
denies(const struct hy_policy_view *view, const struct hy_flow_key *key)
{
	const uint32_t rank = hy_policy_classify(view, key);

	return rank != HY_POLICY_NONE && view->rules[rank].rule.action == HY_RULE_DENY &&
		!view->rules[rank].rule.log;
}

/* What of hardware drops a packet that a list permits must be a rule that the port has kept. */
static void
packet_pass(const struct hy_policy_view *view)
{
	const uint64_t r = rnd(&storm.seed);
	uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .payload = 40);
	const rte_be32_t src = rte_cpu_to_be_32(IP4(10, r & 1, r >> 1 & 1, 1 + (r >> 2 & 3)));
	const rte_be32_t dst = rte_cpu_to_be_32(IP4(198, 18, r >> 8 & 1, 1 + (r >> 5 & 1)));
	const rte_be16_t ports[2] = { rte_cpu_to_be_16(1024),
		rte_cpu_to_be_16((r >> 6 & 1) != 0 ? 53 : 80) };
	struct hy_flow_key key;
	struct rte_mbuf *m;

	memcpy(frame, &A.mac, sizeof(A.mac));
	memcpy(frame + 26, &src, sizeof(src));
	memcpy(frame + 30, &dst, sizeof(dst));
	memcpy(frame + 34, ports, sizeof(ports));
	frame[23] = (r >> 7 & 1) != 0 ? 17 : 6;
	frame_sum(frame);
	hy_flow_key(frame, len, &key);
	m = packet(frame, len);
	m->port = A.port->id;
	if (hy_flow_sim_rx(A.sim, &m, 1) == 1) {
		storm.arrived++;
		rte_pktmbuf_free(m);
		return;
	}
	storm.dropped++;
	if (denies(view, &key))
		return;
	for (uint32_t g = 0; g < storm.nb_ghosts; g++)
		if (hy_flow_matches(&storm.ghosts[g], &key)) {
			storm.excused++;
			return;
		}
	storm.wrong++;
}

static void
packets_pass(unsigned int n)
{
	const struct hy_policy_view *view = hy_policy_view_hold(A.policy);

	while (n-- > 0)
		packet_pass(view);
	hy_policy_view_release(A.policy, view);
}

/* While the driver works, with the offload's lock held. */
static void
packets_during(void)
{
	for (int i = 0; i < 4; i++)
		packet_pass(hy_policy_view(A.policy));
	storm.during += 4;
}

static int
live_find(const void *flow)
{
	for (uint32_t i = 0; i < storm.nb_live; i++)
		if (storm.live[i] == flow)
			return (int)i;
	return -1;
}

static bool
is_drop(const struct rte_flow_action *actions)
{
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++)
		if (actions->type == RTE_FLOW_ACTION_TYPE_DROP)
			return true;
	return false;
}

static int
storm_create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	static const int codes[] = { -EINVAL, -ENOSPC, -EAGAIN, -EEXIST, -ENOTSUP, -EIO, -ENOMEM,
		-ETIMEDOUT };
	const bool drop = is_drop(actions);
	int rc;

	packets_during();
	storm.calls++;
	if (chance(storm.odds)) {
		const struct batch *b = A.offload == NULL ? NULL : A.offload->batch;
		const int code = codes[rnd(&storm.seed) % RTE_DIM(codes)];

		storm.failed++;
		storm.may_stay |= code == -ETIMEDOUT;
		error->message = NULL;
		if (code != -ETIMEDOUT || (drop && !storm.keeps) || chance(2))
			return code;
		if (hy_flow_simulator.create(port, attr, items, actions, flow, error) == 0) {
			storm.nb_kept++;
			storm.stayed++;
			for (uint32_t i = 0; drop && b != NULL && i < b->n; i++)
				if (b->rules[i].lowered.items == items)
					storm.ghosts[storm.nb_ghosts++] =
						A.offload->flows[b->rules[i].slot].match;
		}
		*flow = NULL;
		return code;
	}
	rc = hy_flow_simulator.create(port, attr, items, actions, flow, error);
	if (rc == 0)
		storm.live[storm.nb_live++] = *flow;
	packets_during();
	return rc;
}

static int
storm_destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	const int at = live_find(flow);
	const struct flow *of = NULL;
	int rc = 0;

	packets_during();
	storm.calls++;
	if (at < 0) {
		storm.dead++;
		return -ENOENT;
	}
	for (uint32_t i = 0; A.offload != NULL && i < A.offload->nb_slots; i++)
		if (A.offload->flows[i].handle == flow && A.offload->flows[i].state != FLOW_FREE)
			of = &A.offload->flows[i];
	storm.live[at] = storm.live[--storm.nb_live];
	if (chance(of == NULL || of->drop ? 6 * storm.odds : storm.odds)) {
		storm.failed++;
		storm.may_stay |= of == NULL || of->drop;
		if (chance(2) || (of != NULL && of->drop && !storm.keeps)) {
			hy_flow_simulator.destroy(port, flow, error);
		} else {
			storm.nb_kept++;
			storm.stayed++;
			if (of != NULL && of->drop)
				storm.ghosts[storm.nb_ghosts++] = of->match;
		}
		error->message = NULL;
		return -EIO;
	}
	rc = hy_flow_simulator.destroy(port, flow, error);
	packets_during();
	return rc;
}

static int
storm_query(uint16_t port, void *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error)
{
	storm.calls++;
	storm.dead += live_find(flow) < 0;
	if (chance(4 * storm.odds)) {
		storm.failed++;
		return -EIO;
	}
	return hy_flow_simulator.query(port, flow, count, error);
}

static int
storm_validate(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	storm.calls++;
	if (chance(100 * storm.odds)) {
		storm.failed++;
		return -EIO;
	}
	return hy_flow_simulator.validate(port, attr, items, actions, error);
}

static void
storm_lost(void)
{
	struct hy_flow_sim_stats s;

	hy_flow_sim_stats(A.sim, &s);
	if (s.rules == 0)
		storm.nb_live = storm.nb_kept = storm.nb_ghosts = 0;
}

/* The offload, by the provider that fails, on a port that takes rules. */
static void
offload_make(const struct hy_flow_driver *driver)
{
	const struct hy_offload_params params = { .driver = driver,
		.provider = &A.provider,
		.settle_us = 1000,
		.age_us = 1,
		.max_rules = 64 };
	const unsigned int odds = storm.odds;
	char reason[256];

	storm.odds = 0;
	A.offload = NULL;
	if (hy_offload_create(A.policy, A.port->id, &params, &A.offload, reason, sizeof(reason)) !=
		0)
		fail_msg("no offload: %s", reason);
	storm.odds = odds;
}

/* Its end leaves what the port has kept, and what that needs. Then the port is reset. */
static void
offload_again(void)
{
	const struct hy_flow_driver *driver = A.offload->params.driver;
	struct hy_flow_sim_stats s;

	hy_offload_destroy(A.offload);
	hy_flow_sim_stats(A.sim, &s);
	if (s.rules != storm.nb_kept + storm.nb_live || (storm.nb_live > 0 && !storm.may_stay))
		fail_msg("the port has %u rules, of which it kept %u; %u are known", s.rules,
			storm.nb_kept, storm.nb_live);
	storm.may_stay = false;
	hy_flow_sim_flush(A.sim);
	hy_offload_kept_forget(A.port->id);
	storm_lost();
	offload_make(driver);
}

static void
commit(void)
{
	const struct hy_policy_listener listener = { .prepare = access_refuse };
	const bool cancelled = chance(6);
	int rc;

	for (uint32_t n = 1 + rnd(&storm.seed) % 4; n > 0; n--) {
		const uint32_t id = rnd(&storm.seed) % IDS;
		const struct hy_flow_rule rule = storm_rule(id);

		if (chance(4))
			hy_policy_remove(A.policy, id);
		else
			access_rule_set(&rule);
	}
	if (cancelled)
		assert_int_equal(hy_policy_listen(A.policy, &listener), 0);
	if (chance(4))
		unit_alloc_fail(1 + rnd(&storm.seed) % 60);
	rc = hy_policy_commit(A.policy);
	unit_alloc_fail(0);
	assert_true(rc == 0 || rc == -EPERM || rc == -ENOMEM);
	if (cancelled)
		hy_policy_unlisten(A.policy, &listener);
	if (rc != 0)
		hy_policy_abort(A.policy);
}

static void
port_event(void)
{
	const unsigned int kind = rnd(&storm.seed) % 4;

	if (kind == 0) { /* it stops, and starts */
		hy_offload_down(A.offload, true);
		packets_pass(5);
		hy_flow_sim_stop(A.sim);
		storm_lost();
		if (chance(2))
			commit();
		hy_flow_sim_start(A.sim);
	} else if (kind == 1) { /* it is reset */
		hy_offload_down(A.offload, false);
		hy_flow_sim_flush(A.sim);
		storm_lost();
		if (chance(2))
			commit();
	} else if (kind == 2) { /* it recovers, and may have kept its rules */
		hy_offload_recovers(A.offload);
		if (!storm.keeps || chance(2)) {
			hy_flow_sim_flush(A.sim);
			storm_lost();
		} else {
			for (uint32_t i = 0; i < A.offload->nb_slots; i++) {
				const struct flow *flow = &A.offload->flows[i];

				if (flow->state == FLOW_STUCK && flow->drop && flow->handle != NULL)
					storm.ghosts[storm.nb_ghosts++] = flow->match;
			}
			storm.nb_kept += storm.nb_live;
			storm.nb_live = 0;
		}
		if (chance(2))
			commit();
	} else {
		hy_offload_read(A.offload);
		return;
	}
	hy_offload_up(A.offload);
}

static void
storm_open(const char *profile, const char *driver, bool by_ports, bool keeps, uint64_t seed)
{
	access_open(profile, driver);
	hy_offload_destroy(A.offload);
	memset(&storm, 0, sizeof(storm));
	storm.seed = seed;
	storm.keeps = keeps;
	A.by_ports = by_ports;
	A.provider.create = storm_create;
	A.provider.destroy = storm_destroy;
	A.provider.query = storm_query;
	A.provider.validate = storm_validate;
	offload_make(hy_flow_driver_of(driver));
}

/* A commit, polls and what else happens to a port, with packets in between. */
static void
storm_round(void)
{
	storm.odds = chance(3) ? 0 : 3 + rnd(&storm.seed) % 20;
	commit();
	packets_pass(10);
	for (uint32_t n = rnd(&storm.seed) % 6; n > 0; n--) {
		rte_delay_us_sleep(chance(2) ? 1100 : 10);
		if (chance(6))
			unit_alloc_fail(1 + rnd(&storm.seed) % 10);
		hy_offload_poll(A.offload);
		unit_alloc_fail(0);
		packets_pass(10);
	}
	if (chance(8))
		port_event();
	packets_pass(10);
}

static void
storm_add(void)
{
	sum.calls += storm.calls;
	sum.failed += storm.failed;
	sum.dropped += storm.dropped;
	sum.arrived += storm.arrived;
	sum.excused += storm.excused;
	sum.stayed += storm.stayed;
	sum.during += storm.during;
}

static void
storm_run(const char *profile, const char *driver, bool by_ports, bool keeps, uint64_t seed)
{
	storm_open(profile, driver, by_ports, keeps, seed);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		enum hy_offload_state is;

		storm_round();
		is = access_stats().state;
		sum.demoted += is == HY_OFFLOAD_DEMOTED;
		sum.down += is == HY_OFFLOAD_DOWN;
		if (chance(is == HY_OFFLOAD_UP ? 30 : 4))
			offload_again();
		if (storm.wrong > 0 || storm.dead > 0)
			fail_msg("%s, HALYARD_SEED=%ju, round %u: %ju packets wrongly dropped, %ju "
				 "calls with handles of no rule",
				profile, (uintmax_t)seed, i, (uintmax_t)storm.wrong,
				(uintmax_t)storm.dead);
	}
	storm.odds = 0;
	offload_again();
	assert_true(hy_policy_hardware(A.policy, HY_POLICY_ALL) <= storm.dropped);
	storm_add();
	access_close();
}

static void
storms(bool keeps)
{
	const char *only = getenv("HALYARD_SEED");
	const uint64_t seed = only == NULL ? 1 : strtoull(only, NULL, 0);

	memset(&sum, 0, sizeof(sum));
	storm_run("mlx5", "mlx5_pci", false, keeps, seed);
	storm_run("cnxk", "net_cn10k", false, keeps, seed);
	storm_run("ice", "net_ice", true, keeps, seed);
	print_message("%ju of %ju calls failed; %ju packets dropped (%ju by kept rules alone), %ju "
		      "arrived, %ju of all in calls; %u rounds demoted, %u down\n",
		(uintmax_t)sum.failed, (uintmax_t)sum.calls, (uintmax_t)sum.dropped,
		(uintmax_t)sum.excused, (uintmax_t)sum.arrived, (uintmax_t)sum.during, sum.demoted,
		sum.down);
	assert_true(sum.failed > ROUNDS / 8 && sum.dropped > ROUNDS && sum.during > 10 * ROUNDS);
	assert_true(sum.demoted > 0 && sum.down > 0);
	assert_true(keeps ? sum.stayed > 0 : sum.excused == 0);
}

static void
a_storm_of_failures_drops_nothing_that_is_permitted(void **state)
{
	RTE_SET_USED(state);
	storms(false);
}

static void
in_a_storm_only_rules_that_the_port_kept_drop_what_is_permitted(void **state)
{
	RTE_SET_USED(state);
	storms(true);
}

static const struct CMUnitTest offload_storm_tests[] = {
	ACCESS_TEST(a_storm_of_failures_drops_nothing_that_is_permitted),
	ACCESS_TEST(in_a_storm_only_rules_that_the_port_kept_drop_what_is_permitted),
};

UNIT_SUITE(offload_storm_tests)
