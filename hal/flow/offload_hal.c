/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports what an offload found out about its port, as capabilities for variants. */

#include <errno.h>
#include <stdio.h>

#include <hy_hal_live.h>

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

	if (o->access && !o->params.classes) /* nodes of lists need no capability */
		return 0;
	hy_offload_stats(o, &s);
	yes = s.state == HY_OFFLOAD_UP;
	snprintf(reason, sizeof(reason), "%s", s.limits.reason);
	if (s.state == HY_OFFLOAD_DEMOTED) {
		origin = HY_ORIGIN_OBSERVED;
		snprintf(reason, sizeof(reason), "%s", s.demoted);
	} else if (!yes && s.limits.mark_max > 0) {
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

/*
 * Does not change capabilities when the port goes down: it receives no packets, and its classifier
 * can stay until the port is back.
 */
static void
on_port(struct hy_hal *hal, uint16_t port, enum hy_port_state state, void *arg)
{
	struct hy_offload *o = arg;

	if (port != o->port)
		return;
	if (state == HY_PORT_GONE) {
		hy_offload_gone(o);
	} else if (state == HY_PORT_DOWN && hy_hal_port_recovers(hal, port)) {
		hy_offload_recovers(o);
	} else if (state == HY_PORT_DOWN) {
		hy_offload_down(o, hy_hal_port_answers(hal, port));
	} else if (state == HY_PORT_UP) {
		hy_offload_up(o); /* on an error it stays down, and the reason is declared */
		hy_offload_declare(o, hal);
	}
}

int
hy_offload_follow(struct hy_offload *o, struct hy_hal *hal)
{
	int rc;

	if (o->hal != NULL)
		return -EEXIST;
	rc = hy_hal_port_observe(hal, on_port, o);
	if (rc < 0)
		return rc;
	rc = hy_offload_declare(o, hal);
	if (rc < 0) {
		hy_hal_port_unobserve(hal, on_port, o);
		return rc;
	}
	o->hal = hal;
	return 0;
}

void
hy_offload_unfollow(struct hy_offload *o)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = o->port };
	static const char why[] = "its offload was removed";

	if (o->hal == NULL)
		return;
	hy_hal_port_unobserve(o->hal, on_port, o);
	if (o->access && !o->params.classes) {
		o->hal = NULL;
		return;
	}
	/* May fail with -ENODEV: then there is no capability to change. */
	hy_hal_capability_set(o->hal, target, HY_CAP_FLOW_MARK, HY_LEVEL_NO, HY_ORIGIN_OBSERVED, 0,
		why);
	hy_hal_capability_set(o->hal, target, HY_CAP_FLOW_PRIORITY, HY_LEVEL_NO, HY_ORIGIN_OBSERVED,
		0, why);
	o->hal = NULL;
}
