/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace, the control plane's part: starting, stopping, reading, putting in words. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_pause.h>

#include "lib/graph/common/memory.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/share/share.h"
#include "lib/graph/update/control.h"
#include "trace.h"

static_assert(sizeof(struct hy_trace_record) == 4 * 64, "as hy_trace.h says");

#define RECORDS_AN_OBJECT 16
#define RECORDS_DEFAULT_MAX 4096

/* When a trace has ended, all its records can be read. */
static bool
is_running(const struct hy_trace *trace)
{
	return !trace->stopped && !__atomic_load_n(&trace->ended, __ATOMIC_ACQUIRE);
}

/* Gets the trace back from the worker for good; see trace.h. */
static void
withdraw(struct hy_graph *graph)
{
	struct hy_trace *trace = graph->control->trace;

	if (trace == NULL || trace->stopped)
		return;
	__atomic_and_fetch(&graph->attention, ~HY_ATTEND_TRACE, __ATOMIC_RELAXED);
	while (__atomic_exchange_n(&graph->trace, NULL, __ATOMIC_ACQ_REL) == NULL)
		rte_pause();
	trace->stopped = true;
}

/* Whether a graph has a node, by name; finds its id. */
static int
node_find(const struct hy_graph *graph, const char *name, hy_node_id *id)
{
	const struct hy_image *image = hy_graph_image(graph);

	for (unsigned int r = 0; r < image->plan.nb_nodes; r++) {
		if (strcmp(image->nodes[r].reg->name, name) != 0)
			continue;
		*id = image->nodes[r].reg->id;
		return 0;
	}
	return HY_REFUSE(-ENOENT, "graph '%s': trace: it has no node '%s'", graph->control->name,
		name);
}

static int
params_check(const struct hy_graph *graph, const struct hy_trace_params *params)
{
	if (params == NULL || params->nb_objs == 0)
		return HY_REFUSE(-EINVAL,
			"graph '%s': trace: of no objects; at least 1 is accepted",
			graph->control->name);
	if (params->nb_records > HY_TRACE_RECORDS_MAX)
		return HY_REFUSE(-EINVAL, "graph '%s': trace: %u records; at most %d are accepted",
			graph->control->name, params->nb_records, HY_TRACE_RECORDS_MAX);
	return 0;
}

static struct hy_trace *
trace_alloc(const struct hy_graph *graph, const struct hy_trace_params *params)
{
	uint32_t n = params->nb_records;
	struct hy_trace *trace;

	if (n == 0)
		n = RTE_MIN(params->nb_objs, RECORDS_DEFAULT_MAX / RECORDS_AN_OBJECT) *
			RECORDS_AN_OBJECT;
	n = rte_align32pow2(n);
	trace = hy_memory_zalloc("hy_trace", sizeof(*trace) + n * sizeof(trace->ring[0]),
		graph->control->socket);
	if (trace == NULL)
		return HY_REFUSE(NULL, "graph '%s': trace: no memory for %u records",
			graph->control->name, n);
	trace->nb_records = n;
	trace->nb_objs = params->nb_objs;
	trace->match = params->match;
	trace->arg = params->arg;
	trace->at_sources = params->at == NULL;
	return trace;
}

void
hy_trace_free(struct hy_trace *trace)
{
	if (trace == NULL)
		return;
	hy_share_void(&trace->serial);
	hy_memory_free("hy_trace", trace);
}

static int
start_locked(struct hy_graph *graph, const struct hy_trace_params *params)
{
	struct hy_control *control = graph->control;
	struct hy_trace *trace;
	hy_node_id at = 0;
	int rc = params_check(graph, params);

	if (rc == 0 && params->at != NULL)
		rc = node_find(graph, params->at, &at);
	if (rc < 0)
		return rc;
	if (control->trace != NULL && is_running(control->trace))
		return HY_REFUSE(-EBUSY, "graph '%s': a trace is running; stop it first",
			control->name);
	trace = trace_alloc(graph, params);
	if (trace == NULL)
		return -ENOMEM;
	trace->at = at;
	withdraw(graph);
	hy_trace_free(control->trace);
	control->trace = trace;
	__atomic_store_n(&graph->trace, trace, __ATOMIC_RELEASE);
	__atomic_or_fetch(&graph->attention, HY_ATTEND_TRACE, __ATOMIC_RELEASE);
	hy_share_publish(graph);
	return 0;
}

int
hy_trace_start(struct hy_graph *graph, const struct hy_trace_params *params)
{
	int rc = hy_graph_inside_check("hy_trace_start()");

	if (rc < 0)
		return rc;
	hy_registry_lock();
	rc = hy_graph_busy_check(graph, "hy_trace_start()");
	if (rc == 0)
		rc = start_locked(graph, params);
	hy_registry_unlock();
	return rc;
}

void
hy_trace_stop(struct hy_graph *graph)
{
	if (hy_graph_inside_check("hy_trace_stop()") < 0)
		return;
	hy_registry_lock();
	withdraw(graph);
	hy_registry_unlock();
}

unsigned int
hy_trace_peek(const struct hy_trace *trace, uint32_t nb_records, struct hy_trace_record *records,
	unsigned int n)
{
	const uint32_t head = __atomic_load_n(&trace->head, __ATOMIC_ACQUIRE);

	n = RTE_MIN(n, __atomic_load_n(&trace->tail, __ATOMIC_ACQUIRE) - head);
	for (unsigned int i = 0; i < n; i++)
		records[i] = trace->ring[(head + i) & (nb_records - 1)];
	return n;
}

unsigned int
hy_trace_read(struct hy_graph *graph, struct hy_trace_record *records, unsigned int n)
{
	struct hy_trace *trace;

	hy_registry_lock();
	trace = graph->control->trace;
	n = trace == NULL ? 0 : hy_trace_peek(trace, trace->nb_records, records, n);
	if (n > 0)
		__atomic_store_n(&trace->head, trace->head + n, __ATOMIC_RELEASE);
	hy_registry_unlock();
	return n;
}

void
hy_trace_state_read(const struct hy_trace *trace, struct hy_trace_state *state)
{
	*state = (struct hy_trace_state){
		.running = is_running(trace),
		.marked = (uint32_t)hy_count_read(&trace->marked),
		.unmarked = hy_count_read(&trace->unmarked),
		.recorded = hy_count_read(&trace->recorded),
		.lost = hy_count_read(&trace->lost),
	};
}

int
hy_trace_status(const struct hy_graph *graph, struct hy_trace_state *status)
{
	const struct hy_trace *trace;

	hy_registry_lock();
	trace = graph->control->trace;
	if (trace != NULL)
		hy_trace_state_read(trace, status);
	hy_registry_unlock();
	return trace == NULL ? -ENOENT : 0;
}

/* For records without a formatter. */
static void
format_hex(const struct hy_trace_record *record, char *text, size_t size)
{
	size_t at = 0;

	for (unsigned int l = 0; l < record->nb_lanes && at < size; l++)
		at += (size_t)snprintf(text + at, size - at, "%s%08" PRIx32, at > 0 ? " " : "",
			record->lanes[l]);
	for (unsigned int i = 0; i < record->size && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%02x", at > 0 && i == 0 ? " " : "",
			record->data[i]);
}

/*
 * The node of a record. What the copy of another process's graph knows is whether the node takes
 * snapshots of its own; a formatter it has only if the node is registered here too.
 */
static const struct hy_reg_node *
record_node(const struct hy_graph *graph, const struct hy_trace_record *record)
{
	const struct hy_image *image = graph->control->current;
	const struct hy_reg_node *reg;

	if (graph->control->copied == NULL)
		return hy_registry_get(record->node);
	reg = hy_registry_find(record->name);
	for (unsigned int r = 0; r < image->plan.nb_nodes && reg == NULL; r++)
		if (strcmp(image->nodes[r].reg->name, record->name) == 0)
			reg = image->nodes[r].reg;
	return reg;
}

void
hy_trace_format(const struct hy_graph *graph, const struct hy_trace_record *record, char *text,
	size_t size)
{
	const struct hy_object_ops *ops;
	const struct hy_reg_node *reg;

	if (size == 0)
		return;
	text[0] = '\0';
	hy_registry_lock();
	ops = graph->control->params.ops;
	reg = record_node(graph, record);
	if (reg != NULL && reg->trace.format != NULL)
		reg->trace.format(record, text, size);
	else if (reg != NULL && reg->trace.snapshot == NULL && ops != NULL && ops->format != NULL)
		ops->format(record, text, size);
	else
		format_hex(record, text, size);
	hy_registry_unlock();
}
