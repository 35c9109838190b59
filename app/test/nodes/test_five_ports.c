/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Five ports of different vendors in one process: each gets its own variants, and all packets get
 * the policy's classes while rules change, tables are full, ports are reset and one is removed.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include <hy_flow_sim.h>

#include "five_rig.h"

#ifdef SANITIZED
#define SLOW true
#else
#define SLOW (getenv("HALYARD_UNDER") != NULL) /* a program of another CPU */
#endif
#define PACKETS (SLOW ? UINT64_C(200000) : UINT64_C(10000000))

#define ROUNDS 200 /* commits, as many packets apart */
#define WARM_ROUNDS_MOST 2000
#define WAITS_MOST 100

/* What each port is given, and why; the rules' look, by what the port was found to take. */
static const struct {
	const char *driver, *variant, *rules;
	const char *mark, *acl, *linear; /* how the reasons begin */
	uint32_t mark_max, priorities;
} wanted[PORTS] = {
#define BY_MARKS(driver, rules, mark_max, priorities) \
	{ \
		driver, "mark", rules, "best score", "mark scores 40", "mark scores 40", mark_max, \
			priorities \
	}
	[CNXK] = BY_MARKS("net_cn10k", "net_cn*k", 0xfffd, 3),
	[MLX5] = BY_MARKS("mlx5_pci", "*mlx5*", 0xffffef, 16),
	[ICE] = BY_MARKS("net_ice", "net_ice", UINT32_MAX - 1, 1),
	[I40E] = BY_MARKS("net_i40e", "net_i40e", UINT32_MAX, 1),
	[RING] = { "net_ring", "acl", NULL, "needs flow_mark: ", "best score", "acl scores 20", 0,
		0 },
};

static void
assert_reason(const struct hy_selection *s, const char *variant, const char *reason)
{
	unsigned int c = 0;

	while (strcmp(s->candidates[c].variant->impl.variant, variant) != 0)
		assert_true(++c < s->nb_candidates);
	if (strncmp(s->candidates[c].reason, reason, strlen(reason)) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", variant, s->candidates[c].reason, reason);
}

static void
assert_given(unsigned int p)
{
	const struct hy_selection *s = hy_hal_selection(F.hal, "flow_cls", F.port[p].id);
	struct hy_offload_stats stats;
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_info_get(F.port[p].id, &info), 0);
	assert_string_equal(info.driver_name, wanted[p].driver);
	assert_string_equal(s->chosen->impl.variant, wanted[p].variant);
	assert_int_equal(s->nb_candidates, 3);
	assert_reason(s, "mark", wanted[p].mark);
	assert_reason(s, "acl", wanted[p].acl);
	assert_reason(s, "linear", wanted[p].linear);
	if (F.port[p].offload == NULL) {
		assert_int_equal(p, RING);
		return;
	}
	hy_offload_stats(F.port[p].offload, &stats);
	assert_string_equal(hy_flow_driver_of(info.driver_name)->driver, wanted[p].rules);
	assert_int_equal(stats.limits.mark_max, wanted[p].mark_max);
	assert_int_equal(stats.limits.priorities, wanted[p].priorities);
	assert_ptr_equal(hy_flow_rte_of(F.port[p].id),
		p == MLX5 ? &hy_flow_rte_async : &hy_flow_rte);
}

/* One random change: a rule comes, goes, or becomes another. */
static void
churn(void)
{
	const struct hy_flow_rule rule = five_rule(CHURNED_ID + rnd(&F.seed) % CHURNED,
		(uint16_t)(CHURNED_ID + rnd(&F.seed) % 1000));

	if (hy_policy_replace(F.policy, &rule) != 0)
		assert_int_equal(hy_policy_add(F.policy, &rule), 0);
	else if (rnd(&F.seed) % 3 == 0)
		assert_int_equal(hy_policy_remove(F.policy, rule.id), 0);
	five_commit();
}

#define REMOVED ICE
#define REMOVAL 150 /* the round */

/* Until so many packets more were compared, half of them with the answer of one version only. */
static void
control(void)
{
	const uint64_t enough = five_checked() + PACKETS / ROUNDS;
	const uint64_t quiet = five_quiet() + PACKETS / ROUNDS / 2;

	do {
		five_control();
		usleep(200);
	} while (five_checked() < enough || five_quiet() < quiet);
}

/* When ports need a reset. Each then has rules to lose, which is the scheduler's choice too. */
static const struct {
	unsigned int round, port;
} resets[] = { { 30, CNXK }, { 60, MLX5 }, { 90, ICE }, { 120, I40E }, { 140, CNXK } };

static bool
has_rules(unsigned int p)
{
	struct hy_offload_stats s;

	hy_offload_stats(F.port[p].offload, &s);
	return s.hw_rules > 0;
}

static void
harm(unsigned int round)
{
	for (size_t i = 0; i < RTE_DIM(resets); i++) {
		const unsigned int p = resets[i].port;

		if (resets[i].round != round)
			continue;
		for (unsigned int waits = 0; waits < WAITS_MOST && !has_rules(p); waits++)
			control();
		simnic_break(F.port[p].id);
	}
	if (round == REMOVAL)
		simnic_remove(F.port[REMOVED].id);
}

/* How much hardware has to do while rules change is the scheduler's choice. */
static bool
is_warm(void)
{
	struct hy_offload_stats s;
	bool warm = true;

	for (unsigned int p = 0; p < RING; p++) {
		hy_offload_stats(F.port[p].offload, &s);
		warm &= s.marked > 1000 && s.sampled > 10 && s.residue > 0;
#ifndef SANITIZED
		warm &= s.evicted > 0 || p == MLX5; /* the others have too little room */
#endif
	}
	return warm;
}

/* Returns how many times rules changed. */
static unsigned int
run(void)
{
	unsigned int rounds = 0;

	five_start();
	for (; rounds < WARM_ROUNDS_MOST && !is_warm(); rounds++) {
		churn();
		control();
	}
	for (unsigned int round = 0; round < ROUNDS; round++, rounds++) {
		churn();
		harm(round);
		control();
	}
	five_stop();
	return rounds;
}

/* For who reads the log: what the test was made of. */
static void
report(unsigned int rounds)
{
	for (unsigned int p = 0; p < RING; p++) {
		struct hy_offload_stats s;

		hy_offload_stats(F.port[p].offload, &s);
		print_message(
			"%s: %ju packets, %ju by marks, %ju stale, %ju held to software's "
			"rules, %ju sampled, %ju overdue, %ju late; %ju rules installed, %ju evicted, "
			"%ju lost\n",
			wanted[p].driver, (uintmax_t)five_fed(p), (uintmax_t)s.marked,
			(uintmax_t)s.stale, (uintmax_t)s.residue, (uintmax_t)s.sampled,
			(uintmax_t)F.port[p].line.overdue, (uintmax_t)F.port[p].late,
			(uintmax_t)s.installed, (uintmax_t)s.evicted, (uintmax_t)s.lost);
	}
	print_message("%u changes, %ju packets compared, %ju of them while rules changed, which "
		      "mattered to %ju; %ju wrong\n",
		rounds, (uintmax_t)F.checked, (uintmax_t)(F.checked - F.quiet), (uintmax_t)F.either,
		(uintmax_t)F.wrong);
}

/* What a port received, classified and sent, node by node, and what its offload makes of that. */
static void
assert_port_counted(unsigned int p)
{
	const uint64_t received = five_count("ethdev_rx", p, "objs");
	struct rte_eth_stats eth;

	assert_int_equal(rte_eth_stats_get(F.port[p].id, &eth), 0);
	assert_int_equal(eth.ipackets, received + F.port[p].line.n + F.port[p].line.overdue);
	assert_int_equal(five_count("flow_cls", p, "objs"), received);
	assert_int_equal(five_count("flow_cls", p, "hw_hits") +
			five_count("flow_cls", p, "sw_hits") +
			five_count("flow_cls", p, "sw_misses"),
		received);
	assert_int_equal(five_count("flow_cls", p, "denied"), 0);
	assert_int_equal(five_count("ethdev_tx", p, "objs"), received);
	assert_int_equal(eth.opackets + five_count("ethdev_tx", p, "tx_full") +
			five_count("ethdev_tx", p, "port_down"),
		received);
	assert_true(received > PACKETS / (4 * PORTS));
}

static void
assert_offload_counted(unsigned int p)
{
	struct hy_flow_sim_stats sim;
	struct hy_offload_stats s;
	struct rte_eth_stats eth;

	hy_offload_stats(F.port[p].offload, &s);
	hy_flow_sim_stats(simnic_engine(F.port[p].id), &sim);
	assert_int_equal(rte_eth_stats_get(F.port[p].id, &eth), 0);
	assert_int_equal(eth.ipackets, five_fed(p));
	assert_int_equal(eth.rx_nombuf, 0);
	assert_int_equal(sim.packets, eth.ipackets);
	assert_int_equal(sim.dropped + sim.lied, 0);
	assert_int_equal(five_count("flow_cls", p, "hw_hits"), s.marked);
	assert_int_equal(five_count("flow_cls", p, "hw_stale"), s.stale);
	assert_int_equal(five_count("flow_cls", p, "residue_checks"), s.residue);
	assert_int_equal(five_count("flow_cls", p, "sampled"), s.sampled);
	assert_int_equal(five_count("flow_cls", p, "mismatches"), s.mismatches);
	assert_true(s.mismatches <= F.port[p].late);
	assert_true(F.port[p].late <= five_fed(p) / 10);
	assert_int_equal(s.failed, 0);
	assert_string_equal(s.demoted, "");
	assert_true(s.marked + s.stale + F.port[p].line.marked <= sim.marked);
	assert_true(s.lost > 0);
	assert_true(p != MLX5 || s.evicted == 0);
}

/* Rules counted each packet once: by classes, by rules that stayed, and in all. */
static void
assert_rules_counted(void)
{
	uint64_t hits = 0, misses = 0, of_class = 0;

	for (uint32_t c = 1; c <= UINT16_MAX; c++) {
		if (hy_policy_class_hits(F.policy, (uint16_t)c) != F.by_class[c])
			fail_msg("class %u: %ju packets, and rules counted %ju", c,
				(uintmax_t)F.by_class[c],
				(uintmax_t)hy_policy_class_hits(F.policy, (uint16_t)c));
		of_class += F.by_class[c];
	}
	for (uint32_t id = 0; id < STABLE; id++)
		assert_int_equal(hy_policy_hits(F.policy, id), F.by_class[id + 1]);
	for (unsigned int p = 0; p < PORTS; p++) {
		hits += five_count("flow_cls", p, "hw_hits") + five_count("flow_cls", p, "sw_hits");
		misses += five_count("flow_cls", p, "sw_misses");
	}
	assert_int_equal(hits, of_class);
	assert_int_equal(misses, F.by_class[HY_FLOW_NO_CLASS]);
	assert_int_equal(hits + misses, F.checked);
}

/* Ports went down and came back as often as they broke; nobody asked for what they cannot do. */
static void
assert_ports_lived(void)
{
	const struct hy_target gone = { .kind = HY_TARGET_PORT, .id = F.port[REMOVED].id };

	for (unsigned int p = 0; p < PORTS; p++) {
		const struct five_port *port = &F.port[p];
		struct simnic_offences offences = { 0 };
		unsigned int broken = 0;

		if (p != RING)
			simnic_offences(port->id, &offences);
		assert_int_equal(offences.flow_when_removed, 0);
		assert_int_equal(offences.flow_when_broken, 0);
		for (size_t i = 0; i < RTE_DIM(resets); i++)
			broken += resets[i].port == p;
		assert_int_equal(port->resets, broken);
		assert_int_equal(port->downs, broken);
		assert_int_equal(port->ups, broken);
		assert_int_equal(port->gone, p == REMOVED);
		assert_int_equal(hy_hal_port_state(F.hal, port->id),
			p == REMOVED ? HY_PORT_GONE : HY_PORT_UP);
		if (p != REMOVED)
			assert_given(p);
	}
	assert_string_equal(hy_hal_selection(F.hal, "ethdev_rx", gone.id)->chosen->impl.variant,
		"parked");
	assert_int_equal(hy_hal_capability(F.hal, gone, HY_CAP_FLOW_MARK)->level, HY_LEVEL_NO);
}

static void
five_ports_classify_as_the_policy_says(void **state)
{
	unsigned int rounds;

	RTE_SET_USED(state);
	five_open(&(const struct hy_offload_params){
		.sample_every = 64, .settle_us = SETTLE_MS * 1000, .age_us = 10000 });
	for (unsigned int p = 0; p < PORTS; p++)
		assert_given(p);
	rounds = run();
	report(rounds);
	assert_int_equal(F.wrong, 0);
	assert_true(F.checked >= PACKETS);
	assert_true(F.quiet >= PACKETS / 2);
	assert_true(is_warm());
	assert_int_equal(hy_policy_view(F.policy)->version, 1 + rounds);
	for (unsigned int p = 0; p < PORTS; p++)
		assert_port_counted(p);
	for (unsigned int p = 0; p < RING; p++)
		assert_offload_counted(p);
	assert_rules_counted();
	assert_ports_lived();
}

static const struct CMUnitTest five_tests[] = {
	cmocka_unit_test_setup_teardown(five_ports_classify_as_the_policy_says, five_setup,
		five_teardown),
};

UNIT_SUITE(five_tests)
