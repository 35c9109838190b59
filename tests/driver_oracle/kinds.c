/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of rules of hy_flow_kinds(): which of them the driver takes, for the book's table. */

#include <stdio.h>

#include "laws.h"

/* Prints whether a kind is lowered and taken, and what is left to software. */
static void
ask_kind(const struct law *law, const struct hy_flow_kind *kind)
{
	struct hy_flow_lowered lowered;
	struct law_answer answer;
	const char *reason;

	printf("{\"name\": ");
	law_print_string(kind->name);
	if (law_lower(law, &kind->match, &lowered, &reason) != 0) {
		printf(", \"taken\": false, \"checked\": false, \"reason\": ");
		law_print_string(reason);
	} else {
		law_ask_driver(law,
			&(const struct law_rule){ &lowered.attr, lowered.items, lowered.actions },
			&answer);
		if (!law_taken(&answer))
			law_note(kind->name, "lowered, refused: %s", answer.message);
		printf(", \"taken\": %s, \"checked\": %s, \"reason\": \"\"",
			law_taken(&answer) ? "true" : "false",
			lowered.fragments || lowered.wider ? "true" : "false");
	}
	printf("}");
}

int
law_kinds(const struct law *law)
{
	const struct hy_flow_kind *kinds;
	const unsigned int n = hy_flow_kinds(&kinds);

	printf("\"kinds\": [");
	for (unsigned int i = 0; i < n; i++) {
		printf("%s\n", i > 0 ? "," : "");
		ask_kind(law, &kinds[i]);
	}
	printf("],\n");
	return 0;
}
