/* SPDX-License-Identifier: BSD-3-Clause */
/* A packet comes by the queue by which it came before there were rules, also with them. */

#include <netinet/in.h>
#include <string.h>

#include <rte_ethdev.h>

#include "driver_rig.h"

#define QUEUES 4
#define FLOWS 256

/* Between two hosts: ports differ only. Some meet no rule. */
static struct sim_packet
flow_between(uint32_t i, bool met, uint8_t proto)
{
	return (struct sim_packet){ .src = 0x0a000001,
		.dst = met ? 0xc6120001 : 0xc6120002,
		.proto = proto,
		.sport = (uint16_t)(1000 + i),
		.dport = 443 };
}

static int
queue_of(const struct sim_packet *packet)
{
	struct rte_mbuf *pkt = sim_mbuf(packet);
	const int queue = hy_flow_sim_queue(simnic_engine(D->port), pkt);

	rte_pktmbuf_free(pkt);
	return queue;
}

struct seen {
	int queues[2][2][FLOWS]; /* by protocol, and whether they meet a rule */
	uint32_t of[2][2][QUEUES];
};

static const uint8_t protos[] = { IPPROTO_UDP, IPPROTO_TCP };

static void
see(struct seen *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned int p = 0; p < 2; p++)
		for (unsigned int met = 0; met < 2; met++)
			for (uint32_t i = 0; i < FLOWS; i++) {
				const struct sim_packet packet = flow_between(i, met != 0,
					protos[p]);
				const int q = queue_of(&packet);

				assert_in_range(q, 0, QUEUES - 1);
				s->queues[p][met][i] = q;
				s->of[p][met][q]++;
			}
}

/* A rule for the second host, of each protocol or of both. */
static void
rules_between(bool by_protocol)
{
	struct hy_flow_rule rule = { .id = 1,
		.class_id = 7,
		.match = { .fields = HY_FLOW_DST, .dst = 0xc6120001, .dst_len = 32 } };

	if (by_protocol) {
		rule.match.fields |= HY_FLOW_PROTO | HY_FLOW_DPORT;
		rule.match.dport[0] = rule.match.dport[1] = 443;
	}
	for (unsigned int p = 0; p < (by_protocol ? 2u : 1u); p++) {
		rule.id = p + 1;
		rule.match.proto = by_protocol ? protos[p] : 0;
		assert_int_equal(hy_policy_add(D->policy, &rule), 0);
	}
	assert_int_equal(hy_policy_commit(D->policy), 0);
}

/* Spread: over all queues, or all packets by one. */
static void
flows_stay_on_their_queues(const char *nic, bool by_protocol, uint64_t rss_hf, bool spread)
{
	static struct seen before, after;
	const struct sim_packet met = flow_between(0, true, IPPROTO_TCP);
	unsigned int compared = 0;

	driver_open(nic, NULL, QUEUES, rss_hf);
	rules_between(by_protocol);
	see(&before);
	assert_int_equal(driver_offload(NULL), 0);
	driver_settle();
	assert_int_equal(driver_stats().hw_rules, by_protocol ? 2 : 1);
	assert_true(nic_marked(D->port, &met) > 0);
	see(&after);
	for (unsigned int p = 0; p < 2; p++)
		for (unsigned int m = 0; m < 2; m++)
			for (uint32_t i = 0; i < FLOWS; i++, compared++)
				if (before.queues[p][m][i] != after.queues[p][m][i])
					fail_msg(
						"%s, flow %u of protocol %u, %s: queue %d, then %d",
						nic, i, protos[p], m != 0 ? "marked" : "unmarked",
						before.queues[p][m][i], after.queues[p][m][i]);
	assert_int_equal(compared, 4 * FLOWS);
	for (unsigned int q = 0; q < QUEUES; q++)
		for (unsigned int p = 0; p < 2; p++)
			assert_true(spread ? after.of[p][1][q] > FLOWS / QUEUES / 2
					   : after.of[p][1][q] == (q == 0 ? FLOWS : 0));
}

#define STAYS(name, nic, by_protocol) \
	static void name(void **state) \
	{ \
		RTE_SET_USED(state); \
		flows_stay_on_their_queues(nic, by_protocol, RIG_RSS, true); \
	}

STAYS(marked_flows_stay_on_their_queues_on_mlx5, "sim_mlx5_0", false)
STAYS(marked_flows_of_a_protocol_stay_on_their_queues_on_mlx5, "sim_mlx5_0", true)
STAYS(marked_flows_stay_on_their_queues_by_templates, "sim_hws0", false)
STAYS(marked_flows_of_a_protocol_stay_on_their_queues_by_templates, "sim_hws0", true)
STAYS(marked_flows_stay_on_their_queues_on_cnxk, "sim_cn10k0", false)
STAYS(marked_flows_stay_on_their_queues_on_other_nics, "sim_nic0", false)

/*
 * net/sfc/sfc_flow.c, sfc_flow_parse_actions(), drops packets of a rule that does not say where they
 * go; only drivers that are known to deliver them may get such rules.
 */
static void
rule_for_an_unknown_driver_says_where_packets_go(void **state)
{
	const struct hy_flow_match match = { .fields = HY_FLOW_DST, .dst = 1, .dst_len = 32 };
	const struct hy_flow_driver *driver = hy_flow_driver_of("net_sfc_efx");
	struct hy_flow_limits limits;

	RTE_SET_USED(state);
	assert_string_equal(driver->driver, "*");
	hy_flow_limits_declared(driver, &limits);
	for (uint16_t queues = 1; queues <= QUEUES; queues++) {
		const struct hy_flow_spread spread = { .nb_queues = queues, .types = RIG_RSS };
		struct hy_flow_lowered rule;
		const char *reason;

		assert_int_equal(hy_flow_lower(driver, &limits, &match, 1, 0, &spread, &rule,
					 &reason),
			0);
		assert_int_equal(rule.actions[0].type, RTE_FLOW_ACTION_TYPE_MARK);
		assert_int_equal(rule.actions[1].type,
			queues == 1 ? RTE_FLOW_ACTION_TYPE_QUEUE : RTE_FLOW_ACTION_TYPE_RSS);
	}
}

/* mlx5 refuses a partial hash of a layer of which no type is named: no part may be left with one. */
static void
partial_hash_of_ports_is_taken_by_templates(void **state)
{
	RTE_SET_USED(state);
	flows_stay_on_their_queues("sim_hws0", false, RIG_RSS | RTE_ETH_RSS_L4_SRC_ONLY, true);
}

static void
partial_hash_of_addresses_is_taken_by_templates(void **state)
{
	RTE_SET_USED(state);
	flows_stay_on_their_queues("sim_hws0", false, RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_L3_DST_ONLY,
		false);
}

/* A part left without a type would be hashed by addresses, which the driver takes 0 for. */
static void
packets_of_no_type_stay_on_the_first_queue_by_templates(void **state)
{
	RTE_SET_USED(state);
	flows_stay_on_their_queues("sim_hws0", false, RTE_ETH_RSS_IPV6, false);
}

/* A port's types say which headers of a tunnel are hashed; of a rule, another field does. */
static void
level_of_the_ports_hash_is_that_of_rules(void **state)
{
	const struct hy_flow_spread spread = { .nb_queues = QUEUES,
		.types = RTE_ETH_RSS_IP | RTE_ETH_RSS_LEVEL_INNERMOST };
	struct hy_flow_lowered rule;

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_lower_default(hy_flow_driver_of("mlx5_pci"), &spread, &rule), 0);
	assert_int_equal(rule.rss.level, 2);
	assert_int_equal(rule.rss.types, RTE_ETH_RSS_IP);
}

/* What the tests above would miss if the simulator were kinder than the driver. */
static void
rss_without_types_or_key_is_the_drivers_own(void **state)
{
	struct hy_flow_spread spread;
	struct hy_flow_lowered rule;
	struct rte_flow_error error;
	static struct seen before, after;
	unsigned int moved = 0;
	void *flow;

	RTE_SET_USED(state);
	driver_open("sim_mlx5_0", NULL, QUEUES, RIG_RSS);
	see(&before);
	assert_int_equal(hy_flow_spread_get(D->port, &spread), 0);
	assert_int_equal(spread.types, RIG_RSS);
	assert_int_equal(spread.nb_queues, QUEUES);
	spread.types = 0;
	assert_int_equal(hy_flow_lower_default(hy_flow_driver_of("mlx5_pci"), &spread, &rule), 0);
	rule.attr.group = 0;
	rule.attr.priority = 0;
	assert_int_equal(hy_flow_rte.create(D->port, &rule.attr, rule.items, rule.actions, &flow,
				 &error),
		0);
	see(&after);
	for (uint32_t i = 0; i < FLOWS; i++)
		moved += before.queues[0][1][i] != after.queues[0][1][i];
	assert_true(moved > FLOWS / 2);
	assert_int_equal(after.of[0][1][after.queues[0][1][0]], FLOWS); /* all by one */
}

/*
 * A port whose RSS changes hashes packets anew, and rules with the old types or key do not. cnxk
 * refuses rules with another key than the port's: npc_rss_action_configure().
 */
static void
rules_follow_the_ports_rss(const char *nic, uint64_t rss_hf, uint8_t key_byte)
{
	static struct seen before, after, plain;
	uint8_t key[HY_FLOW_RSS_KEY];
	struct rte_eth_rss_conf rss = { .rss_hf = rss_hf };
	unsigned int moved = 0;

	driver_open(nic, NULL, QUEUES, RIG_RSS);
	rules_between(true);
	assert_int_equal(driver_offload(NULL), 0);
	driver_settle();
	assert_int_equal(driver_stats().hw_rules, 2);
	see(&before);
	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(key_byte + 37 * i);
	if (key_byte != 0) {
		rss.rss_key = key;
		rss.rss_key_len = 40;
	}
	assert_int_equal(rte_eth_dev_rss_hash_update(D->port, &rss), 0);
	driver_settle();
	assert_int_equal(driver_stats().state, HY_OFFLOAD_UP);
	assert_int_equal(driver_stats().hw_rules, 2);
	see(&after);
	hy_offload_destroy(D->offload);
	D->offload = NULL;
	see(&plain);
	assert_memory_equal(&after, &plain, sizeof(plain));
	for (uint32_t i = 0; i < FLOWS; i++)
		moved += before.queues[1][1][i] != after.queues[1][1][i];
	assert_true(moved > FLOWS / 2);
}

static void
rules_follow_the_ports_key_on_cnxk(void **state)
{
	RTE_SET_USED(state);
	rules_follow_the_ports_rss("sim_cn10k0", RIG_RSS, 0x5a);
}

static void
rules_follow_the_ports_types_on_mlx5(void **state)
{
	RTE_SET_USED(state);
	rules_follow_the_ports_rss("sim_mlx5_0", RTE_ETH_RSS_IP, 0);
}

static const struct CMUnitTest driver_rss[] = {
	DRIVER_TEST(marked_flows_stay_on_their_queues_on_mlx5),
	DRIVER_TEST(marked_flows_of_a_protocol_stay_on_their_queues_on_mlx5),
	DRIVER_TEST(marked_flows_stay_on_their_queues_by_templates),
	DRIVER_TEST(marked_flows_of_a_protocol_stay_on_their_queues_by_templates),
	DRIVER_TEST(marked_flows_stay_on_their_queues_on_cnxk),
	DRIVER_TEST(marked_flows_stay_on_their_queues_on_other_nics),
	DRIVER_TEST(rule_for_an_unknown_driver_says_where_packets_go),
	DRIVER_TEST(partial_hash_of_ports_is_taken_by_templates),
	DRIVER_TEST(partial_hash_of_addresses_is_taken_by_templates),
	DRIVER_TEST(packets_of_no_type_stay_on_the_first_queue_by_templates),
	DRIVER_TEST(level_of_the_ports_hash_is_that_of_rules),
	DRIVER_TEST(rss_without_types_or_key_is_the_drivers_own),
	DRIVER_TEST(rules_follow_the_ports_key_on_cnxk),
	DRIVER_TEST(rules_follow_the_ports_types_on_mlx5),
};

UNIT_SUITE(driver_rss)
