/* SPDX-License-Identifier: BSD-3-Clause */
/* --until-idle: whether nothing arrives any more. */
#ifndef L3FWD_UNTIL_IDLE_H
#define L3FWD_UNTIL_IDLE_H

#include <hy_stats.h>

#include "pipeline.h"

struct until_idle {
	uint64_t since;                       /* TSC; when something was seen to arrive last */
	unsigned int rounds;                  /* since then */
	struct hy_stats *from[RTE_MAX_LCORE]; /* of each worker, when the round began */
};

/*
 * Looks at what the workers have done. Returns whether nothing has arrived for as long as the option
 * says, and every source was called in that time. False also if memory runs out.
 */
bool until_idle(struct until_idle *idle, const struct options *options,
	const struct pipeline *pipeline);

void until_idle_free(struct until_idle *idle);

#endif
