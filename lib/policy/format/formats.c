/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of rules: the lines of all formats, and Halyard's own. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_file.h>

#include "format.h"
#include "lib/graph/internal/table.h"

static const char space[] = " \t\r\f\v";

static const char *const names[] = {
	[HY_POLICY_ANY] = "any",
	[HY_POLICY_HALYARD] = "halyard",
	[HY_POLICY_L3FWD_ACL] = "l3fwd-acl",
	[HY_POLICY_CLASSBENCH] = "classbench",
};

const char *
hy_policy_format_name(enum hy_policy_format format)
{
	return names[format];
}

int
policy_reading_add(struct policy_reading *reading, const struct hy_flow_rule *rule)
{
	struct hy_policy_file *file = reading->file;
	void *grown;

	if (file->nb_rules >= reading->max) {
		snprintf(reading->error, HY_POLICY_ERROR_SIZE,
			"more than %u rules, the policy's limit", reading->max);
		return -ENOSPC;
	}
	grown = hy_table_room(file->rules, file->nb_rules, sizeof(*file->rules));
	if (grown == NULL)
		return -ENOMEM;
	file->rules = grown;
	grown = hy_table_room(file->lines, file->nb_rules, sizeof(*file->lines));
	if (grown == NULL)
		return -ENOMEM;
	file->lines = grown;
	file->rules[file->nb_rules] = *rule;
	file->lines[file->nb_rules++] = reading->line;
	return 0;
}

/* Reads what follows "default" or "truncated". */
static int
read_setting(struct policy_reading *reading, const char *name, char *rest,
	struct hy_policy_setting *setting)
{
	char *save, *word = strtok_r(rest, space, &save);
	const char *more = word == NULL ? NULL : strtok_r(NULL, space, &save);

	if (setting->line != 0)
		return policy_reading_refuse(reading, "%s: is on line %u already", name,
			setting->line);
	if (word == NULL || more != NULL ||
		(strcmp(word, "permit") != 0 && strcmp(word, "deny") != 0))
		return policy_reading_refuse(reading, "%s: takes permit or deny, and nothing else",
			name);
	setting->action = word[0] == 'p' ? HY_RULE_PERMIT : HY_RULE_DENY;
	setting->line = reading->line;
	return 0;
}

static bool
is_word(const char *text, size_t size, const char *word)
{
	return strlen(word) == size && strncmp(text, word, size) == 0;
}

static int
read_halyard(struct policy_reading *reading, char *text)
{
	const size_t size = strcspn(text, space);
	struct hy_flow_rule rule;
	int rc;

	if (is_word(text, size, "default"))
		return read_setting(reading, "default", text + size,
			&reading->file->default_action);
	if (is_word(text, size, "truncated"))
		return read_setting(reading, "truncated", text + size, &reading->file->truncated);
	if (*text == '@' || *text == 'R')
		return policy_reading_refuse(reading,
			"line: '%c' starts lines of other formats; the file is read as halyard's",
			*text);
	rc = hy_flow_rule_parse(text, &rule, reading->error);
	return rc < 0 ? rc : policy_reading_add(reading, &rule);
}

static int
read_line(struct policy_reading *reading, char *text)
{
	text[strcspn(text, "#")] = '\0';
	text += strspn(text, space);
	if (*text == '\0')
		return 0;
	if (reading->file->format == HY_POLICY_ANY)
		reading->file->format = policy_columns_format(text);
	if (reading->file->format == HY_POLICY_ANY)
		return policy_reading_refuse(reading,
			"line: denies if the file is l3fwd-acl's, permits if it is classbench's; "
			"hy-policy convert --format FORMAT --to halyard writes one that says which");
	return reading->file->format == HY_POLICY_HALYARD ? read_halyard(reading, text)
							  : policy_columns_read(reading, text);
}

/* A rule's id, and its place in the file. */
static int
by_id(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Looks for an id that two rules have. */
static int
check_ids(struct policy_reading *reading)
{
	const struct hy_policy_file *file = reading->file;
	uint64_t *ids = malloc((file->nb_rules + 1) * sizeof(*ids));
	int rc = 0;

	if (ids == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < file->nb_rules; i++)
		ids[i] = (uint64_t)file->rules[i].id << 32 | i;
	qsort(ids, file->nb_rules, sizeof(*ids), by_id);
	for (uint32_t i = 1; i < file->nb_rules && rc == 0; i++) {
		if (ids[i] >> 32 != ids[i - 1] >> 32)
			continue;
		reading->line = file->lines[(uint32_t)ids[i]];
		rc = -EEXIST;
		snprintf(reading->error, HY_POLICY_ERROR_SIZE, "rule: %u is on line %u already",
			(uint32_t)(ids[i] >> 32), file->lines[(uint32_t)ids[i - 1]]);
	}
	free(ids);
	return rc;
}

static int
read_lines(struct policy_reading *reading, struct hy_file *bytes)
{
	char why[HY_FILE_ERROR_SIZE], *text;
	int rc;

	while ((rc = hy_file_line(bytes, &text, why)) > 0) {
		reading->line = bytes->line;
		rc = read_line(reading, text);
		if (rc < 0)
			return rc;
	}
	if (reading->file->format == HY_POLICY_ANY) /* no line at all */
		reading->file->format = HY_POLICY_HALYARD;
	reading->line = bytes->line;
	if (rc < 0)
		snprintf(reading->error, HY_POLICY_ERROR_SIZE, "line: %s", why);
	return rc < 0 ? rc : check_ids(reading);
}

/* Puts the file, and the line if there is one, before what was wrong. */
static void
explain(char *error, const char *path, unsigned int line, const char *why, int rc)
{
	if (line > 0 && why[0] != '\0')
		snprintf(error, HY_POLICY_ERROR_SIZE, "%.120s:%u: %.240s", path, line, why);
	else
		snprintf(error, HY_POLICY_ERROR_SIZE, "%.240s: %.120s", path,
			why[0] == '\0' ? strerror(-rc) : why);
	hy_printable(error);
}

int
hy_policy_read(const char *path, enum hy_policy_format format, uint32_t max,
	struct hy_policy_file *file, char *error)
{
	char why[HY_POLICY_ERROR_SIZE] = "";
	struct policy_reading reading = { file, max, 0, why };
	struct hy_file bytes;
	int rc = hy_file_read(path, HY_FILE_MAX, &bytes, why);

	*file = (struct hy_policy_file){ .format = format,
		.default_action = { HY_RULE_PERMIT, 0 },
		.truncated = { HY_RULE_PERMIT, 0 } };
	if (rc == 0)
		rc = read_lines(&reading, &bytes);
	hy_file_free(&bytes);
	if (rc < 0) {
		if (error != NULL)
			explain(error, path, reading.line, why, rc);
		hy_policy_file_free(file);
	}
	return rc;
}

void
hy_policy_file_free(struct hy_policy_file *file)
{
	free(file->rules);
	free(file->lines);
	*file = (struct hy_policy_file){ 0 };
}
