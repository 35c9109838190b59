/* SPDX-License-Identifier: BSD-3-Clause */
/* The reasons for every choice, for people and for programs. */

#include <errno.h>
#include <string.h>

#include <hy_file.h>

#include "hal/internal/hal.h"
#include "lib/file/internal/json.h"

static const char *const fates[] = { "chosen", "outscored", "denied", "needs_unmet", "rejected",
	"constrained", "bind_failed" };

/* Whether a variant is of another pack than its family; one made by hand may have none. */
static bool
is_foreign(const struct hy_family *family, const struct hy_variant *variant)
{
	return variant->pack != NULL && family->pack != NULL &&
		strcmp(variant->pack, family->pack) != 0;
}

/* Whether a candidate is for a device of a kind that its variant names, which is there. */
static bool
runs_elsewhere(const struct hy_candidate *cand)
{
	return cand->variant->on != HY_TARGET_PROCESS && cand->on.id != HY_NO_DEVICE;
}

/* Of the first of some lines. */
static int
line_length(const char *lines)
{
	return (int)strcspn(lines, "\n");
}

static const char *
line_next(const char *lines)
{
	lines += line_length(lines);
	return *lines == '\n' ? lines + 1 : lines;
}

static void
change_json(const char *lines, FILE *out)
{
	const char *comma = "";
	char line[HY_CHANGE_SIZE];

	fprintf(out, ",\n       \"change\": [");
	for (; *lines != '\0'; lines = line_next(lines)) {
		snprintf(line, sizeof(line), "%.*s", line_length(lines), lines);
		fputs(comma, out);
		hy_json_string(line, out);
		comma = ", ";
	}
	fprintf(out, "]");
}

/* Whether a selection's family is one of those wanted: all, if there is no list. */
static bool
is_wanted(const struct hy_selection *s, const char *const *families)
{
	if (families == NULL)
		return true;
	while (*families != NULL && strcmp(*families, s->family->node.name) != 0)
		families++;
	return *families != NULL;
}

int
hy_hal_explain_families(const struct hy_hal *hal, const char *const *families, FILE *out)
{
	char where[HY_NAME_SIZE];

	for (unsigned int i = 0; i < hal->nb_selections; i++) {
		const struct hy_selection *s = &hal->selections[i];

		if (!is_wanted(s, families))
			continue;
		fprintf(out, "%s for %s: %s%s\n", s->family->node.name,
			hy_target_text(s->target, where, sizeof(where)), s->chosen->impl.variant,
			s->forced ? " (forced)" : "");
		for (unsigned int c = 0; c < s->nb_candidates; c++) {
			const struct hy_candidate *cand = &s->candidates[c];

			fprintf(out, "    %-10s %-11s score %3d  ", cand->variant->impl.variant,
				fates[cand->fate], cand->score);
			if (runs_elsewhere(cand))
				fprintf(out,
					"on %s: ", hy_target_text(cand->on, where, sizeof(where)));
			fputs(cand->reason, out);
			if (is_foreign(s->family, cand->variant))
				fprintf(out, " [pack %s]", cand->variant->pack);
			fputc('\n', out);
			for (const char *line = cand->change; *line != '\0'; line = line_next(line))
				fprintf(out, "               to be chosen: %.*s\n",
					line_length(line), line);
		}
	}
	return hy_output_flush(out);
}

static void
selection_json(const struct hy_selection *s, FILE *out)
{
	char where[HY_NAME_SIZE];

	fprintf(out, "    {\"family\": \"%s\", \"target\": \"%s\", \"variant\": \"%s\", ",
		s->family->node.name, hy_target_text(s->target, where, sizeof(where)),
		s->chosen->impl.variant);
	fprintf(out, "\"forced\": %s, \"candidates\": [", s->forced ? "true" : "false");
	for (unsigned int c = 0; c < s->nb_candidates; c++) {
		const struct hy_candidate *cand = &s->candidates[c];

		fprintf(out, "%s\n      {\"variant\": \"%s\", \"pack\": \"%s\", \"text\": ",
			c > 0 ? "," : "", cand->variant->impl.variant, cand->variant->pack);
		hy_json_string(cand->variant->text == NULL ? "" : cand->variant->text, out);
		if (runs_elsewhere(cand))
			fprintf(out, ", \"on\": \"%s\"",
				hy_target_text(cand->on, where, sizeof(where)));
		fprintf(out, ",\n       \"fate\": \"%s\", \"score\": %d, \"reason\": ",
			fates[cand->fate], cand->score);
		hy_json_string(cand->reason, out);
		change_json(cand->change, out);
		fprintf(out, "}");
	}
	fprintf(out, "]}");
}

int
hy_hal_explain_families_json(const struct hy_hal *hal, const char *const *families, FILE *out)
{
	const char *comma = "";

	fprintf(out, "{\n");
	hy_inventory_json(hal, out);
	fprintf(out, ",\n  \"selections\": [\n");
	for (unsigned int i = 0; i < hal->nb_selections; i++) {
		if (!is_wanted(&hal->selections[i], families))
			continue;
		fprintf(out, "%s", comma);
		selection_json(&hal->selections[i], out);
		comma = ",\n";
	}
	fprintf(out, "%s  ]\n}\n", *comma == '\0' ? "" : "\n");
	return hy_output_flush(out);
}

int
hy_hal_explain(const struct hy_hal *hal, FILE *out)
{
	return hy_hal_explain_families(hal, NULL, out);
}

int
hy_hal_explain_json(const struct hy_hal *hal, FILE *out)
{
	return hy_hal_explain_families_json(hal, NULL, out);
}
