/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider that hands rules to rte_flow, and so to the port's own driver. */

#include <errno.h>

#include <rte_errno.h>

#include "many.h"

/*
 * Drivers are known to refuse a rule by "return -rte_errno" without setting it, and to go on with
 * half a rule when that is 0: net/ice, ice_fdir_parse() and ice_hash_parse_pattern_action() of a
 * priority, whose caller then reads through a NULL pointer. hy_flow_errno() takes 0 for EIO as well.
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

const struct hy_flow_provider hy_flow_rte = {
	.name = "rte_flow",
	.validate = validate,
	.create = create,
	.destroy = destroy,
};
