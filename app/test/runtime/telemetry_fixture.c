/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_telemetry.h>

#include "telemetry_fixture.h"

__thread char telemetry_text[HY_TEXT_SIZE], telemetry_error[HY_TEXT_SIZE];

/* Stands in for DPDK's. */
int
rte_tel_data_add_dict_string(struct rte_tel_data *data, const char *name, const char *text)
{
	RTE_SET_USED(data);
	if (strcmp(name, "text") == 0)
		snprintf(telemetry_text, HY_TEXT_SIZE, "%s", text);
	else if (strcmp(name, "error") == 0)
		snprintf(telemetry_error, HY_TEXT_SIZE, "%s", text);
	return 0;
}
