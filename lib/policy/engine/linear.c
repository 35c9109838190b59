/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules one after the other: for few rules, there is nothing faster. */

#include <errno.h>
#include <stdlib.h>

#include "engine.h"

/* Clocks that hy-bench acl measures, with sets of 4 to 1,000 rules. */
#define RULE_CLOCKS 7.0
#define KEY_CLOCKS 30.0
#define RULES_MOST 1000 /* a scan of more is no way to serve, whatever a budget says */

/* Half of the rules are tried before the one that matches. */
static int
linear_estimate(const struct policy_build *build, struct policy_estimate *estimate)
{
	if (build->n > RULES_MOST)
		return -E2BIG;
	*estimate = (struct policy_estimate){ .clocks = KEY_CLOCKS + RULE_CLOCKS * build->n / 2 };
	return 0;
}

/* The tables are a view of the same rules. */
static int
linear_build(const struct policy_build *build, void **tables, uint64_t *bytes)
{
	struct hy_policy_view *view = malloc(sizeof(*view));

	if (view == NULL)
		return -ENOMEM;
	*view = (struct hy_policy_view){ .nb_rules = build->n, .rules = build->rules };
	*tables = view;
	*bytes = sizeof(*view);
	return 0;
}

static void
linear_free(void *tables)
{
	free(tables);
}

static void
linear_classify(const void *tables, const struct hy_flow_key key[], uint32_t rank[], uint32_t n)
{
	hy_policy_classify_linear(tables, key, rank, n);
}

const struct policy_engine policy_engine_linear = {
	.name = "linear",
	.least = KEY_CLOCKS,
	.text = "tries the rules one after the other",
	.estimate = linear_estimate,
	.build = linear_build,
	.free = linear_free,
	.classify = linear_classify,
};
