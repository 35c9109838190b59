/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of a cluster as a table: a ready-made callback for hy_cluster_visit(). */

#include <errno.h>
#include <inttypes.h>

#include <hy_file.h>
#include <hy_stats.h>

static void
heading_print(FILE *out)
{
	fprintf(out, "%-24s %-10s %14s %16s %10s %14s %12s\n", "node", "variant", "calls",
		"objects", "objs/call", "objs/s", "cycles/obj");
}

static void
drops_print(const struct hy_node_stats *node, FILE *out)
{
	for (unsigned int i = 0; i < node->nb_drops; i++) {
		const struct hy_edge_stats *d = &node->drops[i];

		if (d->objs > 0)
			fprintf(out, "    drop    %-20s %16" PRIu64 "%s%s\n", d->name, d->objs,
				d->text[0] == '\0' ? "" : "  ", d->text);
	}
}

static void
counters_print(const struct hy_node_stats *node, FILE *out)
{
	for (unsigned int i = 0; i < node->nb_counters; i++) {
		const struct hy_edge_stats *c = &node->counters[i];

		if (c->value > 0)
			fprintf(out, "    counter %-20s %16" PRIu64 "%s%s%s%s\n", c->name, c->value,
				c->unit[0] == '\0' ? "" : " ", c->unit,
				c->text[0] == '\0' ? "" : "  ", c->text);
	}
}

int
hy_visit_print(const struct hy_visit *visit, void *file)
{
	const struct hy_node_stats *node = visit->node;
	const char *variant = node->variant[0] == '\0' ? "-" : node->variant;
	FILE *out = file;

	if (visit->first)
		heading_print(out);
	fprintf(out, "%-24s %-10s %14" PRIu64 " %16" PRIu64 " %10.1f %14.1f", node->name,
		node->gone ? "(gone)" : variant, node->calls, node->objs, visit->objs_per_call,
		visit->objs_per_s);
	if (visit->recent->sampled_objs > 0)
		fprintf(out, " %12.1f\n", visit->cycles_per_obj);
	else
		fprintf(out, " %12s\n", "-");
	drops_print(node, out);
	counters_print(node, out);
	return visit->last ? hy_output_flush(out) : 0;
}
