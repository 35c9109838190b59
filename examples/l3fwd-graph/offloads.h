/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --offload: the policy's rules in the flow engines of the ports, or of simulators behind them.
 * --acl-offload: those of access lists.
 */
#pragma once

#include <hy_acl.h>
#include <hy_offloads.h>

#include "options.h"

/*
 * Offloads the policy to all ports that run. Returns 0, also without --offload, or a negative errno
 * after saying what is wrong. offloads_destroy() cleans up either way, when no worker runs.
 */
int offloads_create(const struct options *options, struct hy_policy *policy, struct hy_hal *hal,
	struct hy_offloads **offloads);
/* Offloads the lists of --acl to the ports that receive their frames, likewise. */
int offloads_create_acl(const struct options *options, struct hy_acl *acl, struct hy_hal *hal);
void offloads_destroy(struct hy_offloads *offloads);
