/* SPDX-License-Identifier: BSD-3-Clause */
/* The set-up that nodes read: what each statement does to it. Ports 5, 1 and 2 are numbers 0, 1, 2. */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "bridge_fixture.h"
#include "lib/bridge/bridge.h"

#define THREE "port 5 access 10\nport 1 trunk 10,20-21\nport 2 trunk 30 native 10\n"

static void
ports_have_numbers_of_their_own(void **state)
{
	unsigned int others = 0;

	RTE_SET_USED(state);
	bridge_new(THREE);
	assert_int_equal(number_of(5), 0);
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(2), 2);
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++)
		others += setup_now()->number[port] == HY_L2_NO_PORT;
	assert_int_equal(others, RTE_MAX_ETHPORTS - PORTS);
	assert_int_equal(setup_now()->tag_type, 0x8100);
}

static void
vlans_have_members_with_and_without_tags(void **state)
{
	RTE_SET_USED(state);
	bridge_new(THREE);
	for (uint16_t vid = 0; vid < HY_L2_VIDS; vid++) {
		const struct hy_l2_vlan *vlan = &setup_now()->vlan[vid];
		const uint64_t members = vid == 10 ? 7
			: vid == 20 || vid == 21   ? 2
			: vid == 30                ? 4
						   : 0;

		assert_int_equal(vlan->members, members);
		assert_int_equal(vlan->untagged, vid == 10 ? 5 : 0);
	}
}

static void
ports_are_by_default_what_their_kind_says(void **state)
{
	const struct hy_l2_port *port;

	RTE_SET_USED(state);
	bridge_new(THREE);
	port = setup_now()->port;
	assert_int_equal(port[0].pvid, 10);
	assert_int_equal(port[1].pvid, 0);
	assert_int_equal(port[2].pvid, 10);
	assert_int_equal(port[0].admit, HY_L2_ADMIT_UNTAGGED);
	assert_int_equal(port[1].admit, HY_L2_ADMIT_TAGGED);
	assert_int_equal(port[2].admit, HY_L2_ADMIT_ALL);
	for (unsigned int i = 0; i < PORTS; i++) {
		assert_int_equal(port[i].state, HY_L2_FORWARDING);
		assert_true(port[i].learn && port[i].filter);
	}
}

static void
options_of_a_port_change_it(void **state)
{
	const struct hy_l2_port *port;

	RTE_SET_USED(state);
	bridge_new("tag 0x88a8\nport 5 access 10 admit all learn off\n"
		   "port 1 trunk 10 native 10 admit untagged filter off\n"
		   "port 2 trunk 10 admit all state learning learn on filter on\n");
	port = setup_now()->port;
	assert_int_equal(setup_now()->tag_type, 0x88a8);
	assert_int_equal(port[0].admit, HY_L2_ADMIT_ALL);
	assert_int_equal(port[1].admit, HY_L2_ADMIT_UNTAGGED);
	assert_int_equal(port[2].admit, HY_L2_ADMIT_ALL);
	assert_int_equal(port[2].pvid, 0);
	assert_true(!port[0].learn && port[1].learn && port[2].learn);
	assert_true(port[0].filter && !port[1].filter && port[2].filter);
	assert_int_equal(port[2].state, HY_L2_LEARNING);
}

static void
ports_reach_those_that_forward_and_are_of_no_common_group(void **state)
{
	const uint64_t *reach;

	RTE_SET_USED(state);
	bridge_new("port 5 access 10 group 3\nport 1 trunk 10 group 3\nport 2 trunk 10 group 4\n");
	reach = setup_now()->reach;
	assert_int_equal(setup_now()->forwarding, 7);
	assert_int_equal(reach[0], 4);
	assert_int_equal(reach[1], 4);
	assert_int_equal(reach[2], 3);
	assert_int_equal(hy_bridge_state(bridge, 1, HY_L2_LEARNING), 0);
	reach = setup_now()->reach;
	assert_int_equal(setup_now()->forwarding, 5);
	assert_int_equal(reach[0], 4);
	assert_int_equal(reach[1], 4);
	assert_int_equal(reach[2], 1);
}

/* Frames that a limit lets pass in a second, as l2_lookup counts them. */
static unsigned int
passed(unsigned int number, enum hy_l2_storm kind)
{
	struct rte_meter_srtcm_profile profile = setup_now()->storm[number][kind];
	struct rte_meter_srtcm meter = { 0 };
	const uint64_t start = 1 + rte_get_tsc_hz() * 100, steps = 100000;
	unsigned int green = 0;

	for (uint64_t i = 0; i < steps; i++)
		green += rte_meter_srtcm_color_blind_check(&meter, &profile,
				 start + rte_get_tsc_hz() / steps * i, 1) == RTE_COLOR_GREEN;
	return green;
}

static void
storms_are_limited_to_frames_a_second_with_a_burst(void **state)
{
	RTE_SET_USED(state);
	bridge_new("port 5 access 10 storm broadcast 1000 storm unknown 10\n"
		   "port 1 trunk 10 storm multicast 1\nport 2 trunk 10\n");
	assert_int_equal(setup_now()->limited[HY_L2_STORM_BROADCAST], 1);
	assert_int_equal(setup_now()->limited[HY_L2_STORM_MULTICAST], 2);
	assert_int_equal(setup_now()->limited[HY_L2_STORM_UNKNOWN], 1);
	assert_in_range(passed(0, HY_L2_STORM_BROADCAST), 1095, 1105);
	assert_in_range(passed(0, HY_L2_STORM_UNKNOWN), 41, 43);
	assert_in_range(passed(1, HY_L2_STORM_MULTICAST), 32, 34);
}

static void
workers_share_a_limit(void **state)
{
	static const uint16_t shares[PORTS] = { 4, 2, 1 };

	RTE_SET_USED(state);
	assert_int_equal(bridge_create("port 5 access 10 storm broadcast 1000\n"
				       "port 1 trunk 10 storm broadcast 1\n"
				       "port 2 trunk 10 storm broadcast 2000\n"),
		0);
	assert_int_equal(hy_bridge_start(bridge, &workers, shares, error), 0);
	assert_in_range(passed(0, HY_L2_STORM_BROADCAST), 250 + 32 - 2, 250 + 32 + 2);
	assert_in_range(passed(1, HY_L2_STORM_BROADCAST), 32, 34); /* one frame at least */
	assert_in_range(passed(2, HY_L2_STORM_BROADCAST), 2195, 2205);
}

static void
static_entries_and_limits_are_in_the_table(void **state)
{
	struct hy_l2_stats stats;

	RTE_SET_USED(state);
	bridge_new(
		"entries 9\n" THREE "static 02:00:00:00:00:01 vlan 10 port 1\n"
		"static 01:00:5e:00:00:01 vlan 10 port 5\nstatic 02:00:00:00:00:02 vlan 20 local\n");
	hy_l2_stats(hy_bridge_table(bridge), &stats);
	assert_int_equal(stats.static_entries, 3);
	assert_int_equal(port_of(key_of(1, 10)), 1);
	assert_int_equal(port_of(key_of(2, 20)), HY_L2_LOCAL);
	assert_int_equal(port_of(UINT64_C(0x800a0100005e0001)), 0);
}

static void
more_static_entries_than_the_table_has_room_for_are_refused(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(bridge_create("entries 1\n" THREE
				       "static 02:00:00:00:00:01 vlan 10 port 1\n"
				       "static 02:00:00:00:00:02 vlan 10 port 1\n"),
		0);
	assert_int_equal(hy_bridge_start(bridge, &workers, NULL, error), -ENOSPC);
	assert_non_null(strstr(error,
		": entries: there are 2 static ones, and the table has room for 1"));
}

/* A worker's memory is on lines of its own. */
static void
each_worker_has_a_ring_and_lines_of_its_own(void **state)
{
	RTE_SET_USED(state);
	bridge_new(THREE);
	for (unsigned int w = 0; w < WORKERS; w++) {
		assert_int_equal((uintptr_t)bridge->worker[w] % RTE_CACHE_LINE_SIZE, 0);
		assert_int_equal(rte_ring_get_capacity(bridge->worker[w]->learn), BRIDGE_RING - 1);
	}
	assert_null(bridge->worker[WORKERS]);
	assert_ptr_not_equal(bridge->worker[0]->learn, bridge->worker[1]->learn);
}

static void
start_without_memory_is_refused_and_leaves_nothing_behind(void **state)
{
	const unsigned int heap = unit_heap_live();
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	do {
		assert_int_equal(bridge_create("entries 100\n" THREE), 0);
		unit_alloc_fail(failed + 1);
		rc = hy_bridge_start(bridge, &workers, NULL, error);
		unit_alloc_fail(0);
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_non_null(strstr(error, "see EAL's -m for memory"));
			hy_bridge_destroy(bridge);
			bridge = NULL;
			assert_int_equal(unit_heap_live(), heap);
			failed++;
		}
	} while (rc < 0 && failed < 100);
	assert_int_equal(rc, 0);
	assert_true(failed >= 12); /* the table's nine, two workers, the set-up */
}

static const struct CMUnitTest tests[] = {
	BRIDGE_TEST(ports_have_numbers_of_their_own),
	BRIDGE_TEST(vlans_have_members_with_and_without_tags),
	BRIDGE_TEST(ports_are_by_default_what_their_kind_says),
	BRIDGE_TEST(options_of_a_port_change_it),
	BRIDGE_TEST(ports_reach_those_that_forward_and_are_of_no_common_group),
	BRIDGE_TEST(storms_are_limited_to_frames_a_second_with_a_burst),
	BRIDGE_TEST(workers_share_a_limit),
	BRIDGE_TEST(static_entries_and_limits_are_in_the_table),
	BRIDGE_TEST(more_static_entries_than_the_table_has_room_for_are_refused),
	BRIDGE_TEST(each_worker_has_a_ring_and_lines_of_its_own),
	BRIDGE_TEST(start_without_memory_is_refused_and_leaves_nothing_behind),
};
UNIT_SUITE(tests)
