/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine does to graphs: each thing to the library, and to the model. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "app/test/unit.h"
#include "graph_machine_model.h"
#include "lib/graph/compile/image.h"
#include "lib/graph/walk/enqueue.h"

struct machine_params
machine_draw_params(void)
{
	static const uint16_t bursts[] = { 0, 1, 2, 3, 7, 16, 17, 32, 33, 64, 100, 255, 256 };
	struct machine_params params = { .drop = -1, .nb_lanes = 1 };
	const unsigned int order = machine_draw(8);

	params.nb = 1 + machine_draw(RTE_MIN(8u, machine.setup.nb_sources));
	for (unsigned int i = 0; i < params.nb; i++)
		params.nodes[i] = machine_draw(machine.setup.nb_sources) +
			(machine_draw(4) == 0 ? machine.setup.nb_nodes / 2 : 0);
	if (machine_draw(40) == 0)
		params.nodes[0] = machine_draw_node();
	params.all = machine_draw(40) == 0;
	if (machine_draw(40) != 0)
		params.drop = (int)(machine.setup.nb_nodes / (1 + machine_draw(2)) - 1);
	else if (machine_draw(2) == 0)
		params.drop = (int)machine_draw_node();
	params.burst = machine_draw(3) == 0 ? (uint16_t)(1 + machine_draw(HY_BURST_MAX))
					    : bursts[machine_draw(RTE_DIM(bursts))];
	params.source_budget = params.burst % 3 == 0 ? params.burst / 3 : 0;
	params.sample_every = (uint16_t)machine_draw(4);
	params.max_sweeps = (uint16_t)machine_draw(4);
	/* All lanes mostly, in any order; at times no wide ones. */
	params.nb_lanes = order < 5 ? LANES : order < 6 ? LANE_WIDE : order - 5;
	if (machine.setup.bare && order < 5) /* with wide ones nothing is fused */
		params.nb_lanes = order % 2 == 0 ? 0 : LANE_WIDE;
	for (unsigned int l = 0; l < params.nb_lanes; l++)
		params.lanes[l] = params.nb_lanes == LANES ? (l + order) % LANES : l;
	return params;
}

/* Calls hy_graph_create(), or hy_graph_update() if there is a graph. */
static int
call(unsigned int graph, const struct machine_params *p, struct hy_graph **created)
{
	const char name[] = { 'g', (char)('0' + graph), '\0' };
	const char *patterns[RTE_DIM(p->nodes) + 1];
	char names[RTE_DIM(p->nodes)][HY_NAME_SIZE], drop[HY_NAME_SIZE];
	struct hy_wide_lane wide[HY_WIDE_MAX];
	struct hy_graph_params params = { .patterns = patterns,
		.ops = &machine_ops,
		.burst = p->burst,
		.source_budget = p->source_budget,
		.sample_every = p->sample_every,
		.max_sweeps = p->max_sweeps };

	for (unsigned int i = 0; i < p->nb; i++) {
		machine_name(p->nodes[i], names[i]);
		patterns[params.nb_patterns++] = names[i];
	}
	if (p->all)
		patterns[params.nb_patterns++] = "*";
	if (p->drop >= 0) {
		machine_name((unsigned int)p->drop, drop);
		params.drop_node = drop;
	}
	params.wide = wide;
	for (unsigned int l = 0, narrow = 0; l < p->nb_lanes; l++) {
		const unsigned int lane = p->lanes[l];

		if (lane < LANE_WIDE) {
			params.lanes[narrow++] = machine_lane_names[lane];
			continue;
		}
		strcpy(wide[params.nb_wide].name, machine_lane_names[lane]);
		wide[params.nb_wide++].bytes = machine_lane_bytes[lane];
	}
	if (created == NULL) {
		params.worker = hy_graph_worker(machine.graphs[graph].graph); /* a clone's is 1 */
		return hy_graph_update(machine.graphs[graph].graph, &params);
	}
	return hy_graph_create(name, &params, created);
}

/* Bytes of an object in a stream of an image, with its lanes. */
static uint64_t
object_bytes(const struct machine_image *image)
{
	uint64_t bytes = sizeof(void *);

	for (unsigned int l = 0; l < LANES; l++)
		bytes += image->lane[l] ? machine_lane_bytes[l] : 0;
	return bytes;
}

/* Streams of all graphs, with that one, may take what the test has of memory, and more. */
static bool
is_large(unsigned int graph, const struct machine_image *image)
{
	const uint64_t own = object_bytes(image);
	/* Several nodes that replicate may stand in a row. */
	const uint32_t replicas = !image->replicating ? 1 : own > 20 ? 1024 : 64;
	const uint32_t cap = image->nb_sources * image->burst * replicas;
	uint64_t bytes = image->nb_nodes * cap * own;

	for (unsigned int i = 0; i < MACHINE_GRAPHS; i++) {
		const struct machine_graph *g = &machine.graphs[i];
		const unsigned int more = g->next.nb_nodes + (i == graph ? image->nb_nodes : 0);
		const uint64_t most = RTE_MAX(object_bytes(&g->now), object_bytes(&g->next));

		if (g->graph != NULL)
			bytes += (g->now.nb_nodes + more) * hy_graph_stream_capacity(g->graph) *
				RTE_MAX(most, own);
	}
	return bytes > 20u << 20;
}

/* Whether a refusal is one that the model knows of, or that was provoked. */
static bool
refusal_fits(int rc, unsigned int errors, unsigned int starved, unsigned int init_fail,
	unsigned int graph, const struct machine_image *image)
{
	if (rc == -ENOMEM && starved > 0 && unit_alloc_count() >= starved) {
		machine_counts.starved++;
		return true;
	}
	if (rc == -ENOMEM && errors == 0 && is_large(graph, image)) {
		machine_counts.too_large++;
		return true;
	}
	if (rc == -EIO && init_fail > 0 && machine.init_fail == 0) {
		machine_counts.failed_inits++;
		return true;
	}
	machine_counts.refused++;
	return (rc == -EINVAL && (errors & ANY_INVAL) != 0) ||
		(rc == -ENOENT && (errors & ANY_NOENT) != 0);
}

static void
note_size(const struct machine_image *image)
{
	struct machine_counts *c = &machine_counts;

	c->most_nodes = RTE_MAX(c->most_nodes, image->nb_nodes);
	c->most_sources = RTE_MAX(c->most_sources, image->nb_sources);
	c->most_burst = RTE_MAX(c->most_burst, image->burst);
	c->least_burst = c->least_burst == 0 ? image->burst : RTE_MIN(c->least_burst, image->burst);
}

static void
created(unsigned int graph, struct hy_graph *made, const struct machine_params *params)
{
	struct machine_graph *g = &machine.graphs[graph];

	g->graph = made;
	g->params = *params;
	g->now = g->next;
	g->may_lose = g->now.cyclic && g->now.replicating;
	model_wants_inits(g, NULL, &g->now);
	model_note(g, &g->now);
	note_size(&g->now);
	machine_counts.creates++;
}

static void
updated(unsigned int graph, const struct machine_params *params, const struct machine_image *image)
{
	struct machine_graph *g = &machine.graphs[graph];

	machine_counts.replaced += g->pending;
	machine_counts.updates++;
	g->params = *params;
	/* Contexts go from one change to the next, whether the worker comes to each or not. */
	model_wants_inits(g, g->pending ? &g->next : &g->now, image);
	g->next = *image;
	g->pending = true;
	note_size(image);
	CHECK(hy_graph_updating(g->graph), "graph %u is not updating after an update", graph);
}

/* Creates or updates a graph; with memory or an init() that fails, if that is drawn. */
void
machine_compile(unsigned int graph, const struct machine_params *params, bool keep_params)
{
	static struct machine_image image;
	struct machine_graph *g = &machine.graphs[graph];
	const unsigned int errors = model_compile(params, &image);
	const unsigned int starved = machine_draw(8) == 0 ? 1 + machine_draw(60) : 0;
	const unsigned int init_fail = machine_draw(8) == 0 ? 1 + machine_draw(20) : 0;
	const bool exists = g->graph != NULL;
	struct hy_graph *made = NULL;
	int live[MACHINE_NODES], rc;

	if (!exists)
		memset(g, 0, sizeof(*g));
	memcpy(live, g->live, sizeof(live));
	machine.init_fail = init_fail;
	machine.wake = exists && starved == 0 && machine_draw(2) == 0 ? 1 + machine_draw(4) : 0;
	machine.woken = false;
	unit_alloc_fail(starved);
	if (exists && keep_params)
		rc = hy_graph_update(g->graph, NULL);
	else
		rc = call(graph, params, exists ? NULL : &made);
	if (rc != 0) {
		CHECK(refusal_fits(rc, errors, starved, init_fail, graph, &image),
			"graph %u: %d, expected %s%s", graph, rc, errors == 0 ? "success" : "",
			errors == 0 ? "" : "an error");
		/* What a failed update or creation has initialised is undone. */
		memcpy(g->inits_wanted, g->inits, sizeof(g->inits));
		for (unsigned int i = 0; i < machine.setup.nb_nodes; i++)
			CHECK(machine.woken || live[i] == g->live[i],
				"node %u: %d contexts after a refusal, %d before", i, g->live[i],
				live[i]);
	} else {
		CHECK(errors == 0, "graph %u is accepted, expected errors %u", graph, errors);
	}
	unit_alloc_fail(0);
	machine.init_fail = machine.wake = 0;
	if (rc != 0)
		return;
	if (exists) {
		updated(graph, params, &image);
	} else {
		g->next = image;
		created(graph, made, params);
	}
}

void
machine_graph_clone(unsigned int graph)
{
	struct machine_graph *from = &machine.graphs[graph], *to = &machine.graphs[1 - graph];
	const char name[] = { 'g', (char)('0' + (1 - graph)), '\0' };
	struct hy_graph *made = NULL;
	unsigned int errors;
	int rc;

	if (from->graph == NULL)
		return;
	if (to->graph != NULL) {
		rc = hy_graph_clone(from->graph, name, 1, 0, &made);
		CHECK(rc == -EEXIST && made == NULL, "clone under a name that is taken: %d", rc);
		return;
	}
	memset(to, 0, sizeof(*to));
	errors = model_compile(&from->params, &to->next);
	rc = hy_graph_clone(from->graph, name, 1, 0, &made);
	CHECK(rc == 0 ? errors == 0 : refusal_fits(rc, errors, 0, 0, 1 - graph, &to->next),
		"clone of graph %u: %d, expected errors %u", graph, rc, errors);
	if (rc == 0) {
		CHECK(hy_graph_worker(made) == 1, "the clone's worker is not its own");
		created(1 - graph, made, &from->params);
	}
}

static uint64_t
waiting_in(const struct hy_graph *graph)
{
	uint64_t n = 0;

	for (unsigned int r = 0; r < graph->plan.nb_nodes; r++)
		n += graph->plan.nodes[r].waiting;
	return n;
}

/* A body of hy_enqueue_next(); what the CPU can is asked once, for that takes long. */
static const struct hy_scatter_body *
draw_body(void)
{
	static enum { UNKNOWN, CAN, CANNOT } can[MACHINE_BODIES];
	const unsigned int b = machine_draw(hy_scatter_nb_bodies);

	if (can[b] == UNKNOWN)
		can[b] = hy_scatter_bodies[b].cpu_can() ? CAN : CANNOT;
	return &hy_scatter_bodies[can[b] == CAN ? b : hy_scatter_nb_bodies - 1];
}

/* The body that bursts without wide lanes are sent by. */
static hy_scatter_t **
own_scatter(struct hy_graph *graph)
{
	return graph->image->wide != NULL ? &graph->image->wide->scatter : &graph->plan.scatter;
}

void
machine_walk(unsigned int graph)
{
	struct machine_graph *g = &machine.graphs[graph];
	const unsigned int walks = 1 + machine_draw(4);
	const struct hy_scatter_body *const body = draw_body();

	for (unsigned int i = 0; g->graph != NULL && i < walks; i++) {
		const bool empty = g->waiting == 0;

		if (g->pending)
			model_take_up(graph);
		else
			*own_scatter(g->graph) = body->scatter;
		machine_counts.walks++;
		machine_counts.cyclic += g->now.cyclic;
		machine_counts.wide += g->graph->image->wide != NULL;
		for (unsigned int b = 0; b < hy_scatter_nb_bodies; b++)
			machine_counts.by_body[b] += *own_scatter(g->graph) ==
				hy_scatter_bodies[b].scatter;
		hy_graph_walk(g->graph);
		CHECK(machine.expected == 0, "%ju objects were not released",
			(uintmax_t)machine.expected);
		CHECK(waiting_in(g->graph) == g->waiting, "graph %u: %ju wait, expected %ju", graph,
			(uintmax_t)waiting_in(g->graph), (uintmax_t)g->waiting);
		CHECK(!empty || g->now.cyclic || g->now.replicating || g->waiting == 0,
			"graph %u: %ju wait in a graph without cycles", graph,
			(uintmax_t)g->waiting);
		CHECK(!hy_graph_updating(g->graph), "graph %u is updating after a walk", graph);
		CHECK(hy_graph_node_count(g->graph) == g->now.nb_nodes,
			"graph %u has %u nodes, not %u", graph, hy_graph_node_count(g->graph),
			g->now.nb_nodes);
	}
}

void
machine_compare(unsigned int graph)
{
	if (machine.graphs[graph].graph != NULL && !machine.graphs[graph].pending)
		model_compare(graph);
}

void
machine_export(unsigned int graph)
{
	FILE *out = machine.graphs[graph].graph == NULL ? NULL : fopen("/dev/null", "w");

	if (out == NULL)
		return;
	CHECK(hy_graph_export_dot(machine.graphs[graph].graph, out) == 0, "export failed");
	fclose(out);
}

void
machine_destroy(unsigned int graph)
{
	struct machine_graph *g = &machine.graphs[graph];

	if (g->graph == NULL)
		return;
	machine.destroying = true;
	hy_graph_destroy(g->graph);
	machine.destroying = false;
	g->graph = NULL;
	g->pending = false;
	CHECK(g->waiting == 0, "graph %u: %ju objects are left", graph, (uintmax_t)g->waiting);
	for (unsigned int i = 0; i < machine.setup.nb_nodes; i++)
		CHECK(g->live[i] == 0, "node %u: %d contexts are left", i, g->live[i]);
}
