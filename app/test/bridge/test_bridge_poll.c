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
	assert_int_equal(bridge_vlan_counts(bridge, 20).moved, 1);
	assert_int_equal(bridge_vlan_counts(bridge, 10).refused, 1);
}

static const struct CMUnitTest tests[] = {
	BRIDGE_TEST(sources_are_learned_moved_and_refused),
};
UNIT_SUITE(tests)
