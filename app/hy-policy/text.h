/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules and packets as text. */
#pragma once

#include "list.h"

/* Prints "deny", "class 7", …, and ", log" behind if the rule logs. */
void text_action(const struct hy_flow_rule *rule);
/* Prints "rule 7 (line 9, deny)"; "the default (deny)" for HY_POLICY_NONE. */
void text_rule(const struct list *list, uint32_t rank);
/* Prints "FILE:9: rule 7 (deny)". */
void text_place(const struct list *list, uint32_t rank);

/* Prints the action, as text_rule() does in its brackets. */
void text_verdict(const struct list *list, uint32_t rank);
