/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection again while graphs run, and the events of ports; what fails leaves all as it was. */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_graph_worker.h>

#include "hal.h"
#include "hal_fixture.h"
#include "port_event.h"
#include "registry.h"

#define PORTS 2

/* The families, of ports: live_rx → live_cls → live_sink (of the process). */
static struct {
	unsigned int binds, unbinds, inits, finis;
	unsigned int fail_bind; /* the call that fails, from 1 */
	bool fail_init;
	uint64_t seen[2]; /* objects that "plain" and "fast" of live_cls had */
	uint64_t made, released;
} rig;

static struct hy_graph *graphs[PORTS];

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	rig.released += n;
}

static const struct hy_object_ops ops = { .release = release };

static uint16_t
rx_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static int object;

	for (uint16_t i = 0; i < n; i++)
		objs[i] = &object;
	rig.made += n;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
rx_parked(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	return 0;
}

static uint16_t
cls_plain(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	rig.seen[0] += n;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
cls_fast(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	rig.seen[1] += n;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static int
fast_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	assert_non_null(config);
	assert_int_equal(*(const int *)config, 42);
	if (rig.fail_init)
		return -EIO;
	rig.inits++;
	return 0;
}

static void
fast_fini(const struct hy_graph *graph, struct hy_node *node)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	rig.finis++;
}

static int
fast_bind(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
{
	RTE_SET_USED(of);
	if (++rig.binds != rig.fail_bind)
		return 0;
	rig.binds--;
	rig.fail_bind = 0;
	snprintf(reason, size, "port %u is busy", target.id);
	return -EBUSY;
}

static void
fast_unbind(const struct hy_hal *of, struct hy_target target)
{
	RTE_SET_USED(of);
	RTE_SET_USED(target);
	rig.unbinds++;
}

static void
families_add(void)
{
	static bool added;

	if (added)
		return;
	added = true;
	assert_int_equal(family_try(&(const struct hy_family){
				 .target = HY_TARGET_PORT,
				 .score = 10,
				 .node = { .name = "live_rx",
					 .flags = HY_NODE_SOURCE,
					 .edges = { "live_cls" },
					 .impl = { .variant = "plain", .process = rx_process } },
			 }),
		0);
	variant_add(&(const struct hy_variant){ .family = "live_rx",
		.impl = { .variant = "parked", .process = rx_parked },
		.parked = true });
	assert_int_equal(family_try(&(const struct hy_family){
				 .target = HY_TARGET_PORT,
				 .score = 10,
				 .node = { .name = "live_cls",
					 .edges = { "live_sink" },
					 .impl = { .variant = "plain", .process = cls_plain } },
			 }),
		0);
	variant_add(&(const struct hy_variant){ .family = "live_cls",
		.score = 20,
		.impl = { .variant = "fast",
			.process = cls_fast,
			.init = fast_init,
			.fini = fast_fini },
		.bind = fast_bind,
		.unbind = fast_unbind });
	family_add("live_sink", HY_TARGET_PROCESS, 10);
}

/* A graph for each port: live_rx-P leads to its port's live_cls. */
static void
rig_make(void)
{
	const int config = 42;
	char name[32];

	memset(&rig, 0, sizeof(rig));
	families_add();
	for (unsigned int p = 0; p < PORTS; p++) {
		snprintf(name, sizeof(name), "live%u", p);
		port_add_rings(name, 1, 1);
	}
	assert_int_equal(hy_hal_probe(hal), 0);
	select_all();
	assert_int_equal(hy_hal_node_config(hal, "live_cls", &config, sizeof(config)), 0);
	for (uint16_t p = 0; p < PORTS; p++) {
		const char *const patterns[] = { name };
		hy_node_id rx;

		snprintf(name, sizeof(name), "%u", p);
		assert_int_equal(hy_hal_node_clone(hal, "live_rx", p, name, &rx), 0);
		assert_int_equal(hy_hal_lead(hal, rx, 0, "live_cls", p), 0);
		snprintf(name, sizeof(name), "live_rx-%u", p);
		assert_int_equal(hy_graph_create(name,
					 &(const struct hy_graph_params){ .patterns = patterns,
						 .nb_patterns = 1,
						 .ops = &ops,
						 .burst = 8 },
					 &graphs[p]),
			0);
	}
}

static void
walk(void)
{
	for (unsigned int p = 0; p < PORTS; p++)
		hy_graph_walk(graphs[p]);
}

/* What the process keeps for ever of its first graph is no leak of a test. */
static int
live_setup(void **state)
{
	static const char *const patterns[] = { "live_rx" };
	static bool warm;
	struct hy_graph *graph;

	if (!warm) {
		families_add();
		assert_int_equal(hy_graph_create("warm",
					 &(const struct hy_graph_params){ .patterns = patterns,
						 .nb_patterns = 1,
						 .ops = &ops },
					 &graph),
			0);
		hy_graph_destroy(graph);
		warm = true;
	}
	return hal_setup(state);
}

static int
live_teardown(void **state)
{
	for (unsigned int p = 0; p < PORTS; p++) {
		hy_graph_destroy(graphs[p]);
		graphs[p] = NULL;
	}
	return hal_teardown(state);
}

static void
reselect(void)
{
	const int rc = hy_hal_reselect(hal, graphs, PORTS, error);

	if (rc != 0)
		fail_msg("reselection: %s: %s", strerror(-rc), error);
}

static void
deny(const char *spec)
{
	assert_int_equal(hy_hal_deny(hal, spec, error), 0);
}

static uint64_t
objs_of(const char *node)
{
	uint64_t objs = UINT64_MAX;
	struct hy_stats *stats;

	assert_int_equal(hy_stats_read("live_rx-*", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, node) == 0)
			objs = stats->nodes[i].objs;
	hy_stats_free(stats);
	return objs;
}

static void
assert_variant(const char *node, const char *variant, const char *target)
{
	const struct hy_placement *place = hy_hal_placement(hal, node);

	assert_non_null(place);
	assert_string_equal(place->variant, variant);
	assert_string_equal(place->target, target);
}

static void
reselection_moves_a_ports_edge_and_carries_counters(void **state)
{
	RTE_SET_USED(state);
	rig_make();
	assert_int_equal(rig.binds, 2);
	walk();
	assert_int_equal(rig.seen[1], 16);
	assert_variant("live_cls", "fast", "port 0,1");
	deny("live_cls@1=fast");
	reselect();
	/* Published, and not taken up: what was bound stays. */
	assert_true(hy_graph_updating(graphs[1]));
	assert_false(hy_hal_settle(hal, graphs, PORTS));
	assert_int_equal(rig.unbinds, 0);
	walk();
	assert_true(hy_hal_settle(hal, graphs, PORTS));
	assert_int_equal(rig.unbinds, 1);
	assert_variant("live_cls", "fast", "port 0");
	assert_variant("live_cls-plain", "plain", "port 1");
	assert_int_equal(rig.seen[0], 8);
	assert_int_equal(rig.seen[1], 24);
	assert_int_equal(objs_of("live_cls"), 24);
	assert_int_equal(objs_of("live_cls-plain"), 8);
	assert_int_equal(objs_of("live_rx-1"), 16);
	assert_int_equal(rig.made, 32);
	assert_int_equal(rig.inits - rig.finis, 1);
	/* And the other port too: the family's own node is nobody's then. */
	deny("live_cls@0=fast");
	reselect();
	walk();
	assert_true(hy_hal_settle(hal, graphs, PORTS));
	assert_variant("live_cls-plain", "plain", "port 0,1");
	assert_variant("live_cls", "fast", "");
	assert_int_equal(rig.seen[0], 24);
	assert_int_equal(rig.seen[1], 24);
	assert_int_equal(rig.unbinds, 2);
	assert_int_equal(rig.inits, rig.finis);
}

static void
all_ports_that_change_alike_keep_their_node(void **state)
{
	RTE_SET_USED(state);
	rig_make();
	walk();
	deny("live_cls=fast");
	reselect();
	walk();
	assert_true(hy_hal_settle(hal, graphs, PORTS));
	assert_variant("live_cls", "plain", "port 0,1");
	assert_null(hy_hal_placement(hal, "live_cls-plain"));
	assert_int_equal(objs_of("live_cls"), 32);
	assert_int_equal(rig.unbinds, 2);
}

static void
reselection_that_changes_nothing_leaves_the_graphs_alone(void **state)
{
	RTE_SET_USED(state);
	rig_make();
	walk();
	for (unsigned int i = 0; i < 3; i++) {
		reselect();
		assert_false(hy_graph_updating(graphs[0]));
		assert_false(hy_graph_updating(graphs[1]));
	}
	assert_int_equal(rig.binds, 2);
	assert_int_equal(rig.unbinds, 0);
	assert_int_equal(rig.inits, 2);
}

/* Denied for port 0 and, before a worker has come to that, for port 1 in its place. */
static void
what_is_wanted_again_before_it_was_left_stays_bound(void **state)
{
	RTE_SET_USED(state);
	rig_make();
	hal->life[0].state = HY_PORT_DOWN; /* as hy_hal_poll() would find it */
	reselect();
	assert_string_equal(chosen("live_cls", 0), "plain");
	hal->life[0].state = HY_PORT_UP;
	reselect();
	assert_string_equal(chosen("live_cls", 0), "fast");
	walk();
	assert_true(hy_hal_settle(hal, graphs, PORTS));
	assert_int_equal(rig.binds, 2);
	assert_int_equal(rig.unbinds, 0);
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

	rig_make();
	walk();
	assert_int_equal(hy_graph_update_all(graphs, PORTS), 0); /* makes the history's entries */
	walk();
	assert_false(hy_graph_updating(graphs[0]) || hy_graph_updating(graphs[1]));
	deny(spec);
	registry_note(before);
	heap = unit_heap_live();
	for (;; failed++) {
		unit_alloc_fail(failed + 1);
		rc = hy_hal_reselect(hal, graphs, PORTS, error);
		unit_alloc_fail(0);
		if (rc == 0 || failed == 10000)
			break;
		assert_int_equal(rc, -ENOMEM);
		registry_note(after);
		assert_string_equal(before, after);
		assert_int_equal(unit_heap_live(), heap);
		assert_variant("live_cls", "fast", "port 0,1");
		assert_null(hy_hal_placement(hal, "live_cls-plain"));
		assert_string_equal(chosen("live_cls", 1), "fast");
		assert_false(hy_graph_updating(graphs[0]));
		assert_false(hy_graph_updating(graphs[1]));
		assert_int_equal(rig.unbinds, 0);
	}
	assert_int_equal(rc, 0);
	assert_true(failed >= 30); /* candidates, records, a clone, two images */
	walk();
	assert_true(hy_hal_settle(hal, graphs, PORTS));
	assert_string_equal(chosen("live_cls", 1), "plain");
	assert_int_equal(rig.made, rig.seen[0] + rig.seen[1]);
}

static void
every_allocation_of_a_new_node_can_fail_and_all_goes_on(void **state)
{
	RTE_SET_USED(state);
	starve("live_cls@1=fast");
	assert_variant("live_cls-plain", "plain", "port 1");
}

static void
every_allocation_of_a_new_variant_can_fail_and_all_goes_on(void **state)
{
	RTE_SET_USED(state);
	starve("live_cls=fast");
	assert_variant("live_cls", "plain", "port 0,1");
}

static void
graph_that_refuses_the_new_variant_leaves_the_old_everywhere(void **state)
{
	RTE_SET_USED(state);
	rig_make();
	deny("live_cls@1=fast");
	reselect();
	walk();
	assert_true(hy_hal_settle(hal, graphs, PORTS));
	assert_int_equal(rig.unbinds, 1);
	rig.fail_init = true;
	hal->rules[0].deny = false; /* as if it were forced */
	assert_int_equal(hy_hal_reselect(hal, graphs, PORTS, error), -EIO);
	assert_string_equal(error,
		"the graphs cannot be changed, and go on as they are: Input/output error");
	assert_string_equal(chosen("live_cls", 1), "plain");
	assert_variant("live_cls-plain", "plain", "port 1");
	/* Bound for the attempt, and not any more. */
	assert_int_equal(rig.binds, 3);
	assert_int_equal(rig.unbinds, 2);
	rig.seen[0] = rig.seen[1] = 0;
	walk();
	assert_int_equal(rig.seen[0], 8);
	assert_int_equal(rig.seen[1], 8);
	rig.fail_init = false;
	reselect();
	walk();
	assert_true(hy_hal_settle(hal, graphs, PORTS));
	assert_variant("live_cls", "fast", "port 0,1");
}

static void
lead_refuses_what_it_cannot_follow(void **state)
{
	hy_node_id rx;

	RTE_SET_USED(state);
	rig_make();
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
static char story[256];
static int reset_result;

static void
tell(const char *what, uint16_t port)
{
	const size_t used = strlen(story);

	snprintf(story + used, sizeof(story) - used, "%s%u ", what, port);
}

static void
observe(struct hy_hal *of, uint16_t port, enum hy_port_state state, void *arg)
{
	static const char *const names[] = { "up", "leaving", "down", "gone" };

	assert_ptr_equal(of, hal);
	assert_ptr_equal(arg, story);
	assert_int_equal(hy_hal_port_state(of, port), state);
	/* Nobody uses it: its source is parked, and nothing is bound to it. */
	if (state != HY_PORT_UP) {
		char name[32];

		snprintf(name, sizeof(name), "live_rx-%u", port);
		assert_string_equal(hy_hal_placement(hal, name)->variant, "parked");
		for (unsigned int i = 0; i < hal->nb_bindings; i++)
			assert_int_not_equal(hal->bindings[i].target.id, port);
	}
	tell(names[state], port);
}

static int
op_reset(uint16_t port, void *arg)
{
	assert_ptr_equal(arg, &reset_result);
	tell("reset", port);
	return reset_result;
}

static void
op_gone(uint16_t port, void *arg)
{
	assert_ptr_equal(arg, &reset_result);
	tell("close", port);
}

static const struct hy_port_ops port_ops = { op_reset, op_gone, &reset_result };

static void
rig_watch(void)
{
	rig_make();
	story[0] = '\0';
	reset_result = 0;
	assert_int_equal(hy_hal_port_observe(hal, observe, story), 0);
	assert_int_equal(hy_hal_watch(hal), 0);
	assert_int_equal(hy_hal_watch(hal), 0);
}

static int
poll(void)
{
	return hy_hal_poll(hal, graphs, PORTS, &port_ops, error);
}

static const struct hy_capability *
running(uint16_t port)
{
	return hy_hal_capability(hal, (struct hy_target){ HY_TARGET_PORT, port }, HY_CAP_RUNNING);
}

static void
reset_parks_the_port_resets_it_and_goes_on(void **state)
{
	RTE_SET_USED(state);
	rig_watch();
	walk();
	assert_int_equal(poll(), 0);
	assert_int_equal(running(1)->level, HY_LEVEL_YES);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(hy_hal_port_state(hal, 1), HY_PORT_UP); /* until it is polled */
	assert_int_equal(poll(), 1);
	assert_int_equal(hy_hal_port_state(hal, 1), HY_PORT_LEAVING);
	assert_int_equal(running(1)->level, HY_LEVEL_NO);
	assert_int_equal(running(1)->origin, HY_ORIGIN_OBSERVED);
	assert_string_equal(running(1)->reason, "it asks for a reset");
	/* The worker of port 0 is through, that of port 1 is not. */
	hy_graph_walk(graphs[0]);
	assert_int_equal(poll(), 1);
	assert_string_equal(story, "");
	assert_int_equal(rig.unbinds, 0);
	rig.made = 0;
	hy_graph_walk(graphs[1]);
	assert_int_equal(rig.made, 0);
	assert_fate("live_rx", 1, "plain", HY_FATE_NEEDS_UNMET, 10,
		"needs running: no (it asks for a reset)");
	assert_fate("live_cls", 1, "fast", HY_FATE_NEEDS_UNMET, 20,
		"needs running: no (it asks for a reset)");
	assert_int_equal(poll(), 1);
	assert_string_equal(story, "down1 reset1 up1 ");
	assert_int_equal(rig.unbinds, 1);
	assert_int_equal(poll(), 1);
	assert_int_equal(rig.binds, 3);
	walk();
	assert_int_equal(poll(), 0);
	assert_string_equal(chosen("live_rx", 1), "plain");
	assert_fate("live_rx", 1, "parked", HY_FATE_NEEDS_UNMET, 0,
		"stands in while the port does not run");
	assert_variant("live_cls", "fast", "port 0,1");
	assert_int_equal(objs_of("live_rx-1"), 16);
	assert_string_equal(story, "down1 reset1 up1 ");
}

static void
destroyed_hal_hears_nothing_any_more(void **state)
{
	const unsigned int heap = unit_heap_live();

	RTE_SET_USED(state);
	rig_watch();
	for (unsigned int p = 0; p < PORTS; p++) {
		hy_graph_destroy(graphs[p]);
		graphs[p] = NULL;
	}
	ports_remove();
	assert_true(unit_heap_live() > heap); /* DPDK's lists of callbacks */
	hy_hal_destroy(hal);
	hal = NULL;
	assert_int_equal(unit_heap_live(), heap);
	assert_int_equal(rig.binds, rig.unbinds);
}

/* Polls and walks until there is nothing left to do; returns the first error, after clearing it. */
static int
poll_out(void)
{
	int rc, failed = 0;

	for (unsigned int i = 0; i < 20; i++) {
		rc = poll();
		if (rc < 0 && failed == 0)
			failed = rc;
		walk();
		if (rc == 0)
			return failed;
	}
	fail_msg("never done: %s", story);
	return -1;
}

static void
reset_that_fails_leaves_the_port_parked_until_it_is_started(void **state)
{
	RTE_SET_USED(state);
	rig_watch();
	reset_result = -EIO;
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(poll_out(), -EIO);
	assert_string_equal(error, "port 0 stays down: its reset failed: Input/output error");
	assert_int_equal(hy_hal_port_state(hal, 0), HY_PORT_DOWN);
	assert_string_equal(running(0)->reason, "its reset failed: Input/output error");
	assert_string_equal(chosen("live_rx", 0), "parked");
	assert_string_equal(chosen("live_rx", 1), "plain");
	/* Another event is another try. */
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(poll_out(), -EIO);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(story, "down0 reset0 reset0 up0 ");
	assert_string_equal(chosen("live_rx", 0), "plain");
	assert_string_equal(chosen("live_cls", 0), "fast");
}

static void
removed_port_stays_parked_and_its_numbers_stay(void **state)
{
	RTE_SET_USED(state);
	rig_watch();
	walk();
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RMV), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(story, "gone1 close1 ");
	assert_int_equal(hy_hal_port_state(hal, 1), HY_PORT_GONE);
	assert_int_equal(rig.unbinds, 1);
	assert_variant("live_rx-1", "parked", "port 1");
	assert_int_equal(objs_of("live_rx-1"), 8);
	/* No more of it, whatever is heard. */
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RMV), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(story, "gone1 close1 ");
	/* It is looked at no more: what is known of it is what was. */
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_string_equal(running(1)->reason, "it was removed");
	assert_non_null(strstr(printed(hy_hal_inventory_print), "observed: it was removed\n"));
}

static void
port_that_vanishes_without_a_word_is_gone(void **state)
{
	RTE_SET_USED(state);
	rig_make();
	story[0] = '\0';
	assert_int_equal(hy_hal_port_observe(hal, observe, story), 0);
	walk();
	/* Nobody watches: found out by the next look. */
	port_remove("net_ring_live1");
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(story, "gone1 close1 ");
	assert_string_equal(chosen("live_rx", 1), "parked");
	assert_int_equal(hy_hal_port_start(hal, 1), 0);
	assert_int_equal(poll_out(), -ENODEV);
	assert_string_equal(error, "port 1 cannot be started: there is no such device");
	/* Another device in its place. */
	assert_int_equal(port_add("net_null_9"), 1);
	assert_int_equal(hy_hal_port_start(hal, 1), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(chosen("live_rx", 1), "plain");
	assert_string_equal(hal->ports[1].dev.driver, "net_null");
	assert_string_equal(story, "gone1 close1 up1 ");
}

static void
program_stops_and_starts_a_port(void **state)
{
	RTE_SET_USED(state);
	rig_watch();
	assert_int_equal(hy_hal_port_stop(hal, RTE_MAX_ETHPORTS), -EINVAL);
	assert_int_equal(hy_hal_port_start(hal, RTE_MAX_ETHPORTS), -EINVAL);
	assert_int_equal(hy_hal_port_state(hal, RTE_MAX_ETHPORTS), HY_PORT_GONE);
	assert_int_equal(hy_hal_port_start(hal, 0), 0); /* it is up */
	assert_int_equal(poll_out(), 0);
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(story, "down0 ");
	assert_string_equal(running(0)->reason, "the program stops it");
	/* The program has it: no reset is asked for. */
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(poll_out(), 0);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(story, "down0 up0 ");
	assert_int_equal(rig.binds, 3);
	assert_int_equal(rig.unbinds, 1);
}

static void
last_of_start_and_stop_counts(void **state)
{
	RTE_SET_USED(state);
	rig_watch();
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(poll_out(), 0);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(story, "down0 ");
	assert_int_equal(hy_hal_port_state(hal, 0), HY_PORT_DOWN);
	/* It is up and told so; then it asks for a reset, which is not forgotten. */
	assert_int_equal(hy_hal_port_start(hal, 1), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(story, "down0 down1 reset1 up1 ");
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(story, "down0 down1 reset1 up1 up0 ");
}

static void
driver_that_recovers_has_the_port_for_itself(void **state)
{
	RTE_SET_USED(state);
	rig_watch();
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(running(0)->reason, "its driver recovers");
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_RECOVERY_FAILED), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(story, "down0 up0 gone1 close1 ");
	/* Over before it was looked at: bound anew all the same, since rules may be lost. */
	assert_int_equal(rig.binds, 3);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	assert_int_equal(poll_out(), 0);
	assert_int_equal(rig.binds, 4);
	assert_string_equal(story, "down0 up0 gone1 close1 down0 up0 ");
}

static void
forced_variant_comes_back_with_its_port(void **state)
{
	RTE_SET_USED(state);
	rig_watch();
	assert_int_equal(hy_hal_force(hal, "live_rx=plain", error), 0);
	assert_int_equal(hy_hal_force(hal, "live_cls=fast", error), 0);
	reselect();
	assert_true(selected("live_rx", 0)->forced);
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(poll_out(), 0);
	assert_string_equal(chosen("live_rx", 0), "parked");
	assert_false(selected("live_rx", 0)->forced);
	assert_true(selected("live_rx", 1)->forced);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(poll_out(), 0);
	assert_fate("live_rx", 0, "plain", HY_FATE_CHOSEN, 10, "forced by the user");
}

static void
bind_that_fails_after_a_reset_falls_to_the_next(void **state)
{
	RTE_SET_USED(state);
	rig_watch();
	walk();
	rig.fail_bind = 3;
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(poll_out(), 0);
	assert_fate("live_cls", 1, "fast", HY_FATE_BIND_FAILED, 20,
		"cannot be bound: port 1 is busy");
	assert_variant("live_cls", "fast", "port 0");
	assert_variant("live_cls-plain", "plain", "port 1");
	assert_string_equal(chosen("live_rx", 1), "plain");
}

static void
every_allocation_of_an_event_can_fail_and_is_tried_again(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int nth = 1, done = 0; !done; nth++) {
		unsigned int errors = 0;
		int rc;

		if (nth == 1)
			rig_watch();
		story[0] = '\0';
		rig.made = rig.seen[0] = rig.seen[1] = 0;
		assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
		unit_alloc_fail(nth);
		for (unsigned int i = 0; i < 20; i++) {
			rc = poll();
			errors += rc < 0;
			if (rc < 0)
				assert_int_equal(rc, -ENOMEM);
			walk();
			if (rc == 0)
				break;
		}
		done = errors == 0;
		unit_alloc_fail(0);
		assert_int_equal(rc, 0);
		assert_true(errors <= 1);
		assert_string_equal(story, "down1 reset1 up1 ");
		assert_string_equal(chosen("live_rx", 1), "plain");
		assert_string_equal(chosen("live_cls", 1), "fast");
		assert_int_equal(rig.binds - rig.unbinds, 2);
		assert_int_equal(rig.made, rig.seen[0] + rig.seen[1]);
		if (done)
			assert_true(nth > 60); /* two selections, and two updates */
	}
}

#define LIVE_TEST(f) cmocka_unit_test_setup_teardown(f, live_setup, live_teardown)

static const struct CMUnitTest hal_live_tests[] = {
	LIVE_TEST(reselection_moves_a_ports_edge_and_carries_counters),
	LIVE_TEST(all_ports_that_change_alike_keep_their_node),
	LIVE_TEST(reselection_that_changes_nothing_leaves_the_graphs_alone),
	LIVE_TEST(what_is_wanted_again_before_it_was_left_stays_bound),
	LIVE_TEST(every_allocation_of_a_new_node_can_fail_and_all_goes_on),
	LIVE_TEST(every_allocation_of_a_new_variant_can_fail_and_all_goes_on),
	LIVE_TEST(graph_that_refuses_the_new_variant_leaves_the_old_everywhere),
	LIVE_TEST(lead_refuses_what_it_cannot_follow),
	LIVE_TEST(reset_parks_the_port_resets_it_and_goes_on),
	LIVE_TEST(destroyed_hal_hears_nothing_any_more),
	LIVE_TEST(reset_that_fails_leaves_the_port_parked_until_it_is_started),
	LIVE_TEST(removed_port_stays_parked_and_its_numbers_stay),
	LIVE_TEST(port_that_vanishes_without_a_word_is_gone),
	LIVE_TEST(program_stops_and_starts_a_port),
	LIVE_TEST(last_of_start_and_stop_counts),
	LIVE_TEST(driver_that_recovers_has_the_port_for_itself),
	LIVE_TEST(forced_variant_comes_back_with_its_port),
	LIVE_TEST(bind_that_fails_after_a_reset_falls_to_the_next),
	LIVE_TEST(every_allocation_of_an_event_can_fail_and_is_tried_again),
};

UNIT_SUITE(hal_live_tests)
