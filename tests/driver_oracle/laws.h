/* SPDX-License-Identifier: BSD-3-Clause */
/* What the laws share: the port and the simulator that are asked, and a tally of their answers. */
#pragma once

#include <hy_flow.h>
#include <hy_flow_sim.h>
#include <hy_policy_view.h>

#include "oracle.h"

#define LAW_QUEUES 4
#define LAW_MARK 7
#define LAW_TAG 100 /* VLAN of the shapes that have one */
#define LAW_WORDS 320

/* One port under one profile. */
struct law {
	const struct oracle_profile *profile;
	uint16_t port;
	const char *driver_name;
	const struct hy_flow_driver *driver;
	struct hy_flow_spread spread;
	struct hy_flow_limits limits; /* as hy_flow_probe() found them */
	struct hy_flow_sim *sim;
};

/* A rule as rte_flow takes it. */
struct law_rule {
	const struct rte_flow_attr *attr;
	const struct rte_flow_item *items;
	const struct rte_flow_action *actions;
};

/* 0 or a negative errno, as hy_flow_rte has it; and the message of the first that is not 0. */
struct law_answer {
	int validate, create;
	char message[128];
};

/* Asks for a rule and takes it back: validate, and create where the fixture answers it. */
void law_ask_driver(const struct law *law, const struct law_rule *rule, struct law_answer *answer);
void law_ask_simulator(const struct law *law, const struct law_rule *rule,
	struct law_answer *answer);

static inline bool
law_taken(const struct law_answer *answer)
{
	return answer->validate == 0 && answer->create == 0;
}

/* Different texts, how often each came, and the first example. */
void law_note(const char *example, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Notes where the two differ, in validate or in create. Returns whether they do. */
bool law_compare(const struct law_answer *driver, const struct law_answer *simulator,
	const char *example);
/* Prints "notes": [...] of JSON. */
void law_print_notes(void);
void law_print_string(const char *string);

/* Lowers a rule for the port, as the offload does. 0 or -ENOTSUP, with a reason. */
int law_lower(const struct law *law, const struct hy_flow_match *match,
	struct hy_flow_lowered *lowered, const char **reason);
/* The same, for a port that spreads packets otherwise. */
int law_lower_spread(const struct law *law, const struct hy_flow_match *match,
	const struct hy_flow_spread *spread, struct hy_flow_lowered *lowered, const char **reason);

/* Random numbers, the same everywhere: the seed is not 0; below n, which is not 0. */
void law_seed(uint64_t seed);
uint32_t law_below(uint32_t n);

/* Calls visit() for each shape of a rule that hy_flow_rule_check() lets pass; returns how many. */
unsigned int law_each_shape(void (*visit)(const struct hy_flow_rule *rule, void *context),
	void *context);

/* Commands: each prints the members of a JSON object, each followed by a comma. */
int law_controls(const struct law *law);
int law_shapes(const struct law *law);
int law_rules(const struct law *law);
int law_random(const struct law *law);
int law_groups(const struct law *law);
int law_sequences(const struct law *law);
int law_programmed(const struct law *law);
int law_priorities(const struct law *law);
int law_kinds(const struct law *law);
int law_device(const struct law *law);
