/* SPDX-License-Identifier: BSD-3-Clause */
/* Twins: rules that a port cannot tell apart, of which it takes one. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>

#include <hy_flow.h>

#include "flow_fixture.h"

/* Adds a rule that is said in words. */
static void
rule_add(uint32_t id, uint32_t precedence, const char *words)
{
	char text[HY_FLOW_TEXT_SIZE], error[HY_POLICY_ERROR_SIZE];
	struct hy_flow_rule rule;

	snprintf(text, sizeof(text), "rule %u class %u precedence %u %s", id, id + 1, precedence,
		words);
	if (hy_flow_rule_parse(text, &rule, error) != 0 || hy_policy_add(R->policy, &rule) != 0)
		fail_msg("%s: %s", text, error);
}

/* A port of few priorities, which gives twins the same, and refuses the second. */
static void
open_with_few_priorities(struct hy_flow_driver *few)
{
	*few = *hy_flow_driver_of("");
	few->priorities = 2;
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .driver = few });
}

static uint64_t
refused(void)
{
	struct hy_flow_sim_stats s;

	hy_flow_sim_stats(R->sim, &s);
	return s.refused;
}

static const char twin_reason[] = "a rule in hardware has the same pattern";

static void
assert_right(uint64_t packets)
{
	flow_traffic((unsigned int)packets);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, R->packets);
	assert_true(R->compared >= packets);
	flow_assert_counted();
}

static void
rule_whose_pattern_is_in_hardware_goes_in_when_that_has_gone(void **state)
{
	static const char *const twins[][2] = {
		{ "src 192.0.2.1 proto udp dport 80", "src 192.0.2.1 proto udp dport 80" },
		{ "src 192.0.2.1 proto udp dport 80",
			"src 192.0.2.1 proto udp dport 80 type 0x0800" },
		{ "vlan 5 dscp 46 type 0x0800", "vlan 5 dscp 46" },
		{ "tunnel 7", "tunnel 7 type 0x0800" },
		{ "tunnel 7", "tunnel 7 proto udp" },
		{ "tunnel 7 dport 4789", "tunnel 7" },
		{ "tunnel 7 sport 9", "tunnel 7 sport 9 proto udp dport 4000-5000" },
	};
	struct hy_flow_driver few;

	RTE_SET_USED(state);
	open_with_few_priorities(&few);
	for (uint32_t i = 0; i < RTE_DIM(twins); i++) {
		const uint32_t first = 10 * i, twin = first + 1;
		uint64_t before;

		rule_add(first, 1, twins[i][0]);
		rule_add(twin, 2, twins[i][1]);
		flow_commit();
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 1);
		assert_null(hy_offload_reason(R->offload, first));
		assert_string_equal(hy_offload_reason(R->offload, twin), twin_reason);
		/* The port is not asked over and over. */
		before = refused();
		assert_true(before > i);
		flow_settle();
		assert_int_equal(refused(), before);
		/* Whatever else changes, it stays so; and then the other goes. */
		rule_add(first + 2, 3, "src 198.51.100.1 proto tcp");
		flow_commit();
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 2);
		assert_string_equal(hy_offload_reason(R->offload, twin), twin_reason);
		assert_int_equal(hy_policy_remove(R->policy, first), 0);
		flow_commit();
		flow_settle();
		assert_null(hy_offload_reason(R->offload, twin));
		assert_int_equal(flow_stats().hw_rules, 2);
		assert_right(500);
		assert_int_equal(hy_policy_remove(R->policy, twin), 0);
		assert_int_equal(hy_policy_remove(R->policy, first + 2), 0);
		flow_commit();
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 0);
	}
}

static void
rule_that_the_port_may_have_is_no_twin_of_itself(void **state)
{
	struct hy_flow_driver few;

	RTE_SET_USED(state);
	open_with_few_priorities(&few);
	hy_flow_sim_fail(R->sim, 1, -ETIMEDOUT);
	flow_exact_rules(3, 1);
	flow_settle();
	assert_non_null(strstr(hy_offload_reason(R->offload, 3), "the port refuses it"));
	assert_right(500);
}

/* The i-th of all sets of fields, with few values each, 0 among them; false: there can be no such. */
static bool
match_make(unsigned int i, struct hy_flow_match *m)
{
	static const uint16_t types[] = { RTE_ETHER_TYPE_IPV4, RTE_ETHER_TYPE_IPV6 };
	static const uint8_t protos[] = { IPPROTO_UDP, IPPROTO_TCP }, lens[] = { 8, 32 };
	static const uint16_t dports[][2] = { { 0, 0 }, { 4789, 4789 }, { 4000, 5000 } };
	const unsigned int type = i % 2, proto = i / 2 % 2, len = i / 4 % 2, dport = i / 8 % 3;
	struct hy_flow_rule rule = { .class_id = 1 };
	const uint32_t f = i / 24;

	/* What is not named has one value, so that no match comes twice. */
	if (((f & HY_FLOW_ETHER_TYPE) == 0 && type > 0) ||
		((f & HY_FLOW_PROTO) == 0 && proto > 0) || ((f & HY_FLOW_SRC) == 0 && len > 0) ||
		((f & HY_FLOW_DPORT) == 0 && dport > 0))
		return false;
	*m = (struct hy_flow_match){ .fields = f };
	m->ether_type = (f & HY_FLOW_ETHER_TYPE) != 0 ? types[type] : 0;
	m->vlan = (f & HY_FLOW_VLAN) != 0;
	m->src_len = (f & HY_FLOW_SRC) != 0 ? lens[len] : 0;
	m->dst_len = (f & HY_FLOW_DST) != 0 ? 32 : 0;
	m->proto = (f & HY_FLOW_PROTO) != 0 ? protos[proto] : 0;
	if ((f & HY_FLOW_DPORT) != 0)
		memcpy(m->dport, dports[dport], sizeof(m->dport));
	rule.match = *m;
	return hy_flow_rule_check(&rule, NULL) == 0;
}
#define MATCHES ((HY_FLOW_ALL + 1) * 24)

/* Whether a port is told the same, whatever it is told to do then. */
static bool
same_pattern(const struct hy_flow_lowered *a, const struct hy_flow_lowered *b)
{
	if (a->nb_items != b->nb_items || memcmp(&a->spec, &b->spec, sizeof(a->spec)) != 0 ||
		memcmp(&a->mask, &b->mask, sizeof(a->mask)) != 0)
		return false;
	for (unsigned int i = 0; i < a->nb_items; i++)
		if (a->items[i].type != b->items[i].type)
			return false;
	return true;
}

static void
rules_are_lowered_to_one_pattern_exactly_if_they_are_the_same(void **state)
{
	static struct {
		struct hy_flow_match match;
		struct hy_flow_lowered lowered;
	} of[MATCHES];

	RTE_SET_USED(state);
	for (unsigned int p = 0; p < FLOW_PROFILES; p++) {
		const struct hy_flow_driver *driver = hy_flow_driver_of(flow_profiles[p].driver);
		unsigned int n = 0, same = 0;
		const char *reason;

		for (unsigned int i = 0; i < MATCHES; i++)
			n += match_make(i, &of[n].match) &&
				hy_flow_lower(driver, &of[n].match, 1, 0, 1, &of[n].lowered,
					&reason) == 0;
		for (unsigned int a = 0; a < n; a++)
			for (unsigned int b = 0; b < a; b++) {
				const bool one = same_pattern(&of[a].lowered, &of[b].lowered);

				same += one;
				if (hy_flow_same(&of[a].match, &of[b].match) != one)
					fail_msg("%s: fields 0x%x and 0x%x: %d", driver->driver,
						of[a].match.fields, of[b].match.fields, !one);
			}
		print_message("%s: %u rules, %u pairs of one pattern\n", driver->driver, n, same);
		assert_true(n > 0 && same > 0);
	}
}

static const struct CMUnitTest offload_twin_tests[] = {
	FLOW_TEST(rule_whose_pattern_is_in_hardware_goes_in_when_that_has_gone),
	FLOW_TEST(rule_that_the_port_may_have_is_no_twin_of_itself),
	FLOW_TEST(rules_are_lowered_to_one_pattern_exactly_if_they_are_the_same),
};

UNIT_SUITE(offload_twin_tests)
