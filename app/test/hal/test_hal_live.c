/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection again while graphs run; what fails leaves all as it was. */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "hal/internal/hal.h"
#include "hal_live_fixture.h"
#include "lib/graph/registry/registry.h"

static void
deny(const char *spec)
{
	assert_int_equal(hy_hal_deny(hal, spec, error), 0);
}

static void
reselection_moves_a_ports_edge_and_carries_counters(void **state)
{
	RTE_SET_USED(state);
	live_make();
	assert_int_equal(live.binds, 2);
	live_walk();
	assert_int_equal(live.seen[1], 16);
	live_assert_variant("live_cls", "fast", "port 0,1");
	deny("live_cls@1=fast");
	live_reselect();
	/* Published, and not taken up: what was bound stays. */
	assert_true(hy_graph_updating(live_graphs[1]));
	assert_false(hy_hal_settle(hal, live_graphs, PORTS));
	assert_int_equal(live.unbinds, 0);
	live_walk();
	assert_true(hy_hal_settle(hal, live_graphs, PORTS));
	assert_int_equal(live.unbinds, 1);
	live_assert_variant("live_cls", "fast", "port 0");
	live_assert_variant("live_cls-plain", "plain", "port 1");
	assert_int_equal(live.seen[0], 8);
	assert_int_equal(live.seen[1], 24);
	assert_int_equal(live_objs("live_cls"), 24);
	assert_int_equal(live_objs("live_cls-plain"), 8);
	assert_int_equal(live_objs("live_rx-1"), 16);
	assert_int_equal(live.made, 32);
	assert_int_equal(live.inits - live.finis, 1);
	/* And the other port too: the family's own node is nobody's then. */
	deny("live_cls@0=fast");
	live_reselect();
	live_walk();
	assert_true(hy_hal_settle(hal, live_graphs, PORTS));
	live_assert_variant("live_cls-plain", "plain", "port 0,1");
	live_assert_variant("live_cls", "fast", "");
	assert_int_equal(live.seen[0], 24);
	assert_int_equal(live.seen[1], 24);
	assert_int_equal(live.unbinds, 2);
	assert_int_equal(live.inits, live.finis);
}

static void
all_ports_that_change_alike_keep_their_node(void **state)
{
	RTE_SET_USED(state);
	live_make();
	live_walk();
	deny("live_cls=fast");
	live_reselect();
	live_walk();
	assert_true(hy_hal_settle(hal, live_graphs, PORTS));
	live_assert_variant("live_cls", "plain", "port 0,1");
	assert_null(hy_hal_placement(hal, "live_cls-plain"));
	assert_int_equal(live_objs("live_cls"), 32);
	assert_int_equal(live.unbinds, 2);
}

static void
reselection_that_changes_nothing_leaves_the_graphs_alone(void **state)
{
	RTE_SET_USED(state);
	live_make();
	live_walk();
	for (unsigned int i = 0; i < 3; i++) {
		live_reselect();
		assert_false(hy_graph_updating(live_graphs[0]));
		assert_false(hy_graph_updating(live_graphs[1]));
	}
	assert_int_equal(live.binds, 2);
	assert_int_equal(live.unbinds, 0);
	assert_int_equal(live.inits, 2);
}

/* Denied for port 0 and, before a worker has come to that, for port 1 in its place. */
static void
what_is_wanted_again_before_it_was_left_stays_bound(void **state)
{
	RTE_SET_USED(state);
	live_make();
	hal->life[0].state = HY_PORT_DOWN; /* as hy_hal_poll() would find it */
	live_reselect();
	assert_string_equal(chosen("live_cls", 0), "plain");
	hal->life[0].state = HY_PORT_UP;
	live_reselect();
	assert_string_equal(chosen("live_cls", 0), "fast");
	live_walk();
	assert_true(hy_hal_settle(hal, live_graphs, PORTS));
	assert_int_equal(live.binds, 2);
	assert_int_equal(live.unbinds, 0);
}

/* What the registry says, to be compared. */
static void
registry_note(char text[1024])
{
	char target[HY_NAME_SIZE];
	size_t used = 0;
	hy_node_id id;

	for (id = 0; hy_node_next(id, &id) == 0; id++) {
		const struct hy_reg_node *node = hy_registry_get(id);

		if (strncmp(node->name, "live_", 5) != 0)
			continue;
		if (hy_node_edge_target(id, 0, target, sizeof(target)) < 0)
			strcpy(target, "-");
		used += (size_t)snprintf(text + used, 1024 - used, "%s %s %s;", node->name,
			node->variant, target);
		assert_true(used < 1024);
	}
}

/* Denies something, and lets every allocation of what follows from that fail. */
static void
starve(const char *spec)
{
	char before[1024], after[1024];
	unsigned int failed = 0, heap;
	int rc;

	live_make();
	live_walk();
	assert_int_equal(hy_graph_update_all(live_graphs, PORTS),
		0); /* makes the history's entries */
	live_walk();
	assert_false(hy_graph_updating(live_graphs[0]) || hy_graph_updating(live_graphs[1]));
	deny(spec);
	registry_note(before);
	heap = unit_heap_live();
	for (;; failed++) {
		unit_alloc_fail(failed + 1);
		rc = hy_hal_reselect(hal, live_graphs, PORTS, error);
		unit_alloc_fail(0);
		if (rc == 0 || failed == 10000)
			break;
		assert_int_equal(rc, -ENOMEM);
		registry_note(after);
		assert_string_equal(before, after);
		assert_int_equal(unit_heap_live(), heap);
		live_assert_variant("live_cls", "fast", "port 0,1");
		assert_null(hy_hal_placement(hal, "live_cls-plain"));
		assert_string_equal(chosen("live_cls", 1), "fast");
		assert_false(hy_graph_updating(live_graphs[0]));
		assert_false(hy_graph_updating(live_graphs[1]));
		assert_int_equal(live.unbinds, 0);
	}
	assert_int_equal(rc, 0);
	assert_true(failed >= 30); /* candidates, records, a clone, two images */
	live_walk();
	assert_true(hy_hal_settle(hal, live_graphs, PORTS));
	assert_string_equal(chosen("live_cls", 1), "plain");
	assert_int_equal(live.made, live.seen[0] + live.seen[1]);
}

static void
every_allocation_of_a_new_node_can_fail_and_all_goes_on(void **state)
{
	RTE_SET_USED(state);
	starve("live_cls@1=fast");
	live_assert_variant("live_cls-plain", "plain", "port 1");
}

static void
every_allocation_of_a_new_variant_can_fail_and_all_goes_on(void **state)
{
	RTE_SET_USED(state);
	starve("live_cls=fast");
	live_assert_variant("live_cls", "plain", "port 0,1");
}

static void
graph_that_refuses_the_new_variant_leaves_the_old_everywhere(void **state)
{
	RTE_SET_USED(state);
	live_make();
	deny("live_cls@1=fast");
	live_reselect();
	live_walk();
	assert_true(hy_hal_settle(hal, live_graphs, PORTS));
	assert_int_equal(live.unbinds, 1);
	live.fail_init = true;
	hal->rules[0].deny = false; /* as if it were forced */
	assert_int_equal(hy_hal_reselect(hal, live_graphs, PORTS, error), -EIO);
	assert_string_equal(error,
		"the graphs cannot be updated and stay as they are: Input/output error");
	assert_string_equal(chosen("live_cls", 1), "plain");
	live_assert_variant("live_cls-plain", "plain", "port 1");
	/* Bound for the attempt, and not any more. */
	assert_int_equal(live.binds, 3);
	assert_int_equal(live.unbinds, 2);
	live.seen[0] = live.seen[1] = 0;
	live_walk();
	assert_int_equal(live.seen[0], 8);
	assert_int_equal(live.seen[1], 8);
	live.fail_init = false;
	live_reselect();
	live_walk();
	assert_true(hy_hal_settle(hal, live_graphs, PORTS));
	live_assert_variant("live_cls", "fast", "port 0,1");
}

static void
lead_refuses_what_it_cannot_follow(void **state)
{
	hy_node_id rx;

	RTE_SET_USED(state);
	live_make();
	assert_int_equal(hy_node_lookup("live_rx-0", &rx), 0);
	assert_int_equal(hy_hal_lead(hal, rx, 0, "live_nobody", 0), -ENOENT);
	assert_int_equal(hy_hal_lead(hal, rx, 0, "live_cls", 9), -ENOENT);
	assert_int_equal(hy_hal_lead(hal, rx, 3, "live_sink", 0), -ENOENT);
	assert_int_equal(hy_hal_lead(hal, rx, 1, "live_cls", 1), -EEXIST);
	assert_int_equal(hy_hal_lead(hal, rx, 0, "live_cls", 0), 0); /* again */
	assert_int_equal(hal->nb_leads, 2);
	assert_int_equal(hy_hal_node_config(hal, "live_nobody", &rx, sizeof(rx)), -ENOENT);
}

/* What became of ports, as the program and an observer see it: "down0 reset0 up0 ". */

static const struct CMUnitTest hal_live_tests[] = {
	LIVE_TEST(reselection_moves_a_ports_edge_and_carries_counters),
	LIVE_TEST(all_ports_that_change_alike_keep_their_node),
	LIVE_TEST(reselection_that_changes_nothing_leaves_the_graphs_alone),
	LIVE_TEST(what_is_wanted_again_before_it_was_left_stays_bound),
	LIVE_TEST(every_allocation_of_a_new_node_can_fail_and_all_goes_on),
	LIVE_TEST(every_allocation_of_a_new_variant_can_fail_and_all_goes_on),
	LIVE_TEST(graph_that_refuses_the_new_variant_leaves_the_old_everywhere),
	LIVE_TEST(lead_refuses_what_it_cannot_follow),
};

UNIT_SUITE(hal_live_tests)
