/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin for the tests: creates an arc while it is loaded. */

#include <hy_arc.h>
#include <hy_plugin.h>

HY_PLUGIN("arc", "1", "Creates an arc");

static void
index_none(void *const objs[], uint32_t index[], uint16_t n)
{
	RTE_SET_USED(objs);
	for (uint16_t i = 0; i < n; i++)
		index[i] = 0;
}

RTE_INIT(plugin_arc_create)
{
	const struct hy_arc_params params = { .end = "end", .index = index_none };
	struct hy_arc *arc;

	hy_registration_check("plugin_arc", hy_arc_create("plugin_arc", &params, &arc));
}
