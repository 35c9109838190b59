/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access lists in hardware: permits that do not see all packets of a deny behind them, and what
 * stands for a deny in a trial.
 */

#include <netinet/in.h>
#include <string.h>

#include "access_fixture.h"
#include "hal/flow/probe.h"

#define TCP_SIZE 20

/* A frame of TCP from one address of 2001:db8::/32 to another. Returns its length. */
static uint32_t
frame_make(uint8_t frame[], bool tagged, bool extended)
{
	static const uint8_t tag[] = { 0x81, 0, 0, 7 }, address[] = { 0x20, 0x01, 0x0d, 0xb8 };
	uint8_t *at = frame + 2 * RTE_ETHER_ADDR_LEN, *ip;

	memset(frame, 0, 256);
	memcpy(frame, &A.mac, sizeof(A.mac));
	frame[RTE_ETHER_ADDR_LEN] = 2;
	if (tagged) {
		memcpy(at, tag, sizeof(tag));
		at += sizeof(tag);
	}
	*at++ = 0x86;
	*at++ = 0xdd;
	ip = at;
	ip[0] = 0x60;
	ip[6] = extended ? IPPROTO_HOPOPTS : IPPROTO_TCP;
	memcpy(ip + 8, address, sizeof(address));
	memcpy(ip + 24, address, sizeof(address));
	at += 40;
	if (extended) {
		*at = IPPROTO_TCP;
		at += 8;
	}
	at[3] = 80;
	at[12] = 0x50;
	at[13] = 2;
	at += TCP_SIZE;
	ip[5] = (uint8_t)(at - ip - 40);
	return (uint32_t)(at - frame);
}

static void
rule_stage(const char *text)
{
	char error[HY_POLICY_ERROR_SIZE];
	struct hy_flow_rule rule;

	assert_int_equal(hy_flow_rule_parse(text, &rule, error), 0);
	access_rule_set(&rule);
}

/* Whether hardware drops by the second of two rules; packets of all kinds pass, and none wrongly so. */
static bool
drops_behind(const char *profile, const char *driver, const char *permit, const char *deny)
{
	uint8_t frame[256];
	bool drops;

	access_open(profile, driver);
	rule_stage(permit);
	rule_stage(deny);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	for (unsigned int i = 0; i < 4; i++)
		access_pass(frame, frame_make(frame, i & 1, i & 2));
	drops = hy_offload_reason(A.offload, 2) == NULL;
	assert_int_equal(A.wrong, 0);
	assert_int_equal(A.dropped + A.arrived, 4);
	access_close();
	return drops;
}

static void
permits_by_the_ip6_header_let_extended_packets_be_dropped(void **state)
{
	const char *by_address = "rule 1 permit src 2001:db8::/32",
		   *all = "rule 2 deny type 0x86dd";

	RTE_SET_USED(state);
	/* cnxk finds zeros in the header before extension headers. */
	assert_false(drops_behind("cnxk_ip6", "net_cn10k", by_address,
		"rule 2 deny dst 2001:db8::/32 dscp 0"));
	assert_false(drops_behind("cnxk_ip6", "net_cn10k", by_address, all));
	assert_false(drops_behind("cnxk_ip6", "net_cn10k",
		"rule 1 permit src 2001:db8::/32 proto tcp", "rule 2 deny type 0x86dd proto tcp"));
	assert_false(drops_behind("cnxk_wide", "net_cn10k", "rule 1 permit type 0x86dd dscp 46",
		all));
	/* mlx5 finds the header there. */
	assert_true(drops_behind("mlx5", "mlx5_pci", by_address, "rule 2 deny dst 2001:db8::/32"));
}

static void
permits_by_the_ether_type_let_tagged_packets_be_dropped(void **state)
{
	const char *typed = "rule 1 permit type 0x86dd", *deny = "rule 2 deny dst 2001:db8::/32";

	RTE_SET_USED(state);
	assert_false(drops_behind("mlx5", "mlx5_pci", typed, deny));
	assert_false(drops_behind("cnxk_ip6", "net_cn10k", typed, deny));
	/* The other way round, the deny has the fewer packets. */
	assert_true(drops_behind("mlx5", "mlx5_pci", "rule 1 permit dst 2001:db8::/32",
		"rule 2 deny type 0x86dd"));
}

static void
what_stood_for_a_deny_dropped_packets_of_others(void **state)
{
	static const struct {
		const char *rule;
		bool can;
	} tried[] = {
		{ "rule 1 deny dst 10.0.0.1/32", true },
		{ "rule 1 deny dst 10.0.0.0/8", true },
		{ "rule 1 deny dst 224.0.0.0/4", false },
		{ "rule 1 deny dst 2001:db8::/32", true },
		{ "rule 1 deny dst 2000::/3", true },
		{ "rule 1 deny dst 8000::/1", false },
		{ "rule 1 deny proto tcp dport 80", true },
		{ "rule 1 deny proto udp sport 80", false },
		{ "rule 1 deny dmac 02:00:00:00:00:01", true },
		{ "rule 1 deny dmac 01:00:00:00:00:00/01:00:00:00:00:00", false },
		{ "rule 1 deny type 0x88f7", true },
		{ "rule 1 deny type 0x86dd proto tcp", false },
	};
	char error[HY_POLICY_ERROR_SIZE];
	struct hy_flow_rule rule;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(tried); i++) {
		assert_int_equal(hy_flow_rule_parse(tried[i].rule, &rule, error), 0);
		if (hy_flow_can_be_nobodys(&rule.match) != tried[i].can)
			fail_msg("%s", tried[i].rule);
	}
}

static unsigned int refused, tried;
static bool to_nobody;                    /* packets of these, not to all ports of UDP */
static const struct hy_policy_view *list; /* held: under an offload's lock no policy is asked */

/* Refuses the rule that is asked for as if there was no room, and passes packets while one is tried. */
static int
create_refused(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	static const uint8_t dpdk[] = { 2, 0, 0, 0, 0, 0 };
	static uint8_t frame[FRAME_MAX];
	uint32_t len;
	int rc;

	if (refused++ == 0)
		return -EIO;
	rc = hy_flow_simulator.create(port, attr, items, actions, flow, error);
	if (rc != 0 || actions[0].type != RTE_FLOW_ACTION_TYPE_COUNT)
		return rc;
	tried++;
	len = FRAME(frame, .payload = 40);
	memcpy(frame, &A.mac, sizeof(A.mac));
	frame[14 + offsetof(struct rte_ipv4_hdr, next_proto_id)] = IPPROTO_UDP;
	frame_sum(frame);
	if (to_nobody) {
		access_pass_by(list, frame, len);
		memcpy(frame, dpdk, sizeof(dpdk));
		access_pass_by(list, frame, len);
		return rc;
	}
	for (unsigned int port_to = 1; port_to < 1024; port_to++) {
		frame[36] = (uint8_t)(port_to >> 8);
		frame[37] = (uint8_t)port_to;
		access_pass_by(list, frame, len); /* the offload is locked: the test asserts */
	}
	return rc;
}

static void
poll_with_list(void)
{
	list = hy_policy_view_hold(A.policy);
	hy_offload_poll(A.offload);
	hy_policy_view_release(A.policy, list);
}

/* Wake-on-LAN is sent to UDP's ports 7 and 9, and a rule without addresses was tried with port 9. */
static void
a_trial_for_room_dropped_packets_that_wake_machines(void **state)
{
	RTE_SET_USED(state);
	access_open("cnxk_wide", "net_cn10k");
	rule_stage("rule 1 deny proto udp dport 2000");
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	assert_int_equal(access_stats().drop_rules, 1);
	refused = tried = 0;
	A.provider.create = create_refused;
	rule_stage("rule 2 deny proto udp dport 3000");
	assert_int_equal(hy_policy_commit(A.policy), 0);
	poll_with_list();
	assert_int_equal(tried, 1);
	assert_int_equal(A.arrived, 1023);
}

/* DPDK's l2fwd and l3fwd send to 02:00:00:00:00:00 what leaves their first port. */
static void
a_trial_for_room_dropped_packets_of_dpdk_examples(void **state)
{
	RTE_SET_USED(state);
	access_open("cnxk_wide", "net_cn10k");
	rule_stage("rule 1 deny dmac 02:00:00:00:00:01");
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	assert_int_equal(access_stats().drop_rules, 1);
	refused = tried = 0;
	to_nobody = true;
	A.provider.create = create_refused;
	rule_stage("rule 2 deny dmac 02:00:00:00:00:02");
	assert_int_equal(hy_policy_commit(A.policy), 0);
	poll_with_list();
	to_nobody = false;
	assert_int_equal(tried, 1);
	assert_int_equal(A.arrived, 2);
}

static const struct CMUnitTest tests[] = {
	ACCESS_TEST(a_trial_for_room_dropped_packets_of_dpdk_examples),
	ACCESS_TEST(permits_by_the_ip6_header_let_extended_packets_be_dropped),
	ACCESS_TEST(permits_by_the_ether_type_let_tagged_packets_be_dropped),
	cmocka_unit_test(what_stood_for_a_deny_dropped_packets_of_others),
	ACCESS_TEST(a_trial_for_room_dropped_packets_that_wake_machines),
};
UNIT_SUITE(tests)
