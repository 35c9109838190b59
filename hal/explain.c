/* SPDX-License-Identifier: BSD-3-Clause */
/* The inventory and the reasons for every choice, for people and for programs. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "hal.h"
#include "json.h"

static const char *const fates[] = { "chosen", "outscored", "denied", "needs_unmet", "rejected" };

/* Whether a capability is one of that kind of target. */
static bool
cap_concerns(enum hy_target_kind kind, enum hy_cap cap)
{
	return cap != HY_CAP_NONE && (cap >= HY_CAP_RX_QUEUES) == (kind == HY_TARGET_PORT);
}

static void
cap_print(const char *name, const struct hy_capability *cap, FILE *out)
{
	fprintf(out, "    %-15s %-9s", name, hy_level_name(cap->level));
	if (cap->value > 0)
		fprintf(out, " %6" PRIu64, cap->value);
	else
		fprintf(out, " %6s", "");
	fprintf(out, "  %s: %s\n", hy_origin_name(cap->origin), cap->reason);
}

static void
caps_print(const struct hy_capability *caps, enum hy_target_kind kind, FILE *out)
{
	for (int c = 0; c < HY_CAPS; c++)
		if (cap_concerns(kind, c))
			cap_print(hy_cap_name(c), &caps[c], out);
}

int
hy_hal_inventory_print(const struct hy_hal *hal, FILE *out)
{
	fprintf(out, "process\n");
	caps_print(hal->process, HY_TARGET_PROCESS, out);
	for (unsigned int i = 0; i < hal->nb_declared; i++)
		cap_print(hal->declared[i].name, &hal->declared[i].cap, out);
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		const struct hy_hal_port *port = &hal->ports[p];

		if (!port->present)
			continue;
		fprintf(out, "port %u: %s, driver %s\n", p, port->name, port->driver);
		caps_print(port->caps, HY_TARGET_PORT, out);
	}
	return fflush(out) != 0 || ferror(out) != 0 ? -EIO : 0;
}

/* Whether a variant is of another pack than its family; one made by hand may have none. */
static bool
is_foreign(const struct hy_family *family, const struct hy_variant *variant)
{
	return variant->pack != NULL && family->pack != NULL &&
		strcmp(variant->pack, family->pack) != 0;
}

int
hy_hal_explain(const struct hy_hal *hal, FILE *out)
{
	char where[HY_NAME_SIZE];

	for (unsigned int i = 0; i < hal->nb_selections; i++) {
		const struct hy_selection *s = &hal->selections[i];

		fprintf(out, "%s for %s: %s%s\n", s->family->node.name,
			hy_target_text(s->target, where, sizeof(where)), s->chosen->impl.variant,
			s->forced ? " (forced)" : "");
		for (unsigned int c = 0; c < s->nb_candidates; c++) {
			const struct hy_candidate *cand = &s->candidates[c];

			fprintf(out, "    %-10s %-11s score %3d  %s", cand->variant->impl.variant,
				fates[cand->fate], cand->score, cand->reason);
			if (is_foreign(s->family, cand->variant))
				fprintf(out, " [pack %s]", cand->variant->pack);
			fputc('\n', out);
		}
	}
	return fflush(out) != 0 || ferror(out) != 0 ? -EIO : 0;
}

static void
cap_json(const char *comma, const char *name, const struct hy_capability *cap, FILE *out)
{
	fprintf(out,
		"%s\n      \"%s\": {\"level\": \"%s\", \"origin\": \"%s\", \"value\": %" PRIu64
		", \"reason\": ",
		comma, name, hy_level_name(cap->level), hy_origin_name(cap->origin), cap->value);
	hy_json_string(cap->reason, out);
	fprintf(out, "}");
}

static void
caps_json(const struct hy_capability *caps, enum hy_target_kind kind, FILE *out)
{
	const char *comma = "";

	fprintf(out, "{");
	for (int c = 0; c < HY_CAPS; c++) {
		if (!cap_concerns(kind, c))
			continue;
		cap_json(comma, hy_cap_name(c), &caps[c], out);
		comma = ",";
	}
	fprintf(out, "}");
}

static void
declared_json(const struct hy_hal *hal, FILE *out)
{
	fprintf(out, ",\n    \"declared\": {");
	for (unsigned int i = 0; i < hal->nb_declared; i++)
		cap_json(i > 0 ? "," : "", hal->declared[i].name, &hal->declared[i].cap, out);
	fprintf(out, "}");
}

static void
inventory_json(const struct hy_hal *hal, FILE *out)
{
	const char *comma = "";

	fprintf(out, "  \"inventory\": {\n    \"process\": ");
	caps_json(hal->process, HY_TARGET_PROCESS, out);
	declared_json(hal, out);
	fprintf(out, ",\n    \"ports\": [");
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		const struct hy_hal_port *port = &hal->ports[p];

		if (!port->present)
			continue;
		fprintf(out, "%s\n     {\"port\": %u, \"name\": ", comma, p);
		hy_json_string(port->name, out);
		fprintf(out, ", \"driver\": ");
		hy_json_string(port->driver, out);
		fprintf(out, ", \"capabilities\": ");
		caps_json(port->caps, HY_TARGET_PORT, out);
		fprintf(out, "}");
		comma = ",";
	}
	fprintf(out, "]},\n");
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
		fprintf(out, ",\n       \"fate\": \"%s\", \"score\": %d, \"reason\": ",
			fates[cand->fate], cand->score);
		hy_json_string(cand->reason, out);
		fprintf(out, "}");
	}
	fprintf(out, "]}");
}

int
hy_hal_explain_json(const struct hy_hal *hal, FILE *out)
{
	fprintf(out, "{\n");
	inventory_json(hal, out);
	fprintf(out, "  \"selections\": [\n");
	for (unsigned int i = 0; i < hal->nb_selections; i++) {
		selection_json(&hal->selections[i], out);
		fprintf(out, "%s\n", i + 1 < hal->nb_selections ? "," : "");
	}
	fprintf(out, "  ]\n}\n");
	return fflush(out) != 0 || ferror(out) != 0 ? -EIO : 0;
}
