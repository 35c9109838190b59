/* SPDX-License-Identifier: BSD-3-Clause */
/* The graphs of workers: one each, or parts of one. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_lcore.h>
#include <rte_memory.h>

#include "lib/graph/internal/log.h"
#include "workers.h"

/* What a graph is made of: sources that are named, and receive queues. */
struct recipe {
	struct hy_graph_params params;
	const char **patterns;
	char (*names)[HY_NAME_SIZE]; /* of the queues' nodes, one for each queue */
};

static int
recipe_new(const struct hy_workers *workers, const struct hy_graphs *g, struct recipe *r)
{
	*r = (struct recipe){ .params = *g->graph };
	r->patterns = calloc(g->graph->nb_patterns + g->nb_queues + 1, sizeof(*r->patterns));
	r->names = calloc(g->nb_queues + 1, sizeof(*r->names));
	if (r->patterns == NULL || r->names == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < g->graph->nb_patterns; i++)
		r->patterns[i] = g->graph->patterns[i];
	for (unsigned int i = 0; i < g->nb_queues; i++)
		hy_rx_node_name(&g->queues[i], r->names[i]);
	r->params.patterns = r->patterns;
	r->params.qsbr = workers->qsbr;
	r->params.socket = SOCKET_ID_ANY;
	return 0;
}

/* Has a recipe be of the queues of an lcore; LCORE_ID_ANY: of all. */
static void
recipe_of(struct recipe *r, const struct hy_graphs *g, unsigned int lcore)
{
	r->params.nb_patterns = g->graph->nb_patterns;
	for (unsigned int i = 0; i < g->nb_queues; i++)
		if (lcore == LCORE_ID_ANY || g->queues[i].lcore == lcore)
			r->patterns[r->params.nb_patterns++] = r->names[i];
}

static int
worker_on(const struct hy_workers *workers, unsigned int lcore, uint16_t *number)
{
	for (*number = 0; *number < workers->nb; (*number)++)
		if (workers->worker[*number].lcore == lcore)
			return 0;
	return HY_REFUSE(-EINVAL, "lcore %u is none of the workers", lcore);
}

static int
graph_each(struct hy_workers *workers, const struct hy_graphs *g, struct recipe *r)
{
	int rc = 0;

	for (unsigned int w = 0; w < workers->nb && rc == 0; w++) {
		struct hy_worker *worker = &workers->worker[w];
		char name[HY_NAME_SIZE];

		recipe_of(r, g, worker->lcore);
		r->params.worker = (uint16_t)w;
		r->params.socket = worker->socket;
		snprintf(name, sizeof(name), HY_WORKERS_NAME "-%u", worker->lcore);
		rc = hy_graph_create(name, &r->params, &worker->graph);
	}
	return rc;
}

/* Pins in terms of workers: queues run where they say, and come first. */
static int
pins_write(const struct hy_workers *workers, const struct hy_graphs *g, const struct recipe *r,
	struct hy_dispatch_pin *pins, uint16_t *numbers)
{
	int rc = 0;

	for (unsigned int i = 0; i < g->nb_queues && rc == 0; i++) {
		pins[i] = (struct hy_dispatch_pin){
			.pattern = r->names[i], .workers = numbers, .nb_workers = 1
		};
		rc = worker_on(workers, g->queues[i].lcore, numbers++);
	}
	for (unsigned int i = 0; i < g->nb_pins && rc == 0; i++) {
		pins[g->nb_queues + i] = (struct hy_dispatch_pin){ .pattern = g->pins[i].pattern,
			.workers = numbers,
			.nb_workers = g->pins[i].nb_lcores };
		for (unsigned int l = 0; l < g->pins[i].nb_lcores && rc == 0; l++)
			rc = worker_on(workers, g->pins[i].lcores[l], numbers++);
	}
	return rc;
}

static int
graph_spread(struct hy_workers *workers, const struct hy_graphs *g, struct recipe *r)
{
	unsigned int n = g->nb_queues;
	struct hy_dispatch_pin *pins = calloc(n + g->nb_pins + 1, sizeof(*pins));
	int sockets[RTE_MAX_LCORE];
	struct hy_dispatch_params params = { .graph = &r->params,
		.nb_workers = (uint16_t)workers->nb,
		.sockets = sockets,
		.pins = pins,
		.nb_pins = n + g->nb_pins,
		.ring_bursts = HY_WORKERS_RING_BURSTS };
	uint16_t *numbers;
	int rc = -ENOMEM;

	for (unsigned int i = 0; i < g->nb_pins; i++)
		n += g->pins[i].nb_lcores;
	numbers = calloc(n + 1, sizeof(*numbers));
	for (unsigned int w = 0; w < workers->nb; w++)
		sockets[w] = workers->worker[w].socket;
	recipe_of(r, g, LCORE_ID_ANY);
	if (pins != NULL && numbers != NULL)
		rc = pins_write(workers, g, r, pins, numbers);
	if (rc == 0)
		rc = hy_dispatch_create(HY_WORKERS_NAME, &params, &workers->dispatch);
	for (uint16_t w = 0; rc == 0 && w < workers->nb; w++)
		workers->worker[w].graph = hy_dispatch_graph(workers->dispatch, w);
	free(numbers);
	free(pins);
	return rc;
}

static int
budgets_set(const struct hy_workers *workers, const struct hy_graphs *g)
{
	int rc = 0;

	for (unsigned int i = 0; i < g->nb_queues && rc == 0; i++) {
		char name[HY_NAME_SIZE];
		uint16_t w;

		if (g->queues[i].budget == 0)
			continue;
		hy_rx_node_name(&g->queues[i], name);
		rc = worker_on(workers, g->queues[i].lcore, &w);
		if (rc == 0)
			rc = hy_graph_source_budget(workers->worker[w].graph, name,
				g->queues[i].budget);
	}
	return rc;
}

/* Whether nothing keeps a worker from sleeping; else why. */
static const char *
wakes_nobody(struct hy_graph *graph)
{
	struct hy_graph_params params;

	hy_graph_params_get(graph, &params);
	if (params.ops->arm != NULL && params.ops->arm(graph, true) == 0) {
		params.ops->arm(graph, false);
		return NULL;
	}
	if (hy_worker_has_events(graph))
		return "an event device wakes nobody";
	return hy_worker_takes(graph) ? "another worker that hands packets over wakes nobody"
				      : "a port that it polls has no receive interrupts";
}

static void
idle_set(struct hy_worker *worker, const struct hy_graphs *g)
{
	struct hy_idle_params params = hy_idle_defaults;

	if (g->idle != HY_IDLE_SLEEP)
		params.wait_us = 0;
	else if (g->wait_us > 0)
		params.wait_us = g->wait_us;
	if (g->idle == HY_IDLE_POLL)
		params.pause_most = 0;
	hy_idle_init(&worker->idle, &params);
	if (g->idle == HY_IDLE_SLEEP)
		worker->awake = wakes_nobody(worker->graph);
}

int
hy_workers_graphs(struct hy_workers *workers, const struct hy_graphs *g)
{
	struct recipe recipe;
	uint16_t number;
	int rc = recipe_new(workers, g, &recipe);

	for (unsigned int i = 0; i < g->nb_queues && rc == 0; i++)
		rc = worker_on(workers, g->queues[i].lcore, &number);
	if (rc == 0)
		rc = (g->spread ? graph_spread : graph_each)(workers, g, &recipe);
	free(recipe.patterns);
	free(recipe.names);
	if (rc == 0)
		rc = budgets_set(workers, g);
	for (unsigned int w = 0; w < workers->nb && rc == 0; w++) {
		workers->graphs[w] = workers->worker[w].graph;
		idle_set(&workers->worker[w], g);
	}
	return rc;
}
