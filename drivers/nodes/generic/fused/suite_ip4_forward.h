/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of ip4_forward's suite share: the table, and the frames sent to it. */
#pragma once

#include <hy_conform.h>
#include <hy_ip4.h>

#define SUITE_IP4_PORTS 5
#define SUITE_IP4_SHORTEST 1 /* the port with the shortest frames */
#define SUITE_IP4_ROUTES 600

struct suite_ip4 {
	struct hy_ip4_fib *fib;
	struct hy_ip4_route routes[SUITE_IP4_ROUTES];
	bool there[SUITE_IP4_ROUTES]; /* currently in the table */
	uint32_t nb_routes;
	bool has_default;
};

/* The longest frame of each port. */
extern const uint32_t suite_ip4_max_len[SUITE_IP4_PORTS];

/* suite_ip4_frames.c: the suite's shape(), of a struct suite_ip4. */
void suite_ip4_shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet);
