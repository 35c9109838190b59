/* SPDX-License-Identifier: BSD-3-Clause */
/* See suite_ip6_routes.h. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_random.h>

#include "ip6_fib.h"
#include "suite_ip6_routes.h"

#define CHANGES 8  /* routes per change */
#define EMPTIED 16 /* every so many changes, the table is empty until the next */

/* A sequence that is the same for both sides; packets use rte_rand(). */
static uint32_t
next_number(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

static void
prefix_cut(struct hy_ip6_route *route)
{
	for (unsigned int bit = route->depth; bit < 8 * HY_IP6_BYTES; bit++)
		route->prefix[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

/* Of all depths. Every other one lies within the previous one, or beside it. */
static void
routes_make(struct suite_ip6 *t)
{
	uint32_t x = 1;

	while (t->nb_routes < SUITE_IP6_ROUTES) {
		const uint32_t i = t->nb_routes;
		struct hy_ip6_route *route = &t->routes[i];
		bool again = false;

		for (unsigned int b = 0; b < HY_IP6_BYTES; b++)
			route->prefix[b] = (uint8_t)next_number(&x);
		route->prefix[0] = (uint8_t)(0x20 | (route->prefix[0] & 0x1f));
		route->depth = (uint8_t)(4 + next_number(&x) % 125);
		if (i % 2 == 1) {
			memcpy(route->prefix, route[-1].prefix, RTE_MIN(route[-1].depth / 8, 15));
			route->depth = (uint8_t)RTE_MIN(128,
				route[-1].depth + next_number(&x) % 12);
		}
		prefix_cut(route);
		route->next_hop = next_number(&x) % SUITE_IP6_NEXT_HOPS;
		for (uint32_t k = 0; k < i; k++)
			again |= hy_ip6_route_order(&t->routes[k], route) == 0;
		t->there[i] = true;
		t->nb_routes += !again;
	}
	t->routes[SUITE_IP6_ROUTES] = (struct hy_ip6_route){ .next_hop = 7 };
	t->there[SUITE_IP6_ROUTES] = t->has_default;
}

/* Makes those that are there the table's. */
static int
routes_show(const struct suite_ip6 *t)
{
	struct hy_ip6_route some[SUITE_IP6_ROUTES + 1];
	uint32_t n = 0;

	for (uint32_t i = 0; i <= SUITE_IP6_ROUTES; i++)
		if (t->there[i])
			some[n++] = t->routes[i];
	return hy_ip6_routes_set(t->fib, some, n, NULL);
}

struct hy_ip4_next_hop
suite_ip6_hop(const struct suite_ip6 *t, uint32_t id, uint32_t turn)
{
	return (struct hy_ip4_next_hop){ .port = (uint16_t)((id + turn) % RTE_MAX(t->nb_ports, 1u)),
		.mac = { { 6, (uint8_t)(turn >> 8), (uint8_t)turn, 2, (uint8_t)(id >> 8),
			(uint8_t)id } } };
}

static int
fill(struct suite_ip6 *t, const uint32_t max_len[])
{
	int rc = 0;

	for (uint16_t p = 0; p < t->nb_ports && rc == 0; p++) {
		const struct hy_ip4_port port = {
			.port = p, .mac = { { 2, 0, 0, 0, 2, (uint8_t)p } }, .max_len = max_len[p]
		};

		rc = hy_ip4_port_add(t->next_hops, &port);
	}
	for (uint32_t i = 0; i < SUITE_IP6_NEXT_HOPS && rc == 0; i++) {
		const struct hy_ip4_next_hop hop = suite_ip6_hop(t, i, 0);
		uint32_t id;

		rc = hy_ip4_next_hop_add(t->next_hops, &hop, &id);
	}
	if (rc == 0)
		rc = hy_ip6_fib_create(t->next_hops, &t->fib);
	routes_make(t);
	return rc == 0 ? routes_show(t) : rc;
}

void
suite_ip6_teardown(void *state)
{
	struct suite_ip6 *t = state;

	hy_ip6_fib_destroy(t->fib);
	hy_ip4_fib_destroy(t->next_hops);
	free(t);
}

int
suite_ip6_setup(const struct hy_suite_side *side, const uint32_t max_len[], uint16_t nb_ports,
	void **state)
{
	const struct hy_ip4_fib_params params = { .engine = HY_IP4_LPM,
		.max_routes = 1,
		.max_next_hops = SUITE_IP6_NEXT_HOPS,
		.max_tbl8s = 1,
		.socket = SOCKET_ID_ANY,
		.qsbr = side->qsbr };
	struct suite_ip6 *t = calloc(1, sizeof(*t));
	char name[IP4_FIB_NAME_MAX + 1];
	int rc;

	if (t == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "suite-%s", side->name);
	t->nb_ports = nb_ports;
	t->has_default = side->setup == 1;
	rc = hy_ip4_fib_create(name, &params, &t->next_hops);
	if (rc == 0)
		rc = fill(t, max_len);
	*state = t;
	if (rc < 0)
		suite_ip6_teardown(t);
	return rc;
}

int
suite_ip6_change(void *state, uint32_t number)
{
	struct suite_ip6 *t = state;
	uint32_t x = number;

	for (unsigned int i = 0; i < CHANGES; i++) {
		const uint32_t r = next_number(&x) % SUITE_IP6_ROUTES;

		t->there[r] ^= true;
		t->routes[r].next_hop = next_number(&x) % SUITE_IP6_NEXT_HOPS;
	}
	if (t->has_default)
		t->routes[SUITE_IP6_ROUTES].next_hop = number % SUITE_IP6_NEXT_HOPS;
	if (number % EMPTIED == 0)
		return hy_ip6_routes_set(t->fib, NULL, 0, NULL);
	return routes_show(t);
}

/* Adds to an address, as to a number. */
static void
address_add(uint8_t *address, int step)
{
	for (int b = HY_IP6_BYTES - 1; b >= 0; b--) {
		const int sum = address[b] + step;

		address[b] = (uint8_t)sum;
		step = sum < 0 ? -1 : sum > 0xff;
	}
}

void
suite_ip6_choose(const struct suite_ip6 *t, enum hy_suite_kind kind, uint8_t *dst)
{
	const struct hy_ip6_route *route = &t->routes[rte_rand_max(t->nb_routes)];
	uint8_t last[HY_IP6_BYTES];

	if (kind != HY_SUITE_TYPICAL && rte_rand_max(4) == 0)
		return;
	for (unsigned int b = 0; b < HY_IP6_BYTES; b++) {
		const unsigned int fixed = b * 8 >= route->depth ? 0
			: route->depth - b * 8 >= 8              ? 0xff
								 : 0xff00 >> (route->depth - b * 8);

		dst[b] = (uint8_t)((route->prefix[b] & fixed) | (dst[b] & ~fixed));
		last[b] = (uint8_t)(route->prefix[b] | ~fixed);
	}
	if (kind == HY_SUITE_TYPICAL || rte_rand_max(2) == 0)
		return;
	memcpy(dst, rte_rand_max(2) ? route->prefix : last, HY_IP6_BYTES);
	address_add(dst, (int)rte_rand_max(3) - 1);
}
