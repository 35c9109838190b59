/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ports of rings, a graph for each, and families whose variants tell what became of them. */

#include <string.h>

#include <hy_graph_worker.h>
#include <hy_hal_live.h>

#include "hal_live_fixture.h"

struct live live;

struct hy_graph *live_graphs[PORTS];

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	live.released += n;
}

static const struct hy_object_ops ops = { .release = release };

static uint16_t
rx_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static int object;

	for (uint16_t i = 0; i < n; i++)
		objs[i] = &object;
	live.made += n;
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
	live.seen[0] += n;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
cls_fast(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	live.seen[1] += n;
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
	if (live.fail_init)
		return -EIO;
	live.inits++;
	return 0;
}

static void
fast_fini(const struct hy_graph *graph, struct hy_node *node)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	live.finis++;
}

static int
fast_bind(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
{
	RTE_SET_USED(of);
	if (++live.binds != live.fail_bind)
		return 0;
	live.binds--;
	live.fail_bind = 0;
	snprintf(reason, size, "port %u is busy", target.id);
	return -EBUSY;
}

static void
fast_unbind(const struct hy_hal *of, struct hy_target target)
{
	RTE_SET_USED(of);
	RTE_SET_USED(target);
	live.unbinds++;
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
void
live_make(void)
{
	const int config = 42;
	char name[32];

	memset(&live, 0, sizeof(live));
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
					 &live_graphs[p]),
			0);
	}
}

void
live_walk(void)
{
	for (unsigned int p = 0; p < PORTS; p++)
		hy_graph_walk(live_graphs[p]);
}

/* What the process keeps for ever of its first graph is no leak of a test. */
int
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

int
live_teardown(void **state)
{
	for (unsigned int p = 0; p < PORTS; p++) {
		hy_graph_destroy(live_graphs[p]);
		live_graphs[p] = NULL;
	}
	return hal_teardown(state);
}

void
live_reselect(void)
{
	const int rc = hy_hal_reselect(hal, live_graphs, PORTS, error);

	if (rc != 0)
		fail_msg("reselection: %s: %s", strerror(-rc), error);
}

uint64_t
live_objs(const char *node)
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

void
live_assert_variant(const char *node, const char *variant, const char *target)
{
	const struct hy_placement *place = hy_hal_placement(hal, node);

	assert_non_null(place);
	assert_string_equal(place->variant, variant);
	assert_string_equal(place->target, target);
}
