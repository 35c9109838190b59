/* SPDX-License-Identifier: BSD-3-Clause */
/* --steer: nodes by which classes go to a next hop of their own, past ip4_lookup. */
#ifndef L3FWD_STEER_H
#define L3FWD_STEER_H

#include <hy_hal.h>
#include <hy_ip4_steer.h>

#include "options.h"

/*
 * Leads an edge of a port's flow_cls to a pkt_cls-steer-P of the same variant as the port's other
 * one, and that to ip4_steer. Returns 0 or a negative errno.
 */
int steer_lead(struct hy_hal *hal, hy_node_id flow_cls, uint16_t port, uint16_t *edge);

/* Configures ip4_steer, which reads these tables. Returns 0 or a negative errno. */
int steer_configure(const struct options *options, struct hy_hal *hal,
	const struct hy_ip4_lookup_config *tables);

#endif
