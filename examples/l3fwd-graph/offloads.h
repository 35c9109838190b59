/* SPDX-License-Identifier: BSD-3-Clause */
/* --offload: the policy's rules in the flow engines of the ports, or of simulators behind them. */
#ifndef L3FWD_OFFLOADS_H
#define L3FWD_OFFLOADS_H

#include <stdio.h>

#include <hy_hal_live.h>
#include <hy_offload.h>

#include "options.h"

struct offloads {
	const struct options *options;
	struct hy_hal *hal; /* NULL: nothing is offloaded */
	struct hy_offload *ports[RTE_MAX_ETHPORTS];
	/* Why a port has none. Without quotes and what else JSON would want escaped. */
	char refused[RTE_MAX_ETHPORTS][128];
	unsigned int told[RTE_MAX_ETHPORTS]; /* of wrong marks */
	uint64_t next;                       /* TSC: when to poll again */
};

/*
 * Offloads the policy to all ports that run, and puts rules there, for up to a second. A port that
 * takes none is told of on standard error, and goes without. Returns 0, also without --offload, or
 * -1 after saying what is wrong. offloads_destroy() cleans up either way, when no worker runs.
 */
int offloads_create(const struct options *options, struct hy_policy *policy, struct hy_hal *hal,
	struct offloads *offloads);
void offloads_destroy(struct offloads *offloads);

/* Sees to what is due; to be called often. */
void offloads_poll(struct offloads *offloads);

/* How each port stands: for people; as members of a JSON array. */
void offloads_print(const struct offloads *offloads, FILE *out);
void offloads_json(const struct offloads *offloads, FILE *out);

#endif
