/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules in a text file, one a line, and the settings of access lists. All of it is read and checked
 * before anything is staged.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>

#include "lib/graph/internal/log.h"
#include "lib/graph/internal/table.h"
#include "policy.h"

static const char space[] = " \t\r\n";

/* A rule, and the line that it is from. */
struct line {
	struct hy_flow_rule rule;
	unsigned int number;
};

/* A line "default ACTION" or "truncated ACTION", of access lists only. */
struct setting {
	const char *name;
	enum hy_rule_action action;
	unsigned int number; /* of its line; 0: not given */
};

enum { SETTING_DEFAULT, SETTING_TRUNCATED, SETTINGS };

struct lines {
	const struct hy_policy *policy;
	struct line *lines;
	uint32_t n;
	struct setting settings[SETTINGS];
};

/* The setting that a line starts with; NULL: none. */
static struct setting *
setting_of(struct lines *lines, const char *word, size_t size)
{
	for (unsigned int i = 0; i < SETTINGS; i++)
		if (strlen(lines->settings[i].name) == size &&
			strncmp(lines->settings[i].name, word, size) == 0)
			return &lines->settings[i];
	return NULL;
}

/* Reads the rest of such a line. */
static int
read_setting(struct setting *setting, char *text, const struct lines *lines, unsigned int number,
	char *error)
{
	char *rest, *word = strtok_r(text, space, &rest);
	const char *more = word == NULL ? NULL : strtok_r(NULL, space, &rest);

	if (!lines->policy->params.access)
		return HY_REASON(-EINVAL, error, HY_POLICY_ERROR_SIZE,
			"%s: only access lists have it", setting->name);
	if (setting->number != 0)
		return HY_REASON(-EINVAL, error, HY_POLICY_ERROR_SIZE, "%s: is on line %u already",
			setting->name, setting->number);
	if (word == NULL || more != NULL ||
		(strcmp(word, "permit") != 0 && strcmp(word, "deny") != 0))
		return HY_REASON(-EINVAL, error, HY_POLICY_ERROR_SIZE,
			"%s: takes permit or deny, and nothing else", setting->name);
	setting->action = word[0] == 'p' ? HY_RULE_PERMIT : HY_RULE_DENY;
	setting->number = number;
	return 0;
}

static int
append(struct lines *lines, const struct hy_flow_rule *rule, unsigned int number)
{
	struct line *grown = hy_table_room(lines->lines, lines->n, sizeof(*grown));

	if (grown == NULL)
		return -ENOMEM;
	lines->lines = grown;
	lines->lines[lines->n++] = (struct line){ *rule, number };
	return 0;
}

static int
read_rule(const char *text, unsigned int number, struct lines *lines, char *error)
{
	const uint32_t max = lines->policy->params.max_rules;
	struct hy_flow_rule rule;
	int rc = hy_flow_rule_parse(text, &rule, error);

	if (rc == 0)
		rc = policy_rule_allowed(lines->policy, &rule, error);
	if (rc < 0)
		return rc;
	if (lines->n == max)
		return HY_REASON(-ENOSPC, error, HY_POLICY_ERROR_SIZE,
			"more than %u rules, the policy's limit", max);
	return append(lines, &rule, number);
}

static int
read_line(char *text, unsigned int number, struct lines *lines, char *error)
{
	struct setting *setting;
	size_t size;

	text[strcspn(text, "#")] = '\0';
	text += strspn(text, space);
	if (text[0] == '\0')
		return 0;
	size = strcspn(text, space);
	setting = setting_of(lines, text, size);
	return setting == NULL ? read_rule(text, number, lines, error)
			       : read_setting(setting, text + size, lines, number, error);
}

static int
by_id(const void *a, const void *b)
{
	const struct line *la = a, *lb = b;

	if (la->rule.id != lb->rule.id)
		return la->rule.id < lb->rule.id ? -1 : 1;
	return la->number < lb->number ? -1 : la->number > lb->number;
}

/* Sorts the lines by ids. *number becomes the line of a fault. */
static int
sort(const struct lines *lines, unsigned int *number, char *error)
{
	if (lines->n > 0)
		qsort(lines->lines, lines->n, sizeof(*lines->lines), by_id);
	for (uint32_t i = 1; i < lines->n; i++) {
		const struct line *line = &lines->lines[i];

		if (line->rule.id != line[-1].rule.id)
			continue;
		*number = line->number;
		return HY_REASON(-EEXIST, error, HY_POLICY_ERROR_SIZE,
			"rule: %u is on line %u already", line->rule.id, line[-1].number);
	}
	return 0;
}

static int
stage(struct hy_policy *policy, const struct lines *lines)
{
	struct policy_staged staged = { .n = lines->n,
		.rules = malloc(RTE_MAX(lines->n, 1u) * sizeof(*staged.rules)),
		.default_action = (uint8_t)lines->settings[SETTING_DEFAULT].action,
		.deny_truncated = lines->settings[SETTING_TRUNCATED].action == HY_RULE_DENY };
	int rc;

	if (staged.rules == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < lines->n; i++)
		staged.rules[i] = lines->lines[i].rule;
	rc = policy_stage_all(policy, &staged);
	free(staged.rules);
	return rc;
}

/* Reads all lines. *number becomes the line of a fault. */
static int
read_lines(struct hy_file *file, struct lines *lines, unsigned int *number, char *error)
{
	char why[HY_FILE_ERROR_SIZE];
	char *text;
	int rc;

	while ((rc = hy_file_line(file, &text, why)) > 0) {
		*number = file->line;
		rc = read_line(text, *number, lines, error);
		if (rc < 0)
			return rc;
	}
	*number = file->line;
	if (rc < 0)
		snprintf(error, HY_POLICY_ERROR_SIZE, "line: %s", why);
	return rc == 0 ? sort(lines, number, error) : rc;
}

int
hy_policy_load(struct hy_policy *policy, const char *path, char *error)
{
	char why[HY_POLICY_ERROR_SIZE] = "";
	struct lines lines = { .policy = policy,
		.settings = { [SETTING_DEFAULT] = { "default", HY_RULE_PERMIT, 0 },
			[SETTING_TRUNCATED] = { "truncated", HY_RULE_PERMIT, 0 } } };
	unsigned int number = 0;
	struct hy_file file;
	int rc = hy_file_read(path, HY_FILE_MAX, &file, why);

	if (rc == 0)
		rc = read_lines(&file, &lines, &number, why);
	hy_file_free(&file);
	if (rc == 0)
		rc = stage(policy, &lines);
	free(lines.lines);
	if (rc < 0 && error != NULL) {
		const char *reason = why[0] == '\0' ? strerror(-rc) : why;

		if (number > 0 && why[0] != '\0')
			snprintf(error, HY_POLICY_ERROR_SIZE, "%.120s:%u: %.240s", path, number,
				reason);
		else
			snprintf(error, HY_POLICY_ERROR_SIZE, "%.240s: %.120s", path, reason);
		hy_printable(error);
	}
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
		const struct hy_flow_rule *rule = &policy->view->rules[rank].rule;

		policy_rule_write(out, rule);
		fprintf(out, " # hits %" PRIu64 "\n", hy_policy_hits(policy, rule->id));
	}
	pthread_mutex_unlock(&policy->lock);
	return hy_output_flush(out);
}
