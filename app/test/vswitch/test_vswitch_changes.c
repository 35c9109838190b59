/* SPDX-License-Identifier: BSD-3-Clause */
/* What has changed of rules is told once, and which answers it can touch. */

#include <string.h>
#include <unistd.h>

#include "vswitch_fixture.h"

static struct hy_vswitch_changes changes;

static void
assert_changes(uint32_t nb_gone, uint32_t nb_new)
{
	hy_vswitch_changes(vswitch, &changes);
	assert_false(changes.all);
	assert_int_equal(changes.nb_gone, nb_gone);
	assert_int_equal(changes.nb_new, nb_new);
}

static void
assert_all(void)
{
	hy_vswitch_changes(vswitch, &changes);
	assert_true(changes.all);
	assert_changes(0, 0);
}

static void
changes_are_told_once(void **state)
{
	RTE_SET_USED(state);
	assert_all(); /* ports were added */
	add_rules("priority=5,ip actions=1\npriority=6,tcp actions=2");
	assert_changes(0, 2);
	assert_int_equal(changes.came[0].priority, 5);
	assert_int_equal(changes.came[1].priority, 6);
	assert_changes(0, 0);
	add_rule("priority=5,ip actions=3"); /* replaces it */
	assert_changes(1, 0);
	read_rule("ip actions=2");
	assert_int_equal(hy_vswitch_modify(vswitch, &rule, false, 0, NULL), 0);
	assert_changes(2, 0);
	read_rule("priority=7,udp actions=2");
	assert_int_equal(hy_vswitch_modify(vswitch, &rule, true, 0, NULL), 0);
	assert_changes(0, 1);
	read_rule("priority=7,udp actions=drop");
	assert_int_equal(hy_vswitch_delete(vswitch, &rule, true), 1);
	assert_changes(1, 0);
	add_rule("hard_timeout=1,arp actions=1");
	assert_int_equal(hy_vswitch_expire(vswitch, 1000), 1);
	assert_changes(1, 1);
	assert_int_equal(hy_vswitch_load(vswitch, rules_file("ip actions=1"), 0, error), 0);
	assert_all();
	unlink(rules_file(""));
	assert_int_equal(hy_vswitch_port_delete(vswitch, 2), 0);
	assert_all();
}

static void
more_changes_than_are_remembered_are_all(void **state)
{
	char text[64];

	RTE_SET_USED(state);
	assert_all();
	for (uint32_t i = 0; i < HY_VSWITCH_CHANGES; i++) {
		snprintf(text, sizeof(text), "udp,tp_dst=%u actions=1", i);
		add_rule(text);
	}
	assert_changes(0, HY_VSWITCH_CHANGES);
	read_rule("udp actions=1");
	assert_int_equal(hy_vswitch_delete(vswitch, &rule, false), HY_VSWITCH_CHANGES);
	assert_changes(HY_VSWITCH_CHANGES, 0);
	for (uint32_t i = 0; i <= HY_VSWITCH_CHANGES; i++) {
		snprintf(text, sizeof(text), "udp,tp_dst=%u actions=1", i);
		add_rule(text);
	}
	assert_all();
}

/* What the change since the last call can do to the answer to a packet. */
static enum hy_vswitch_touch
touch(const struct hy_flows_key *key)
{
	enum hy_vswitch_touch touch;

	hy_vswitch_changes(vswitch, &changes);
	touch = hy_vswitch_touch(&changes, answer.rules, answer.nb_rules, &answer.trail);
	if (touch != HY_VSWITCH_MAYBE)
		return touch;
	return hy_vswitch_touches(vswitch, &changes, &answer.trail, key, &answer.mask)
		? HY_VSWITCH_TOUCHED
		: HY_VSWITCH_MAYBE;
}

static void
answers_are_touched_by_what_packets_may_meet(void **state)
{
	static const struct {
		const char *text;
		enum hy_vswitch_touch touch; /* MAYBE: another packet's answer is */
	} added[] = {
		{ "table=1,priority=9 actions=1", HY_VSWITCH_UNTOUCHED }, /* it is not asked */
		{ "priority=10 actions=1", HY_VSWITCH_UNTOUCHED },        /* is not higher */
		{ "priority=11 actions=1", HY_VSWITCH_TOUCHED },
		{ "priority=11,in_port=2 actions=1", HY_VSWITCH_MAYBE },
		{ "priority=12,in_port=1 actions=1", HY_VSWITCH_TOUCHED },
		{ "priority=11,udp actions=1", HY_VSWITCH_MAYBE },
		{ "priority=11,tcp,tp_dst=443 actions=1", HY_VSWITCH_MAYBE },
		{ "priority=11,tcp,tp_dst=80 actions=1", HY_VSWITCH_TOUCHED },
		{ "priority=11,ip,nw_src=10.0.0.9 actions=1", HY_VSWITCH_TOUCHED }, /* not known */
		{ "table=2,priority=1 actions=1", HY_VSWITCH_TOUCHED }, /* nothing was met there */
		{ "table=2,priority=1,dl_dst=02:00:00:00:00:08 actions=1", HY_VSWITCH_TOUCHED },
		{ "table=2,priority=1,udp actions=1", HY_VSWITCH_MAYBE },
	};
	const struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	add_rule("priority=10,tcp,tp_dst=80 actions=mod_dl_dst:02:00:00:00:00:09,resubmit(,2),2");
	add_rule("priority=1 actions=3");
	for (uint32_t i = 0; i < RTE_DIM(added); i++) {
		hy_vswitch_changes(vswitch, &changes);
		hy_vswitch_translate(vswitch, &key, &answer);
		assert_int_equal(answer.nb_rules, 1);
		add_rule(added[i].text);
		if (touch(&key) != added[i].touch)
			fail_msg("%s", added[i].text);
		assert_int_equal(hy_vswitch_delete(vswitch, &rule, true), 1);
		assert_int_equal(touch(&key), HY_VSWITCH_UNTOUCHED); /* it was not met */
	}
	read_rule("priority=1 actions=drop");
	assert_int_equal(hy_vswitch_delete(vswitch, &rule, true), 1);
	assert_int_equal(touch(&key), HY_VSWITCH_UNTOUCHED);
	read_rule("priority=10,tcp,tp_dst=80 actions=drop");
	assert_int_equal(hy_vswitch_modify(vswitch, &rule, true, 0, NULL), 0);
	assert_int_equal(touch(&key), HY_VSWITCH_TOUCHED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, vswitch_setup, vswitch_teardown)

static const struct CMUnitTest tests[] = {
	TEST(changes_are_told_once),
	TEST(more_changes_than_are_remembered_are_all),
	TEST(answers_are_touched_by_what_packets_may_meet),
};
UNIT_SUITE(tests)
