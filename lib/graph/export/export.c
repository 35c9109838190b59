/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of existing graphs, with their counters, and of graphs that could be created. */

#include <errno.h>

#include "lib/graph/common/text.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/registry/params.h"
#include "lib/graph/update/control.h"
#include "picture.h"

static int
graph_export(const struct hy_graph *graph, FILE *out, hy_picture_write_t *write)
{
	const struct hy_control *control = graph->control;
	struct hy_picture picture = { .name = control->name, .params = &control->params };
	struct hy_stats *stats = NULL;
	struct hy_text text;
	int written, rc = hy_text_begin(&text, control->name);

	if (rc < 0)
		return rc;
	picture.walks = __atomic_load_n(&graph->walks, __ATOMIC_RELAXED);
	if (control->current == NULL)
		rc = hy_graph_busy_check(graph, "exporting it"); /* an init() of its creation */
	else
		rc = hy_stats_of(graph, &stats);
	if (rc == 0) {
		/* The image of the statistics, though the worker may have switched since. */
		picture.image = control->current;
		picture.stats = stats;
		write(&picture, text.stream);
	} else if (rc == -ENOMEM) {
		HY_LOG(ERR, "graph '%s': not enough memory to export it", control->name);
	}
	written = hy_text_end(&text, out);
	hy_stats_free(stats);
	return rc < 0 ? rc : written;
}

int
hy_graph_export_dot(const struct hy_graph *graph, FILE *out)
{
	return graph_export(graph, out, hy_picture_write_dot);
}

int
hy_graph_export_json(const struct hy_graph *graph, FILE *out)
{
	return graph_export(graph, out, hy_picture_write_json);
}

static int
topology_export(const char *name, const struct hy_graph_params *params, FILE *out,
	hy_picture_write_t *write)
{
	struct hy_graph_params copy;
	struct hy_image *image;
	struct hy_text text;
	int rc, written;

	if (!hy_name_valid(name))
		return hy_name_refused("graph", name);
	rc = hy_params_check(name, params);
	if (rc == 0)
		rc = hy_text_begin(&text, name);
	if (rc < 0)
		return rc;
	rc = hy_params_copy(&copy, params);
	if (rc < 0) {
		HY_LOG(ERR, "graph '%s': not enough memory", name);
	} else {
		rc = hy_graph_outline(name, &copy, &image);
		if (rc == 0) {
			write(&(struct hy_picture){ name, &copy, image }, text.stream);
			hy_image_free(image);
		}
		hy_params_free(&copy);
	}
	written = hy_text_end(&text, out);
	return rc < 0 ? rc : written;
}

int
hy_topology_export_dot(const char *name, const struct hy_graph_params *params, FILE *out)
{
	return topology_export(name, params, out, hy_picture_write_dot);
}

int
hy_topology_export_json(const char *name, const struct hy_graph_params *params, FILE *out)
{
	return topology_export(name, params, out, hy_picture_write_json);
}
