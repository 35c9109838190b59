/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists as text, as a table and as JSON. */

#include <errno.h>
#include <inttypes.h>

#include <rte_cycles.h>

#include "acl.h"

/* Prints the places that a list is bound to. */
static void
bindings_print(const struct hy_acl *acl, const struct acl_list *list, const char *before,
	const char *quote, FILE *out)
{
	unsigned int n = 0;

	for (unsigned int way = 0; way < HY_ACL_WAYS; way++) {
		for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
			const struct acl_place *place = &acl->places[way][p];

			if (place->arc == NULL || place->bound != list->number)
				continue;
			fprintf(out, "%s%s%s:%u%s", n++ == 0 ? before : ", ", quote, acl_ways[way],
				p, quote);
		}
	}
}

void
hy_acl_print(const struct hy_acl *acl, FILE *out)
{
	for (unsigned int i = 0; i < acl->nb_lists; i++) {
		const struct acl_list *list = acl->lists[i];
		const struct hy_policy_view *view = hy_policy_view_hold(list->shown.policy);

		fprintf(out, "Access list %s: %u rules, default %s", list->name, view->nb_rules,
			acl_actions[view->default_action]);
		bindings_print(acl, list, ", bound to ", "", out);
		fprintf(out, ".\n  Engine: ");
		hy_policy_engine_print(list->shown.policy, out);
		hy_policy_view_release(list->shown.policy, view);
	}
}

void
hy_acl_table_print(const struct hy_acl *acl, FILE *out)
{
	struct hy_acl_counts c;

	if (acl->nb_lists > 0)
		fprintf(out, "\n%-18s %12s %12s %12s %12s %12s %12s\n", "access list", "permitted",
			"denied", "redirected", "unmatched", "truncated", "by hardware");
	for (unsigned int i = 0; i < acl->nb_lists; i++) {
		hy_acl_counts(acl, acl->lists[i]->name, &c);
		fprintf(out,
			"%-18s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64
			" %12" PRIu64 "\n",
			acl->lists[i]->name, c.permitted, c.denied, c.redirected, c.unmatched,
			c.truncated, c.hardware);
	}
}

uint64_t
acl_since(uint64_t when)
{
	const uint64_t now = rte_rdtsc();

	return now > when ? now - when : 0;
}

static void
rules_json(const struct acl_list *list, FILE *out)
{
	const struct hy_policy_view *view = hy_policy_view_hold(list->shown.policy);
	const double hz = (double)rte_get_tsc_hz();

	for (uint32_t r = 0; r < view->nb_rules; r++) {
		const struct hy_flow_rule *rule = &view->rules[r].rule;
		struct hy_policy_counts c = { 0 };

		hy_policy_counts(list->shown.policy, rule->id, &c);
		fprintf(out,
			"%s{\"rule\": %u, \"action\": \"%s\", \"packets\": %" PRIu64
			", \"bytes\": %" PRIu64 ", \"last_seconds\": ",
			r == 0 ? "" : ", ", rule->id, acl_actions[rule->action], c.packets,
			c.bytes);
		if (c.last == 0)
			fprintf(out, "null}");
		else
			fprintf(out, "%.3f}", (double)acl_since(c.last) / hz);
	}
	hy_policy_view_release(list->shown.policy, view);
}

void
hy_acl_json(const struct hy_acl *acl, FILE *out)
{
	struct hy_acl_counts c;

	for (unsigned int i = 0; i < acl->nb_lists; i++) {
		const struct acl_list *list = acl->lists[i];

		hy_acl_counts(acl, list->name, &c);
		fprintf(out, "%s\"%s\": {\"bound\": [", i == 0 ? "" : ", ", list->name);
		bindings_print(acl, list, "", "\"", out);
		fprintf(out,
			"], \"permitted\": %" PRIu64 ", \"denied\": %" PRIu64
			", \"redirected\": %" PRIu64 ", \"unmatched\": %" PRIu64
			", \"truncated\": %" PRIu64 ", \"hardware\": %" PRIu64
			", \"unknown\": %" PRIu64 ", \"rules\": [",
			c.permitted, c.denied, c.redirected, c.unmatched, c.truncated, c.hardware,
			c.unknown);
		rules_json(list, out);
		fprintf(out, "]}");
	}
}
