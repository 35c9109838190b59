/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph as a picture: Graphviz dot, with live counters. hy_name_valid() names need no escapes. */

#include <errno.h>
#include <inttypes.h>

#include "control.h"

static void
node_write(const struct hy_plan *plan, const struct hy_node *node, FILE *out)
{
	const struct hy_image_node *cold = hy_image_node(node);
	const bool is_source = (cold->reg->flags & HY_NODE_SOURCE) != 0;

	fprintf(out, "\t\"%s\" [shape=%s, label=\"%s", cold->reg->name, is_source ? "house" : "box",
		cold->reg->name);
	if (cold->variant[0] != '\0')
		fprintf(out, "\\n(%s)", cold->variant);
	fprintf(out, "\\n%" PRIu64, hy_count_read(&node->objs));
	if (is_source && hy_budget_read(plan, node->rank) < plan->burst)
		fprintf(out, "\\n(at most %u a walk)", hy_budget_read(plan, node->rank));
	fprintf(out, "\"];\n");
}

static void
edges_write(const struct hy_node *node, FILE *out)
{
	const struct hy_image_node *cold = hy_image_node(node);
	uint64_t dropped = 0;

	for (unsigned int e = 0; e < cold->nb_edges; e++)
		fprintf(out, "\t\"%s\" -> \"%s\" [label=\"%" PRIu64 "\"];\n", cold->reg->name,
			hy_image_node(node->edges[e].to)->reg->name,
			hy_count_read(&node->edges[e].objs));
	if (cold->nb_drops == HY_CORE_DROPS)
		return;
	for (int d = HY_CORE_DROPS; d < cold->nb_drops; d++)
		dropped += hy_count_read(&node->edges[-1 - d].objs);
	fprintf(out, "\t\"%s\" -> \"%s\" [style=dashed, color=gray50, label=\"%" PRIu64 "\"];\n",
		cold->reg->name, hy_image_node(node->edges[(int16_t)HY_DROP(0)].to)->reg->name,
		dropped);
}

int
hy_graph_export_dot(const struct hy_graph *graph, FILE *out)
{
	const struct hy_image *image;

	hy_registry_lock();
	image = hy_graph_image(graph);
	fprintf(out,
		"digraph \"%s\" {\n"
		"\trankdir=LR;\n"
		"\tnode [fontname=\"sans-serif\", fontsize=11];\n"
		"\tedge [fontname=\"sans-serif\", fontsize=9];\n",
		hy_graph_name(graph));
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		node_write(&image->plan, &image->hot[r], out);
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		edges_write(&image->hot[r], out);
	fprintf(out, "}\n");
	hy_registry_unlock();
	return fflush(out) != 0 || ferror(out) != 0 ? -EIO : 0;
}
