/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules that stand beside those of a policy, as hal/flow makes them, where a driver's rules are in
 * a group: the rule that leads there and the default rule; and each priority that rules may have.
 */

#include <stdio.h>

#include "laws.h"

#define JUMP_PRIORITY 3 /* hal/flow/offload_port.c tries this one and those before it */

struct tally {
	const struct law *law;
	unsigned int asked, taken, alike;
};

/* Asks both, and notes what differs. Returns whether the driver takes the rule. */
static bool
ask(struct tally *tally, const struct hy_flow_lowered *lowered, const char *words)
{
	const struct law_rule rule = { &lowered->attr, lowered->items, lowered->actions };
	struct law_answer driver, simulator;

	law_ask_driver(tally->law, &rule, &driver);
	law_ask_simulator(tally->law, &rule, &simulator);
	tally->asked++;
	tally->taken += law_taken(&driver);
	tally->alike += !law_compare(&driver, &simulator, words);
	if (!law_taken(&driver))
		law_note(words, "refused: %s", driver.message);
	return law_taken(&driver);
}

/* The first priority at which the driver takes the rule that leads to the group; -1: none. */
static int
find_jump(struct tally *tally)
{
	static const struct rte_ether_addr own = { { 0x02, 0, 0, 0, 0, 1 } };
	struct hy_flow_lowered lowered;

	for (int p = JUMP_PRIORITY; p >= 0; p--) {
		bool taken;

		hy_flow_lower_jump(tally->law->driver, (uint32_t)p, NULL, &lowered);
		taken = ask(tally, &lowered, "the rule that leads to the group");
		hy_flow_lower_jump(tally->law->driver, (uint32_t)p, &own, &lowered);
		if (ask(tally, &lowered, "the same for one address") && taken)
			return p;
	}
	return -1;
}

/* A shape at each priority: at one alone, a driver could refuse what it takes at another. */
static void
ask_priorities(const struct hy_flow_rule *rule, void *context)
{
	struct tally *tally = context;
	struct hy_flow_lowered lowered;
	char text[HY_FLOW_TEXT_SIZE];
	const char *reason;

	if (law_lower(tally->law, &rule->match, &lowered, &reason) != 0)
		return;
	hy_flow_rule_format(rule, text, sizeof(text));
	for (uint32_t p = 0; p < tally->law->limits.priorities; p++) {
		lowered.attr.priority = p;
		ask(tally, &lowered, text);
	}
}

int
law_groups(const struct law *law)
{
	struct tally tally = { .law = law };
	struct hy_flow_lowered lowered;
	bool fallback = false;
	int jump = -1;

	if (law->driver->group > 0) {
		fallback = hy_flow_lower_default(law->driver, &law->spread, &lowered) == 0 &&
			ask(&tally, &lowered, "the default rule");
		jump = find_jump(&tally);
	}
	law_each_shape(ask_priorities, &tally);
	printf("\"group\": %u, \"default\": %s, \"jump\": %d,\n", law->driver->group,
		fallback ? "true" : "false", jump);
	printf("\"asked\": %u, \"taken\": %u, \"alike\": %u,\n", tally.asked, tally.taken,
		tally.alike);
	return 0;
}
