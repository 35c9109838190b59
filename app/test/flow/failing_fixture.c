/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that refuse a rule, or all from one moment on, for no fault of the rule. */

#include <errno.h>

#include <hy_flow_sim.h>

#include "failing_fixture.h"

struct failing failing;

static bool
fails(struct rte_flow_error *error)
{
	failing.calls++;
	if (failing.fail_at == 0 || failing.calls < failing.fail_at ||
		(failing.fail_for > 0 && failing.calls - failing.fail_at >= failing.fail_for))
		return false;
	error->message = "refused by the test";
	return true;
}

static int
failing_validate(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	if (fails(error))
		return failing.fail_with;
	return hy_flow_simulator.validate(port, attr, items, actions, error);
}

static int
failing_create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	const bool refused = fails(error);
	int rc;

	if (refused && failing.late == NULL)
		return failing.fail_with;
	rc = hy_flow_simulator.create(port, attr, items, actions, flow, error);
	if (rc != 0 || !refused) {
		failing.rules += rc == 0;
		return rc;
	}
	failing.late();
	hy_flow_simulator.destroy(port, *flow, error);
	error->message = "refused by the test";
	return failing.fail_with;
}

/* A failure leaves the rule where it is. */
static int
failing_destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	int rc;

	if (fails(error))
		return failing.fail_with;
	rc = hy_flow_simulator.destroy(port, flow, error);
	failing.rules -= rc == 0;
	return rc;
}

const struct hy_flow_provider failing_provider = {
	.name = "a port that fails",
	.validate = failing_validate,
	.create = failing_create,
	.destroy = failing_destroy,
};

int
refuse_destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	RTE_SET_USED(port);
	RTE_SET_USED(flow);
	return rte_flow_error_set(error, EIO, RTE_FLOW_ERROR_TYPE_HANDLE, NULL, "busy");
}
