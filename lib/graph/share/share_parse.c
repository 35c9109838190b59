/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the description of a graph, as share_describe.c writes it, and compiles its images anew.
 * Nothing in it is trusted: a file that is cut or made up is refused.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/graph/registry/params.h"
#include "lib/graph/registry/reg_node.h"
#include "lib/graph/stats/stats.h"
#include "share_layout.h"

/* The unread part. After an error, all further values are 0 or "". */
struct cursor {
	const char *at;
	size_t left;
	bool bad;
};

static uint64_t
get(struct cursor *c)
{
	uint64_t number;

	if (c->left < sizeof(number)) {
		c->bad = true;
		c->left = 0;
		return 0;
	}
	memcpy(&number, c->at, sizeof(number));
	c->at += sizeof(number);
	c->left -= sizeof(number);
	return number;
}

/* A number that must not be above the most. */
static uint64_t
get_to(struct cursor *c, uint64_t most)
{
	const uint64_t number = get(c);

	if (number <= most)
		return number;
	c->bad = true;
	c->left = 0;
	return 0;
}

/* Reads a text shorter than that; it lives as long as the input. */
static const char *
get_text(struct cursor *c, size_t size)
{
	const char *text = c->at;
	const size_t length = strnlen(text, c->left);

	if (length == c->left || length >= size) {
		c->bad = true;
		c->left = 0;
		return "";
	}
	c->at += length + 1;
	c->left -= length + 1;
	return text;
}

/* Reads a name, or "" if that is allowed. */
static const char *
get_name(struct cursor *c, bool required)
{
	const char *name = get_text(c, HY_NAME_SIZE);

	if (!hy_name_valid(name) && (required || name[0] != '\0'))
		c->bad = true;
	return name;
}

static const char *
or_null(const char *text)
{
	return text[0] == '\0' ? NULL : text;
}

static void *
table_new(struct cursor *c, size_t n, size_t size, int *rc)
{
	/* Each element takes at least a byte. */
	void *table = n > c->left ? NULL : calloc(RTE_MAX(n, 1u), size);

	if (table == NULL && n <= c->left)
		*rc = -ENOMEM;
	if (table == NULL)
		c->bad = true;
	return table;
}

/* The block begins in the first extent, at a cache line as all of them, and ends in the last. */
static bool
place_valid(const struct hy_share_place *place)
{
	uint64_t length = 0;

	for (unsigned int i = 0; i < place->nb_extents; i++) {
		const struct hy_share_extent *e = &place->extents[i];

		if (e->length == 0 || e->offset > (uint64_t)INT64_MAX - e->length)
			return false;
		length += e->length;
	}
	return place->nb_extents > 0 && place->start < place->extents[0].length &&
		place->start % RTE_CACHE_LINE_SIZE == 0 && place->size <= length - place->start;
}

static int
place_parse(struct cursor *c, struct hy_share_place *place)
{
	int rc = 0;

	place->address = get(c);
	place->size = get(c);
	place->start = get(c);
	place->nb_extents = (unsigned int)get_to(c, HY_SHARE_EXTENTS_MAX);
	place->extents = table_new(c, place->nb_extents, sizeof(*place->extents), &rc);
	if (place->extents == NULL)
		return rc;
	for (unsigned int i = 0; i < place->nb_extents && !c->bad; i++) {
		struct hy_share_extent *e = &place->extents[i];

		e->length = get_to(c, UINT64_C(1) << 46);
		e->fd = get_to(c, INT32_MAX);
		e->offset = get_to(c, INT64_MAX);
		e->device = get(c);
		e->inode = get(c);
	}
	c->bad |= !place_valid(place);
	return rc;
}

static int
entries_parse(struct cursor *c, struct hy_edge_stats **entries, unsigned int *n)
{
	const unsigned int nb = (unsigned int)get_to(c, UINT16_MAX);
	int rc = 0;

	*entries = table_new(c, nb, sizeof(**entries), &rc);
	for (*n = 0; *n < nb && !c->bad; ++*n) {
		struct hy_edge_stats *e = &(*entries)[*n];

		strcpy(e->name, get_name(c, true));
		strcpy(e->unit, get_name(c, false));
		strcpy(e->text, get_text(c, sizeof(e->text)));
		e->severity = (enum hy_severity)get_to(c, HY_SEV_ERROR);
		e->objs = get(c);
		e->value = get(c);
		e->gone = get_to(c, 1) != 0;
	}
	return rc;
}

static int
history_node_parse(struct cursor *c, struct hy_node_stats *node)
{
	int rc;

	strcpy(node->name, get_name(c, true));
	strcpy(node->variant, get_name(c, false));
	node->is_source = get_to(c, 1) != 0;
	node->replicates = get_to(c, 1) != 0;
	node->gone = get_to(c, 1) != 0;
	node->calls = get(c);
	node->objs = get(c);
	node->sampled_calls = get(c);
	node->sampled_objs = get(c);
	node->sampled_cycles = get(c);
	node->sampled_idle_cycles = get(c);
	for (unsigned int b = 0; b < HY_BURST_BUCKETS; b++)
		node->bursts[b] = get(c);
	rc = entries_parse(c, &node->edges, &node->nb_edges);
	if (rc == 0)
		rc = entries_parse(c, &node->drops, &node->nb_drops);
	return rc < 0 ? rc : entries_parse(c, &node->counters, &node->nb_counters);
}

static int
history_parse(struct cursor *c, struct hy_stats **history)
{
	const unsigned int n = (unsigned int)get_to(c, UINT32_MAX);
	int rc = hy_stats_new(history);

	if (rc == 0)
		(*history)->nodes = table_new(c, n, sizeof(*(*history)->nodes), &rc);
	for (unsigned int i = 0; i < n && rc == 0 && !c->bad; i++)
		rc = history_node_parse(c, &(*history)->nodes[(*history)->nb_nodes++]);
	return rc;
}

/* For a descriptor to be complete: a copy is never walked. */
static uint16_t
never_run(struct hy_graph *graph __rte_unused, struct hy_node *node __rte_unused,
	void **objs __rte_unused, uint16_t n __rte_unused)
{
	return 0;
}

/* Stands for a node's own snapshot: its records are not the graph's operations' to format. */
static size_t
never_taken(const struct hy_node *node __rte_unused, const void *obj __rte_unused,
	const uint32_t *lanes __rte_unused, void *data __rte_unused, size_t size __rte_unused)
{
	return 0;
}

static void
lanes_parse(struct cursor *c, const struct hy_graph_params *params, struct hy_node_desc *desc)
{
	const unsigned int n = (unsigned int)get_to(c, HY_LANES_MAX);

	for (unsigned int l = 0; l < n; l++) {
		unsigned int g = 0;

		desc->lanes[l] = get_name(c, true);
		while (g < HY_LANES_MAX &&
			(params->lanes[g] == NULL || strcmp(params->lanes[g], desc->lanes[l]) != 0))
			g++;
		c->bad |= g == HY_LANES_MAX;
	}
}

/* Reads the count; the core's limits are checked elsewhere. */
static unsigned int
wide_parse(struct cursor *c, struct hy_wide_lane wide[HY_WIDE_MAX])
{
	const unsigned int n = (unsigned int)get_to(c, HY_WIDE_MAX);

	for (unsigned int l = 0; l < n; l++) {
		strcpy(wide[l].name, get_name(c, true));
		wide[l].bytes = (uint16_t)get_to(c, HY_WIDE_BYTES);
	}
	return n;
}

static void
desc_parse(struct cursor *c, const struct hy_graph_params *params, struct hy_node_desc *desc)
{
	unsigned int n;

	*desc = (struct hy_node_desc){ .impl.process = never_run };
	desc->name = get_name(c, true);
	desc->impl.variant = or_null(get_name(c, false));
	desc->flags = (uint32_t)get_to(c, HY_NODE_SOURCE | HY_NODE_WAKES);
	desc->trace.snapshot = get_to(c, 1) != 0 ? never_taken : NULL;
	desc->replicates = (uint16_t)get_to(c, UINT16_MAX);
	lanes_parse(c, params, desc);
	n = wide_parse(c, desc->wide);
	for (unsigned int l = 0; l < n; l++)
		c->bad |= hy_wide_declared("", params, desc->name, &desc->wide[l]) < 0;
	n = (unsigned int)get_to(c, HY_DESC_DROPS);
	for (unsigned int d = 0; d < n; d++) {
		desc->drops[d].name = get_name(c, true);
		desc->drops[d].text = get_text(c, HY_TEXT_SIZE);
		desc->drops[d].severity = (enum hy_severity)get_to(c, HY_SEV_ERROR);
	}
	n = (unsigned int)get_to(c, HY_DESC_COUNTERS);
	for (unsigned int i = 0; i < n; i++) {
		desc->counters[i].name = get_name(c, true);
		desc->counters[i].unit = or_null(get_name(c, false));
		desc->counters[i].text = get_text(c, HY_TEXT_SIZE);
		desc->counters[i].severity = (enum hy_severity)get_to(c, HY_SEV_ERROR);
	}
}

/* A node of the process, as far as it is described. */
static int
node_parse(struct cursor *c, const struct hy_graph_params *params, struct hy_topology *topo,
	struct hy_share_description *d)
{
	const unsigned int rank = topo->nb_nodes;
	struct hy_node_desc desc;
	struct hy_reg_node **regs;
	struct hy_reg_node *reg = calloc(1, sizeof(*reg));
	unsigned int n, *targets;
	int rc;

	regs = realloc(d->regs, (d->nb_regs + 1) * sizeof(struct hy_reg_node *));
	if (regs != NULL)
		d->regs = regs;
	if (reg == NULL || regs == NULL) {
		free(reg);
		return -ENOMEM;
	}
	regs[d->nb_regs++] = reg;
	topo->nodes[rank] = reg;
	topo->nb_nodes++;
	desc_parse(c, params, &desc);
	n = (unsigned int)get_to(c, HY_EDGES_MAX);
	if (c->bad || n > c->left)
		return -EPROTO;
	rc = hy_reg_node_fill(reg, &desc);
	if (rc < 0)
		return rc == -ENOMEM ? rc : -EPROTO;
	targets = realloc(topo->targets, (topo->nb_edges + n + 1) * sizeof(*targets));
	if (targets == NULL)
		return -ENOMEM;
	topo->targets = targets;
	topo->first_edge[rank] = topo->nb_edges;
	for (unsigned int e = 0; e < n; e++)
		targets[topo->nb_edges++] = (unsigned int)get_to(c, UINT16_MAX);
	reg->nb_edges = n; /* their targets are in the topology; names are not needed here */
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp((*(const struct hy_reg_node *const *)a)->name,
		(*(const struct hy_reg_node *const *)b)->name);
}

/* Statistics find nodes by their names. Returns 0, -EPROTO or -ENOMEM. */
static int
names_check(const struct hy_topology *topo)
{
	const size_t n = topo->nb_nodes, size = sizeof(struct hy_reg_node *);
	struct hy_reg_node **sorted = calloc(n + 1, size);
	int rc = 0;

	if (sorted == NULL)
		return -ENOMEM;
	memcpy(sorted, topo->nodes, n * size);
	qsort(sorted, n, size, by_name);
	for (size_t i = 1; i < n; i++)
		if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
			rc = -EPROTO;
	free(sorted);
	return rc;
}

/* Sources first, edges to nodes that exist. */
static bool
topology_valid(const struct hy_topology *topo)
{
	for (unsigned int e = 0; e < topo->nb_edges; e++)
		if (topo->targets[e] >= topo->nb_nodes)
			return false;
	for (unsigned int r = 0; r < topo->nb_nodes; r++)
		if (((topo->nodes[r]->flags & HY_NODE_SOURCE) != 0) != (r < topo->nb_sources))
			return false;
	return topo->drop_rank < topo->nb_nodes && topo->nb_sources > 0 &&
		topo->nb_sources <= topo->nb_nodes;
}

static int
topology_parse(struct cursor *c, const struct hy_graph_params *params, struct hy_topology *topo,
	struct hy_share_description *d)
{
	struct hy_twins twins;
	unsigned int n;
	int rc = 0;

	topo->stream_cap = (uint32_t)get_to(c, UINT32_MAX);
	topo->cyclic = get_to(c, 1) != 0;
	topo->throttled = get_to(c, 1) != 0;
	topo->nb_sources = (unsigned int)get_to(c, UINT16_MAX);
	topo->drop_rank = (unsigned int)get_to(c, UINT16_MAX);
	n = (unsigned int)get_to(c, UINT16_MAX);
	topo->nodes = table_new(c, n, sizeof(struct hy_reg_node *), &rc);
	topo->first_edge = table_new(c, n + 1, sizeof(*topo->first_edge), &rc);
	while (rc == 0 && !c->bad && topo->nb_nodes < n)
		rc = node_parse(c, params, topo, d);
	if (rc == 0 && (c->bad || !topology_valid(topo)))
		rc = -EPROTO;
	if (rc < 0)
		return rc;
	topo->first_edge[n] = topo->nb_edges;
	/* It keeps the rules that a compiled topology keeps. */
	rc = names_check(topo);
	if (rc == 0)
		rc = hy_edges_distinct(n, topo->first_edge, topo->targets, &twins);
	return rc == -EEXIST ? -EPROTO : rc;
}

static int
image_parse(struct cursor *c, struct hy_share_description *d)
{
	struct hy_share_image *shared = &d->images[d->nb_images++];
	struct hy_topology topo = { 0 };
	struct hy_wide_lane wide[HY_WIDE_MAX] = { 0 };
	struct hy_graph_params params = { .wide = wide };
	int rc;

	shared->serial = get(c);
	params.burst = (uint16_t)get_to(c, HY_BURST_MAX);
	params.source_budget = (uint16_t)get_to(c, HY_BURST_MAX);
	params.sample_every = (uint16_t)get_to(c, UINT16_MAX);
	params.max_sweeps = (uint16_t)get_to(c, UINT16_MAX);
	for (unsigned int l = 0; l < HY_LANES_MAX; l++)
		params.lanes[l] = or_null(get_name(c, false));
	params.nb_wide = wide_parse(c, wide);
	if (c->bad || hy_wide_check("graph", "", params.lanes, wide, params.nb_wide) < 0)
		return -EPROTO;
	rc = topology_parse(c, &params, &topo, d);
	if (rc == 0)
		rc = hy_image_outline(&params, &topo, 0, &shared->image);
	hy_topology_free(&topo);
	if (rc == 0)
		rc = place_parse(c, &shared->place);
	if (rc == 0 && (c->bad || shared->serial == 0 || shared->place.size != shared->image->size))
		rc = -EPROTO;
	return rc;
}

/* The graph of a copy, which has no image yet. */
static int
copy_new(struct cursor *c, const char *name, const struct hy_object_ops *ops,
	struct hy_share_description *d)
{
	struct hy_control *control = calloc(1, sizeof(*control));
	const char *drop_node;

	/* Room for the graph to begin at a cache line. */
	d->memory = calloc(1, sizeof(struct hy_graph) + RTE_CACHE_LINE_SIZE);
	if (control == NULL || d->memory == NULL) {
		free(control);
		return -ENOMEM;
	}
	d->copy = RTE_PTR_ALIGN_CEIL(d->memory, RTE_CACHE_LINE_SIZE);
	d->copy->control = control;
	strcpy(control->name, name);
	control->worker = control->params.worker = (uint16_t)get_to(c, UINT16_MAX);
	control->socket = control->params.socket = (int)(int64_t)get(c);
	control->params.ops = ops;
	drop_node = or_null(get_name(c, false));
	if (drop_node != NULL) {
		control->params.drop_node = strdup(drop_node);
		if (control->params.drop_node == NULL)
			return -ENOMEM;
	}
	return history_parse(c, &control->history);
}

/* Records after the trace, a power of two. */
static bool
trace_valid(const struct hy_share_description *d)
{
	const size_t size = sizeof(struct hy_trace), record = sizeof(struct hy_trace_record);

	return d->trace_serial == 0 ||
		(d->trace.size > size && (d->trace.size - size) % record == 0 &&
			(d->trace.size - size) / record <= HY_TRACE_RECORDS_MAX &&
			rte_is_power_of_2((uint32_t)((d->trace.size - size) / record)));
}

static int
parse(struct cursor *c, const char *name, const struct hy_object_ops *ops,
	struct hy_share_description *d)
{
	unsigned int n = 0;
	int rc;

	for (unsigned int i = 0; i < RTE_DIM(hy_share_layout); i++)
		c->bad |= get(c) != hy_share_layout[i];
	c->bad |= strcmp(get_name(c, true), name) != 0;
	d->pid = (pid_t)get_to(c, INT32_MAX);
	if (c->bad)
		return -EPROTO;
	rc = copy_new(c, name, ops, d);
	if (rc == 0)
		rc = place_parse(c, &d->graph);
	if (rc == 0 && !c->bad) {
		d->trace_serial = get(c);
		if (d->trace_serial != 0)
			rc = place_parse(c, &d->trace);
		n = (unsigned int)get_to(c, HY_SHARE_IMAGES);
	}
	for (unsigned int i = 0; i < n && rc == 0 && !c->bad; i++)
		rc = image_parse(c, d);
	if (rc == 0 &&
		(c->bad || c->left != 0 || d->nb_images == 0 ||
			d->graph.size != sizeof(struct hy_graph) || !trace_valid(d)))
		rc = -EPROTO;
	return rc;
}

int
hy_share_parse(const char *name, const void *bytes, size_t size, const struct hy_object_ops *ops,
	struct hy_share_description *d)
{
	struct cursor c = { .at = bytes, .left = size };
	int rc;

	*d = (struct hy_share_description){ 0 };
	rc = parse(&c, name, ops, d);
	if (rc < 0)
		hy_share_description_free(d);
	return rc;
}

void
hy_share_description_free(struct hy_share_description *d)
{
	for (unsigned int i = 0; i < d->nb_images; i++) {
		if (d->images[i].image != NULL)
			hy_image_free(d->images[i].image);
		hy_share_place_free(&d->images[i].place);
	}
	for (unsigned int i = 0; i < d->nb_regs; i++)
		hy_reg_node_free(d->regs[i]);
	free(d->regs);
	hy_share_place_free(&d->graph);
	hy_share_place_free(&d->trace);
	if (d->copy != NULL) {
		hy_stats_free(d->copy->control->history);
		hy_params_free(&d->copy->control->params);
		free(d->copy->control);
	}
	free(d->memory);
	*d = (struct hy_share_description){ 0 };
}
