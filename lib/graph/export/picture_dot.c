/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture in the Graphviz language. hy_name_valid() names need no escapes. */

#include <inttypes.h>

#include "picture.h"

static void
node_write(const struct hy_picture *picture, const struct hy_node *node, FILE *out)
{
	const struct hy_node_stats *stats = hy_picture_stats(picture, node);
	const struct hy_image_node *cold = hy_image_node(node);
	const bool is_source = (cold->reg->flags & HY_NODE_SOURCE) != 0;

	fprintf(out, "\t\"%s\" [shape=%s, label=\"%s", cold->reg->name, is_source ? "house" : "box",
		cold->reg->name);
	if (cold->variant[0] != '\0')
		fprintf(out, "\\n(%s)", cold->variant);
	if (stats != NULL)
		fprintf(out, "\\n%" PRIu64, stats->objs);
	if (stats != NULL && is_source && stats->budget != picture->image->plan.source_budget)
		fprintf(out, "\\n(at most %u a walk)", stats->budget);
	fprintf(out, "\"];\n");
}

static void
edges_write(const struct hy_picture *picture, const struct hy_node *node, FILE *out)
{
	const struct hy_node_stats *stats = hy_picture_stats(picture, node);
	const struct hy_image_node *cold = hy_image_node(node);
	uint64_t dropped = 0;

	for (unsigned int e = 0; e < cold->nb_edges; e++) {
		fprintf(out, "\t\"%s\" -> \"%s\"", cold->reg->name,
			hy_image_node(node->edges[e].to)->reg->name);
		if (stats != NULL)
			fprintf(out, " [label=\"%" PRIu64 "\"]", stats->edges[e].objs);
		fprintf(out, ";\n");
	}
	if (cold->nb_drops == HY_CORE_DROPS)
		return;
	fprintf(out, "\t\"%s\" -> \"%s\" [style=dashed, color=gray50", cold->reg->name,
		hy_image_node(node->edges[(int16_t)HY_DROP(0)].to)->reg->name);
	for (int d = HY_CORE_DROPS; stats != NULL && d < cold->nb_drops; d++)
		dropped += stats->drops[d].objs;
	if (stats != NULL)
		fprintf(out, ", label=\"%" PRIu64 "\"", dropped);
	fprintf(out, "];\n");
}

void
hy_picture_write_dot(const struct hy_picture *picture, FILE *out)
{
	const struct hy_image *image = picture->image;

	fprintf(out,
		"digraph \"%s\" {\n"
		"\trankdir=LR;\n"
		"\tnode [fontname=\"sans-serif\", fontsize=11];\n"
		"\tedge [fontname=\"sans-serif\", fontsize=9];\n",
		picture->name);
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		node_write(picture, &image->hot[r], out);
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		edges_write(picture, &image->hot[r], out);
	fprintf(out, "}\n");
}
