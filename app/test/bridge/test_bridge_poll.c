/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bridge does all the time: learning, ageing, states of ports; what it counts. */

#include <errno.h>
#include <string.h>

#include <rte_ring.h>

#include "bridge_fixture.h"
#include "lib/bridge/bridge.h"

#define FILE_TEXT \
	"age 10\nentries 8\n" \
	"port 5 access 10\n" \
	"port 1 trunk 10,20 native 30 entries 3\n" \
	"port 2 trunk 10,20\n" \
	"static 02:00:00:00:00:01 vlan 10 port 2\n"

static struct bridge_counts
counts(void)
{
	return bridge_counts(bridge);
}

static struct bridge_counts
vlan_counts(uint16_t vid)
{
	struct bridge_counts c;

	assert_true(bridge_vlan_counts(bridge, vid, &c));
	return c;
}

static void
sources_are_learned_moved_and_refused(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	assert_true(find(0, key_of(2, 10), 0));
	assert_true(find(1, key_of(3, 20), 2));
	hy_bridge_poll(bridge, 100);
	assert_int_equal(port_of(key_of(2, 10)), 0);
	assert_int_equal(port_of(key_of(3, 20)), 2);
	assert_int_equal(port_of(key_of(1, 10)), 2); /* static */
	assert_int_equal(counts().learned, 2);
	assert_int_equal(counts().entries, 3);
	/* Moved; known; static. */
	assert_true(find(0, key_of(3, 20), 1));
	assert_true(find(0, key_of(2, 10), 0));
	assert_true(find(1, key_of(1, 10), 0));
	hy_bridge_poll(bridge, 100);
	assert_int_equal(port_of(key_of(3, 20)), 1);
	assert_int_equal(port_of(key_of(1, 10)), 2);
	assert_int_equal(counts().moved, 1);
	assert_int_equal(counts().refreshed, 1);
	assert_int_equal(counts().refused, 1);
	assert_int_equal(bridge_port_counts(bridge, 1).moved, 1);
	assert_int_equal(bridge_port_counts(bridge, 2).learned, 1);
	assert_int_equal(bridge_port_counts(bridge, 0).refused, 1);
	assert_int_equal(vlan_counts(20).moved, 1);
	assert_int_equal(vlan_counts(10).refused, 1);
}

/* All that was handed over, by what became of it. */
static uint64_t
sum(const struct bridge_counts *c)
{
	return c->learned + c->moved + c->refreshed + c->refused;
}

static void
ring_is_drained_and_each_source_counted(void **state)
{
	uint64_t handed = 0, full = 0, by_port = 0, by_vlan = 0, seed = 1;
	struct bridge_counts all;

	RTE_SET_USED(state);
	bridge_new(
		"entries 4000\nport 5 trunk 1-9 entries 1000\nport 1 trunk 1-9\nport 2 trunk 1-8\n");
	for (unsigned int round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < BRIDGE_RING + 100; i++) {
			const bool taken = find(i % WORKERS,
				key_of(bridge_random(&seed) % 1000, bridge_random(&seed) % 9 + 1),
				bridge_random(&seed) % PORTS);

			handed += taken;
			full += !taken;
		}
		if (round == 0) /* one worker's ring over its room */
			for (uint32_t i = 0; i < BRIDGE_RING; i++) {
				const bool taken = find(0, key_of(i, 1), 0);

				handed += taken;
				full += !taken;
			}
		hy_bridge_poll(bridge, round);
		for (unsigned int w = 0; w < WORKERS; w++)
			assert_int_equal(rte_ring_count(bridge->worker[w]->learn), 0);
	}
	all = counts();
	print_message("%ju learned, %ju moved, %ju known, %ju refused, %ju found no room\n",
		(uintmax_t)all.learned, (uintmax_t)all.moved, (uintmax_t)all.refreshed,
		(uintmax_t)all.refused, (uintmax_t)full);
	assert_int_equal(sum(&all), handed);
	assert_int_equal(handed + full, 4 * (BRIDGE_RING + 100) + BRIDGE_RING);
	for (uint16_t n = 0; n < PORTS; n++) {
		const struct bridge_counts c = bridge_port_counts(bridge, n);

		by_port += sum(&c);
	}
	for (uint16_t vid = 0; vid < HY_L2_VIDS; vid++) {
		struct bridge_counts c;

		assert_int_equal(bridge_vlan_counts(bridge, vid, &c), vid >= 1 && vid <= 9);
		by_vlan += sum(&c);
	}
	assert_int_equal(by_port, handed);
	assert_int_equal(by_vlan, handed);
	assert_int_equal(all.entries, 4000);
	assert_true(all.learned > 3000 && all.moved > 1000 && all.refreshed > 1000);
	assert_true(all.refused > 1000 && full > 1000);
}

static void
limits_of_a_port_and_of_the_table_are_kept(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	for (uint32_t i = 10; i < 20; i++)
		find(0, key_of(i, 10), 1);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(bridge_port_counts(bridge, 1).entries, 3);
	assert_int_equal(bridge_port_counts(bridge, 1).learned, 3);
	assert_int_equal(bridge_port_counts(bridge, 1).refused, 7);
	for (uint32_t i = 20; i < 30; i++)
		find(0, key_of(i, 10), 0);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(counts().entries, 8); /* one is static */
	assert_int_equal(bridge_port_counts(bridge, 0).learned, 4);
	assert_int_equal(bridge_port_counts(bridge, 0).refused, 6);
	assert_int_equal(vlan_counts(10).refused, 13);
}

static void
unused_entries_age_within_seconds_and_used_ones_stay(void **state)
{
	const uint64_t unused = key_of(2, 10), used = key_of(3, 20), fixed = key_of(1, 10);
	uint32_t gone = 0;

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	find(0, unused, 0);
	find(0, used, 2);
	for (uint32_t now = 1000; now < 1100; now++) {
		if (now > 1000 && now % 5 == 0)
			find(1, used, 2);
		for (unsigned int again = 0; again < 3; again++)
			hy_bridge_poll(bridge, now);
		if (gone == 0 && port_of(unused) == HY_L2_MISS)
			gone = now;
		assert_int_equal(port_of(used), 2);
	}
	assert_in_range(gone, 1010, 1020);
	assert_int_equal(port_of(fixed), 2);
	assert_int_equal(counts().aged, 1);
	assert_int_equal(bridge_port_counts(bridge, 0).aged, 1);
	assert_int_equal(vlan_counts(10).aged, 1);
	assert_int_equal(vlan_counts(20).aged, 0);
	for (uint32_t now = 1100; now < 1130; now++)
		hy_bridge_poll(bridge, now);
	assert_int_equal(port_of(used), HY_L2_MISS);
	assert_int_equal(vlan_counts(20).aged, 1);
}

static void
age_0_is_never(void **state)
{
	RTE_SET_USED(state);
	bridge_new("age 0\nport 5 access 10\nport 1 access 10\nport 2 access 10\n");
	find(0, key_of(2, 10), 0);
	for (uint32_t now = 0; now < 10000000; now += 10000)
		hy_bridge_poll(bridge, now);
	assert_int_equal(port_of(key_of(2, 10)), 0);
}

static void
state_of_a_port_is_set_by_command(void **state)
{
	const unsigned int heap = unit_heap_live();
	unsigned int started;

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	started = unit_heap_live();
	find(0, key_of(2, 10), 0);
	find(0, key_of(3, 10), 1);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(hy_bridge_state(bridge, 0, HY_L2_BLOCKING), -ENODEV);
	assert_int_equal(hy_bridge_state(bridge, 5, HY_L2_LEARNING), 0);
	assert_int_equal(setup_now()->port[0].state, HY_L2_LEARNING);
	assert_int_equal(setup_now()->forwarding, 6);
	assert_int_equal(port_of(key_of(2, 10)), 0); /* still learns */
	assert_int_equal(hy_bridge_state(bridge, 5, HY_L2_BLOCKING), 0);
	assert_int_equal(setup_now()->port[0].state, HY_L2_BLOCKING);
	assert_int_equal(port_of(key_of(2, 10)), HY_L2_MISS);
	assert_int_equal(port_of(key_of(3, 10)), 1);
	assert_int_equal(port_of(key_of(1, 10)), 2);
	assert_int_equal(hy_bridge_state(bridge, 5, HY_L2_FORWARDING), 0);
	assert_int_equal(setup_now()->forwarding, 7);
	assert_int_equal(unit_heap_live(), started); /* set-ups were freed */
	assert_true(started > heap);
}

static void
state_without_memory_stays(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	unit_alloc_fail(1);
	assert_int_equal(hy_bridge_state(bridge, 5, HY_L2_BLOCKING), -ENOMEM);
	unit_alloc_fail(0);
	assert_int_equal(setup_now()->forwarding, 7);
	assert_int_equal(hy_bridge_state(bridge, 1, HY_L2_BLOCKING), 0);
	assert_int_equal(setup_now()->forwarding, 5); /* that of port 5 did not change either */
}

/* A worker that hangs may read the set-up before: it is freed once the worker has reported. */
static void
set_up_is_kept_for_a_worker_that_does_not_report(void **state)
{
	const struct hy_l2_setup *before;
	unsigned int started;

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	started = unit_heap_live();
	before = setup_now();
	worker_begins();
	assert_int_equal(hy_bridge_state(bridge, 5, HY_L2_BLOCKING), -ETIMEDOUT);
	assert_ptr_not_equal(setup_now(), before);
	assert_int_equal(setup_now()->forwarding, 6);
	assert_int_equal(before->forwarding, 7);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(unit_heap_live(), started + 1);
	worker_reports();
	hy_bridge_poll(bridge, 1);
	assert_int_equal(unit_heap_live(), started);
	worker_rests();
}

/* A worker may have found a source before it saw that the port has stopped learning. */
static void
source_of_a_port_that_stopped_learning_is_not_learned(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	find(0, key_of(2, 10), 0);
	find(0, key_of(3, 10), 1);
	find(0, key_of(4, 40), 1);         /* of a VLAN that the port has left */
	find(0, key_of(5, 10), PORTS + 1); /* of no port */
	assert_int_equal(hy_bridge_state(bridge, 5, HY_L2_BLOCKING), 0);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(port_of(key_of(2, 10)), HY_L2_MISS);
	assert_int_equal(port_of(key_of(3, 10)), 1);
	assert_int_equal(port_of(key_of(4, 40)), HY_L2_MISS);
	assert_int_equal(port_of(key_of(5, 10)), HY_L2_MISS);
	assert_int_equal(bridge_port_counts(bridge, 0).refused, 1);
	assert_int_equal(bridge_port_counts(bridge, 1).refused, 1);
	assert_int_equal(bridge_port_counts(bridge, 1).learned, 1);
	assert_int_equal(vlan_counts(40).refused, 1);
}

static void
report_has_ports_and_vlans_in_use_with_their_counts(void **state)
{
	const char *text;

	RTE_SET_USED(state);
	bridge_new("port 5 access 10\nport 1 trunk all\nport 2 trunk 20\n"
		   "static 02:00:00:00:00:01 vlan 10 local\n");
	find(0, key_of(2, 10), 0);
	find(0, key_of(3, 20), 1);
	hy_bridge_poll(bridge, 1);
	find(0, key_of(3, 20), 2);
	hy_bridge_poll(bridge, 1);
	bridge->worker[0]->flooded_by_port[0] = 5;
	bridge->worker[1]->flooded_by_port[0] = 6;
	bridge->worker[1]->flooded_by_vlan[10] = 11;
	text = printed(hy_bridge_print);
	assert_string_equal(text,
		"bridge: 3 of 65536 entries, 1 of them static; 2 learned, 1 moved, 0 of them within "
		"a second, 0 aged, 0 refused, 11 frames flooded\n"
		"port state       entries    learned    moved       aged  refused      flooded\n"
		"   5 forwarding        1          1        0          0        0           11\n"
		"   1 forwarding        0          1        0          0        0            0\n"
		"   2 forwarding        1          0        1          0        0            0\n"
		"vlan ports       entries    learned    moved       aged  refused      flooded\n"
		"  10 2                 2          1        0          0        0           11\n"
		"  20 2                 1          1        1          0        0            0\n");
	text = printed(hy_bridge_json);
	assert_string_equal(text,
		"\"bridge\": {\"max_entries\": 65536, \"static\": 1, \"flapped\": 0, \"entries\": 3, "
		"\"learned\": 2, \"moved\": 1, \"refreshed\": 0, \"aged\": 0, \"refused\": 0, "
		"\"flooded\": 11, \"ports\": [{\"port\": 5, \"state\": \"forwarding\", \"entries\": 1, "
		"\"learned\": 1, \"moved\": 0, \"refreshed\": 0, \"aged\": 0, \"refused\": 0, "
		"\"flooded\": 11}, {\"port\": 1, \"state\": \"forwarding\", \"entries\": 0, "
		"\"learned\": 1, \"moved\": 0, \"refreshed\": 0, \"aged\": 0, \"refused\": 0, "
		"\"flooded\": 0}, {\"port\": 2, \"state\": \"forwarding\", \"entries\": 1, "
		"\"learned\": 0, \"moved\": 1, \"refreshed\": 0, \"aged\": 0, \"refused\": 0, "
		"\"flooded\": 0}], \"vlans\": [{\"vlan\": 10, \"ports\": 2, \"entries\": 2, "
		"\"learned\": 1, \"moved\": 0, \"refreshed\": 0, \"aged\": 0, \"refused\": 0, "
		"\"flooded\": 11}, {\"vlan\": 20, \"ports\": 2, \"entries\": 1, \"learned\": 1, "
		"\"moved\": 1, \"refreshed\": 0, \"aged\": 0, \"refused\": 0, \"flooded\": 0}]},\n");
}

static const struct CMUnitTest tests[] = {
	BRIDGE_TEST(sources_are_learned_moved_and_refused),
	BRIDGE_TEST(ring_is_drained_and_each_source_counted),
	BRIDGE_TEST(limits_of_a_port_and_of_the_table_are_kept),
	BRIDGE_TEST(unused_entries_age_within_seconds_and_used_ones_stay),
	BRIDGE_TEST(age_0_is_never),
	BRIDGE_TEST(state_of_a_port_is_set_by_command),
	BRIDGE_TEST(state_without_memory_stays),
	BRIDGE_TEST(set_up_is_kept_for_a_worker_that_does_not_report),
	BRIDGE_TEST(source_of_a_port_that_stopped_learning_is_not_learned),
	BRIDGE_TEST(report_has_ports_and_vlans_in_use_with_their_counts),
};
UNIT_SUITE(tests)
