/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules one after another, which stay: what driver and simulator refuse because of those that are
 * there. All are lowered rules.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "laws.h"

#define SEQUENCES 4000
#define LENGTH 6
#define SHAPES_MAX 2048

struct held {
	void *driver[LENGTH], *simulator[LENGTH];
	unsigned int n;
};

static struct hy_flow_rule shapes[SHAPES_MAX];
static unsigned int nb_shapes;
static unsigned int taken, refused, alike;

/* Asks both for a rule; it stays if both take it, and neither keeps it otherwise. */
static bool
ask_both(const struct law *law, const struct hy_flow_lowered *rule, const char *example,
	void **by_driver, void **by_simulator)
{
	struct rte_flow_error error[2] = { { 0 }, { 0 } };
	const int driver = hy_flow_rte.create(law->port, &rule->attr, rule->items, rule->actions,
		by_driver, &error[0]);
	const int simulator = hy_flow_sim_add(law->sim, &rule->attr, rule->items, rule->actions,
		by_simulator, &error[1]);

	taken += driver == 0;
	refused += driver != 0;
	alike += driver == simulator;
	if (driver == 0 && simulator == 0)
		return true;
	if (driver == 0) {
		law_note(example, "after others: the driver takes, the simulator refuses: %s",
			error[1].message);
		hy_flow_rte.destroy(law->port, *by_driver, &error[0]);
	} else if (simulator == 0) {
		law_note(example, "after others: the simulator takes, the driver refuses: %s",
			error[0].message);
		hy_flow_sim_remove(law->sim, *by_simulator, &error[1]);
	} else if (driver != simulator) {
		law_note(example, "after others: the driver refuses with %s, the simulator with %s",
			strerrorname_np(-driver), strerrorname_np(-simulator));
	}
	return false;
}

static void
release(const struct law *law, struct held *held)
{
	struct rte_flow_error error = { 0 };

	while (held->n > 0) {
		held->n--;
		if (hy_flow_rte.destroy(law->port, held->driver[held->n], &error) != 0)
			law_note("", "cannot be destroyed: %s", error.message);
		hy_flow_sim_remove(law->sim, held->simulator[held->n], &error);
	}
}

static void
collect(const struct hy_flow_rule *rule, void *context)
{
	const struct law *law = context;
	struct hy_flow_lowered lowered;
	const char *reason;

	if (nb_shapes < SHAPES_MAX && law_lower(law, &rule->match, &lowered, &reason) == 0)
		shapes[nb_shapes++] = *rule;
}

/* One of a few values of a shape, so that two are often the same. */
static void
pick(struct hy_flow_rule *rule)
{
	*rule = shapes[law_below(nb_shapes)];
	if ((rule->match.fields & HY_FLOW_DST) != 0)
		rule->match.dst += law_below(2) << 8;
	if ((rule->match.fields & (HY_FLOW_DPORT | HY_FLOW_TUNNEL)) == HY_FLOW_DPORT)
		rule->match.dport[0] = rule->match.dport[1] = (uint16_t)(53 + law_below(2));
}

/* Half of the rules of a sequence repeat one before, or its fields. */
static void
next_rule(struct hy_flow_rule *made, unsigned int i)
{
	pick(&made[i]);
	if (i == 0 || law_below(2) == 0)
		return;
	made[i] = made[law_below(i)];
	if (law_below(2) == 0 && (made[i].match.fields & HY_FLOW_DST) != 0)
		made[i].match.dst ^= 0x100;
}

static void
random_sequence(const struct law *law)
{
	const unsigned int length = 2 + law_below(LENGTH - 1);
	struct hy_flow_spread one = { .nb_queues = 1 };
	struct hy_flow_rule made[LENGTH];
	struct held held = { .n = 0 };
	struct hy_flow_lowered lowered;
	char words[LAW_WORDS];
	const char *reason;

	for (unsigned int i = 0; i < length; i++) {
		next_rule(made, i);
		hy_flow_rule_format(&made[i], words, sizeof(words));
		/* RSS may be scarce: that is asked for below. */
		if (law_lower_spread(law, &made[i].match, &one, &lowered, &reason) != 0)
			continue;
		if (ask_both(law, &lowered, words, &held.driver[held.n], &held.simulator[held.n]))
			held.n++;
	}
	release(law, &held);
}

/* As many rules as there is room for, and one more. Returns how many; none goes away again. */
static unsigned int
fill(const struct law *law, const struct hy_flow_spread *spread, unsigned int most)
{
	struct hy_flow_match match = shapes[0].match;
	struct hy_flow_lowered lowered;
	const char *reason;
	void *flows[2];
	unsigned int n;

	for (n = 0; n < nb_shapes && shapes[n].match.fields != (HY_FLOW_SRC | HY_FLOW_DST) &&
		shapes[n].match.fields != HY_FLOW_5_TUPLE;
		n++)
		;
	if (n == nb_shapes)
		return 0;
	match = shapes[n].match;
	for (n = 0; n < most; n++) {
		match.dst = RTE_IPV4(10, 2, 0, 0) + n;
		match.dst_len = match.src_len = 32;
		if (law_lower_spread(law, &match, spread, &lowered, &reason) != 0 ||
			!ask_both(law, &lowered, "many rules", &flows[0], &flows[1]))
			break;
	}
	return n;
}

int
law_sequences(const struct law *law)
{
	const struct hy_flow_spread one = { .nb_queues = 1 };
	unsigned int asked, filled = 0, spread = 0;
	int rc = 0;

	law_each_shape(collect, (void *)(uintptr_t)law);
	if (!oracle.creates || nb_shapes == 0) {
		printf("\"sequences\": 0,\n");
		return 0;
	}
	law_seed(2);
	for (asked = 0; asked < SEQUENCES; asked++)
		random_sequence(law);
	printf("\"sequences\": %u, \"taken\": %u, \"refused\": %u, \"alike\": %u,\n", asked, taken,
		refused, alike);
	/* cnxk frees a rule that lacks a group for RSS, and looks at it afterwards: so this is last. */
	if (oracle.room > 0) {
		filled = fill(law, &one, oracle.room + 1);
		rc = rte_flow_flush(law->port, &(struct rte_flow_error){ 0 });
		hy_flow_sim_flush(law->sim);
	}
	if (law->driver->fate == HY_FLOW_FATE_RSS)
		spread = fill(law, &law->spread, 64);
	printf("\"room\": %u, \"filled\": %u, \"spread\": %u,\n", oracle.room, filled, spread);
	return rc;
}
