/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kinds of flow rules a running port takes. */

#include <hy_flow.h>

#include "report.h"

/* The result for a rule. */
struct trial {
	const char *stage; /* that refused the rule; NULL: none */
	int rc;
	struct rte_flow_error error;
	const char *reason; /* of the stage "lowering" */
};

/*
 * Lowers a rule by the limits that the flow driver declares, and passes it to the port's driver.
 * The probed limits would hide the driver's own messages for rules that Halyard no longer tries.
 */
static struct trial
rule_try(uint16_t port, const struct hy_flow_driver *driver, const struct hy_flow_spread *spread,
	const struct hy_flow_match *match)
{
	const struct hy_flow_provider *provider = hy_flow_rte_of(port);
	struct hy_flow_limits declared;
	struct hy_flow_lowered lowered;
	struct trial trial = { .stage = "lowering" };
	void *flow;

	hy_flow_limits_declared(driver, &declared);
	trial.rc = hy_flow_lower(driver, &declared, match, 1, 0, spread, &lowered, &trial.reason);
	if (trial.rc != 0)
		return trial;
	if (!driver->validates_for_good) {
		trial.stage = "validate";
		trial.rc = provider->validate(port, &lowered.attr, lowered.items, lowered.actions,
			&trial.error);
	}
	if (trial.rc != 0)
		return trial;
	trial.stage = "create";
	trial.rc = provider->create(port, &lowered.attr, lowered.items, lowered.actions, &flow,
		&trial.error);
	if (trial.rc != 0)
		return trial;
	trial.stage = "destroy";
	trial.rc = provider->destroy(port, flow, &trial.error);
	if (trial.rc == 0)
		trial.stage = NULL;
	return trial;
}

/* Returns whether the rule was taken. */
static bool
kind_write(struct outline *o, const struct hy_flow_kind *kind, const struct trial *trial,
	bool offloaded)
{
	outline_row(o);
	outline_text(o, "rule", "%s", kind->name);
	outline_flag(o, "offloaded", offloaded);
	outline_flag(o, "taken", trial->stage == NULL);
	if (trial->stage != NULL) {
		outline_text(o, "refused_by", "%s", trial->stage);
		outline_text(o, "errno", "%s", report_errno(trial->rc));
		if (trial->reason != NULL)
			outline_text(o, "reason", "%s", trial->reason);
		if (trial->error.type != RTE_FLOW_ERROR_TYPE_NONE)
			outline_number(o, "type", trial->error.type);
		if (trial->error.message != NULL)
			outline_text(o, "message", "%s", trial->error.message);
	}
	outline_row_close(o);
	return trial->stage == NULL;
}

/* The probed limits: Halyard offloads no rule beyond them. */
static void
probe_write(struct outline *o, const struct hy_flow_driver *driver,
	const struct hy_flow_limits *limits)
{
	struct hy_flow_kind_counts counts = { 0 };

	hy_flow_kinds_count(driver, limits, &counts, NULL);
	outline_text(o, "probed", "%s", limits->reason);
	outline_number(o, "mark_max", limits->mark_max);
	outline_number(o, "priorities", limits->priorities);
	outline_number(o, "kinds_offloaded", limits->mark_max > 0 ? counts.taken : 0);
	outline_number(o, "kinds_checked_for_fragments", limits->mark_max > 0 ? counts.checked : 0);
}

static bool
is_offloaded(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_spread *spread, const struct hy_flow_match *match)
{
	struct hy_flow_lowered lowered;
	const char *reason;

	return limits->mark_max > 0 &&
		hy_flow_lower(driver, limits, match, 1, 0, spread, &lowered, &reason) == 0;
}

void
report_flow(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info)
{
	const struct hy_flow_driver *driver = hy_flow_driver_of(info->driver_name == NULL
			? ""
			: info->driver_name);
	const struct hy_flow_kind *kinds;
	const unsigned int n = hy_flow_kinds(&kinds);
	struct hy_flow_spread spread;
	struct hy_flow_limits limits;
	unsigned int taken = 0;
	int rc = hy_flow_spread_get(port, &spread);

	if (rc == 0)
		rc = hy_flow_probe(port, hy_flow_rte_of(port), driver, &limits);

	outline_open(o, "flow_rules");
	outline_text(o, "provider", "%s", hy_flow_rte_of(port)->name);
	outline_text(o, "lowered_for", "%s", driver->driver);
	outline_text(o, "pack", "%s", driver->pack == NULL ? "generic" : driver->pack);
	if (rc != 0) {
		outline_text(o, "error", "cannot be tried: %s", report_errno(rc));
		outline_close(o);
		return;
	}
	outline_list(o, "kinds");
	for (unsigned int i = 0; i < n; i++) {
		const struct trial trial = rule_try(port, driver, &spread, &kinds[i].match);

		taken += kind_write(o, &kinds[i], &trial,
			is_offloaded(driver, &limits, &spread, &kinds[i].match));
	}
	outline_list_close(o);
	outline_number(o, "kinds_taken", taken);
	probe_write(o, driver, &limits);
	outline_close(o);
}
