/* SPDX-License-Identifier: BSD-3-Clause */
/* What an offload does to a port beside its own rules: nothing; and what cnxk's driver has few of. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include "app/test/flow/failing_fixture.h"
#include "driver_rig.h"

#define RULES 6
#define OVERLAPPING 200u

/* The program's own: a packet that it drops. */
static const struct sim_packet own = {
	.src = 5, .dst = 6, .proto = IPPROTO_UDP, .sport = 11, .dport = 12
};

static struct rte_flow *
own_rule(void)
{
	struct rte_eth_dev_info info;
	struct sim_match flow;
	struct rte_flow *made;

	assert_int_equal(rte_eth_dev_info_get(D->port, &info), 0);
	sim_match(&flow, &own, 1, false, false);
	/* A packet type has one set of fields. */
	if (hy_flow_driver_of(info.driver_name)->names_protocol) {
		flow.ip.hdr.next_proto_id = own.proto;
		flow.ip_mask.hdr.next_proto_id = UINT8_MAX;
	}
	flow.actions[0] = (struct rte_flow_action){ .type = RTE_FLOW_ACTION_TYPE_DROP };
	made = rte_flow_create(D->port, &flow.attr, flow.items, flow.actions, NULL);
	assert_non_null(made);
	return made;
}

/* Whether it drops what it is for, and nothing else. */
static void
assert_own_rule_works(void)
{
	const struct sim_packet other = {
		.src = 5, .dst = 7, .proto = IPPROTO_UDP, .sport = 11, .dport = 12
	};

	assert_int_equal(nic_marked(D->port, &own), -2);
	assert_int_equal(nic_marked(D->port, &other), -1);
}

static void
rule_of_the_program_survives_an_offload(const char *nic)
{
	struct rte_flow *flow;

	driver_open(nic, NULL, 1, 0);
	driver_rules(RULES);
	flow = own_rule();
	assert_own_rule_works();
	assert_int_equal(driver_offload(NULL), 0);
	assert_own_rule_works();
	driver_settle();
	assert_int_equal(driver_stats().hw_rules, RULES);
	assert_own_rule_works();
	hy_offload_down(D->offload, true);
	assert_int_equal(driver_sim().rules, 1);
	assert_int_equal(hy_offload_up(D->offload), 0);
	driver_settle();
	assert_int_equal(driver_stats().hw_rules, RULES);
	assert_own_rule_works();
	driver_demote();
	driver_settle();
	assert_own_rule_works();
	hy_offload_destroy(D->offload);
	D->offload = NULL;
	assert_own_rule_works();
	assert_int_equal(driver_sim().rules, 1);
	assert_int_equal(rte_flow_destroy(D->port, flow, NULL), 0);
	assert_int_equal(nic_marked(D->port, &own), -1);
}

static void
rule_of_the_program_survives_an_offload_on_mlx5(void **state)
{
	RTE_SET_USED(state);
	rule_of_the_program_survives_an_offload("sim_mlx5_0");
}

static void
rule_of_the_program_survives_an_offload_on_cnxk(void **state)
{
	RTE_SET_USED(state);
	rule_of_the_program_survives_an_offload("sim_cn10k0");
}

static void
rule_of_the_program_survives_an_offload_on_ice(void **state)
{
	RTE_SET_USED(state);
	rule_of_the_program_survives_an_offload("sim_ice0");
}

static void
rule_of_the_program_survives_an_offload_on_i40e(void **state)
{
	RTE_SET_USED(state);
	rule_of_the_program_survives_an_offload("sim_i40e0");
}

/* The port restores them: net/cnxk says so, RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP. */
static void
rules_that_a_port_keeps_while_it_recovers_are_removed(void **state)
{
	uint32_t before, stuck;

	RTE_SET_USED(state);
	driver_open("sim_cn10k0", NULL, 1, 0);
	driver_rules(RULES);
	assert_int_equal(driver_offload(NULL), 0);
	stuck = D->offload->stuck; /* a test before may have left rules to the port */
	driver_settle();
	before = driver_sim().rules;
	assert_true(before >= RULES);
	hy_offload_recovers(D->offload);
	assert_int_equal(driver_sim().rules, before); /* the driver is not called */
	driver_settle();
	assert_int_equal(driver_sim().rules, before);
	assert_int_equal(hy_offload_up(D->offload), 0);
	driver_settle();
	assert_int_equal(driver_stats().hw_rules, RULES);
	assert_int_equal(driver_sim().rules, before);
	assert_int_equal(D->offload->stuck, stuck);
}

/* Stop and start keep rules on some ports: none of the offload's is there twice, or left behind. */
static void
stopped_port_keeps_no_rule_of_an_offload(void **state)
{
	static const char *const nics[] = { "sim_cn10k0", "sim_i40e0", "sim_ice0", "sim_mlx5_0" };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(nics); i++) {
		uint32_t before;

		driver_open(nics[i], NULL, 1, 0);
		driver_rules(RULES);
		assert_int_equal(driver_offload(NULL), 0);
		driver_settle();
		before = driver_sim().rules;
		assert_true(before >= RULES);
		hy_offload_down(D->offload, true);
		assert_int_equal(driver_sim().rules, 0);
		assert_int_equal(rte_eth_dev_stop(D->port), 0);
		assert_int_equal(rte_eth_dev_start(D->port), 0);
		assert_int_equal(hy_offload_up(D->offload), 0);
		driver_settle();
		assert_int_equal(driver_sim().rules, before);
		hy_offload_destroy(D->offload);
		D->offload = NULL;
		assert_int_equal(driver_sim().rules, 0);
		hy_policy_destroy(D->policy);
		D->policy = NULL;
		assert_int_equal(rte_eth_dev_stop(D->port), 0);
	}
}

/* Nobody switches marks off again that a validated rule switched on. */
static void
marks_are_off_on_cnxk_before_and_after_an_offload(void **state)
{
	const struct hy_flow_driver *driver = hy_flow_driver_of("net_cn10k");
	struct hy_flow_limits limits;

	RTE_SET_USED(state);
	driver_open("sim_cn10k0", NULL, 2, RIG_RSS);
	simnic_marks_by_rules(D->port);
	driver_rules(RULES);
	assert_int_equal(hy_flow_probe(D->port, &hy_flow_rte, driver, &limits), 0);
	assert_int_equal(limits.mark_max, 0xfffd);
	assert_int_equal(limits.priorities, 3);
	assert_false(simnic_delivers(D->port));
	rte_flow_destroy(D->port, own_rule(), NULL);
	assert_false(simnic_delivers(D->port));
	assert_int_equal(driver_offload(NULL), 0);
	assert_true(simnic_delivers(D->port));
	driver_settle();
	assert_int_equal(driver_stats().hw_rules, RULES);
	hy_offload_destroy(D->offload);
	D->offload = NULL;
	assert_false(simnic_delivers(D->port));
	rte_flow_destroy(D->port, own_rule(), NULL);
	assert_false(simnic_delivers(D->port));
}

/* Of eight groups of queues, the first is the port's; the rule that is kept needs none. */
static void
seven_rules_with_rss_fill_cnxk(void **state)
{
	struct hy_offload_stats stats;

	RTE_SET_USED(state);
	driver_open("sim_cn10k0", NULL, 4, RIG_RSS);
	driver_rules(20);
	assert_int_equal(driver_offload(NULL), 0);
	driver_settle();
	stats = driver_stats();
	assert_int_equal(stats.hw_rules, 7);
	assert_true(stats.full);
	assert_null(hy_offload_reason(D->offload, 6));
	assert_string_equal(hy_offload_reason(D->offload, 19), "the port has no room");
	assert_int_equal(driver_sim().rules, 8);
}

/* It has its group still. To ask for one too many harms net/cnxk: see sim_cnxk.c, admit(). */
static void
rule_that_cnxk_will_not_remove_keeps_its_group(void **state)
{
	static struct hy_flow_provider provider; /* the offload goes after the test */
	uint64_t refused;

	RTE_SET_USED(state);
	provider = hy_flow_rte;
	driver_open("sim_cn10k0", NULL, 4, RIG_RSS);
	driver_rules(20);
	assert_int_equal(driver_offload(&provider), 0);
	driver_settle();
	assert_int_equal(driver_stats().hw_rules, 7);
	refused = driver_sim().refused;
	provider.destroy = refuse_destroy;
	assert_int_equal(hy_policy_remove(D->policy, 0), 0);
	assert_int_equal(hy_policy_commit(D->policy), 0);
	driver_settle();
	provider.destroy = hy_flow_rte.destroy;
	assert_int_equal(driver_stats().failed, 1);
	assert_int_equal(hy_policy_remove(D->policy, 1), 0);
	assert_int_equal(hy_policy_commit(D->policy), 0);
	driver_settle();
	assert_int_equal(driver_stats().hw_rules, 6);
	assert_int_equal(driver_sim().rules, 8);
	assert_int_equal(driver_sim().refused, refused);
}

/* One queue or many: a group goes to a rule with RSS. A key must be the port's, which all rules share. */
static void
rss_of_cnxk_takes_a_group_and_the_ports_key(void **state)
{
	static const uint16_t first = 0;
	struct rte_flow_action_rss rss = { .queue_num = 1, .queue = &first };
	struct rte_flow_error error = { 0 };
	uint8_t key[48] = { 1, 2, 3 };
	struct sim_match flow;

	RTE_SET_USED(state);
	driver_open("sim_cn10k0", NULL, 2, RIG_RSS);
	for (uint32_t i = 0; i < 8; i++) {
		const struct sim_packet packet = driver_packet(i);

		sim_match(&flow, &packet, 1, false, false);
		flow.actions[1] = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_RSS, &rss };
		flow.actions[2].type = RTE_FLOW_ACTION_TYPE_END;
		rss.key = i == 0 ? key : NULL;
		rss.key_len = i == 0 ? sizeof(key) : 0;
		if (i == 0) {
			assert_null(rte_flow_create(D->port, &flow.attr, flow.items, flow.actions,
				&error));
			assert_int_equal(rte_errno, -ENOTSUP);
			continue;
		}
		assert_non_null(rte_flow_create(D->port, &flow.attr, flow.items, flow.actions,
			&error));
	}
	assert_null(rte_flow_create(D->port, &flow.attr, flow.items, flow.actions, &error));
	assert_int_equal(rte_errno, -ENOSPC);
}

/* net/cnxk leaves a negative errno, and numbers that are none. */
static void
error_of_cnxk_is_an_errno(void **state)
{
	struct rte_flow_error error = { 0 };
	struct hy_flow_lowered lowered;
	struct hy_flow_limits limits;
	struct hy_flow_spread spread;
	const char *why;
	int rc = 0;
	void *flow;

	RTE_SET_USED(state);
	driver_open("sim_cn10k0", "table_size=9", 2, RIG_RSS);
	assert_int_equal(hy_flow_spread_get(D->port, &spread), 0);
	hy_flow_limits_declared(hy_flow_driver_of("net_cn10k"), &limits);
	for (uint32_t i = 0; i < 12; i++) {
		const struct hy_flow_match match = {
			.fields = HY_FLOW_DST, .dst = i + 1, .dst_len = 32
		};

		if (i == 8)
			spread.nb_queues = 1; /* QUEUE, not RSS */
		assert_int_equal(hy_flow_lower(hy_flow_driver_of("net_cn10k"), &limits, &match,
					 i + 1, 0, &spread, &lowered, &why),
			0);
		rc = hy_flow_rte.create(D->port, &lowered.attr, lowered.items, lowered.actions,
			&flow, &error);
		assert_int_equal(rc, i == 7 ? -ENOSPC : i < 10 ? 0 : -EIO);
	}
	assert_int_equal(rte_errno, -1016); /* NPC_ERR_MCAM_ALLOC */
	assert_non_null(error.message);
}

/* Of a tag, newer drivers take a mask of all or nothing; hardware compares all of it anyway. */
static void
rule_on_a_vlan_is_in_hardware_on_i40e(void **state)
{
	struct sim_packet packet = driver_packet(0);
	const struct hy_flow_rule rule = { .id = 1,
		.class_id = 7,
		.match = { .fields = HY_FLOW_VLAN | HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO |
				HY_FLOW_PORTS,
			.vlan = 100,
			.src = packet.src,
			.dst = packet.dst,
			.src_len = 32,
			.dst_len = 32,
			.proto = packet.proto,
			.sport = { packet.sport, packet.sport },
			.dport = { packet.dport, packet.dport } } };

	RTE_SET_USED(state);
	driver_open("sim_i40e0", NULL, 1, 0);
	assert_int_equal(hy_policy_add(D->policy, &rule), 0);
	assert_int_equal(hy_policy_commit(D->policy), 0);
	assert_int_equal(driver_offload(NULL), 0);
	driver_settle();
	assert_null(hy_offload_reason(D->offload, 1));
	packet.vlan = 100;
	assert_true(nic_marked(D->port, &packet) > 0);
	packet.vlan = 100 | 1 << 13; /* a priority: software's */
	assert_int_equal(nic_marked(D->port, &packet), -1);
	packet.vlan = 101;
	assert_int_equal(nic_marked(D->port, &packet), -1);
}

/* All rules on sources overlap all on destinations: each wants a priority between its neighbours'. */
static uint32_t
matchers_of(const struct hy_flow_driver *driver)
{
	const struct hy_offload_params params = {
		.driver = driver, .settle_us = 1, .age_us = 1, .max_residue = UINT16_MAX
	};
	char reason[256];
	uint32_t masks;

	assert_int_equal(hy_offload_create(D->policy, D->port, &params, &D->offload, reason,
				 sizeof(reason)),
		0);
	for (uint32_t i = 0; i < OVERLAPPING; i++) {
		const bool src = i % 2 == 0;
		const struct hy_flow_rule rule = { .id = i,
			.precedence = i * 89 % OVERLAPPING,
			.class_id = (uint16_t)(i + 1),
			.match = { .fields = src ? HY_FLOW_SRC : HY_FLOW_DST,
				.src = src ? 0x0a000000 + i : 0,
				.dst = src ? 0 : 0x0b000000 + i,
				.src_len = src ? 32 : 0,
				.dst_len = src ? 0 : 32 } };

		assert_int_equal(hy_policy_add(D->policy, &rule), 0);
		assert_int_equal(hy_policy_commit(D->policy), 0);
		driver_settle();
	}
	assert_int_equal(driver_stats().hw_rules, OVERLAPPING);
	masks = driver_sim().masks - 2; /* those of the default rule and the jump */
	hy_offload_destroy(D->offload);
	D->offload = NULL;
	for (uint32_t i = 0; i < OVERLAPPING; i++)
		assert_int_equal(hy_policy_remove(D->policy, i), 0);
	assert_int_equal(hy_policy_commit(D->policy), 0);
	return masks;
}

static void
overlapping_rules_make_few_matchers_of_mlx5(void **state)
{
	const struct hy_flow_driver *driver = hy_flow_driver_of("mlx5_pci");
	struct hy_flow_driver fine = *driver;
	uint32_t few, many;

	RTE_SET_USED(state);
	fine.priorities = 1024;
	driver_open("sim_mlx5_0", NULL, 1, 0);
	few = matchers_of(driver);
	many = matchers_of(&fine);
	print_message("%u rules: %u matchers, and %u by 1,024 priorities\n", OVERLAPPING, few,
		many);
	assert_in_range(few, 3, 2 * 16);
	assert_true(many > 2 * few);
}

/* The driver has no item for SCTP: its header's ports stay in software, its protocol need not. */
static void
ports_of_sctp_stay_in_software_on_mlx5(void **state)
{
	static const struct {
		uint8_t proto;
		uint32_t fields;
		int result;
	} cases[] = { { IPPROTO_SCTP, HY_FLOW_SPORT, -ENOTSUP },
		{ IPPROTO_SCTP, HY_FLOW_DPORT, -ENOTSUP }, { IPPROTO_SCTP, 0, 0 },
		{ IPPROTO_SCTP, HY_FLOW_SRC, 0 }, { IPPROTO_TCP, HY_FLOW_DPORT, 0 },
		{ IPPROTO_UDP, HY_FLOW_PORTS, 0 } };
	const struct hy_flow_driver *driver = hy_flow_driver_of("mlx5_pci");
	const struct hy_flow_spread one_queue = { .nb_queues = 1 };
	struct rte_flow_error error = { 0 };
	struct hy_flow_lowered lowered;
	struct hy_flow_limits limits;
	const char *reason;

	RTE_SET_USED(state);
	driver_open("sim_mlx5_0", NULL, 1, 0);
	assert_int_equal(hy_flow_probe(D->port, &hy_flow_rte, driver, &limits), 0);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const struct hy_flow_match match = { .fields = HY_FLOW_PROTO | cases[i].fields,
			.proto = cases[i].proto,
			.src_len = 32,
			.sport = { 80, 80 },
			.dport = { 80, 80 } };

		assert_int_equal(hy_flow_lower(driver, &limits, &match, 1, 0, &one_queue, &lowered,
					 &reason),
			cases[i].result);
		assert_int_equal(reason != NULL, cases[i].result != 0);
		if (reason == NULL)
			assert_int_equal(hy_flow_rte.validate(D->port, &lowered.attr, lowered.items,
						 lowered.actions, &error),
				0);
	}
}

/* With auto_reset, net/iavf frees all rules at a reset of which nobody hears. */
static void
port_that_its_driver_resets_without_a_word_gets_no_rules(void **state)
{
	char reason[256];
	int rc;

	RTE_SET_USED(state);
	driver_open("sim_iavf0", "auto_reset=1", 1, 0);
	rc = hy_offload_create(D->policy, D->port, NULL, &D->offload, reason, sizeof(reason));
	assert_int_equal(rc, -ENOTSUP);
	assert_string_equal(reason,
		"the driver resets the port by itself, and frees its rules then; give the device "
		"the argument auto_reset=0");
	assert_null(D->offload);
}

static void
port_that_waits_for_its_reset_gets_rules(void **state)
{
	RTE_SET_USED(state);
	driver_open("sim_iavf0", "auto_reset=0", 1, 0);
	assert_int_equal(driver_offload(NULL), 0);
	driver_rules(4);
	driver_settle();
	assert_int_equal(driver_stats().hw_rules, 4);
}

static const struct CMUnitTest driver_rules_tests[] = {
	DRIVER_TEST(ports_of_sctp_stay_in_software_on_mlx5),
	DRIVER_TEST(rule_on_a_vlan_is_in_hardware_on_i40e),
	DRIVER_TEST(overlapping_rules_make_few_matchers_of_mlx5),
	DRIVER_TEST(marks_are_off_on_cnxk_before_and_after_an_offload),
	DRIVER_TEST(seven_rules_with_rss_fill_cnxk),
	DRIVER_TEST(rule_that_cnxk_will_not_remove_keeps_its_group),
	DRIVER_TEST(rss_of_cnxk_takes_a_group_and_the_ports_key),
	DRIVER_TEST(error_of_cnxk_is_an_errno),
	DRIVER_TEST(rule_of_the_program_survives_an_offload_on_mlx5),
	DRIVER_TEST(rule_of_the_program_survives_an_offload_on_cnxk),
	DRIVER_TEST(rule_of_the_program_survives_an_offload_on_ice),
	DRIVER_TEST(rule_of_the_program_survives_an_offload_on_i40e),
	DRIVER_TEST(rules_that_a_port_keeps_while_it_recovers_are_removed),
	DRIVER_TEST(stopped_port_keeps_no_rule_of_an_offload),
	DRIVER_TEST(port_that_its_driver_resets_without_a_word_gets_no_rules),
	DRIVER_TEST(port_that_waits_for_its_reset_gets_rules),
};

UNIT_SUITE(driver_rules_tests)
