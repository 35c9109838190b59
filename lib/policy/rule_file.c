/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules and settings of a policy in a file. All of it is read and checked before anything is
 * staged.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>
#include <hy_policy_format.h>

#include "lib/graph/internal/log.h"
#include "policy.h"

/* Whether the policy can have all that a file says. *line becomes that of a fault. */
static int
check_allowed(const struct hy_policy *policy, const struct hy_policy_file *file, unsigned int *line,
	char *error)
{
	int rc = 0;

	for (uint32_t i = 0; i < file->nb_rules && rc == 0; i++) {
		*line = file->lines[i];
		rc = policy_rule_allowed(policy, &file->rules[i], error);
	}
	if (rc < 0 || policy->params.access)
		return rc;
	*line = file->default_action.line;
	if (*line > 0)
		return HY_REASON(-EINVAL, error, HY_POLICY_ERROR_SIZE,
			"default: only access lists have it");
	*line = file->truncated.line;
	if (*line > 0)
		return HY_REASON(-EINVAL, error, HY_POLICY_ERROR_SIZE,
			"truncated: only access lists have it");
	return 0;
}

static int
by_id(const void *a, const void *b)
{
	const struct hy_flow_rule *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int
stage(struct hy_policy *policy, const struct hy_policy_file *file)
{
	const struct policy_staged staged = { .rules = file->rules,
		.n = file->nb_rules,
		.default_action = (uint8_t)(file->default_action.line > 0
				? file->default_action.action
				: policy_default(policy)),
		.deny_truncated = file->truncated.action == HY_RULE_DENY };

	if (file->nb_rules > 0)
		qsort(file->rules, file->nb_rules, sizeof(*file->rules), by_id);
	return policy_stage_all(policy, &staged);
}

int
hy_policy_load(struct hy_policy *policy, const char *path, char *error)
{
	char why[HY_POLICY_ERROR_SIZE] = "";
	struct hy_policy_file file;
	unsigned int line;
	int rc = hy_policy_read(path, HY_POLICY_ANY, policy->params.max_rules, &file, error);

	if (rc < 0)
		return rc;
	rc = check_allowed(policy, &file, &line, why);
	if (rc < 0 && error != NULL) {
		snprintf(error, HY_POLICY_ERROR_SIZE, "%.120s:%u: %.240s", path, line, why);
		hy_printable(error);
	} else if (rc == 0) {
		rc = stage(policy, &file);
		if (rc < 0 && error != NULL)
			snprintf(error, HY_POLICY_ERROR_SIZE, "%.240s: %s", path, strerror(-rc));
	}
	hy_policy_file_free(&file);
	return rc;
}

int
hy_policy_print(struct hy_policy *policy, FILE *out)
{
	pthread_mutex_lock(&policy->lock);
	if (policy->params.access)
		fprintf(out, "default %s\ntruncated %s\n",
			policy->view->shown.default_action == HY_RULE_DENY ? "deny" : "permit",
			policy->view->shown.deny_truncated ? "deny" : "permit");
	for (uint32_t rank = 0; rank < policy->view->shown.nb_rules; rank++) {
		const struct hy_flow_rule *rule = &policy->view->shown.rules[rank].rule;

		policy_rule_write(out, rule);
		fprintf(out, " # hits %" PRIu64 "\n", hy_policy_hits(policy, rule->id));
	}
	pthread_mutex_unlock(&policy->lock);
	return hy_output_flush(out);
}
