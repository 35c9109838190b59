/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands that show what the HAL knows and selects. */

#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_hal_live.h>

#include "command.h"

static int
written(int rc)
{
	if (rc < 0 && !ferror(stdout)) /* else main() reports it */
		fprintf(stderr, "hy-hal: %s\n", strerror(-rc));
	return rc;
}

/* Explains an output without ports. */
static void
ports_miss(void)
{
	if (rte_eth_dev_count_avail() == 0)
		fprintf(stderr,
			"hy-hal: there is no port: no NIC is bound to a driver for DPDK, and no "
			"virtual one was requested (see hy-hal --help)\n");
}

int
show_inventory(const struct settings *settings, struct hy_hal *hal)
{
	int rc;

	ports_miss();
	rc = settings->json ? hy_hal_inventory_json(hal, stdout)
			    : hy_hal_inventory_print(hal, stdout);
	if (rc == 0 && !settings->json)
		flows_print(stdout);
	return written(rc);
}

int
show_explain(const struct settings *settings, struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE];
	int rc;

	/* Plans first, as programs do: some variants affect how ports are configured. */
	if (hy_hal_plan(hal, error) < 0 || hy_hal_select(hal, error) < 0)
		return refuse("explain: %s", error);
	ports_miss();
	rc = settings->json ? hy_hal_explain_families_json(hal, settings->families, stdout)
			    : hy_hal_explain_families(hal, settings->families, stdout);
	if (rc == 0 && !settings->json)
		flows_print(stdout);
	return written(rc);
}

int
show_packs(const struct settings *settings, struct hy_hal *hal)
{
	RTE_SET_USED(hal);
	return written(settings->json ? hy_packs_json(stdout) : hy_packs_print(stdout));
}
