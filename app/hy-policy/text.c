/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules in messages. */

#include <stdio.h>

#include "text.h"

void
text_action(const struct hy_flow_rule *rule)
{
	switch (rule->action) {
	case HY_RULE_CLASSIFY:
		printf("class %u", rule->class_id);
		break;
	case HY_RULE_TO_PORT:
		printf("port %u", rule->port);
		break;
	default:
		printf("%s",
			rule->action == HY_RULE_PERMIT         ? "permit"
				: rule->action == HY_RULE_DENY ? "deny"
							       : "count");
	}
	if (rule->log)
		printf(", log");
}

void
text_verdict(const struct list *list, uint32_t rank)
{
	if (rank == HY_POLICY_NONE)
		printf("%s", list->file.default_action.action == HY_RULE_DENY ? "deny" : "permit");
	else
		text_action(list_rule(list, rank));
}

void
text_rule(const struct list *list, uint32_t rank)
{
	if (rank == HY_POLICY_NONE)
		printf("the default (");
	else
		printf("rule %u (line %u, ", list_rule(list, rank)->id, list_line(list, rank));
	text_verdict(list, rank);
	putchar(')');
}

void
text_place(const struct list *list, uint32_t rank)
{
	if (rank == HY_POLICY_NONE)
		printf("%s: the default (", list->path);
	else
		printf("%s:%u: rule %u (", list->path, list_line(list, rank),
			list_rule(list, rank)->id);
	text_verdict(list, rank);
	putchar(')');
}
