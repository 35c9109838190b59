/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider that passes rules to rte_flow, and so to the port's driver. */

#include <errno.h>

#include <rte_errno.h>

#include "many.h"

/*
 * Some drivers refuse a rule with "return -rte_errno" without setting rte_errno, and if that is 0,
 * continue with half a rule: net/ice, ice_fdir_parse() and ice_hash_parse_pattern_action() for a
 * priority, whose caller then dereferences NULL. hy_flow_errno() treats 0 as EIO, too.
 */
#define NO_REASON EIO

static int
validate(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	rte_errno = NO_REASON;
	return rte_flow_validate(port, attr, items, actions, error);
}

static int
create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	rte_errno = NO_REASON;
	*flow = rte_flow_create(port, attr, items, actions, error);
	return *flow != NULL ? 0 : hy_flow_errno();
}

static int
destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	return rte_flow_destroy(port, flow, error);
}

static int
query(uint16_t port, void *flow, struct rte_flow_query_count *count, struct rte_flow_error *error)
{
	static const struct rte_flow_action_count conf;
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT, .conf = &conf },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};

	*count = (struct rte_flow_query_count){ .reset = 0 };
	return rte_flow_query(port, flow, actions, count, error);
}

const struct hy_flow_provider hy_flow_rte = {
	.name = "rte_flow",
	.validate = validate,
	.create = create,
	.destroy = destroy,
	.query = query,
};
