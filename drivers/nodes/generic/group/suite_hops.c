/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Next hops and groups of them for the suites of rewriting nodes. Between bursts, next hops change their
 * addresses and ports, groups their members, and ports go down and come up.
 */

#include <stdio.h>

#include <rte_random.h>

#include <hy_ip4_group.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "suite_hops.h"

#define PORTS SUITE_PORTS
#define NEXT_HOPS 32
#define GROUPS 6 /* with ids after those of next hops */

/* The members of a group, from one that the number decides on. Returns how many. */
static unsigned int
members_make(struct hy_ip4_member members[NEXT_HOPS], uint32_t group, uint32_t number)
{
	const unsigned int n = (group * 7 + number) % NEXT_HOPS + 1;

	for (uint32_t i = 0; i < n; i++)
		members[i] = (struct hy_ip4_member){ .next_hop = (number * 3 + i) % NEXT_HOPS,
			.weight = (number + i) % 5 + 1 };
	return n;
}

static int
fill(struct hy_ip4_fib *fib)
{
	static const uint32_t max_len[PORTS] = { 1514, 60, 1500, 600 };
	int rc = 0;

	for (uint16_t p = 0; p < PORTS && rc == 0; p++) {
		const struct hy_ip4_port port = {
			.port = p, .mac = { { 2, 0, 0, 0, 1, (uint8_t)p } }, .max_len = max_len[p]
		};

		rc = hy_ip4_port_add(fib, &port);
	}
	for (uint32_t h = 0; h < NEXT_HOPS && rc == 0; h++) {
		const struct hy_ip4_next_hop hop = { .port = (uint16_t)(h % PORTS),
			.mac = { { 6, (uint8_t)(h * 7), 1, 2, 3, (uint8_t)h } } };
		uint32_t id;

		rc = hy_ip4_next_hop_add(fib, &hop, &id);
	}
	for (uint32_t g = 0; g < GROUPS && rc == 0; g++) {
		struct hy_ip4_member members[NEXT_HOPS];
		uint32_t id;

		rc = hy_ip4_group_create(fib, members, members_make(members, g, 0), HY_IP4_NO_ID,
			&id);
	}
	return rc;
}

int
suite_hops_create(const struct hy_suite_side *side, struct hy_ip4_fib **out)
{
	const struct hy_ip4_fib_params params = { .max_routes = 1,
		.max_next_hops = NEXT_HOPS + GROUPS,
		.max_tbl8s = 1,
		.socket = SOCKET_ID_ANY,
		.qsbr = side->qsbr };
	char name[IP4_FIB_NAME_MAX + 1];
	struct hy_ip4_fib *fib = NULL;
	int rc;

	snprintf(name, sizeof(name), "suite-%s", side->name);
	rc = hy_ip4_fib_create(name, &params, &fib);
	if (rc == 0)
		rc = fill(fib);
	if (rc < 0) {
		hy_ip4_fib_destroy(fib);
		fib = NULL;
	}
	*out = fib;
	return rc;
}

void
suite_hops_edges(uint16_t edge[HY_IP4_PORTS])
{
	for (uint16_t p = 0; p < HY_IP4_PORTS; p++)
		edge[p] = p < PORTS ? p : HY_IP4_NO_EDGE;
}

/*
 * Typical packets use the next hops of port 0, whose ids are multiples of PORTS: these stay on port 0.
 */
int
suite_hops_change(struct hy_ip4_fib *fib, uint32_t number)
{
	const uint32_t id = number % NEXT_HOPS;
	const struct hy_ip4_next_hop hop = {
		.port = (uint16_t)(id % PORTS == 0 ? 0 : (number / NEXT_HOPS + id) % PORTS),
		.mac = { { 6, (uint8_t)(number >> 8), (uint8_t)number, 4, 5, (uint8_t)id } }
	};
	struct hy_ip4_member members[NEXT_HOPS];
	int rc = hy_ip4_next_hop_set(fib, id, &hop);

	if (rc == 0)
		rc = hy_ip4_group_set(fib, NEXT_HOPS + number % GROUPS, members,
			members_make(members, number % GROUPS, number));
	return rc == 0 ? hy_ip4_port_link(fib, number % PORTS, number % 3 != 0) : rc;
}

uint32_t
suite_hops_route(enum hy_suite_kind kind)
{
	/* Typical packets use a port that accepts them: else the reference would drop some early. */
	if (kind == HY_SUITE_TYPICAL)
		return PORTS * (uint32_t)rte_rand_max(NEXT_HOPS / PORTS);
	/* Half of the others to groups: the first of them is where a kernel turns to groups. */
	if (rte_rand_max(4) == 0)
		return NEXT_HOPS + (uint32_t)rte_rand_max(GROUPS);
	return (uint32_t)rte_rand_max(NEXT_HOPS + GROUPS);
}
