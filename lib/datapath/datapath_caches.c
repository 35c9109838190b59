/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes of caches by the names that users know. */

#include <errno.h>
#include <string.h>

#include "datapath.h"

static const struct {
	const char *name;
	struct hy_flows_caches caches;
} modes[] = {
	{ "none", { .exact = HY_FLOWS_EXACT_NONE } },
	{ "emc", { .exact = HY_FLOWS_EXACT_8K, .exact_one_in = 100 } },
	{ "emc+smc",
		{ .exact = HY_FLOWS_EXACT_8K, .exact_one_in = 100, .index = HY_FLOWS_INDEX_SMC } },
	{ "dfc", { .index = HY_FLOWS_INDEX_DFC } },
	{ "smc", { .index = HY_FLOWS_INDEX_SMC } },
	{ "lines", { .index = HY_FLOWS_INDEX_LINES } },
	{ "frames", { .frames = true, .index = HY_FLOWS_INDEX_LINES } },
	{ "auto", { .frames = true, .index = HY_FLOWS_INDEX_LINES, .automatic = true } },
};

int
hy_datapath_caches_read(const char *text, struct hy_flows_caches *caches)
{
	for (size_t i = 0; i < RTE_DIM(modes); i++)
		if (strcmp(text, modes[i].name) == 0) {
			*caches = modes[i].caches;
			return 0;
		}
	return -EINVAL;
}

const char *
datapath_caches_name(const struct hy_flows_caches *caches)
{
	for (size_t i = 0; i < RTE_DIM(modes); i++)
		if (caches->frames == modes[i].caches.frames &&
			caches->exact == modes[i].caches.exact &&
			caches->index == modes[i].caches.index &&
			caches->automatic == modes[i].caches.automatic)
			return modes[i].name;
	return "other";
}
