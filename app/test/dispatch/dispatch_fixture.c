/* SPDX-License-Identifier: BSD-3-Clause */
/* See dispatch_fixture.h. */

#include <string.h>

#include "dispatch_fixture.h"

struct hy_dispatch *dispatch;

static void
flow_of(void *const *objs, uint32_t *hash, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		hash[i] = ((struct obj *)objs[i])->id % 13;
}

const struct hy_object_ops flow_ops = { .release = obj_release, .flow_hash = flow_of };
const char *const src_only[] = { "src*" };

void
dispatch_add(const struct hy_dispatch_params *params)
{
	unit_log_clear();
	if (hy_dispatch_create("d", params, &dispatch) != 0)
		fail_msg("the dispatch is refused: %s", unit_log());
}

int
dispatch_teardown(void **state)
{
	probes_forget();
	hy_dispatch_destroy(dispatch);
	dispatch = NULL;
	return graph_teardown(state);
}

uint32_t
walk(uint16_t worker)
{
	return hy_graph_walk(hy_dispatch_graph(dispatch, worker));
}

/* A counter or a drop of a node, by name; over all graphs. */
uint64_t
counted(const char *node, const char *what)
{
	struct hy_stats *stats = NULL;
	uint64_t n = UINT64_MAX;

	assert_int_equal(hy_stats_read("d-*", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *s = &stats->nodes[i];

		if (strcmp(s->name, node) != 0)
			continue;
		for (unsigned int c = 0; c < s->nb_counters; c++)
			if (strcmp(s->counters[c].name, what) == 0)
				n = s->counters[c].value;
		for (unsigned int d = 0; d < s->nb_drops; d++)
			if (strcmp(s->drops[d].name, what) == 0)
				n = s->drops[d].objs;
	}
	hy_stats_free(stats);
	return n;
}

struct dispatch_rig rig;

void
chain_add(void)
{
	memset(&rig, 0, sizeof(rig));
	rig.src.budget = UINT32_MAX;
	source_add(&rig.src, "src", "work");
	pass_add(&rig.work, "work", "sink");
	sink_add(&rig.sink, "sink");
	sink_add(&rig.gone, "gone");
}
