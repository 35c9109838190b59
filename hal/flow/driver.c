/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow drivers: what rules of their NICs look like. Packs register them. */

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <string.h>

#include <rte_log.h>

#include <hy_policy.h>

#include <hy_flow.h>
#include "hal/internal/list.h"
#include "lib/graph/internal/plugin_notes.h"
#include "offload.h"

/*
 * For NICs without a flow driver of their own. Rules say where packets go, since drivers differ in
 * what they do otherwise: net/sfc drops them (sfc_flow.c, sfc_flow_parse_actions()).
 */
static const struct hy_flow_driver any = {
	.driver = "*",
	.source = "lib/ethdev/rte_flow.h",
	.fields = HY_FLOW_ALL,
	.prefixes = true,
	.says_whole = true,
	.mark_max = UINT32_MAX,
	.priorities = 1024,
	.fate = HY_FLOW_FATE_RSS,
};

/* Registered by packs, in reverse order. */
#define DRIVERS_MAX 16
static const struct hy_flow_driver *drivers[DRIVERS_MAX];
static unsigned int nb_drivers;

static int
refused(const struct hy_flow_driver *driver, const char *why, int rc)
{
	RTE_LOG(ERR, USER1, "flow driver \"%s\": %s\n",
		driver->driver == NULL ? "" : driver->driver, why);
	return rc;
}

static bool
driver_busy(uintptr_t what, char *error)
{
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
		const struct hy_offload *offload = hy_offload_of(port);

		if (offload == NULL || (uintptr_t)offload->params.driver != what)
			continue;
		snprintf(error, HY_PLUGIN_ERROR_SIZE,
			"the offload of port %u makes rules by its flow driver \"%s\"; destroy "
			"that first",
			port, offload->params.driver->driver);
		return true;
	}
	return false;
}

static void
driver_undo(uintptr_t what)
{
	hy_flow_driver_unregister((const struct hy_flow_driver *)what);
}

static const struct hy_plugin_kind driver_kind = { driver_busy, driver_undo };

int
hy_flow_driver_register(const struct hy_flow_driver *driver)
{
	if (driver->driver == NULL || driver->driver[0] == '\0')
		return refused(driver, "needs the pattern of a driver's name", -EINVAL);
	if (driver->fields == 0 || ((driver->fields | driver->fields6) & ~HY_FLOW_HARDWARE) != 0)
		return refused(driver, "needs fields, by HY_FLOW_ bits", -EINVAL);
	if (driver->mark_max == 0 || driver->priorities == 0)
		return refused(driver, "needs a largest mark and priorities of 1 or more", -EINVAL);
	for (unsigned int i = 0; i < nb_drivers; i++)
		if (strcmp(drivers[i]->driver, driver->driver) == 0)
			return refused(driver, "is registered already", -EEXIST);
	if (nb_drivers == DRIVERS_MAX)
		return refused(driver, "no room: at most 16 drivers", -ENOSPC);
	memmove(&drivers[1], &drivers[0], nb_drivers * sizeof(drivers[0]));
	drivers[0] = driver;
	nb_drivers++;
	hy_plugin_registered(&driver_kind, (uintptr_t)driver);
	return 0;
}

void
hy_flow_driver_unregister(const struct hy_flow_driver *driver)
{
	hy_list_forget(drivers, &nb_drivers, driver);
}

unsigned int
hy_flow_drivers(const struct hy_flow_driver *const **list)
{
	*list = drivers;
	return nb_drivers;
}

const struct hy_flow_driver *
hy_flow_driver_of(const char *name)
{
	for (unsigned int i = 0; i < nb_drivers; i++)
		if (fnmatch(drivers[i]->driver, name, 0) == 0)
			return drivers[i];
	return &any;
}
