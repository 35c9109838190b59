/* SPDX-License-Identifier: BSD-3-Clause */
/* What the core keeps, as text for whoever debugs. */

#include <errno.h>
#include <inttypes.h>

#include "lib/graph/common/text.h"
#include "lib/graph/update/control.h"

static const char *
or_dash(const char *text)
{
	return text[0] == '\0' ? "-" : text;
}

static void
graph_line(const struct hy_graph *graph, FILE *out)
{
	const struct hy_image *image = hy_graph_image(graph);
	const struct hy_control *control = graph->control;

	fprintf(out,
		"graph %s: worker %u, socket %d, %u nodes, burst %u, streams of %u, walks %" PRIu64
		"%s%s%s\n",
		control->name, control->worker, control->socket, image->plan.nb_nodes,
		image->plan.burst, image->plan.stream_cap,
		__atomic_load_n(&graph->walks, __ATOMIC_RELAXED),
		image->plan.cyclic ? ", cyclic" : "", image->plan.throttled ? ", throttled" : "",
		control->published != NULL ? ", an update is waiting" : "");
}

static void
node_dump(const struct hy_node *node, FILE *out)
{
	const struct hy_image_node *cold = hy_image_node(node);
	const struct hy_reg_node *reg = cold->reg;

	fprintf(out,
		"  %5u %s: variant %s%s, id %u, replicates %u, context %zu B at %p\n"
		"        %u waiting; calls %" PRIu64 ", objects %" PRIu64 "\n",
		node->rank, reg->name, or_dash(cold->variant),
		(reg->flags & HY_NODE_SOURCE) != 0 ? ", source" : "", reg->id, node->replicates,
		cold->impl.ctx_size, node->ctx, __atomic_load_n(&node->waiting, __ATOMIC_RELAXED),
		hy_count_read(&node->calls), hy_count_read(&node->objs));
	for (unsigned int l = 0; l < reg->nb_lanes; l++)
		fprintf(out, "        lane %u: %s, the graph's %u\n", l, reg->lanes[l],
			node->lane[l]);
	for (unsigned int e = 0; e < cold->nb_edges; e++)
		fprintf(out, "        edge %u: %s, rank %u, objects %" PRIu64 "\n", e,
			hy_image_node(node->edges[e].to)->reg->name, node->edges[e].to->rank,
			hy_count_read(&node->edges[e].objs));
	for (unsigned int d = 0; d < cold->nb_drops; d++)
		fprintf(out, "        drop %u: %s, objects %" PRIu64 "\n", d,
			hy_image_drop(cold, d)->name,
			hy_count_read(&node->edges[-1 - (int)d].objs));
	for (unsigned int c = 0; c < reg->nb_counters; c++)
		fprintf(out, "        counter %u: %s %" PRIu64 " %s\n", c, reg->counters[c].name,
			hy_count_read(&node->edges[HY_COUNTER_SLOT(c)].objs),
			reg->counters[c].unit);
}

int
hy_graph_dump(const struct hy_graph *graph, FILE *out)
{
	struct hy_text text;
	const struct hy_image *image;
	const int rc = hy_text_begin(&text, graph->control->name);

	if (rc < 0)
		return rc;
	graph_line(graph, text.stream);
	image = graph->control->current;
	for (unsigned int l = 0; l < image->plan.nb_lanes; l++)
		fprintf(text.stream, "  lane %u: %s\n", l, image->lanes[l]);
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		node_dump(&image->hot[r], text.stream);
	return hy_text_end(&text, out);
}

int
hy_graph_list_dump(FILE *out)
{
	struct hy_text text;
	const int rc = hy_text_begin(&text, "list of graphs");

	if (rc < 0)
		return rc;
	for (struct hy_graph *g = hy_graph_next(NULL); g != NULL; g = hy_graph_next(g))
		graph_line(g, text.stream);
	return hy_text_end(&text, out);
}

static void
reg_node_dump(const struct hy_reg_node *reg, FILE *out)
{
	fprintf(out, "node %u %s: variant %s%s, in %u images, replicates %u, context %zu B%s\n",
		reg->id, reg->name, or_dash(reg->variant),
		(reg->flags & HY_NODE_SOURCE) != 0 ? ", source" : "", reg->refs, reg->replicates,
		reg->impl.ctx_size, reg->config != NULL ? ", configured" : "");
	for (unsigned int e = 0; e < reg->nb_edges; e++)
		fprintf(out, "    edge %u: %s%s\n", e, reg->edges[e].target,
			hy_registry_target(&reg->edges[e]) == NULL ? ", not registered" : "");
	for (unsigned int d = 0; d < reg->nb_drops; d++)
		fprintf(out, "    drop %u: %s  %s\n", d, reg->drops[d].name, reg->drops[d].text);
	for (unsigned int c = 0; c < reg->nb_counters; c++)
		fprintf(out, "    counter %u: %s, in %s  %s\n", c, reg->counters[c].name,
			or_dash(reg->counters[c].unit), reg->counters[c].text);
	for (unsigned int l = 0; l < reg->nb_lanes; l++)
		fprintf(out, "    lane %u: %s\n", l, reg->lanes[l]);
}

int
hy_registry_dump(FILE *out)
{
	struct hy_text text;
	const struct hy_reg_node *reg;
	const int rc = hy_text_begin(&text, "registry");

	if (rc < 0)
		return rc;
	for (reg = hy_registry_next(0); reg != NULL; reg = hy_registry_next(reg->id + 1))
		reg_node_dump(reg, text.stream);
	return hy_text_end(&text, out);
}
