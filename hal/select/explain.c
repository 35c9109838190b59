/* SPDX-License-Identifier: BSD-3-Clause */
/* The reasons for every choice, as text and as JSON. */

#include <string.h>

#include <hy_file.h>

#include "hal/internal/hal.h"
#include "lib/file/internal/json.h"

static const char *const fates[] = { "chosen", "outscored", "denied", "needs_unmet", "rejected",
	"constrained", "bind_failed" };

/* Whether a candidate's variant names a kind of device, and such a device exists. */
static bool
runs_elsewhere(const struct hy_candidate *cand)
{
	return cand->variant->on != HY_TARGET_PROCESS && cand->on.id != HY_NO_DEVICE;
}

static void
change_json(const char *lines, FILE *out)
{
	char copy[HY_CHANGE_SIZE], *rest = copy;
	const char *comma = "";

	strcpy(copy, lines);
	fprintf(out, ",\n       \"change\": [");
	for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0'; comma = ", ") {
		fputs(comma, out);
		hy_json_string(line, out);
	}
	fprintf(out, "]");
}

static void
change_print(const char *lines, FILE *out)
{
	char copy[HY_CHANGE_SIZE], *rest = copy;

	strcpy(copy, lines);
	for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';)
		fprintf(out, "               to be chosen: %s\n", line);
}

/* Whether a selection's family is in the list, or there is no list. */
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

	for (unsigned int i = 0; i < hal->selected.n; i++) {
		const struct hy_selection *s = &hal->selected.selections[i];

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
			/* Without a macro, either may have no pack. */
			if (cand->variant->pack != NULL && s->family->pack != NULL &&
				strcmp(cand->variant->pack, s->family->pack) != 0)
				fprintf(out, " [pack %s]", cand->variant->pack);
			fputc('\n', out);
			change_print(cand->change, out);
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
	for (unsigned int i = 0; i < hal->selected.n; i++) {
		if (!is_wanted(&hal->selected.selections[i], families))
			continue;
		fprintf(out, "%s", comma);
		selection_json(&hal->selected.selections[i], out);
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
