/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of hy-bench's harness, for tests of its l3fwd benchmark: notes what it is told. */
#pragma once

#include <stdbool.h>

/* Why something could not be made, and what was said of the last contender that is wrong; or "". */
extern char stand_in_noted[128], stand_in_wrong[128];

/* Contenders and works that were skipped: how many, the last one, and why. */
extern struct stand_in_skipped {
	unsigned int n;
	char work[32], contender[32], reason[128];
} stand_in_skipped;

/* What was measured in the last work. */
extern struct stand_in_measured {
	unsigned int contenders;
	char name[16]; /* of the first one */
	double figure;
	bool right;
} stand_in_measured;
