/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables: their first routes, and changes to all of them or to none. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_dispatch.h>
#include <hy_signals.h>

#include "routes.h"

#define LOADED_AT_ONCE 1024u

int
hy_routes_create(const struct hy_routes_params *params, struct hy_routes **out, char *error)
{
	struct hy_routes *routes = calloc(1, sizeof(*routes));
	int rc = 0;

	*out = NULL;
	if (routes == NULL)
		return route_update_refused(-ENOMEM, error);
	routes->path = params->path;
	routes->vlans = params->vlans;
	routes->nb_vlans = params->nb_vlans;
	routes->max_len = params->max_len;
	routes->fib.max_routes = params->max_routes;
	routes->fib.max_tbl8s = params->max_tbl8s;
	routes->fib.max_next_hops = params->max_next_hops;
	routes->fib.group_seed = params->group_seed;
	while (routes->nb_ports < params->nb_ports) {
		routes->ports[routes->nb_ports] = params->ports[routes->nb_ports];
		routes->nb_ports++;
	}
	if (params->path != NULL)
		rc = route_file_read(routes, error);
	for (unsigned int i = 0; params->path == NULL && i < params->nb_given && rc == 0; i++)
		rc = route_append(routes, &params->given[i], error);
	if (rc < 0) {
		hy_routes_destroy(routes);
		return rc;
	}
	*out = routes;
	return 0;
}

void
hy_routes_destroy(struct hy_routes *routes)
{
	if (routes == NULL)
		return;
	routes_hide(routes);
	for (unsigned int i = 0; i < routes->tables6.nb_fibs; i++)
		hy_ip6_fib_destroy(routes->tables6.fibs[i]);
	for (unsigned int i = 0; i < routes->tables.nb_fibs; i++)
		hy_ip4_fib_destroy(routes->tables.fibs[i]);
	route_lists_free(routes);
	free(routes);
}

int
hy_routes_declare(const struct hy_routes *routes, struct hy_hal *hal)
{
	int rc = hy_hal_declare(hal, HY_IP4_ROUTES, routes->list.n, "routes at the start");

	if (rc == 0 && routes->path != NULL)
		rc = hy_hal_declare(hal, HY_IP4_LIVE_ROUTES, 1,
			"the route file can be read again while packets flow");
	if (rc == 0 && routes->list6.n > 0)
		rc = hy_hal_declare(hal, HY_IP6_ROUTES, routes->list6.n,
			"IPv6 routes at the start");
	return rc;
}

/* Piece by piece, so that it can be given up. */
static int
fill(const struct hy_routes *routes, struct hy_ip4_fib *fib, char *error)
{
	struct route_update update;
	int rc = route_update_begin(routes, fib, &update, error);

	for (uint32_t i = 0; i < update.n && rc == 0; i += LOADED_AT_ONCE) {
		const uint32_t n = RTE_MIN(update.n - i, LOADED_AT_ONCE);

		rc = hy_stopping() ? -EINTR : hy_ip4_routes_change(fib, &update.there[i], n, NULL);
		if (rc < 0)
			route_update_refused(rc, error);
	}
	route_update_end(&update, false);
	return rc;
}

const struct hy_vlan *
route_vlan(const struct hy_routes *routes, uint16_t port)
{
	return port < HY_VLAN_PORT(0) ? NULL : &routes->vlans[port - HY_VLAN_PORT(0)];
}

void
route_port_text(const struct hy_routes *routes, uint16_t port, char text[ROUTE_PORT_SIZE])
{
	const struct hy_vlan *vlan = route_vlan(routes, port);

	if (vlan == NULL)
		snprintf(text, ROUTE_PORT_SIZE, "%u", port);
	else
		snprintf(text, ROUTE_PORT_SIZE, "%u.%u", vlan->port, vlan->vid);
}

void
route_hop_write(const struct hy_routes *routes, const struct hy_ip4_next_hop *hop, FILE *file)
{
	const uint8_t *mac = hop->mac.addr_bytes;
	char port[ROUTE_PORT_SIZE];

	route_port_text(routes, hop->port, port);
	fprintf(file, " port %s mac %02x:%02x:%02x:%02x:%02x:%02x", port, mac[0], mac[1], mac[2],
		mac[3], mac[4], mac[5]);
}

/* Adds a port, or a VLAN interface of one: it sends frames as long as its port does, but for tags. */
static int
port_add(const struct hy_routes *routes, struct hy_ip4_fib *fib, uint16_t number, uint16_t port)
{
	struct hy_ip4_port add = { .port = number, .max_len = routes->max_len };
	const int rc = rte_eth_macaddr_get(port, &add.mac);

	return rc < 0 ? rc : hy_ip4_port_add(fib, &add);
}

static int
fill6(const struct hy_routes *routes, struct hy_ip6_fib *fib, char *error)
{
	struct route_update update = { 0 };
	const int rc = route6_begin(routes, fib, &update, error);

	if (rc == 0)
		route6_exchange(&update);
	route6_end(&update);
	return rc;
}

static int
ports_add(const struct hy_routes *routes, struct hy_ip4_fib *fib)
{
	int rc = 0;

	for (unsigned int i = 0; i < routes->nb_ports && rc == 0; i++)
		rc = port_add(routes, fib, routes->ports[i], routes->ports[i]);
	for (unsigned int i = 0; i < routes->nb_vlans && rc == 0; i++)
		rc = port_add(routes, fib, (uint16_t)HY_VLAN_PORT(i), routes->vlans[i].port);
	return rc;
}

static int
table_add(struct hy_routes *routes, int socket, char *error)
{
	struct hy_ip4_fib_params params = routes->fib;
	struct hy_ip6_fib *fib6;
	struct hy_ip4_fib *fib;
	char name[16];
	int rc;

	params.socket = socket;
	snprintf(name, sizeof(name), "routes_%d", socket);
	rc = hy_ip4_fib_create(name, &params, &fib);
	if (rc < 0)
		return HY_REASON(rc, error, HY_ROUTES_ERROR_SIZE,
			"the routes' table, of which --max-routes and --max-tbl8s are sizes; see "
			"EAL's -m for memory: %s",
			strerror(-rc));
	routes->tables.fibs[routes->tables.nb_fibs++] = fib;
	rc = ports_add(routes, fib);
	if (rc < 0)
		snprintf(error, HY_ROUTES_ERROR_SIZE, "a port's MAC address: %s", strerror(-rc));
	if (rc == 0)
		rc = fill(routes, fib, error);
	if (rc < 0)
		return rc;
	rc = hy_ip6_fib_create(fib, &fib6);
	if (rc < 0)
		return route_update_refused(rc, error);
	routes->tables6.fibs[routes->tables6.nb_fibs++] = fib6;
	return fill6(routes, fib6, error);
}

int
hy_routes_load(struct hy_routes *routes, const struct hy_hal *hal, const struct hy_workers *workers,
	bool one, char *error)
{
	const struct hy_selection *lookup = hy_hal_selection(hal, "ip4_lookup", 0);
	const struct hy_ip4_lookup_config *made = &routes->tables;
	int rc = 0;

	routes->workers = workers;
	routes->hal = hal;
	routes->fib.engine = hy_ip4_engine_of(lookup->chosen->impl.variant);
	routes->fib.qsbr = workers->qsbr;
	route_size(routes);
	for (unsigned int w = 0; w < workers->nb && rc == 0; w++) {
		const int socket = one ? SOCKET_ID_ANY : workers->worker[w].socket;
		unsigned int i = 0;

		while (i < made->nb_fibs && hy_ip4_fib_socket(made->fibs[i]) != socket)
			i++;
		if (i == made->nb_fibs)
			rc = table_add(routes, socket, error);
	}
	route_lists_free(routes);
	if (rc == 0)
		routes_show(routes);
	return rc;
}

const struct hy_ip4_lookup_config *
hy_routes_tables(const struct hy_routes *routes)
{
	return &routes->tables;
}

const struct hy_ip6_lookup_config *
hy_routes_tables6(const struct hy_routes *routes)
{
	return &routes->tables6;
}

/*
 * Takes the changes to the first n tables back. There is room and memory for what was there before:
 * only a worker that hangs can delay that.
 */
static void
take_back(struct hy_routes *routes, unsigned int n)
{
	while (n-- > 0) {
		const struct route_update *update = &routes->updates[n];

		while (hy_ip4_routes_change(update->fib, update->back, update->n, NULL) < 0 &&
			!hy_stopping())
			;
	}
}

static int
on_read(void *arg, const char *path __rte_unused, char *error)
{
	struct hy_routes *routes = arg;
	int rc = route_file_read(routes, error);

	for (unsigned int i = 0; i < routes->tables.nb_fibs && rc == 0; i++) {
		struct route_update *update = &routes->updates[i];

		rc = route_update_begin(routes, routes->tables.fibs[i], update, error);
		if (rc == 0)
			rc = route6_begin(routes, routes->tables6.fibs[i], update, error);
	}
	return rc;
}

static int
on_apply(void *arg, char *error)
{
	struct hy_routes *routes = arg;

	for (unsigned int i = 0; i < routes->tables.nb_fibs; i++) {
		struct route_update *update = &routes->updates[i];
		int rc;

		route_update_sort(update);
		rc = hy_ip4_routes_change(update->fib, update->there, update->n, NULL);
		if (rc == 0)
			continue;
		take_back(routes, i);
		return route_update_refused(rc, error);
	}
	for (unsigned int i = 0; i < routes->tables.nb_fibs; i++) /* cannot fail */
		route6_exchange(&routes->updates[i]);
	return 0;
}

static void
on_undo(void *arg)
{
	struct hy_routes *routes = arg;

	for (unsigned int i = 0; i < routes->tables.nb_fibs; i++)
		route6_exchange(&routes->updates[i]);
	take_back(routes, routes->tables.nb_fibs);
}

static void
on_end(void *arg)
{
	struct hy_routes *routes = arg;
	struct hy_dispatch *dispatch = routes->workers->dispatch;
	const bool begun = routes->updates[0].fib != NULL;
	/* Rings between workers may hold ids of next hops: then a later reload sweeps. */
	const bool sweep = begun && (dispatch == NULL || hy_dispatch_drain(dispatch) == 0);

	for (unsigned int i = 0; i < routes->tables.nb_fibs; i++) {
		route6_end(&routes->updates[i]);
		route_update_end(&routes->updates[i], sweep);
	}
	route_lists_free(routes);
}

static void
on_say(void *arg, FILE *out)
{
	const struct hy_routes *routes = arg;
	const struct route_update *first = &routes->updates[0];

	fprintf(out, "routes: %u added, %u replaced, %u deleted, %u unchanged",
		first->done[HY_IP4_ADD], first->done[HY_IP4_REPLACE], first->done[HY_IP4_DELETE],
		first->unchanged);
}

struct hy_reload_part
hy_routes_part(struct hy_routes *routes)
{
	return (struct hy_reload_part){
		.what = "routes",
		.path = routes->path,
		.read = on_read,
		.apply = on_apply,
		.undo = on_undo,
		.end = on_end,
		.say = on_say,
		.arg = routes,
	};
}
