/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that compare few fields and ports that compare all: what is lowered for them is taken, and
 * packets get the class that the policy gives them, fragments among them.
 */

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ip.h>
#include <rte_udp.h>

#include "failing_fixture.h"
#include "flow_fixture.h"
#include "hal/flow/offload.h"

/* With the default key extraction profile: no fragment bits, no protocol byte, no SCTP, no VXLAN. */
static const struct flow_profile cnxk = { "cnxk", "net_cn10k" };

static struct rte_mbuf *packets[32];
static uint8_t frame[FRAME_MAX];

static void
narrow_open(struct hy_offload_params params)
{
	memset(&failing, 0, sizeof(failing));
	params.provider = &failing_provider;
	flow_open(&cnxk, (struct hy_flow_sim_params){ 0 }, params);
}

static void
rule_add(const char *text)
{
	char error[HY_POLICY_ERROR_SIZE];
	struct hy_flow_rule rule;

	if (hy_flow_rule_parse(text, &rule, error) != 0)
		fail_msg("%s", error);
	assert_int_equal(hy_policy_add(R->policy, &rule), 0);
}

/* The frame of a rule of flow_exact_rules(), as a fragment with this field; tagged on wish. */
static uint32_t
fragment(uint32_t id, uint16_t offset, bool tagged)
{
	static const uint8_t tag[] = { 0x81, 0, 0, 100 };
	const uint32_t len = flow_exact_frame(frame, id);
	struct rte_ipv4_hdr *ip = (void *)(frame + 14);

	ip->fragment_offset = rte_cpu_to_be_16(offset);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	if (!tagged)
		return len;
	memmove(frame + 16, frame + 12, len - 12);
	memcpy(frame + 12, tag, sizeof(tag));
	return len + 4;
}

/* Of each sort four packets. Fragments are of the wide rule, and whole packets of the exact one. */
static void
fragments_send(uint32_t id)
{
	static const uint16_t offsets[] = { 0, RTE_IPV4_HDR_DF_FLAG, RTE_IPV4_HDR_MF_FLAG,
		RTE_IPV4_HDR_MF_FLAG | 100, 200 };

	for (unsigned int tagged = 0; tagged < 2; tagged++)
		for (unsigned int i = 0; i < RTE_DIM(offsets); i++)
			flow_send(packets,
				flow_hold(packets, frame, fragment(id, offsets[i], tagged), 4));
}

static void
fragment_harm(bool guard)
{
	narrow_open((struct hy_offload_params){ .sample_every = 1000000 });
	R->offload->safety.fragments = guard;
	rule_add("rule 900 class 900 precedence 900 dst 198.0.0.0/7");
	flow_exact_rules(1, 2);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 3);
	fragments_send(1);
	assert_int_equal(R->compared, 40);
	assert_int_equal(R->hits[2], 16);   /* whole */
	assert_int_equal(R->hits[900], 24); /* first, middle and last fragments */
}

static void
fragment_with_the_mark_of_a_rule_for_ports_goes_to_software(void **state)
{
	RTE_SET_USED(state);
	fragment_harm(true);
	assert_int_equal(R->wrong, 0);
	/* The NIC finds ports in the first fragments, and not in others. */
	assert_int_equal(flow_stats().fragments, 8);
	assert_int_equal(flow_stats().marked, 32);
	assert_int_equal(flow_stats().unmarked + flow_stats().stale, 0);
	flow_assert_counted();
}

static void
without_the_check_first_fragments_get_the_class_of_ports(void **state)
{
	RTE_SET_USED(state);
	fragment_harm(false);
	assert_int_equal(R->wrong, 8);
}

/* A sample of packets with checks is taken after the check: no fragment is taken for a wrong mark. */
static void
fragment_is_no_mismatch_in_the_sample(void **state)
{
	RTE_SET_USED(state);
	narrow_open((struct hy_offload_params){ .sample_every = 1 });
	rule_add("rule 900 class 900 precedence 900 dst 198.0.0.0/7");
	flow_exact_rules(1, 2);
	flow_settle();
	fragments_send(2);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(flow_stats().fragments, 8);
	assert_int_equal(flow_stats().sampled, 32);
	assert_int_equal(flow_stats().mismatches, 0);
	flow_assert_counted();
}

/* Marks whose packets are checked for being fragments. */
static unsigned int
fragments_checked(void)
{
	const struct hy_mark_table *table = hy_policy_marks(R->policy, R->port->id);
	unsigned int n = 0;

	for (uint32_t i = 0; i <= table->slot_mask; i++)
		n += (table->slots[i].checks & HY_MARK_FRAGMENTS) != 0;
	return n;
}

/* Marks without a check are looked up as on any port: rules without ports have none. */
static void
only_rules_for_ports_are_checked(void **state)
{
	static const char *const texts[] = { "rule 1 class 1 precedence 1 dst 198.18.0.1 proto udp",
		"rule 2 class 2 precedence 2 dst 198.18.0.2 proto udp dport 53",
		"rule 3 class 3 precedence 3 dst 198.18.0.3",
		"rule 4 class 4 precedence 4 vlan 9 type 0x88f7" };
	const struct hy_mark_table *table;
	unsigned int checked = 0, used = 0;

	RTE_SET_USED(state);
	narrow_open((struct hy_offload_params){ 0 });
	for (size_t i = 0; i < RTE_DIM(texts); i++)
		rule_add(texts[i]);
	flow_commit();
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, RTE_DIM(texts));
	table = hy_policy_marks(R->policy, R->port->id);
	assert_true(table->checked);
	for (uint32_t i = 0; i <= table->slot_mask; i++) {
		used += table->slots[i].mark != 0;
		checked += table->slots[i].checks == HY_MARK_FRAGMENTS;
		if (table->slots[i].checks != 0)
			assert_int_equal(table->slots[i].class_id, 2);
	}
	assert_int_equal(used, RTE_DIM(texts));
	assert_int_equal(checked, 1);
	assert_int_equal(hy_policy_remove(R->policy, 2), 0);
	flow_commit();
	flow_settle();
	assert_false(hy_policy_marks(R->policy, R->port->id)->checked);
}

/* No rule that is lowered is refused by the port. Returns how many are not lowered. */
static unsigned int
refused_before_the_port(void)
{
	const struct hy_policy_view *view = hy_policy_view(R->policy);
	unsigned int refused = 0;

	for (uint32_t r = 0; r < view->nb_rules; r++) {
		const char *reason = hy_offload_reason(R->offload, view->rules[r].rule.id);

		if (reason != NULL && strncmp(reason, "the port refuses it", 19) == 0)
			fail_msg("rule %u: %s", view->rules[r].rule.id, reason);
		refused += reason != NULL && strncmp(reason, "the port ", 9) == 0;
	}
	return refused;
}

static void
narrow_port_classifies_as_the_policy_does(void **state)
{
	unsigned int refused = 0;

	RTE_SET_USED(state);
	narrow_open((struct hy_offload_params){ .max_residue = 400, .sample_every = 64 });
	for (uint32_t round = 0; round < 20; round++) {
		flow_rules_add(100, 6);
		flow_exact_rules(0, 10);
		flow_settle();
		refused += refused_before_the_port();
		flow_traffic(1000);
		for (uint32_t id = 0; id < 10; id++) {
			fragments_send(id);
			assert_int_equal(hy_policy_remove(R->policy, id), 0);
		}
		for (uint32_t id = 100; id < 106; id++)
			assert_int_equal(hy_policy_remove(R->policy, id), 0);
	}
	flow_commit();
	assert_int_equal(R->compared, 20 * (1000 + 10 * 40));
	assert_int_equal(R->wrong, 0);
	assert_int_equal(flow_stats().mismatches, 0);
	assert_true(flow_stats().sampled > 5);
	assert_true(refused > 10);
	assert_true(flow_stats().marked > 6000);
	assert_true(flow_stats().fragments > 500);
	flow_assert_counted();
}

/* The profile of a wide key: no simulator but that of mlx5 compares every field. */
static void
wide_port_checks_no_fragments(void **state)
{
	RTE_SET_USED(state);
	flow_open(&flow_profiles[2], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .max_residue = 400 });
	flow_rules_add(0, 200);
	flow_settle();
	flow_traffic(4000);
	assert_int_equal(R->wrong, 0);
	assert_true(flow_stats().marked > 1000);
	assert_int_equal(flow_stats().fragments, 0);
}

/* What a port takes, as hy_flow_probe() finds it. */
static void
probe(struct hy_flow_limits *limits)
{
	assert_int_equal(hy_flow_probe(R->port->id, &failing_provider,
				 hy_flow_driver_of(cnxk.driver), limits),
		0);
}

static void
narrow_port_is_found_out_by_trying(void **state)
{
	const uint32_t ip4 = HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_DSCP | HY_FLOW_FORM_PREFIX |
		HY_FLOW_DST_MAC | HY_FLOW_FORM_MAC | HY_FLOW_FORM_ANY;
	/* Without addresses in the key, nothing of IPv6 can be tried. */
	const uint32_t takes[HY_FLOW_PATTERNS] = {
		[HY_FLOW_PATTERN_L2] = HY_FLOW_ETHER_TYPE | HY_FLOW_DST_MAC | HY_FLOW_FORM_MAC |
			HY_FLOW_FORM_ANY,
		[HY_FLOW_PATTERN_IPV4] = ip4,
		[HY_FLOW_PATTERN_TCP] = ip4 | HY_FLOW_PORTS | HY_FLOW_FORM_BARE,
		[HY_FLOW_PATTERN_UDP] = ip4 | HY_FLOW_PORTS | HY_FLOW_FORM_BARE,
		[HY_FLOW_PATTERN_SCTP] = ip4 | HY_FLOW_FORM_BARE,
		[HY_FLOW_PATTERN_ICMP] = ip4 | HY_FLOW_FORM_BARE,
	};
	struct hy_flow_kind_counts kinds;
	const struct hy_flow_kind *kind;
	const char *reasons[64];
	struct hy_flow_limits limits;
	unsigned int refused = 0;

	RTE_SET_USED(state);
	narrow_open((struct hy_offload_params){ 0 });
	hy_offload_destroy(R->offload);
	R->offload = NULL;
	probe(&limits);
	for (unsigned int tag = 0; tag < 2; tag++)
		for (unsigned int p = 0; p < HY_FLOW_PATTERNS; p++)
			if (limits.takes[tag][p] != takes[p])
				fail_msg("tag %u, pattern %u: 0x%x, not 0x%x", tag, p,
					limits.takes[tag][p], takes[p]);
	assert_false(limits.whole_tags);
	assert_int_equal(failing.rules, 0);
	hy_flow_kinds_count(hy_flow_driver_of(cnxk.driver), &limits, &kinds, reasons);
	assert_int_equal(kinds.kinds, hy_flow_kinds(&kind));
	assert_true(kinds.kinds <= RTE_DIM(reasons));
	assert_int_equal(kinds.taken, 32);
	assert_int_equal(kinds.checked, 13);
	for (unsigned int k = 0; k < kinds.kinds; k++) {
		struct hy_flow_rule rule = { .id = 1, .class_id = 1, .match = kind[k].match };

		assert_int_equal(hy_flow_rule_check(&rule, NULL), 0);
		refused += reasons[k] != NULL;
	}
	assert_int_equal(kinds.taken + refused, kinds.kinds);
}

/* Whichever call fails, and whether the port recovers: nothing that it takes is taken for refused. */
static void
failure_while_a_port_is_tried_narrows_nothing(void **state)
{
	static const int codes[] = { -ENOSPC, -EIO, -ETIMEDOUT, -EINVAL };
	struct hy_flow_limits right, found;
	unsigned int calls, broken = 0;

	RTE_SET_USED(state);
	narrow_open((struct hy_offload_params){ 0 });
	hy_offload_destroy(R->offload);
	R->offload = NULL;
	failing.calls = 0;
	probe(&right);
	calls = failing.calls;
	assert_in_range(calls, 50, 500);
	for (unsigned int i = 0; i < 12 * calls; i++) {
		const unsigned int before = failing.rules;

		failing.calls = 0;
		failing.fail_at = 1 + i / 12;
		failing.fail_for = i % 3;
		failing.fail_with = codes[i / 3 % 4];
		probe(&found);
		if (found.mark_max == 0)
			broken++;
		else if (failing.fail_for == 0 || found.mark_max != right.mark_max ||
			found.priorities != right.priorities ||
			memcmp(found.takes, right.takes, sizeof(right.takes)) != 0)
			fail_msg("call %u of %u fails with %d, for %u calls, unnoticed",
				failing.fail_at, calls, failing.fail_with, failing.fail_for);
		assert_true(found.reason[0] != '\0');
		/* What could not be removed is there still. */
		hy_flow_sim_flush(R->sim);
		assert_true(failing.rules - before <= 2);
		failing.rules = 0;
	}
	assert_true(broken > 7 * calls);
}

/* Another device under the number of the port, while that is down. */
static void
device_replace(const char *profile)
{
	const struct hy_flow_sim_params params = { .profile = profile };

	hy_offload_down(R->offload, false);
	hy_flow_sim_detach(R->port->id);
	assert_int_equal(hy_flow_sim_attach(R->port->id, &params), 0);
	R->sim = hy_flow_sim_of(R->port->id);
	assert_int_equal(hy_offload_up(R->offload), 0);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 3);
}

static void
port_that_comes_back_is_tried_again(void **state)
{
	RTE_SET_USED(state);
	narrow_open((struct hy_offload_params){ 0 });
	rule_add("rule 900 class 900 precedence 900 dst 198.0.0.0/7");
	flow_exact_rules(1, 2);
	flow_settle();
	assert_int_equal(fragments_checked(), 2);
	device_replace("cnxk_wide");
	assert_int_equal(fragments_checked(), 0);
	fragments_send(1);
	assert_int_equal(flow_stats().fragments, 0);
	device_replace("cnxk");
	fragments_send(1);
	assert_int_equal(flow_stats().fragments, 8);
	/* The device decides on the driver, if the caller did not. */
	R->offload->any_driver = true;
	device_replace("generic");
	assert_string_equal(R->offload->params.driver->driver, "*");
	fragments_send(1);
	assert_int_equal(flow_stats().fragments, 8);
	assert_int_equal(R->compared, 120);
	assert_int_equal(R->wrong, 0);
}

static void
intel_open(const char *driver)
{
	const struct flow_profile *profile = flow_profiles;

	while (strcmp(profile->driver, driver) != 0)
		profile++;
	flow_open(profile, (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 1000000 });
	assert_string_equal(R->offload->params.driver->driver, driver);
	flow_exact_rules(1, 2);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 2);
}

/* Marked packets become ones with GRE, as an E810's tables mark them for what they have inside. */
static void
tunnel_harm(const char *driver, bool guard)
{
	unsigned int n;

	intel_open(driver);
	R->offload->safety.fragments = guard;
	R->offload->dirty = true;
	flow_settle();
	n = flow_hold(packets, frame, flow_exact_frame(frame, 1), 32);
	assert_int_equal(n, 32);
	for (unsigned int i = 0; i < n / 2; i++)
		rte_pktmbuf_mtod_offset(packets[i], struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN)
			->next_proto_id = IPPROTO_GRE;
	flow_send(packets, n);
	assert_int_equal(R->compared, 32);
}

/*
 * The same with VXLAN, which a physical function looks into at ports that its host has told it:
 * outside is UDP, and not what the rule asks for. With its comms package, an E810 looks into GTP-U, too:
 * base/ice_flow.c, ice_ptypes_udp_il and ice_ptypes_gtpu, ICE_PROT_UDP_IL_OR_S.
 */
static void
tunnel_over_udp(const char *driver)
{
	static const uint16_t outside[] = { RTE_BE16(4789), RTE_BE16(2152) };

	intel_open(driver);
	assert_int_equal(flow_hold(packets, frame, flow_exact_frame(frame, 1), 32), 32);
	for (unsigned int i = 0; i < 16; i++) {
		struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(packets[i], struct rte_ipv4_hdr *,
			RTE_ETHER_HDR_LEN);

		ip->next_proto_id = IPPROTO_UDP;
		((struct rte_udp_hdr *)(ip + 1))->dst_port = outside[i % 2];
	}
	flow_send(packets, 32);
	assert_int_equal(R->compared, 32);
	assert_int_equal(R->hits[2], 16);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(flow_stats().fragments, 16);
	assert_int_equal(flow_stats().marked, 16);
	flow_assert_counted();
}

static void
tunnel_over_udp_with_the_mark_of_a_rule_for_inner_ports_goes_to_software(void **state)
{
	RTE_SET_USED(state);
	tunnel_over_udp("net_iavf");
}

static void
tunnel_over_udp_with_the_mark_of_a_rule_goes_to_software_on_ice(void **state)
{
	RTE_SET_USED(state);
	tunnel_over_udp("net_ice");
}

static void
tunnel_over_udp_with_the_mark_of_a_rule_goes_to_software_on_i40e(void **state)
{
	RTE_SET_USED(state);
	tunnel_over_udp("net_i40e");
}

static void
tunnel_goes_to_software(const char *driver)
{
	tunnel_harm(driver, true);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->hits[2], 16);
	assert_int_equal(R->hits[HY_FLOW_NO_CLASS], 16);
	assert_int_equal(flow_stats().fragments, 16);
}

static void
tunnel_with_the_mark_of_a_rule_for_ports_goes_to_software(void **state)
{
	RTE_SET_USED(state);
	tunnel_goes_to_software("net_iavf");
}

/*
 * An XL710's fields are those of the innermost headers, and those of the outer ones have others:
 * i40e_ethdev.c, I40E_REG_INSET_L3_SRC_IP4 and _TUNNEL_L3_DST_IP4, _L4_SRC_PORT and
 * _TUNNEL_L4_UDP_SRC_PORT.
 */
static void
tunnel_with_the_mark_of_a_rule_goes_to_software_on_i40e(void **state)
{
	RTE_SET_USED(state);
	tunnel_goes_to_software("net_i40e");
}

static void
without_the_check_tunnels_get_the_class_of_ports(void **state)
{
	RTE_SET_USED(state);
	tunnel_harm("net_iavf", false);
	assert_int_equal(R->wrong, 16);
}

/* A port that came back with fewer marks than before takes no kind of rule. */
static void
port_that_came_back_without_marks_takes_no_kind(void **state)
{
	const struct hy_flow_sim_params few = { .mark_max = 15 };
	struct hy_flow_kind_counts kinds;
	char *text = NULL;
	size_t size;
	FILE *json;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .max_rules = 100 });
	hy_flow_kinds_count(R->offload->params.driver, &R->offload->limits, &kinds, NULL);
	assert_int_equal(kinds.taken, kinds.kinds - 1); /* but for a range of ports */
	hy_offload_down(R->offload, false);
	hy_flow_sim_detach(R->port->id);
	assert_int_equal(hy_flow_sim_attach(R->port->id, &few), 0);
	R->sim = hy_flow_sim_of(R->port->id);
	assert_int_equal(hy_offload_up(R->offload), -ENOTSUP);
	assert_string_equal(flow_stats().limits.reason, "marks up to 15 are fewer than before");
	hy_flow_kinds_count(R->offload->params.driver, &R->offload->limits, &kinds, NULL);
	assert_int_equal(kinds.taken, 0);
	assert_int_equal(flow_stats().limits.priorities, 1);
	json = open_memstream(&text, &size);
	assert_int_equal(hy_offload_json(R->offload, json), 0);
	fclose(json);
	assert_non_null(strstr(text, "\"kinds_taken\": 0,"));
	free(text);
}

/*
 * Without flag I, a VXLAN header has no network identifier (RFC 7348). Drivers compare that field, and
 * not the flags: mlx5_flow_dv.c, flow_dv_translate_item_vxlan().
 */
static void
network_identifier_without_its_flag_is_no_tunnel(void **state)
{
	RTE_SET_USED(state);
	flow_open(&flow_profiles[2], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 1000000 });
	rule_add("rule 1 class 1 precedence 1 tunnel 5");
	flow_commit();
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 1);
	for (uint8_t flagged = 0; flagged < 2; flagged++) {
		const uint32_t len = flow_exact_frame(frame, 1);

		frame[36] = HY_FLOW_VXLAN_PORT >> 8;
		frame[37] = HY_FLOW_VXLAN_PORT & 0xff;
		frame[42] = (uint8_t)(flagged << 3);
		frame[48] = 5;
		assert_int_equal(flow_hold(packets, frame, len, 16), 16);
		assert_true((packets[0]->ol_flags & RTE_MBUF_F_RX_FDIR_ID) != 0);
		flow_send(packets, 16);
	}
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->hits[1], 16);
	assert_int_equal(R->hits[HY_FLOW_NO_CLASS], 16);
	assert_int_equal(flow_stats().marked, 16);
	flow_assert_counted();
}

static const struct CMUnitTest offload_narrow_tests[] = {
	FLOW_TEST(fragment_with_the_mark_of_a_rule_for_ports_goes_to_software),
	FLOW_TEST(without_the_check_first_fragments_get_the_class_of_ports),
	FLOW_TEST(fragment_is_no_mismatch_in_the_sample),
	FLOW_TEST(tunnel_over_udp_with_the_mark_of_a_rule_for_inner_ports_goes_to_software),
	FLOW_TEST(network_identifier_without_its_flag_is_no_tunnel),
	FLOW_TEST(tunnel_over_udp_with_the_mark_of_a_rule_goes_to_software_on_ice),
	FLOW_TEST(tunnel_over_udp_with_the_mark_of_a_rule_goes_to_software_on_i40e),
	FLOW_TEST(tunnel_with_the_mark_of_a_rule_goes_to_software_on_i40e),
	FLOW_TEST(tunnel_with_the_mark_of_a_rule_for_ports_goes_to_software),
	FLOW_TEST(without_the_check_tunnels_get_the_class_of_ports),
	FLOW_TEST(only_rules_for_ports_are_checked),
	FLOW_TEST(narrow_port_classifies_as_the_policy_does),
	FLOW_TEST(wide_port_checks_no_fragments),
	FLOW_TEST(narrow_port_is_found_out_by_trying),
	FLOW_TEST(failure_while_a_port_is_tried_narrows_nothing),
	FLOW_TEST(port_that_comes_back_is_tried_again),
	FLOW_TEST(port_that_came_back_without_marks_takes_no_kind),
};

UNIT_SUITE(offload_narrow_tests)
