/* SPDX-License-Identifier: BSD-3-Clause */
/* selftest: every variant against its family's reference, and what each costs. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_hal_live.h>

#include "command.h"

/* A variant, and what came of it. */
struct entry {
	struct hy_conform_item item;
	struct hy_conform_result result;
	struct hy_conform_cost cost; /* no rounds: not measured */
	char chosen[HY_TEXT_SIZE];   /* targets that it is selected for */
};

struct report {
	struct entry *entries;
	unsigned int n;
	uint64_t seed;
	struct hy_frames captures;
	bool passed;
};

static const char *const outcomes[] = {
	[HY_CONFORM_PASSED] = "passed",
	[HY_CONFORM_SKIPPED] = "skipped",
	[HY_CONFORM_FAILED] = "FAILED",
};

/* Whether a text is "FAMILY/VARIANT", of this variant. */
static bool
names(const char *text, const struct hy_conform_item *item)
{
	const size_t n = strlen(item->family);

	return strncmp(text, item->family, n) == 0 && text[n] == '/' &&
		strcmp(text + n + 1, item->variant) == 0;
}

static bool
wanted(const struct settings *settings, const struct hy_conform_item *item)
{
	for (unsigned int i = 0; i < settings->nb_family; i++)
		if (strcmp(settings->family[i], item->family) == 0)
			return true;
	for (unsigned int i = 0; i < settings->nb_variant; i++)
		if (names(settings->variant[i], item))
			return true;
	return settings->nb_family + settings->nb_variant == 0;
}

/* "process", "port 0, port 2", or "". */
static void
chosen_write(const struct hy_hal *hal, struct entry *entry)
{
	size_t used = 0;

	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		const struct hy_selection *s = hy_hal_selection(hal, entry->item.family, p);

		if (s == NULL || strcmp(s->chosen->impl.variant, entry->item.variant) != 0)
			continue;
		if (s->target.kind == HY_TARGET_PROCESS) {
			snprintf(entry->chosen, sizeof(entry->chosen), "process");
			return;
		}
		if (used + sizeof(", port 65535") < sizeof(entry->chosen))
			used += (size_t)snprintf(entry->chosen + used, sizeof(entry->chosen) - used,
				"%sport %u", used > 0 ? ", " : "", p);
	}
}

/* Families come in order, each with all of its variants. */
static void
family_refuse(const char *name)
{
	struct hy_conform_item item = { 0 };
	const char *last = "";

	fprintf(stderr, "hy-hal: --family: no family '%s'; there are:", name);
	while (hy_conform_next(&item)) {
		if (strcmp(item.family, last) != 0)
			fprintf(stderr, "%s %s", *last != '\0' ? "," : "", item.family);
		last = item.family;
	}
	fprintf(stderr, "\n");
}

static void
variant_refuse(const char *name)
{
	struct hy_conform_item item = { 0 };

	fprintf(stderr, "hy-hal: --variant: no variant '%s'; there are:", name);
	for (const char *comma = ""; hy_conform_next(&item); comma = ",")
		fprintf(stderr, "%s %s/%s", comma, item.family, item.variant);
	fprintf(stderr, "\n");
}

/* All variants of the families in question; complains of one that there is not. */
static int
entries_find(const struct settings *settings, struct report *report)
{
	struct hy_conform_item item = { 0 };

	while (hy_conform_next(&item)) {
		struct entry *more;

		if (!wanted(settings, &item))
			continue;
		more = realloc(report->entries, (report->n + 1) * sizeof(*more));
		if (more == NULL)
			return -ENOMEM;
		report->entries = more;
		more[report->n++] = (struct entry){ .item = item };
	}
	for (unsigned int i = 0; i < settings->nb_family; i++) {
		unsigned int e = 0;

		while (e < report->n &&
			strcmp(report->entries[e].item.family, settings->family[i]) != 0)
			e++;
		if (e == report->n) {
			family_refuse(settings->family[i]);
			return -ENOENT;
		}
	}
	for (unsigned int i = 0; i < settings->nb_variant; i++) {
		unsigned int e = 0;

		while (e < report->n && !names(settings->variant[i], &report->entries[e].item))
			e++;
		if (e == report->n) {
			variant_refuse(settings->variant[i]);
			return -ENOENT;
		}
	}
	return 0;
}

/* What packets of the reference variant became of, and how many. */
static void
counts_print(const struct hy_conform_result *r)
{
	const char *comma = "";

	if (r->nb_counts == 0)
		return;
	printf("%14s", "");
	for (uint32_t i = 0; i < r->nb_counts; i++) {
		const struct hy_conform_count *c = &r->counts[i];

		printf("%s%s: %" PRIu64, comma, c->outcome, c->packets);
		if (c->excuse != NULL)
			printf(" (%s)", c->excuse);
		comma = ", ";
	}
	if (r->changes > 0)
		printf("; tables changed %u times", r->changes);
	printf("\n");
}

static void
result_print(const struct entry *entry)
{
	const struct hy_conform_result *r = &entry->result;

	printf("%-12s %-14s %-12s %6u %9" PRIu64 "  %s%s%s\n", entry->item.family,
		entry->item.variant, entry->item.pack, r->cases, r->frames, outcomes[r->outcome],
		r->text[0] != '\0' ? ": " : "", r->text);
	counts_print(r);
	if (r->shown_len == 0)
		return;
	printf("%*sframe:", 58, "");
	for (uint32_t i = 0; i < r->shown_len; i++)
		printf("%s%02x", i % 16 == 0 ? " " : "", r->shown[i]);
	printf("\n");
}

/*
 * Whether a family's variants that this machine can run were all run, with bursts enough. A variant
 * that was not run has failed with its reason.
 */
static bool
family_passed(const struct report *report, const char *family)
{
	uint64_t cases = 0;
	bool passed = true;

	for (unsigned int i = 0; i < report->n; i++) {
		const struct entry *entry = &report->entries[i];

		if (strcmp(entry->item.family, family) != 0)
			continue;
		cases += entry->result.cases;
		passed &= entry->result.outcome != HY_CONFORM_FAILED;
	}
	return passed && cases >= HY_CONFORM_CASES;
}

static void
conform(const struct settings *settings, const struct hy_hal *hal, struct report *report)
{
	const struct hy_conform_params params = {
		.seed = settings->seed, .packets = settings->packets, .captures = &report->captures
	};

	if (!settings->json)
		printf("Conformance: seed %" PRIu64 ", %u captured frames\n\n"
		       "%-12s %-14s %-12s %6s %9s  %s\n",
			report->seed, report->captures.n, "family", "variant", "pack", "cases",
			"frames", "result");
	for (unsigned int i = 0; i < report->n; i++) {
		struct entry *entry = &report->entries[i];

		hy_conform_run(hal, entry->item.family, entry->item.variant, &params,
			&entry->result);
		if (!settings->json) {
			result_print(entry);
			fflush(stdout);
		}
	}
	report->passed = report->n > 0;
	for (unsigned int i = 0; i < report->n; i++)
		report->passed &= family_passed(report, report->entries[i].item.family);
}

static void
measure(const struct settings *settings, const struct hy_hal *hal, struct report *report)
{
	if (!settings->json)
		printf("\nClocks a packet: medians, beside the family's reference\n\n"
		       "%-12s %-14s %9s %9s %6s  %s\n",
			"family", "variant", "clocks", "reference", "ratio", "selected for");
	for (unsigned int i = 0; i < report->n; i++) {
		struct entry *entry = &report->entries[i];
		struct hy_conform_cost *cost = &entry->cost;
		int rc;

		if (entry->result.outcome != HY_CONFORM_PASSED)
			continue;
		rc = hy_conform_measure(hal, entry->item.family, entry->item.variant,
			settings->seed, cost);
		if (rc < 0) {
			fprintf(stderr, "hy-hal: %s/%s could not be measured: %s\n",
				entry->item.family, entry->item.variant, strerror(-rc));
			report->passed = false;
		} else if (!settings->json) {
			printf("%-12s %-14s %9.1f %9.1f %6.2f%s%s\n", entry->item.family,
				entry->item.variant, cost->clocks, cost->reference, cost->ratio,
				entry->chosen[0] != '\0' ? "  " : "", entry->chosen);
		}
	}
}

/* Texts are of ASCII; names need no escapes. */
static void
text_json(const char *text)
{
	putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text >= ' ' ? *text : '?');
	}
	putchar('"');
}

static void
counts_json(const struct hy_conform_result *r)
{
	printf(",\n     \"changes\": %u, \"outcomes\": {", r->changes);
	for (uint32_t i = 0; i < r->nb_counts; i++)
		printf("%s\"%s\": %" PRIu64, i > 0 ? ", " : "", r->counts[i].outcome,
			r->counts[i].packets);
	printf("}, \"excused\": [");
	for (uint32_t i = 0, n = 0; i < r->nb_counts; i++) {
		const struct hy_conform_count *c = &r->counts[i];

		if (c->excuse == NULL)
			continue;
		printf("%s{\"outcome\": \"%s\", \"reason\": ", n++ > 0 ? ", " : "", c->outcome);
		text_json(c->excuse);
		printf("}");
	}
	printf("]");
}

static void
entry_json(const struct entry *entry)
{
	const struct hy_conform_result *r = &entry->result;

	printf("    {\"family\": \"%s\", \"variant\": \"%s\", \"pack\": ", entry->item.family,
		entry->item.variant);
	text_json(entry->item.pack);
	printf(", \"reference\": %s, \"outcome\": \"%s\", \"cases\": %u, \"frames\": %" PRIu64
	       ", \"captured\": %" PRIu64 ",\n     \"text\": ",
		entry->item.reference ? "true" : "false",
		r->outcome == HY_CONFORM_FAILED ? "failed" : outcomes[r->outcome], r->cases,
		r->frames, r->captured);
	text_json(r->text);
	printf(", \"frame\": \"");
	for (uint32_t i = 0; i < r->shown_len; i++)
		printf("%02x", r->shown[i]);
	printf("\", \"selected_for\": \"%s\"", entry->chosen);
	counts_json(r);
	if (entry->cost.rounds > 0)
		printf(",\n     \"clocks\": %.2f, \"reference_clocks\": %.2f, \"ratio\": %.3f, "
		       "\"rounds\": %u, \"packets\": %" PRIu64,
			entry->cost.clocks, entry->cost.reference, entry->cost.ratio,
			entry->cost.rounds, entry->cost.packets);
	printf("}");
}

static void
report_json(const struct report *report)
{
	printf("{\n  \"seed\": %" PRIu64 ", \"captured_frames\": %u, \"passed\": %s,\n"
	       "  \"variants\": [\n",
		report->seed, report->captures.n, report->passed ? "true" : "false");
	for (unsigned int i = 0; i < report->n; i++) {
		printf("%s", i > 0 ? ",\n" : "");
		entry_json(&report->entries[i]);
	}
	printf("\n  ]\n}\n");
}

/* What did not pass, in a line each, for whoever reads the last lines only. */
static void
verdict_print(const struct report *report)
{
	unsigned int failed = 0, skipped = 0;

	for (unsigned int i = 0; i < report->n; i++) {
		failed += report->entries[i].result.outcome == HY_CONFORM_FAILED;
		skipped += report->entries[i].result.outcome == HY_CONFORM_SKIPPED;
	}
	printf("\n%u variants: %u passed, %u skipped, %u failed\n", report->n,
		report->n - failed - skipped, skipped, failed);
	for (unsigned int i = 0; i < report->n; i++) {
		const struct entry *entry = &report->entries[i];

		if (entry->result.outcome == HY_CONFORM_FAILED)
			fprintf(stderr, "hy-hal: selftest: %s/%s of pack %s: %s\n",
				entry->item.family, entry->item.variant, entry->item.pack,
				entry->result.text);
	}
}

int
selftest(const struct settings *settings, struct hy_hal *hal)
{
	struct report report = { .seed = settings->seed };
	char error[HY_HAL_ERROR_SIZE];
	int rc = entries_find(settings, &report);

	if (rc == 0 && settings->pcap != NULL)
		rc = captures_read(settings->pcap, &report.captures);
	if (rc == 0 && (hy_hal_plan(hal, error) < 0 || hy_hal_select(hal, error) < 0)) {
		fprintf(stderr, "hy-hal: selftest: %s\n", error);
		rc = -1;
	}
	if (rc == 0) {
		for (unsigned int i = 0; i < report.n; i++)
			chosen_write(hal, &report.entries[i]);
		conform(settings, hal, &report);
		measure(settings, hal, &report);
		if (settings->json)
			report_json(&report);
		else
			verdict_print(&report);
		rc = report.passed ? 0 : -1;
	}
	captures_free(&report.captures);
	free(report.entries);
	return rc;
}
