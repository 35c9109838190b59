/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture as JSON; the book lists the keys. hy_name_valid() names need no escapes. */

#include <inttypes.h>

#include "lib/file/internal/json.h"
#include "picture.h"

static const char *
severity_name(enum hy_severity severity)
{
	static const char *const names[] = {
		[HY_SEV_INFO] = "info", [HY_SEV_WARN] = "warn", [HY_SEV_ERROR] = "error"
	};

	return severity < RTE_DIM(names) ? names[severity] : "unknown";
}

static void
names_write(const char *key, const char (*names)[HY_NAME_SIZE], unsigned int n, FILE *out)
{
	fprintf(out, "\"%s\": [", key);
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%s\"%s\"", i > 0 ? ", " : "", names[i]);
	fprintf(out, "]");
}

/* Wide lanes, if there are any. */
static void
wide_write(const struct hy_wide_lane *wide, unsigned int n, FILE *out)
{
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%s{\"name\": \"%s\", \"bytes\": %u}%s",
			i == 0 ? ", \"wide_lanes\": [" : ", ", wide[i].name, wide[i].bytes,
			i + 1 == n ? "]" : "");
}

static void
edges_write(const struct hy_node *node, const struct hy_node_stats *stats, FILE *out)
{
	fprintf(out, ",\n     \"edges\": [");
	for (unsigned int e = 0; e < hy_image_node(node)->nb_edges; e++) {
		fprintf(out, "%s{\"to\": \"%s\"", e > 0 ? ", " : "",
			hy_image_node(node->edges[e].to)->reg->name);
		if (stats != NULL)
			fprintf(out, ", \"objs\": %" PRIu64, stats->edges[e].objs);
		fprintf(out, "}");
	}
	fprintf(out, "]");
}

static void
drops_write(const struct hy_image_node *cold, const struct hy_node_stats *stats, FILE *out)
{
	fprintf(out, ",\n     \"drops\": [");
	for (unsigned int d = 0; d < cold->nb_drops; d++) {
		const struct hy_counter *drop = hy_image_drop(cold, d);

		fprintf(out, "%s\n      {\"name\": \"%s\", \"severity\": \"%s\", \"text\": ",
			d > 0 ? "," : "", drop->name, severity_name(drop->severity));
		hy_json_string(drop->text, out);
		if (stats != NULL)
			fprintf(out, ", \"objs\": %" PRIu64, stats->drops[d].objs);
		fprintf(out, "}");
	}
	fprintf(out, "]");
}

static void
counters_write(const struct hy_reg_node *reg, const struct hy_node_stats *stats, FILE *out)
{
	fprintf(out, ",\n     \"counters\": [");
	for (unsigned int c = 0; c < reg->nb_counters; c++) {
		const struct hy_counter *counter = &reg->counters[c];

		fprintf(out,
			"%s\n      {\"name\": \"%s\", \"unit\": \"%s\", \"severity\": \"%s\", "
			"\"text\": ",
			c > 0 ? "," : "", counter->name, counter->unit,
			severity_name(counter->severity));
		hy_json_string(counter->text, out);
		if (stats != NULL)
			fprintf(out, ", \"value\": %" PRIu64, stats->counters[c].value);
		fprintf(out, "}");
	}
	fprintf(out, "]");
}

static void
calls_write(const struct hy_node_stats *stats, FILE *out)
{
	fprintf(out,
		",\n     \"calls\": %" PRIu64 ", \"objs\": %" PRIu64
		", \"sampled\": {\"calls\": %" PRIu64 ", \"objs\": %" PRIu64
		", \"cycles\": %" PRIu64 ", \"idle_cycles\": %" PRIu64 ", \"bursts\": [",
		stats->calls, stats->objs, stats->sampled_calls, stats->sampled_objs,
		stats->sampled_cycles, stats->sampled_idle_cycles);
	for (unsigned int b = 0; b < HY_BURST_BUCKETS; b++)
		fprintf(out, "%s%" PRIu64, b > 0 ? ", " : "", stats->bursts[b]);
	fprintf(out, "]}");
}

static void
node_write(const struct hy_picture *picture, const struct hy_node *node, FILE *out)
{
	const struct hy_node_stats *stats = hy_picture_stats(picture, node);
	const struct hy_image_node *cold = hy_image_node(node);
	const struct hy_reg_node *reg = cold->reg;

	fprintf(out,
		"    {\"name\": \"%s\", \"rank\": %u, \"variant\": \"%s\", \"source\": %s, "
		"\"replicates\": %u, ",
		reg->name, node->rank, cold->variant,
		(reg->flags & HY_NODE_SOURCE) != 0 ? "true" : "false", node->replicates);
	names_write("lanes", reg->lanes, reg->nb_lanes, out);
	wide_write(reg->wide, reg->nb_wide, out);
	if (stats != NULL)
		calls_write(stats, out);
	edges_write(node, stats, out);
	drops_write(cold, stats, out);
	counters_write(reg, stats, out);
	fprintf(out, "}");
}

/* That of the nodes shown: an update that the worker has not taken up may name another. */
static const char *
drop_node(const struct hy_picture *picture)
{
	const struct hy_image *image = picture->image;

	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		if (image->nodes[r].nb_drops > HY_CORE_DROPS)
			return hy_image_node(image->hot[r].edges[(int16_t)HY_DROP(0)].to)
				->reg->name;
	return picture->params->drop_node;
}

void
hy_picture_write_json(const struct hy_picture *picture, FILE *out)
{
	const struct hy_graph_params *params = picture->params;
	const struct hy_image *image = picture->image;
	const struct hy_plan *plan = &image->plan;

	fprintf(out,
		"{\"graph\": \"%s\", \"live\": %s, \"worker\": %u, \"socket\": %d,\n"
		"  \"burst\": %u, \"stream_capacity\": %u, \"sample_every\": %u, \"max_sweeps\": %u,\n"
		"  \"cyclic\": %s, \"throttled\": %s, ",
		picture->name, picture->stats != NULL ? "true" : "false", params->worker,
		params->socket, plan->burst, plan->stream_cap, plan->sample_every, plan->max_sweeps,
		plan->cyclic ? "true" : "false", plan->throttled ? "true" : "false");
	fprintf(out, "\"drop_node\": ");
	if (drop_node(picture) != NULL)
		hy_json_string(drop_node(picture), out);
	else
		fprintf(out, "null");
	fprintf(out, ", ");
	names_write("lanes", image->lanes, plan->nb_lanes, out);
	if (image->wide != NULL)
		wide_write(image->wide->lanes, image->wide->nb_lanes, out);
	if (picture->stats != NULL)
		fprintf(out, ", \"walks\": %" PRIu64, picture->walks);
	fprintf(out, ",\n  \"nodes\": [");
	for (unsigned int r = 0; r < plan->nb_nodes; r++) {
		fprintf(out, r > 0 ? ",\n" : "\n");
		node_write(picture, &image->hot[r], out);
	}
	fprintf(out, "]}\n");
}
