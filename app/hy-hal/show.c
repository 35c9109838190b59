/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands that show what the HAL knows and picks. */

#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include "command.h"

static int
written(int rc)
{
	if (rc < 0)
		fprintf(stderr, "hy-hal: standard output: %s\n", strerror(-rc));
	return rc;
}

int
show_inventory(const struct settings *settings, struct hy_hal *hal)
{
	return written(settings->json ? hy_hal_inventory_json(hal, stdout)
				      : hy_hal_inventory_print(hal, stdout));
}

int
show_explain(const struct settings *settings, struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE];

	if (hy_hal_select(hal, error) < 0) {
		fprintf(stderr, "hy-hal: explain: %s\n", error);
		return -1;
	}
	if (rte_eth_dev_count_avail() == 0)
		fprintf(stderr, "hy-hal: there are no ports to choose for; see hy-hal --help\n");
	return written(settings->json
			? hy_hal_explain_families_json(hal, settings->families, stdout)
			: hy_hal_explain_families(hal, settings->families, stdout));
}
