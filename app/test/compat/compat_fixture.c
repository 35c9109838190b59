/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects, nodes and graphs for the tests of the adapter; see compat_fixture.h. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat_fixture.h"

#define PROBES_MAX 256

struct obj objs_all[OBJS_MAX];
uint32_t objs_made, objs_released;
unsigned int obj_faults;

static struct {
	char name[RTE_NODE_NAMESIZE];
	struct probe *probe;
} probes[PROBES_MAX];
static unsigned int nb_probes;
static bool probes_gone; /* they may lie on the stack of a test that has returned */
static unsigned int heap_before;

const char *
name_of(const char *test, const char *name)
{
	static char names[PROBES_MAX][RTE_NODE_NAMESIZE];
	static unsigned int n;
	char made[RTE_NODE_NAMESIZE];
	unsigned int i = 0;

	snprintf(made, sizeof(made), "%.44s.%s", test, name);
	while (i < n && strcmp(names[i], made) != 0)
		i++;
	if (i == n) {
		assert_true(n < PROBES_MAX);
		strcpy(names[n++], made);
	}
	return names[i];
}

struct probe *
probe_hit(struct rte_node *node, void **objs, uint16_t n)
{
	struct probe *probe = probe_of(node);

	probe->calls++;
	probe->objs += n;
	probe->most = RTE_MAX(probe->most, n);
	probe->array = objs;
	obj_faults += node->objs != objs || node != probe->node;
	return probe;
}

PROCESS(probe_source)
{
	struct probe *probe = probe_of(node);
	uint32_t made = RTE_MIN(probe->budget, probe->per_call > 0 ? probe->per_call : BURST);

	obj_faults += n != 0;
	if (objs_made + made > OBJS_MAX) {
		obj_faults++;
		made = 0;
	}
	probe->budget -= made;
	for (uint32_t i = 0; i < made; i++) {
		struct obj *obj = &objs_all[objs_made];

		*obj = (struct obj){ .id = objs_made++ };
		node->objs[i] = obj;
	}
	node->idx = (uint16_t)made;
	probe_hit(node, objs, (uint16_t)made);
	rte_node_next_stream_move(graph, node, 0);
	return (uint16_t)made;
}

PROCESS(probe_pass)
{
	probe_hit(node, objs, n);
	rte_node_next_stream_move(graph, node, 0);
	return n;
}

PROCESS(probe_spread)
{
	probe_hit(node, objs, n);
	for (uint16_t i = 0; i < n; i++)
		rte_node_enqueue_x1(graph, node, i % node->nb_edges, objs[i]);
	return n;
}

PROCESS(probe_copy)
{
	const struct probe *probe = probe_hit(node, objs, n);

	for (uint16_t c = 0; c < probe->copies; c++)
		rte_node_enqueue(graph, node, 0, objs, n);
	return n;
}

PROCESS(probe_sink)
{
	struct probe *probe = probe_hit(node, objs, n);

	RTE_SET_USED(graph);
	for (uint16_t i = 0; i < n; i++) {
		struct obj *obj = objs[i];

		obj->seen++;
		probe->backwards += obj->id < probe->last;
		probe->last = obj->id + 1;
	}
	return n;
}

static int
probe_init(const struct rte_graph *graph, struct rte_node *node)
{
	for (unsigned int i = 0; i < nb_probes; i++) {
		if (strcmp(probes[i].name, node->name) != 0)
			continue;
		*(struct probe **)node->ctx = probes[i].probe;
		probes[i].probe->node = node;
		if (probes[i].probe->process != NULL)
			node->process = probes[i].probe->process;
		if (probes[i].probe->in_init != NULL)
			probes[i].probe->in_init(graph);
		probes[i].probe->inits += probes[i].probe->init_rc == 0;
		return probes[i].probe->init_rc;
	}
	return -1;
}

static void
probe_fini(const struct rte_graph *graph, struct rte_node *node)
{
	RTE_SET_USED(graph);
	if (!probes_gone)
		probe_of(node)->finis++;
}

static void
probe_add(const char *name, struct probe *probe)
{
	assert_true(nb_probes < PROBES_MAX);
	snprintf(probes[nb_probes].name, RTE_NODE_NAMESIZE, "%s", name);
	probes[nb_probes++].probe = probe;
}

rte_node_t
node_add(struct probe *probe, const char *name, rte_node_process_t process,
	const char *const *targets)
{
	struct rte_node_register *reg;
	uint16_t n = 0;
	rte_node_t id;

	while (targets[n] != NULL)
		n++;
	reg = calloc(1, sizeof(*reg) + n * sizeof(char *));
	assert_non_null(reg);
	snprintf(reg->name, sizeof(reg->name), "%s", name);
	reg->flags = process == probe_source ? RTE_NODE_SOURCE_F : 0;
	reg->process = process;
	reg->init = probe == NULL ? NULL : probe_init;
	reg->fini = probe == NULL ? NULL : probe_fini;
	reg->parent_id = RTE_NODE_ID_INVALID;
	reg->nb_edges = n;
	memcpy(reg->next_nodes, targets, n * sizeof(char *));
	if (probe != NULL)
		probe_add(name, probe);
	id = __rte_node_register(reg);
	free(reg);
	return id;
}

rte_graph_t
graph_try(const char *name, const char *pattern)
{
	struct rte_graph_param prm = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = &pattern
	};

	unit_log_clear();
	return rte_graph_create(name, &prm);
}

static void
obj_release(void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		((struct obj *)objs[i])->released++;
	objs_released += n;
}

struct rte_graph *
graph_add(const char *name, const char *pattern)
{
	struct rte_graph *graph;

	if (graph_try(name, pattern) == RTE_GRAPH_ID_INVALID)
		fail_msg("graph '%s' is refused: %s", name, unit_log());
	graph = rte_graph_lookup(name);
	assert_non_null(graph);
	hy_compat_graph_objects(graph, &(struct hy_object_ops){ .release = obj_release });
	return graph;
}

int
graph_update(struct rte_graph *graph, const char *pattern)
{
	const struct rte_graph_param prm = { .nb_node_patterns = 1, .node_patterns = &pattern };

	unit_log_clear();
	return hy_compat_graph_update(graph->id, &prm);
}

char *
printed(void (*print)(FILE *f, void *arg), void *arg)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	print(f, arg);
	fclose(f);
	return text;
}

int
compat_setup(void **state)
{
	RTE_SET_USED(state);
	objs_made = objs_released = 0;
	probes_gone = false;
	obj_faults = 0;
	unit_alloc_fail(0);
	unit_log_clear();
	heap_before = unit_heap_live();
	return 0;
}

/* Graphs leave nothing behind on DPDK's heaps; what nodes keep is there for good. */
int
compat_teardown(void **state)
{
	RTE_SET_USED(state);
	unit_alloc_fail(0);
	probes_gone = true;
	for (rte_graph_t id = 0; rte_graph_max_count() > 0; id++)
		rte_graph_destroy(id);
	nb_probes = 0;
	if (unit_heap_live() != heap_before || obj_faults != 0) {
		print_error("blocks on the heap: %u before, %u after; faults: %u\n", heap_before,
			unit_heap_live(), obj_faults);
		return -1;
	}
	return 0;
}
