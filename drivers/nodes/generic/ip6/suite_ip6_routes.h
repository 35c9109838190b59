/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of IPv6 suites: routes of every length, nested and adjacent, and addresses at their limits. Once
 * without a default route, so that many addresses have no route, and once with one.
 */
#pragma once

#include <hy_conform.h>
#include <hy_ip6.h>

#define SUITE_IP6_ROUTES 600
#define SUITE_IP6_NEXT_HOPS 200

struct suite_ip6 {
	struct hy_ip4_fib *next_hops;
	struct hy_ip6_fib *fib;
	struct hy_ip6_route routes[SUITE_IP6_ROUTES + 1]; /* the last one is the default route */
	bool there[SUITE_IP6_ROUTES + 1];                 /* currently in the table */
	uint32_t nb_routes;
	uint16_t nb_ports;
	bool has_default; /* of set-up 1 */
};

/* As a suite's setup(). The next hops are on ports 0, 1 and so on, by turns. */
int suite_ip6_setup(const struct hy_suite_side *side, const uint32_t max_len[], uint16_t nb_ports,
	void **state);
/* Teardown, and change: adds, deletes and changes routes; at times all are deleted. */
void suite_ip6_teardown(void *state);
int suite_ip6_change(void *state, uint32_t number);

/* The next hop of an id, which a change may move to another port. */
struct hy_ip4_next_hop suite_ip6_hop(const struct suite_ip6 *t, uint32_t id, uint32_t turn);

/* Chooses a destination: anywhere, within a route, or just outside one. */
void suite_ip6_choose(const struct suite_ip6 *t, enum hy_suite_kind kind, uint8_t *dst);
