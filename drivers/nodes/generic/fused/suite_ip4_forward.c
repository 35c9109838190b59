/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of fusions ip4_forward: one table for the chain, with nested routes, more next hops than a
 * byte counts, groups of these, and ports of different MTUs; once without a default route and once with
 * one, which comes and goes. Routes, next hops, groups and the default route change between bursts.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <hy_conform.h>
#include <hy_ip4_group.h>

#include "suite_ip4_forward.h"

#define NEXT_HOPS 300
#define GROUPS 20 /* with ids after those of next hops */
#define CHANGES 8 /* routes per change */

/* A sequence that is the same for both sides; packets use rte_rand(). */
static uint32_t
next_number(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

static struct hy_ip4_next_hop
hop_make(uint32_t id, uint32_t turn)
{
	return (struct hy_ip4_next_hop){ .port = (uint16_t)((id + turn) % SUITE_IP4_PORTS),
		.mac = { { 6, (uint8_t)(turn >> 8), (uint8_t)turn, 1, (uint8_t)(id >> 8),
			(uint8_t)id } } };
}

/* A number decides where a route leads: every fourth to a group. */
static uint32_t
hop_choose(uint32_t number)
{
	return number % 4 == 0 ? NEXT_HOPS + number / 4 % GROUPS : number / 4 % NEXT_HOPS;
}

/* The members of a group, from one that the number decides on. Returns how many. */
static unsigned int
members_make(struct hy_ip4_member *members, uint32_t group, uint32_t number)
{
	const unsigned int n = (group + number) % HY_IP4_GROUP_MEMBERS + 1;

	for (uint32_t i = 0; i < n; i++)
		members[i] = (struct hy_ip4_member){ .next_hop = (number * 3 + i) % NEXT_HOPS,
			.weight = (number + i) % 3 + 1 };
	return n;
}

/* Adds routes of depths from 9 to 32. Every other one lies within the previous one. */
static int
routes_add(struct suite_ip4 *t)
{
	uint32_t x = 1, before = 0;

	for (unsigned int i = 0; i < SUITE_IP4_ROUTES; i++) {
		const uint8_t depth = (uint8_t)(9 + next_number(&x) % 24);
		struct hy_ip4_route *route = &t->routes[t->nb_routes];
		uint32_t prefix = (1 + next_number(&x) % 223) << 24 | next_number(&x);
		int rc;

		if (i % 2 == 1)
			prefix = (prefix & 0x0000ffff) | (before & 0xffff0000);
		*route = (struct hy_ip4_route){ .prefix = before = prefix &
				UINT32_MAX << (32 - depth),
			.depth = depth,
			.next_hop = hop_choose(next_number(&x)) };
		rc = hy_ip4_route_add(t->fib, route);
		if (rc < 0 && rc != -EEXIST)
			return rc;
		t->there[t->nb_routes] = rc == 0;
		t->nb_routes += rc == 0;
	}
	return 0;
}

static int
fill(struct suite_ip4 *t)
{
	int rc = 0;

	for (uint16_t p = 0; p < SUITE_IP4_PORTS && rc == 0; p++) {
		const struct hy_ip4_port port = { .port = p,
			.mac = { { 2, 0, 0, 0, 1, (uint8_t)p } },
			.max_len = suite_ip4_max_len[p] };

		rc = hy_ip4_port_add(t->fib, &port);
	}
	for (uint32_t h = 0; h < NEXT_HOPS && rc == 0; h++) {
		const struct hy_ip4_next_hop hop = hop_make(h, 0);
		uint32_t id;

		rc = hy_ip4_next_hop_add(t->fib, &hop, &id);
	}
	for (uint32_t g = 0; g < GROUPS && rc == 0; g++) {
		struct hy_ip4_member members[HY_IP4_GROUP_MEMBERS];
		uint32_t id;

		rc = hy_ip4_group_create(t->fib, members, members_make(members, g, g), HY_IP4_NO_ID,
			&id);
	}
	if (rc == 0)
		rc = routes_add(t);
	if (rc == 0 && t->has_default)
		rc = hy_ip4_route_add(t->fib, &(struct hy_ip4_route){ .next_hop = 277 });
	return rc;
}

static void
teardown(void *state)
{
	struct suite_ip4 *t = state;

	hy_ip4_fib_destroy(t->fib);
	free(t);
}

static int
setup(const struct hy_suite_side *side, void **state)
{
	const struct hy_ip4_fib_params params = { .max_routes = SUITE_IP4_ROUTES + 1,
		.max_next_hops = NEXT_HOPS + GROUPS,
		.max_tbl8s = SUITE_IP4_ROUTES,
		.socket = SOCKET_ID_ANY,
		.qsbr = side->qsbr };
	struct suite_ip4 *t = calloc(1, sizeof(*t));
	char name[17];
	int rc;

	if (t == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "suite-%.9s", side->name);
	rc = hy_ip4_fib_create(name, &params, &t->fib);
	t->has_default = side->setup == 1;
	if (rc == 0)
		rc = fill(t);
	*state = t;
	if (rc < 0)
		teardown(t);
	return rc;
}

static int
configure(void *state, unsigned int at, hy_node_id id)
{
	const struct suite_ip4 *t = state;
	struct hy_ip4_rewrite_config config = { .tables = { .fibs = { t->fib }, .nb_fibs = 1 } };

	for (uint16_t p = 0; p < HY_IP4_PORTS; p++) /* edges are not in the order of ports */
		config.edge[p] = p < SUITE_IP4_PORTS ? (uint16_t)((p + 2) % SUITE_IP4_PORTS)
						     : HY_IP4_NO_EDGE;
	if (at == 1)
		return hy_node_config(id, &config.tables, sizeof(config.tables));
	return at == 2 ? hy_node_config(id, &config, sizeof(config)) : 0;
}

/* Deletes a route, or adds a deleted one again with another next hop. */
static int
route_change(struct suite_ip4 *t, uint32_t r, uint32_t next_hop)
{
	struct hy_ip4_route *route = &t->routes[r];
	int rc;

	if (t->there[r]) {
		rc = hy_ip4_route_delete(t->fib, route->prefix, route->depth);
	} else {
		route->next_hop = next_hop;
		rc = hy_ip4_route_add(t->fib, route);
	}
	t->there[r] ^= rc == 0;
	return rc;
}

/* Every fourth change takes the default route away, until the next one. */
static int
default_change(struct suite_ip4 *t, uint32_t number)
{
	if (number % 4 == 0)
		return hy_ip4_route_delete(t->fib, 0, 0);
	return hy_ip4_route_replace(t->fib,
		&(struct hy_ip4_route){ .next_hop = hop_choose(number * 7) });
}

static int
change(void *state, uint32_t number)
{
	struct suite_ip4 *t = state;
	const uint32_t id = number * 11 % NEXT_HOPS;
	const struct hy_ip4_next_hop hop = hop_make(id, number);
	struct hy_ip4_member members[HY_IP4_GROUP_MEMBERS];
	uint32_t x = number;
	int rc = hy_ip4_next_hop_set(t->fib, id, &hop);

	if (rc == 0)
		rc = hy_ip4_group_set(t->fib, NEXT_HOPS + number % GROUPS, members,
			members_make(members, number % GROUPS, number));

	for (unsigned int i = 0; i < CHANGES && rc == 0; i++) {
		const uint32_t r = next_number(&x) % t->nb_routes;

		rc = route_change(t, r, hop_choose(next_number(&x)));
	}
	return rc == 0 && t->has_default ? default_change(t, number) : rc;
}

HY_SUITE(ip4_forward, .nb_edges = SUITE_IP4_PORTS, .nb_setups = 2, .setup = setup,
	.teardown = teardown, .configure_chain = configure, .shape = suite_ip4_shape,
	.change = change, .change_every = 32,
	.excused = {
		{ "pkt_cls: drop martian_src", "it is of IPv6, to which the chain has no edge" } });
