/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of ip4_lookup: routes of every length, nested and adjacent, and addresses at their
 * limits; once without a default route, so that many addresses have no route, and once with one.
 * Routes are added, deleted and changed between bursts.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_random.h>

#include <hy_conform.h>
#include <hy_ip4_lookup.h>

#include "ip4_fib.h"

#define ROUTES 1500 /* few enough for the tbl8s */
#define NEXT_HOPS 200
#define CHANGES 8 /* routes per change */

struct tables {
	struct hy_ip4_fib *fib;
	struct hy_ip4_route routes[ROUTES];
	bool there[ROUTES]; /* currently in the table */
	uint32_t nb_routes;
	bool has_default;
};

/* A sequence that is the same for both sides; packets use rte_rand(). */
static uint32_t
next_number(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

/*
 * Adds routes with depths from `least` to 32. Every other one lies within the previous one. Without
 * the shortest, which cover all addresses, more than half of the addresses have no route. Short routes
 * are few, since each writes millions of entries.
 */
static int
routes_add(struct tables *tables, uint32_t least)
{
	uint32_t x = 1, before = 0;

	for (unsigned int i = 0; i < ROUTES; i++) {
		uint8_t depth = (uint8_t)(least + next_number(&x) % (33 - least));
		uint32_t prefix = next_number(&x) << 16 ^ next_number(&x);
		struct hy_ip4_route *route = &tables->routes[tables->nb_routes];
		int rc;

		if (depth < 9 && i % 8 != 0)
			depth += 9;
		if (i % 2 == 1)
			prefix = (prefix & 0x0000ffff) | (before & 0xffff0000);
		*route = (struct hy_ip4_route){
			.prefix = before = prefix & UINT32_MAX << (32 - depth),
			.depth = depth,
			.next_hop = next_number(&x) % NEXT_HOPS,
		};
		rc = hy_ip4_route_add(tables->fib, route);
		if (rc < 0 && rc != -EEXIST)
			return rc;
		tables->there[tables->nb_routes] = rc == 0;
		tables->nb_routes += rc == 0;
	}
	return 0;
}

static int
fill(struct tables *tables)
{
	const struct hy_ip4_port port = { .port = 0, .max_len = RTE_ETHER_MAX_LEN };
	int rc = hy_ip4_port_add(tables->fib, &port);

	for (uint16_t i = 0; i < NEXT_HOPS && rc == 0; i++) {
		struct hy_ip4_next_hop hop = { .port = 0 };
		uint32_t id;

		hop.mac.addr_bytes[5] = (uint8_t)i;
		rc = hy_ip4_next_hop_add(tables->fib, &hop, &id);
	}
	if (rc == 0)
		rc = routes_add(tables, tables->has_default ? 1 : 9);
	if (rc == 0 && tables->has_default)
		rc = hy_ip4_route_add(tables->fib, &(struct hy_ip4_route){ .next_hop = 7 });
	return rc;
}

static void
teardown(void *state)
{
	struct tables *tables = state;

	hy_ip4_fib_destroy(tables->fib);
	free(tables);
}

static int
setup(const struct hy_suite_side *side, void **state)
{
	const struct hy_ip4_fib_params params = { .engine = hy_ip4_engine_of(side->variant),
		.max_routes = ROUTES + 1,
		.max_next_hops = NEXT_HOPS,
		.max_tbl8s = ROUTES,
		.socket = SOCKET_ID_ANY,
		.qsbr = side->qsbr };
	struct tables *tables = calloc(1, sizeof(*tables));
	char name[IP4_FIB_NAME_MAX + 1];
	int rc;

	if (tables == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "suite-%s", side->name);
	rc = hy_ip4_fib_create(name, &params, &tables->fib);
	tables->has_default = side->setup == 1;
	if (rc == 0)
		rc = fill(tables);
	*state = tables;
	if (rc < 0)
		teardown(tables);
	return rc;
}

static int
configure(void *state, hy_node_id id)
{
	const struct tables *tables = state;
	const struct hy_ip4_lookup_config config = { .fibs = { tables->fib }, .nb_fibs = 1 };

	return hy_node_config(id, &config, sizeof(config));
}

/* Deletes a route, or adds a deleted one again with another next hop. */
static int
route_change(struct tables *tables, uint32_t r, uint32_t next_hop)
{
	struct hy_ip4_route *route = &tables->routes[r];
	int rc;

	if (tables->there[r]) {
		rc = hy_ip4_route_delete(tables->fib, route->prefix, route->depth);
	} else {
		route->next_hop = next_hop;
		rc = hy_ip4_route_add(tables->fib, route);
	}
	tables->there[r] ^= rc == 0;
	return rc;
}

/* Changes some routes, and the default route's next hop. */
static int
change(void *state, uint32_t number)
{
	struct tables *tables = state;
	uint32_t x = number;
	int rc = 0;

	for (unsigned int i = 0; i < CHANGES && rc == 0; i++) {
		const uint32_t r = next_number(&x) % tables->nb_routes;

		rc = route_change(tables, r, next_number(&x) % NEXT_HOPS);
	}
	if (rc == 0 && tables->has_default)
		rc = hy_ip4_route_replace(tables->fib,
			&(struct hy_ip4_route){ .next_hop = number % NEXT_HOPS });
	return rc;
}

/* Chooses a destination: anywhere, within a route, or just outside one. */
static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	const struct tables *tables = state;
	const uint32_t r = (uint32_t)rte_rand_max(tables->nb_routes);
	const struct hy_ip4_route *route = &tables->routes[r];
	const uint32_t size = route->depth == 32 ? 1 : 1u << (32 - route->depth);
	const uint32_t addresses[] = { route->prefix, route->prefix - 1, route->prefix + size,
		route->prefix + size - 1, route->prefix + (uint32_t)rte_rand_max(size) };
	uint32_t *dst = &packet->lanes[HY_IP4_LOOKUP_LANE_ROUTE];

	if (kind == HY_SUITE_TYPICAL) /* one per route: few enough for the caches */
		*dst = route->prefix + r * 2654435761u % size;
	else if (rte_rand_max(3) == 0)
		*dst = (uint32_t)rte_rand();
	else
		*dst = addresses[rte_rand_max(RTE_DIM(addresses))];
}

HY_SUITE(ip4_lookup, .nb_setups = 2, .setup = setup, .teardown = teardown, .configure = configure,
	.shape = shape, .change = change);
