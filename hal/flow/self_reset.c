/* SPDX-License-Identifier: BSD-3-Clause */
/* Drivers that reset a port by themselves. */

#include <stdlib.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_kvargs.h>

#include "offload.h"

static int
read_number(const char *key __rte_unused, const char *value, void *resets)
{
	*(bool *)resets = value == NULL || strtoul(value, NULL, 0) != 0;
	return 0;
}

bool
hy_offload_resets_itself(const struct hy_flow_driver *driver, const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *args = info->device != NULL ? rte_dev_devargs(info->device)
							      : NULL;
	struct rte_kvargs *list;
	bool resets = driver->self_resets;

	/* Tests make rules for a driver on ports of another one. */
	if (driver->self_reset == NULL || info->driver_name == NULL ||
		hy_flow_driver_of(info->driver_name) != driver)
		return false;
	list = args != NULL && args->args != NULL ? rte_kvargs_parse(args->args, NULL) : NULL;
	if (list == NULL)
		return resets;
	rte_kvargs_process(list, driver->self_reset, read_number, &resets);
	rte_kvargs_free(list);
	return resets;
}
