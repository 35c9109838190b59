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

/* Whether a name is in the list, or there is no list. */
static bool
is_wanted(const char *name, const char *const *families)
{
	if (families == NULL)
		return true;
	while (*families != NULL && strcmp(*families, name) != 0)
		families++;
	return *families != NULL;
}

static bool
is_chosen(const struct hy_hal *hal, const char *family, const char *variant)
{
	for (unsigned int i = 0; i < hal->selected.n; i++) {
		const struct hy_selection *s = &hal->selected.selections[i];

		if (strcmp(s->family->node.name, family) == 0 &&
			strcmp(s->chosen->impl.variant, variant) == 0)
			return true;
	}
	return false;
}

static enum hy_fate
fusion_judge(const struct hy_hal *hal, const struct hy_fusion *fusion, char reason[HY_REASON_SIZE])
{
	if (hy_fusion_withheld(hal, fusion)) {
		strcpy(reason, "denied by the user");
		return HY_FATE_DENIED;
	}
	for (unsigned int i = 0; i < HY_FUSE_MAX && fusion->chain[i].family != NULL; i++) {
		if (is_chosen(hal, fusion->chain[i].family, fusion->chain[i].variant))
			continue;
		snprintf(reason, HY_REASON_SIZE, "needs %s/%s, which was not chosen",
			fusion->chain[i].family, fusion->chain[i].variant);
		return HY_FATE_NEEDS_UNMET;
	}
	strcpy(reason, "where nothing stands between its nodes");
	return HY_FATE_CHOSEN;
}

/* All fusions, once variants were selected. */
static unsigned int
fusions_judged(const struct hy_hal *hal, const struct hy_fusion *const **fusions)
{
	const unsigned int n = hy_fusions(fusions);

	return hal->selected.n == 0 ? 0 : n;
}

static void
fusions_print(const struct hy_hal *hal, const char *const *families, FILE *out)
{
	const struct hy_fusion *const *fusions;
	const unsigned int n = fusions_judged(hal, &fusions);
	char reason[HY_REASON_SIZE];
	const char *name = "";

	for (unsigned int i = 0; i < n; i++) {
		const struct hy_fusion *f = fusions[i];
		const enum hy_fate fate = fusion_judge(hal, f, reason);

		if (!is_wanted(f->chain[0].family, families))
			continue;
		if (strcmp(name, f->name) != 0) {
			name = f->name;
			fprintf(out, "%s fuses %s", name, f->chain[0].family);
			for (unsigned int c = 1; c < HY_FUSE_MAX && f->chain[c].family != NULL; c++)
				fprintf(out, ", %s", f->chain[c].family);
			fprintf(out, "\n");
		}
		fprintf(out, "    %-10s %-11s            %s\n", f->variant, fates[fate], reason);
	}
}

static void
fusion_json(const struct hy_hal *hal, const struct hy_fusion *fusion, FILE *out)
{
	char reason[HY_REASON_SIZE];
	const enum hy_fate fate = fusion_judge(hal, fusion, reason);

	fprintf(out, "    {\"fusion\": \"%s\", \"variant\": \"%s\", \"pack\": \"%s\", \"text\": ",
		fusion->name, fusion->variant, fusion->pack);
	hy_json_string(fusion->text == NULL ? "" : fusion->text, out);
	fprintf(out, ",\n     \"chain\": [");
	for (unsigned int c = 0; c < HY_FUSE_MAX && fusion->chain[c].family != NULL; c++)
		fprintf(out, "%s\"%s/%s\"", c > 0 ? ", " : "", fusion->chain[c].family,
			fusion->chain[c].variant);
	fprintf(out, "], \"fate\": \"%s\", \"reason\": ", fates[fate]);
	hy_json_string(reason, out);
	fprintf(out, "}");
}

static void
fusions_json(const struct hy_hal *hal, const char *const *families, FILE *out)
{
	const struct hy_fusion *const *fusions;
	const unsigned int n = fusions_judged(hal, &fusions);
	const char *comma = "\n";

	fprintf(out, "  \"fusions\": [");
	for (unsigned int i = 0; i < n; i++) {
		if (!is_wanted(fusions[i]->chain[0].family, families))
			continue;
		fputs(comma, out);
		fusion_json(hal, fusions[i], out);
		comma = ",\n";
	}
	fprintf(out, "%s]", *comma == ',' ? "\n  " : "");
}

int
hy_hal_explain_families(const struct hy_hal *hal, const char *const *families, FILE *out)
{
	char where[HY_NAME_SIZE];

	for (unsigned int i = 0; i < hal->selected.n; i++) {
		const struct hy_selection *s = &hal->selected.selections[i];

		if (!is_wanted(s->family->node.name, families))
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
	fusions_print(hal, families, out);
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
		if (!is_wanted(hal->selected.selections[i].family->node.name, families))
			continue;
		fprintf(out, "%s", comma);
		selection_json(&hal->selected.selections[i], out);
		comma = ",\n";
	}
	fprintf(out, "%s  ],\n", *comma == '\0' ? "" : "\n");
	fusions_json(hal, families, out);
	fprintf(out, "\n}\n");
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
