/* SPDX-License-Identifier: BSD-3-Clause */
/* What an offload found out about its port, as capabilities that variants ask for. */

#include <inttypes.h>
#include <stdio.h>

#include <hy_hal.h>

#include "offload.h"

int
hy_offload_declare(struct hy_offload *o, struct hy_hal *hal)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = o->port };
	char reason[HY_TEXT_SIZE];
	struct hy_offload_stats s;
	enum hy_origin origin = HY_ORIGIN_PROBED;
	bool yes;
	int rc;

	hy_offload_stats(o, &s);
	yes = s.state == HY_OFFLOAD_UP;
	snprintf(reason, sizeof(reason), "%s", s.limits.reason);
	if (s.state == HY_OFFLOAD_DEMOTED) {
		origin = HY_ORIGIN_OBSERVED;
		snprintf(reason, sizeof(reason),
			"%" PRIu64 " of %" PRIu64 " marks looked at were wrong", s.mismatches,
			s.sampled);
	} else if (!yes) {
		snprintf(reason, sizeof(reason), "the port does not run");
	}
	rc = hy_hal_capability_set(hal, target, HY_CAP_FLOW_MARK, yes ? HY_LEVEL_YES : HY_LEVEL_NO,
		origin, s.limits.mark_max, reason);
	if (rc == 0)
		rc = hy_hal_capability_set(hal, target, HY_CAP_FLOW_PRIORITY,
			yes && s.limits.priorities > 1 ? HY_LEVEL_YES : HY_LEVEL_NO, origin,
			s.limits.priorities, reason);
	return rc;
}
