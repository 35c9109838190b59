/* SPDX-License-Identifier: BSD-3-Clause */
/* The forwarding tables: their sizes, their first routes, and updates of all of them or of none. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_dispatch.h>
#include <hy_signals.h>

#include "ports.h"
#include "table_update.h"

#define LOADED_AT_ONCE 1024u
#define ROUTES_LEAST 1024u
#define TBL8S_LEAST 256u

/* What was asked for; else the routes of the file, and a quarter more. */
static uint32_t
room(uint32_t asked, uint32_t n, uint32_t least)
{
	return asked > 0 ? asked : RTE_MAX(n + n / 4, least);
}

void
tables_size(const struct options *options, const struct routes *routes, struct tables *tables)
{
	struct hy_ip4_fib_params *params = &tables->params;

	params->max_routes = room(options->max_routes, routes->n, ROUTES_LEAST);
	params->max_tbl8s = room(options->max_tbl8s, routes_tbl8s(routes), TBL8S_LEAST);
	/* Memory is taken for those that there are. With more, rte_fib's entries are wider. */
	params->max_next_hops = room(options->max_next_hops, routes_next_hops(routes), INT16_MAX);
}

static int
refuse(const char *what, int rc)
{
	fprintf(stderr, "l3fwd-graph: %s: %s\n", what, strerror(-rc));
	return -1;
}

static int
ports_add(const struct options *options, struct hy_ip4_fib *fib)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		struct hy_ip4_port p = { .port = port, .max_len = ports_max_frame(options) };
		int rc;

		if (!port_enabled(options, port))
			continue;
		rc = rte_eth_macaddr_get(port, &p.mac);
		if (rc == 0)
			rc = hy_ip4_port_add(fib, &p);
		if (rc < 0)
			return refuse("a port's MAC address", rc);
	}
	return 0;
}

/* Piece by piece, so that it can be given up. */
static int
fill_some(const struct table_update *update, char *error)
{
	const struct route_diff *diff = &update->there;

	for (uint32_t i = 0; i < diff->n; i += LOADED_AT_ONCE) {
		const uint32_t n = RTE_MIN(diff->n - i, LOADED_AT_ONCE);
		int rc;

		if (hy_stopping()) {
			snprintf(error, ROUTES_ERROR_SIZE, "stopped while routes were loaded");
			return -EINTR;
		}
		rc = hy_ip4_routes_change(update->fib, &diff->changes[i], n, NULL);
		if (rc < 0)
			return table_update_refused(rc, error);
	}
	return 0;
}

static int
fill(const struct tables *tables, struct hy_ip4_fib *fib, const struct routes *routes)
{
	char error[ROUTES_ERROR_SIZE];
	struct table_update update;
	int rc = table_update_begin(tables, fib, routes, &update, error);

	if (rc == 0)
		rc = fill_some(&update, error);
	table_update_end(&update, true);
	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: %s\n", error);
	return rc;
}

int
tables_add(const struct options *options, const struct routes *routes, int socket,
	struct tables *tables)
{
	struct hy_ip4_lookup_config *config = &tables->config;
	struct hy_ip4_fib_params params = tables->params;
	struct hy_ip4_fib *fib;
	char name[16];
	int rc;

	params.socket = socket;
	snprintf(name, sizeof(name), "l3fwd_%d", socket);
	rc = hy_ip4_fib_create(name, &params, &fib);
	if (rc < 0)
		return refuse("the routes' table, of which --max-routes and --max-tbl8s are sizes; "
			      "see EAL's -m for memory",
			rc);
	config->fibs[config->nb_fibs++] = fib;
	return ports_add(options, fib) < 0 ? -1 : fill(tables, fib, routes);
}

void
tables_destroy(struct tables *tables)
{
	for (unsigned int i = 0; i < tables->config.nb_fibs; i++)
		hy_ip4_fib_destroy(tables->config.fibs[i]);
	*tables = (struct tables){ 0 };
}

/*
 * Takes an update back. There is room and memory for what was there before, so that only a worker
 * that hangs can be in the way.
 */
static void
take_back(struct table_update *update)
{
	const struct route_diff *back = &update->back;

	while (hy_ip4_routes_change(update->fib, back->changes, back->n, NULL) < 0 &&
		!hy_stopping())
		;
}

/* Takes the updates of the first tables back. */
static void
take_back_first(struct tables_update *update, unsigned int n)
{
	while (n-- > 0)
		take_back(&update->of[n]);
}

int
tables_update_begin(const struct tables *tables, const struct routes *routes,
	struct tables_update *update, char *error)
{
	int rc = 0;

	*update = (struct tables_update){ .tables = tables };
	for (unsigned int i = 0; i < tables->config.nb_fibs && rc == 0; i++)
		rc = table_update_begin(tables, tables->config.fibs[i], routes, &update->of[i],
			error);
	return rc;
}

int
tables_update_apply(struct tables_update *update, char *error)
{
	for (unsigned int i = 0; i < update->tables->config.nb_fibs; i++) {
		struct route_diff *there = &update->of[i].there;
		int rc;

		route_diff_order(there);
		route_diff_order(&update->of[i].back);
		rc = hy_ip4_routes_change(update->of[i].fib, there->changes, there->n, NULL);
		if (rc == 0)
			continue;
		take_back_first(update, i);
		return table_update_refused(rc, error);
	}
	return 0;
}

void
tables_update_undo(struct tables_update *update)
{
	take_back_first(update, update->tables->config.nb_fibs);
}

void
tables_update_end(struct tables_update *update)
{
	const struct tables *tables = update->tables;
	/* What cannot be swept now is by a later update. */
	const bool sweep = tables->dispatch == NULL || hy_dispatch_drain(tables->dispatch) == 0;

	for (unsigned int i = 0; i < tables->config.nb_fibs; i++)
		table_update_end(&update->of[i], sweep);
}

uint32_t
tables_next_hops(const struct tables *tables)
{
	struct hy_ip4_fib *fib = tables->config.fibs[0];
	const uint32_t ids = hy_ip4_next_hops(fib);
	uint32_t n = 0;

	for (uint32_t id = 0; id < ids; id++) {
		struct hy_ip4_next_hop hop;

		n += hy_ip4_next_hop_get(fib, id, &hop, NULL) == 0;
	}
	return n;
}
