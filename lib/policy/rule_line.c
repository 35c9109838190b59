/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of text as a rule: keywords, most of them with a value. */

#include <errno.h>
#include <string.h>

#include <rte_ether.h>

#include <hy_file.h>

#include "policy.h"
#include "rule.h"

static const char space[] = " \t\r\n";

/* A line while it is read. */
struct line {
	struct hy_flow_rule rule;
	uint32_t seen; /* its keywords so far: bits by their place in policy_fields */
	bool acts;     /* it has an action */
	bool ip4;      /* an IPv4 address */
	bool icmp4;    /* the word icmp */
};

static int
complain(char *error, const char *keyword, const char *what)
{
	if (error != NULL) {
		snprintf(error, HY_POLICY_ERROR_SIZE, "%.64s: %s", keyword, what);
		hy_printable(error);
	}
	return -EINVAL;
}

static int
complain_unknown(char *error, const char *keyword)
{
	char what[HY_POLICY_ERROR_SIZE - 70];
	size_t at = (size_t)snprintf(what, sizeof(what), "unknown; accepted are");

	for (size_t k = 0; k < POLICY_FIELDS; k++)
		at += (size_t)snprintf(what + at, sizeof(what) - at, "%s %s",
			k == 0                           ? ""
				: k == POLICY_FIELDS - 1 ? " and"
							 : ",",
			policy_fields[k].name);
	return complain(error, keyword, what);
}

/* The value is that of a keyword with one. */
static int
read_value(const struct policy_field *field, char *value, struct line *line, char *error)
{
	if (value == NULL)
		return complain(error, field->name, "the line ends before its value");
	if (field->kind == POLICY_PREFIX && strchr(value, ':') == NULL)
		line->ip4 = true;
	if (field->kind == POLICY_PROTO && strcmp(value, "icmp") == 0)
		line->icmp4 = true;
	if (policy_value_read(field, value, &line->rule))
		return 0;
	if (error != NULL)
		snprintf(error, HY_POLICY_ERROR_SIZE, "%s: '%.64s' is not %s", field->name,
			hy_printable(value), field->accepted);
	return -EINVAL;
}

static int
read_keyword(const char *name, struct line *line, char **rest, char *error)
{
	const struct policy_field *field = policy_fields;
	uint32_t bit;

	while (field < policy_fields + POLICY_FIELDS && strcmp(name, field->name) != 0)
		field++;
	if (field == policy_fields + POLICY_FIELDS)
		return complain_unknown(error, name);
	bit = RTE_BIT32(field - policy_fields);
	if ((line->seen & bit) != 0)
		return complain(error, name, "given twice");
	if (field->is_action && line->acts)
		return complain(error, name, "the rule already has an action");
	line->seen |= bit;
	line->rule.match.fields |= field->bit;
	if (field->is_action) {
		line->acts = true;
		line->rule.action = field->action;
	}
	if (field->kind != POLICY_WORD)
		return read_value(field, strtok_r(NULL, space, rest), line, error);
	if (field->bit == 0 && !field->is_action)
		*((uint8_t *)&line->rule + field->at) = 1;
	return 0;
}

/* What the whole line says: what it must have, and which version of IP. */
static int
finish(struct line *line, char *error)
{
	static const char actions[] =
		"missing; a line is rule ID ACTION …, ACTION one of class CLASS, permit, deny, "
		"count and port PORT";
	struct hy_flow_match *m = &line->rule.match;

	if ((line->seen & 1) == 0)
		return complain(error, "rule", "missing; a line is rule ID ACTION …");
	if (!line->acts)
		return complain(error, "action", actions);
	if (m->ether_type == RTE_ETHER_TYPE_IPV6 && policy_is_ip(m) && !line->ip4)
		m->fields |= HY_FLOW_IPV6;
	if ((m->fields & HY_FLOW_IPV6) != 0 && line->ip4)
		return complain(error, "src, dst", "an IPv4 address in a rule for IPv6");
	if ((m->fields & HY_FLOW_IPV6) != 0 && line->icmp4)
		return complain(error, "proto", "icmp is IPv4's; in a rule for IPv6 it is icmp6");
	return hy_flow_rule_check(&line->rule, error);
}

int
hy_flow_rule_parse(const char *text, struct hy_flow_rule *rule, char *error)
{
	char bytes[POLICY_LINE_SIZE], *rest;
	struct line line = { 0 };
	int rc = 0;

	if (strlen(text) >= sizeof(bytes)) {
		snprintf(bytes, sizeof(bytes), "longer than %zu bytes", sizeof(bytes) - 1);
		return complain(error, "line", bytes);
	}
	strcpy(bytes, text);
	for (const char *word = strtok_r(bytes, space, &rest); word != NULL && rc == 0;
		word = strtok_r(NULL, space, &rest))
		rc = read_keyword(word, &line, &rest, error);
	if (rc == 0)
		rc = finish(&line, error);
	if (rc == 0)
		*rule = line.rule;
	return rc;
}
