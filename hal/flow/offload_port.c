/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules that a port needs beside those of the policy, and the order in which they come and go.
 *
 * Where rules are in a group, a rule in group 0 sends all packets there. At each moment that it is in
 * hardware, so is the default rule of the group, for a NIC may drop what no rule of a group matches.
 */

#include <errno.h>
#include <string.h>

#include "lib/graph/internal/log.h"
#include "offload.h"
#include "probe.h"

/*
 * Of the rule in group 0, so that the program's own rules there come first: the lowest that mlx5 has
 * for its users, 3 or, with fewer levels, 1 (mlx5_flow.c, mlx5_get_lowest_priority()).
 */
#define JUMP_PRIORITY 3

static int
rule_make(struct hy_offload *o, const struct hy_flow_lowered *rule, void **flow, const char **why)
{
	struct rte_flow_error error = { 0 };
	const int rc = o->params.provider->create(o->port, &rule->attr, rule->items, rule->actions,
		flow, &error);

	if (rc != 0 && rc != -ETIMEDOUT)
		*flow = NULL;
	if (rc != 0)
		*why = error.message;
	return rc;
}

/* Once only: after a failure nobody knows whether the handle is valid. False: the rule may stay. */
static bool
rule_remove(struct hy_offload *o, void **flow, const char *what)
{
	struct rte_flow_error error = { 0 };
	const int rc = *flow == NULL ? 0 : o->params.provider->destroy(o->port, *flow, &error);

	*flow = NULL;
	if (rc != 0)
		HY_LOG(WARNING, "port %u keeps %s: %s", o->port, what,
			error.message != NULL ? error.message : strerror(-rc));
	return rc == 0;
}

static int
group_make(struct hy_offload *o, const char **why)
{
	struct hy_flow_lowered rule;
	int rc = hy_flow_lower_default(o->params.driver, &o->spread, &rule);

	if (rc != 0) {
		*why = "the port has more receive queues than a rule spreads packets over";
		return rc;
	}
	rc = rule_make(o, &rule, &o->fallback, why);
	if (rc != 0)
		return rc;
	for (uint32_t p = JUMP_PRIORITY + 1; p > 0 && o->jump == NULL && !o->jump_stays; p--) {
		hy_flow_lower_jump(o->params.driver, p - 1, &rule);
		rc = rule_make(o, &rule, &o->jump, why);
		/* Without an answer and without a handle: it may be there, and cannot be removed. */
		o->jump_stays = rc == -ETIMEDOUT && o->jump == NULL;
	}
	return rc;
}

int
hy_offload_port_rules_make(struct hy_offload *o, const char **why)
{
	int rc = 0;

	if (o->params.driver->group > 0)
		rc = group_make(o, why);
	if (rc == 0 && o->params.driver->keep_sentinel)
		rc = hy_flow_sentinel_create(o->port, o->params.provider, o->params.driver,
			&o->limits, o->limits.mark_max, &o->sentinel, why);
	return rc;
}

void
hy_offload_jump_remove(struct hy_offload *o)
{
	if (!rule_remove(o, &o->jump, "the rule that leads to the policy's rules"))
		o->jump_stays = true;
}

void
hy_offload_port_rules_remove(struct hy_offload *o)
{
	hy_offload_jump_remove(o);
	if (!o->jump_stays)
		rule_remove(o, &o->fallback, "the default rule");
	rule_remove(o, &o->sentinel, "the rule that no traffic meets");
	hy_offload_port_rules_forget(o);
}

void
hy_offload_port_rules_forget(struct hy_offload *o)
{
	o->jump = NULL;
	o->jump_stays = false;
	o->fallback = NULL;
	o->sentinel = NULL;
}
