/* SPDX-License-Identifier: BSD-3-Clause */
/* selftest: compares every variant, and every fusion, with the reference, and measures it. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_hal_live.h>

#include "command.h"
#include "lib/file/internal/json.h"

#define QUICK_CASES 1000 /* bursts: enough for gross faults, not for rare outcomes */

/* A variant or a fusion, and its results. */
struct entry {
	struct hy_conform_item item;
	struct hy_conform_result result;
	struct hy_conform_cost cost; /* no rounds: not measured */
	char chosen[HY_TEXT_SIZE];   /* targets for which it is selected */
};

struct run {
	FILE *out;
	struct entry *entries;
	unsigned int n;
	uint64_t seed;
	uint32_t cases;
	struct hy_frames captures;
	bool passed;
};

static const char *const outcomes[] = {
	[HY_CONFORM_PASSED] = "passed",
	[HY_CONFORM_SKIPPED] = "skipped",
	[HY_CONFORM_FAILED] = "FAILED",
};

/* Whether a value of --family or --variant names a variant. */
static bool
names(enum list list, const char *text, const struct hy_conform_item *item)
{
	const size_t n = strlen(item->family);

	if (list == FAMILIES)
		return strcmp(text, item->family) == 0;
	return strncmp(text, item->family, n) == 0 && text[n] == '/' &&
		strcmp(text + n + 1, item->variant) == 0;
}

static bool
wanted(const struct settings *settings, const struct hy_conform_item *item)
{
	for (enum list list = FAMILIES; list <= VARIANTS; list++)
		for (unsigned int i = 0; i < settings->lists[list].n; i++)
			if (names(list, settings->lists[list].text[i], item))
				return true;
	return settings->lists[FAMILIES].n + settings->lists[VARIANTS].n == 0;
}

/* "process", "port 0, port 2", or "". Fusions are not selected: they follow their variants. */
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

/* Refuses a value that names no variant. Variants come in the order of their families, then fusions. */
static int
name_check(enum list list, const char *name)
{
	const char *const what = list == FAMILIES ? "family" : "variant";
	struct hy_conform_item item = { 0 };
	const char *last = "";

	while (hy_conform_next(&item))
		if (names(list, name, &item))
			return 0;
	fprintf(stderr, "hy-hal: --%s: no %s '%s'; there are:", what, what, name);
	item = (struct hy_conform_item){ 0 };
	while (hy_conform_next(&item)) {
		if (list == VARIANTS)
			fprintf(stderr, "%s %s/%s", *last != '\0' ? "," : "", item.family,
				item.variant);
		else if (strcmp(item.family, last) != 0)
			fprintf(stderr, "%s %s", *last != '\0' ? "," : "", item.family);
		last = item.family;
	}
	fprintf(stderr, "\n");
	return -ENOENT;
}

/* Collects the selected variants. Refuses names that do not exist. */
static int
entries_find(const struct settings *settings, struct run *run)
{
	struct hy_conform_item item = { 0 };

	while (hy_conform_next(&item)) {
		struct entry *more;

		if (!wanted(settings, &item))
			continue;
		more = realloc(run->entries, (run->n + 1) * sizeof(*more));
		if (more == NULL)
			return -ENOMEM;
		run->entries = more;
		more[run->n++] = (struct entry){ .item = item };
	}
	for (enum list list = FAMILIES; list <= VARIANTS; list++)
		for (unsigned int i = 0; i < settings->lists[list].n; i++)
			if (name_check(list, settings->lists[list].text[i]) < 0)
				return -ENOENT;
	return 0;
}

/* How often each outcome occurred in the reference variant. */
static void
counts_print(const struct hy_conform_result *r, FILE *out)
{
	const char *comma = "";

	if (r->nb_counts == 0)
		return;
	fprintf(out, "%14s", "");
	for (uint32_t i = 0; i < r->nb_counts; i++) {
		const struct hy_conform_count *c = &r->counts[i];

		fprintf(out, "%s%s: %" PRIu64, comma, c->outcome, c->packets);
		if (c->excuse != NULL)
			fprintf(out, " (%s)", c->excuse);
		comma = ", ";
	}
	if (r->changes > 0)
		fprintf(out, "; tables changed %u times", r->changes);
	fprintf(out, "\n");
}

/* What a fusion did with the packets that passed the chain. */
static void
fused_print(const struct hy_conform_fused *f, FILE *out)
{
	fprintf(out,
		"%14sfused %" PRIu64 " of %" PRIu64
		" packets that pass: in %u calls all, in %u those before one that does not pass, "
		"in %u fewer%s%s\n",
		"", f->handled, f->passing, f->whole, f->stopped, f->fewer,
		f->why != NULL ? ", as when " : "", f->why != NULL ? f->why : "");
}

static void
result_print(const struct entry *entry, FILE *out)
{
	const struct hy_conform_result *r = &entry->result;

	fprintf(out, "%-12s %-14s %-12s %6u %9" PRIu64 "  %s%s%s\n", entry->item.family,
		entry->item.variant, entry->item.pack, r->cases, r->frames, outcomes[r->outcome],
		r->text[0] != '\0' ? ": " : "", r->text);
	counts_print(r, out);
	if (r->fused.passing > 0)
		fused_print(&r->fused, out);
	if (r->shown_len == 0)
		return;
	fprintf(out, "%*sframe:", 58, "");
	for (uint32_t i = 0; i < r->shown_len; i++)
		fprintf(out, "%s%02x", i % 16 == 0 ? " " : "", r->shown[i]);
	fprintf(out, "\n");
}

/*
 * Whether all variants of a family passed that this machine can run, with enough bursts. A variant
 * that could not be run has failed.
 */
static bool
family_passed(const struct run *run, const char *family)
{
	uint64_t cases = 0;
	bool passed = true;

	for (unsigned int i = 0; i < run->n; i++) {
		const struct entry *entry = &run->entries[i];

		if (strcmp(entry->item.family, family) != 0)
			continue;
		cases += entry->result.cases;
		passed &= entry->result.outcome != HY_CONFORM_FAILED;
	}
	return passed && cases >= run->cases;
}

static void
conform(const struct settings *settings, const struct hy_hal *hal, struct run *run)
{
	const struct hy_conform_params params = {
		.seed = settings->seed,
		.cases = run->cases,
		.packets = settings->packets,
		.captures = &run->captures,
	};

	if (!settings->json)
		fprintf(run->out,
			"Conformance: seed %" PRIu64 ", %u captured frames\n\n"
			"%-12s %-14s %-12s %6s %9s  %s\n",
			run->seed, run->captures.n, "family", "variant", "pack", "cases", "frames",
			"result");
	for (unsigned int i = 0; i < run->n; i++) {
		struct entry *entry = &run->entries[i];

		hy_conform_run(hal, entry->item.family, entry->item.variant, &params,
			&entry->result);
		if (!settings->json) {
			result_print(entry, run->out);
			fflush(run->out);
		}
	}
	run->passed = run->n > 0;
	for (unsigned int i = 0; i < run->n; i++)
		run->passed &= family_passed(run, run->entries[i].item.family);
}

static void
measure(const struct settings *settings, const struct hy_hal *hal, struct run *run)
{
	if (!settings->json)
		fprintf(run->out,
			"\nClocks a packet: medians, beside the family's reference\n\n"
			"%-12s %-14s %9s %9s %6s  %s\n",
			"family", "variant", "clocks", "reference", "ratio", "selected for");
	for (unsigned int i = 0; i < run->n; i++) {
		struct entry *entry = &run->entries[i];
		struct hy_conform_cost *cost = &entry->cost;
		int rc;

		if (entry->result.outcome != HY_CONFORM_PASSED)
			continue;
		rc = hy_conform_measure(hal, entry->item.family, entry->item.variant,
			settings->seed, cost);
		if (rc < 0) {
			fprintf(stderr, "hy-hal: %s/%s could not be measured: %s\n",
				entry->item.family, entry->item.variant, strerror(-rc));
			run->passed = false;
		} else if (!settings->json) {
			fprintf(run->out, "%-12s %-14s %9.1f %9.1f %6.2f%s%s\n", entry->item.family,
				entry->item.variant, cost->clocks, cost->reference, cost->ratio,
				entry->chosen[0] != '\0' ? "  " : "", entry->chosen);
		}
	}
}

static void
counts_json(const struct hy_conform_result *r, FILE *out)
{
	fprintf(out, ",\n     \"changes\": %u, \"outcomes\": {", r->changes);
	for (uint32_t i = 0; i < r->nb_counts; i++)
		fprintf(out, "%s\"%s\": %" PRIu64, i > 0 ? ", " : "", r->counts[i].outcome,
			r->counts[i].packets);
	fprintf(out, "}, \"excused\": [");
	for (uint32_t i = 0, n = 0; i < r->nb_counts; i++) {
		const struct hy_conform_count *c = &r->counts[i];

		if (c->excuse == NULL)
			continue;
		fprintf(out, "%s{\"outcome\": \"%s\", \"reason\": ", n++ > 0 ? ", " : "",
			c->outcome);
		hy_json_string(c->excuse, out);
		fprintf(out, "}");
	}
	fprintf(out, "]");
}

static void
fused_json(const struct hy_conform_fused *f, FILE *out)
{
	fprintf(out,
		",\n     \"fused\": {\"passing\": %" PRIu64 ", \"handled\": %" PRIu64
		", \"whole\": %u, \"stopped\": %u, \"fewer\": %u, \"why\": ",
		f->passing, f->handled, f->whole, f->stopped, f->fewer);
	hy_json_string(f->why == NULL ? "" : f->why, out);
	fprintf(out, "}");
}

static void
entry_json(const struct entry *entry, FILE *out)
{
	const struct hy_conform_result *r = &entry->result;

	fprintf(out, "    {\"family\": \"%s\", \"variant\": \"%s\", \"pack\": ", entry->item.family,
		entry->item.variant);
	hy_json_string(entry->item.pack, out);
	fprintf(out,
		", \"reference\": %s, \"fusion\": %s, \"outcome\": \"%s\", \"cases\": %u, \"frames\": %" PRIu64
		", \"captured\": %" PRIu64 ",\n     \"text\": ",
		entry->item.reference ? "true" : "false", entry->item.fusion ? "true" : "false",
		r->outcome == HY_CONFORM_FAILED ? "failed" : outcomes[r->outcome], r->cases,
		r->frames, r->captured);
	hy_json_string(r->text, out);
	fprintf(out, ", \"frame\": \"");
	for (uint32_t i = 0; i < r->shown_len; i++)
		fprintf(out, "%02x", r->shown[i]);
	fprintf(out, "\", \"selected_for\": \"%s\"", entry->chosen);
	counts_json(r, out);
	if (entry->item.fusion)
		fused_json(&r->fused, out);
	if (entry->cost.rounds > 0)
		fprintf(out,
			",\n     \"clocks\": %.2f, \"reference_clocks\": %.2f, \"ratio\": %.3f, "
			"\"rounds\": %u, \"packets\": %" PRIu64,
			entry->cost.clocks, entry->cost.reference, entry->cost.ratio,
			entry->cost.rounds, entry->cost.packets);
	fprintf(out, "}");
}

static void
run_json(const struct run *run)
{
	fprintf(run->out,
		"{\n  \"seed\": %" PRIu64 ", \"captured_frames\": %u, \"passed\": %s,\n"
		"  \"variants\": [\n",
		run->seed, run->captures.n, run->passed ? "true" : "false");
	for (unsigned int i = 0; i < run->n; i++) {
		fprintf(run->out, "%s", i > 0 ? ",\n" : "");
		entry_json(&run->entries[i], run->out);
	}
	fprintf(run->out, "\n  ]\n}\n");
}

/* Ends with a summary, and a line for each failure. */
static void
verdict_print(const struct run *run)
{
	unsigned int failed = 0, skipped = 0;

	for (unsigned int i = 0; i < run->n; i++) {
		failed += run->entries[i].result.outcome == HY_CONFORM_FAILED;
		skipped += run->entries[i].result.outcome == HY_CONFORM_SKIPPED;
	}
	fprintf(run->out, "\n%u variants: %u passed, %u skipped, %u failed\n", run->n,
		run->n - failed - skipped, skipped, failed);
	for (unsigned int i = 0; i < run->n; i++) {
		const struct entry *entry = &run->entries[i];

		if (entry->result.outcome == HY_CONFORM_FAILED)
			fprintf(stderr, "hy-hal: selftest: %s/%s of pack %s: %s\n",
				entry->item.family, entry->item.variant, entry->item.pack,
				entry->result.text);
	}
}

int
selftest_write(const struct settings *settings, const struct hy_hal *hal, FILE *out, bool *passed)
{
	struct run run = {
		.out = out,
		.seed = settings->seed,
		.cases = settings->quick ? QUICK_CASES : HY_CONFORM_CASES,
	};
	int rc = entries_find(settings, &run);

	if (rc == 0 && settings->pcap != NULL)
		rc = captures_read(settings->pcap, &run.captures);
	if (rc == 0) {
		for (unsigned int i = 0; i < run.n; i++)
			chosen_write(hal, &run.entries[i]);
		conform(settings, hal, &run);
		if (!settings->quick)
			measure(settings, hal, &run);
		if (settings->json)
			run_json(&run);
		else
			verdict_print(&run);
		*passed = run.passed;
	}
	captures_free(&run.captures);
	free(run.entries);
	return rc;
}

int
selftest(const struct settings *settings, struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE];
	bool passed = false;
	int rc;

	if (hy_hal_plan(hal, error) < 0 || hy_hal_select(hal, error) < 0)
		return refuse("selftest: %s", error);
	rc = selftest_write(settings, hal, stdout, &passed);
	return rc == 0 && passed ? 0 : -1;
}
