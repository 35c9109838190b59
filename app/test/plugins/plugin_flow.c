/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin for the tests: how rules look for one driver. */

#include <hy_flow.h>
#include <hy_plugin.h>
#include <hy_policy.h>

HY_PLUGIN("flow", "1", "Rules for NICs of net_null");

HY_FLOW_DRIVER(plugin_null, .driver = "net_null", .fields = HY_FLOW_ALL, .prefixes = true,
	.says_whole = true, .mark_max = 1000, .priorities = 4);
