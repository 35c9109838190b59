/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compiled form of a view: an engine's tables, and an overlay of the changes since they were
 * built. Tables of many rules take long to build, and stay in use while few rules change.
 */
#pragma once

#include "lib/policy/engine/engine.h"

#define POLICY_OVERLAY_CHANGES 64 /* most rules that differ from those of the tables */
#define POLICY_OVERLAY_LEAST 256  /* rules; fewer are compiled at once */
#define POLICY_RESIDUES_MOST 1024 /* rules that stand for a removed one: workers scan them */

/* A rule among those in order of ids. What looks at all rules of a set reads these. */
struct policy_place {
	uint64_t stamp; /* two rules of a policy with one stamp are the same */
	uint32_t id;
	uint32_t rank; /* not known of staged rules */
};

#define POLICY_NO_COUNTER UINT32_MAX /* hy_policy_rule.index until there is one */

/* The rules of a commit. Its view has them, and tables that were built from them. */
struct policy_rules {
	unsigned int holders;
	uint32_t n;
	struct hy_policy_rule *rules; /* by rank */
	struct policy_place *by_id;
	uint32_t *fresh; /* ranks of rules that have no counter of the set before */
	uint32_t *left;  /* counters of the set before that no rule has now */
	uint32_t nb_fresh, nb_left;
};

/* Rules in order of their ids, as they are staged. */
struct policy_list {
	const struct hy_flow_rule *rules;
	const struct policy_place *places;
	uint32_t n;
};

/* before: the published rules, whose order and counters are taken over; NULL: none. Returns 0 or -ENOMEM. */
int policy_rules_create(const struct policy_list *list, const struct policy_rules *before,
	int socket, struct policy_rules **out);
void policy_rules_hold(struct policy_rules *rules);
void policy_rules_drop(struct policy_rules *rules); /* NULL is allowed */

/* Tables, which are shared by the views that differ from them by overlays only. */
struct policy_base {
	unsigned int holders;
	struct policy_rules *rules;
	struct policy_tables tables;
};

/* Returns 0, or what policy_tables_build() returns. */
int policy_base_create(const char *policy, struct policy_rules *rules, int socket,
	const bool *cancel, const struct policy_budget *budget, struct policy_base **out);
void policy_base_hold(struct policy_base *base);
void policy_base_drop(struct policy_base *base); /* NULL is allowed */

#define POLICY_GONE 0x80000000u /* in rank_of: the rule was removed */

/* What stands for a removed rule: later rules that a packet of it can match. */
struct policy_gone {
	uint32_t first, n; /* in residues */
};

/* Ranks of a base in a view of other rules. */
struct policy_overlay {
	uint32_t
		*rank_of; /* by rank in the base: in the view, or POLICY_GONE and a place in gone */
	uint32_t *residues; /* ranks in the view, in order */
	uint32_t nb_residues, room;
	uint32_t nb_added, nb_gone;
	uint32_t added[POLICY_OVERLAY_CHANGES]; /* ranks in the view, in order */
	struct policy_gone gone[POLICY_OVERLAY_CHANGES];
};

struct hy_policy_compiled {
	void (*classify)(const void *tables, const struct hy_flow_key key[], uint32_t rank[],
		uint32_t n);
	const void *tables;
	struct policy_overlay *overlay; /* NULL: the base has the rules of the view */
	struct policy_base *base;
};

/*
 * Compiles rules by a base, of which it takes a reference if it succeeds. Returns 0; -ENOMEM; -E2BIG:
 * the rules differ too much from the base's.
 */
int policy_compiled_create(struct policy_base *base, const struct policy_rules *rules, int socket,
	struct hy_policy_compiled **out);
void policy_compiled_free(struct hy_policy_compiled *compiled); /* NULL is allowed */
