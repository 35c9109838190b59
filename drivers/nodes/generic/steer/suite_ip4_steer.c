/* SPDX-License-Identifier: BSD-3-Clause */
/* Conformance of ip4_steer: classes with a next hop, and their neighbours without one. */

#include <stdio.h>

#include <rte_random.h>

#include <hy_conform.h>
#include <hy_ip4_steer.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"

#define STEERS 40 /* including the lowest and the highest class */

static struct hy_ip4_steer steers[STEERS]; /* the same for both sides */

static int
setup(const struct hy_suite_side *side, void **state)
{
	const struct hy_ip4_fib_params params = {
		.max_routes = 1, .max_next_hops = STEERS, .max_tbl8s = 1, .socket = SOCKET_ID_ANY
	};
	const struct hy_ip4_port port = { .port = 0, .max_len = RTE_ETHER_MAX_LEN };
	char name[IP4_FIB_NAME_MAX + 1];
	struct hy_ip4_fib *fib = NULL;
	int rc;

	for (unsigned int i = 0; i < STEERS; i++)
		steers[i] = (struct hy_ip4_steer){ .class_id = i == STEERS - 1 ? UINT16_MAX
									       : (uint16_t)(3 * i),
			.next_hop.mac = { { 2, 0, 0, 0, 0, (uint8_t)(i % 7) } } };
	snprintf(name, sizeof(name), "suite-%s", side->name);
	rc = hy_ip4_fib_create(name, &params, &fib);
	if (rc == 0)
		rc = hy_ip4_port_add(fib, &port);
	if (rc < 0)
		hy_ip4_fib_destroy(fib);
	*state = fib;
	return rc;
}

static void
teardown(void *state)
{
	hy_ip4_fib_destroy(state);
}

static int
configure(void *state, hy_node_id id)
{
	const struct hy_ip4_steer_config config = {
		.tables = { .fibs = { state }, .nb_fibs = 1 }, .steers = steers, .nb_steers = STEERS
	};

	return hy_node_config(id, &config, sizeof(config));
}

/* Chooses a class with a next hop, the next class, or any. */
static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	const uint16_t class_id = steers[rte_rand_max(STEERS)].class_id;
	uint32_t *lane = &packet->lanes[HY_IP4_STEER_LANE_CLASS];

	RTE_SET_USED(state);
	packet->lanes[HY_IP4_STEER_LANE_ROUTE] = (uint32_t)rte_rand();
	*lane = class_id;
	if (kind == HY_SUITE_TYPICAL)
		return;
	if (rte_rand_max(3) == 0)
		*lane = (uint16_t)(class_id + 1);
	else if (rte_rand_max(8) == 0)
		*lane = (uint16_t)rte_rand();
}

HY_SUITE(ip4_steer, .setup = setup, .teardown = teardown, .configure = configure, .shape = shape);
