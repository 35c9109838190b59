/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-policy generate: writes generated rules. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "command.h"

int
generate(const struct settings *settings)
{
	struct hy_flow_rule *rules = calloc(settings->rules, sizeof(*rules));
	char text[HY_FLOW_TEXT_SIZE];
	int rc;

	if (rules == NULL)
		return out_of_memory();
	rc = policy_generate(settings->kind, settings->ip6, settings->seed, settings->rules, rules);
	if (rc == 0)
		printf("# hy-policy generate --kind %s%s --rules %u --seed %" PRIu64 "\n",
			generate_names[settings->kind], settings->ip6 ? " --ip6" : "",
			settings->rules, settings->seed);
	for (uint32_t i = 0; i < settings->rules && rc == 0; i++) {
		rc = hy_flow_rule_format(&rules[i], text, sizeof(text));
		if (rc >= 0)
			rc = printf("%s\n", text) < 0 ? -EIO : 0;
	}
	free(rules);
	if (rc == -ENOSPC)
		return refuse("%s has no %u different rules", generate_names[settings->kind],
			settings->rules);
	if (rc == -ENOMEM)
		return out_of_memory();
	return rc < 0 ? TROUBLE : SAME;
}
