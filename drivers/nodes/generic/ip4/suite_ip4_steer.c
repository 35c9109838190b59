/* SPDX-License-Identifier: BSD-3-Clause */
/* What ip4_steer is tried with: classes that have a next hop, and their neighbours, which have none. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_random.h>

#include <hy_conform.h>
#include <hy_ip4_steer.h>

#include "ip4_fib.h"

#define STEERS 40 /* among them the least class there is, and the greatest */

struct steering {
	struct hy_ip4_fib *fib;
	struct hy_ip4_steer steers[STEERS];
};

static int
fill(struct steering *s)
{
	const struct hy_ip4_port port = { .port = 0, .max_len = RTE_ETHER_MAX_LEN };

	for (unsigned int i = 0; i < STEERS; i++)
		s->steers[i] = (struct hy_ip4_steer){
			.class_id = i == STEERS - 1 ? UINT16_MAX : (uint16_t)(3 * i),
			.next_hop.mac = { { 2, 0, 0, 0, 0, (uint8_t)(i % 7) } }
		};
	return hy_ip4_port_add(s->fib, &port);
}

static int
setup(const struct hy_suite_side *side, void **state)
{
	const struct hy_ip4_fib_params params = {
		.max_routes = 1, .max_next_hops = STEERS, .max_tbl8s = 1, .socket = SOCKET_ID_ANY
	};
	struct steering *s = calloc(1, sizeof(*s));
	char name[IP4_FIB_NAME_MAX + 1];
	int rc;

	if (s == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "suite-%s", side->name);
	rc = hy_ip4_fib_create(name, &params, &s->fib);
	if (rc == 0)
		rc = fill(s);
	if (rc < 0) {
		hy_ip4_fib_destroy(s->fib);
		free(s);
		return rc;
	}
	*state = s;
	return 0;
}

static void
teardown(void *state)
{
	struct steering *s = state;

	hy_ip4_fib_destroy(s->fib);
	free(s);
}

static int
configure(void *state, hy_node_id id)
{
	const struct steering *s = state;
	const struct hy_ip4_steer_config config = { .tables = { .fibs = { s->fib }, .nb_fibs = 1 },
		.steers = s->steers,
		.nb_steers = STEERS };

	return hy_node_config(id, &config, sizeof(config));
}

/* A class with a next hop, one beside it, or any. */
static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	const struct steering *s = state;
	const uint16_t class_id = s->steers[rte_rand_max(STEERS)].class_id;
	uint32_t *lane = &packet->lanes[HY_IP4_STEER_LANE_CLASS];

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
