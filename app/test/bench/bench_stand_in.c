/* SPDX-License-Identifier: BSD-3-Clause */
/* See bench_stand_in.h: one round of each work, which must forward right. */

#include <stdlib.h>
#include <string.h>

#include "app/bench/l3fwd.h"

#include "app/test/unit.h"
#include "bench_stand_in.h"

char stand_in_noted[128], stand_in_wrong[128];

/* In place of hy-bench's, which ends the program. */
void
bench_fail(const char *format, ...)
{
	fail_msg("%s", format);
	abort();
}

/* In place of the harness: what was noted first counts. */
int
bench_cannot(const char *format, ...)
{
	va_list ap;

	if (stand_in_noted[0] != '\0')
		return -1;
	va_start(ap, format);
	vsnprintf(stand_in_noted, sizeof(stand_in_noted), format, ap);
	va_end(ap);
	return -1;
}

struct stand_in_skipped stand_in_skipped;

void
bench_skip(const char *work, const char *contender)
{
	stand_in_skipped.n++;
	snprintf(stand_in_skipped.work, sizeof(stand_in_skipped.work), "%s", work);
	snprintf(stand_in_skipped.contender, sizeof(stand_in_skipped.contender), "%s",
		contender == NULL ? "" : contender);
	snprintf(stand_in_skipped.reason, sizeof(stand_in_skipped.reason), "%s", stand_in_noted);
	stand_in_noted[0] = '\0';
}

void
results_wrong(const char *work, const char *contender, const char *reason)
{
	snprintf(stand_in_wrong, sizeof(stand_in_wrong), "%s: %s: %s", work, contender, reason);
}

struct stand_in_measured stand_in_measured;

/* In place of the harness, which measures many rounds, and prints them: one. */
void
bench_work(const char *work, enum unit unit, const struct contender *contenders, unsigned int n)
{
	RTE_SET_USED(work);
	assert_int_equal(unit, CYCLES_PACKET);
	assert_in_range(n, 1, NODES_MAX);
	stand_in_measured.contenders = n;
	snprintf(stand_in_measured.name, sizeof(stand_in_measured.name), "%s", contenders->name);
	stand_in_measured.figure = contenders->figure(contenders->arg);
	stand_in_measured.right = contenders->check(contenders->arg);
}

const struct bench_settings *
bench_settings(void)
{
	static const struct bench_settings settings = { .round_us = 1 };

	return &settings;
}
