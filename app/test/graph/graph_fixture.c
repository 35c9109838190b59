/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects, nodes and graphs for the tests of the graph core; see graph_fixture.h. */

#include <pthread.h>
#include <stdatomic.h>

#include "graph_fixture.h"

#include "lib/graph/compile/image.h"
#include "lib/graph/update/control.h"

struct obj obj_all[OBJS_MAX];
uint32_t obj_made;
uint64_t obj_under_way;
unsigned int obj_faults;

const struct hy_object_ops obj_ops = { .release = obj_release };

struct probe probe_nobody;
static unsigned int probe_calls;
static bool probes_gone; /* they may lie on the stack of a test that has returned */
static unsigned int heap_before;
static int64_t live_before;

struct obj *
obj_new(void)
{
	struct obj *obj = &obj_all[obj_made % OBJS_MAX];

	if (obj_made >= OBJS_MAX)
		obj_faults++;
	*obj = (struct obj){ .id = obj_made++, .refs = 1 };
	obj_under_way++;
	return obj;
}

void
obj_release(void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct obj *obj = objs[i];

		if (obj < obj_all || obj >= obj_all + OBJS_MAX || obj->refs <= 0) {
			obj_faults++;
			continue;
		}
		obj->refs--;
		obj_under_way--;
	}
}

void
obj_ref(void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		((struct obj *)objs[i])->refs++;
	obj_under_way += n;
}

static int
probe_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	*(struct probe **)node->ctx = *(struct probe *const *)config;
	probe_of(node)->inits++;
	return 0;
}

static void
probe_fini(const struct hy_graph *graph, struct hy_node *node)
{
	RTE_SET_USED(graph);
	if (!probes_gone)
		probe_of(node)->finis++;
}

void
probes_forget(void)
{
	probes_gone = true;
}

struct probe *
probe_hit(const struct hy_node *node, uint16_t n)
{
	struct probe *probe = probe_of(node);

	probe->calls++;
	probe->objs += n;
	probe->most = RTE_MAX(probe->most, n);
	probe->least = probe->least == 0 ? n : RTE_MIN(probe->least, n);
	probe->order = ++probe_calls;
	return probe;
}

uint16_t
probe_make(struct probe *probe, void **objs, uint16_t n)
{
	n = (uint16_t)RTE_MIN(n, probe->budget);
	if (probe->per_call > 0)
		n = RTE_MIN(n, probe->per_call);
	probe->budget -= n;
	for (uint16_t i = 0; i < n; i++)
		objs[i] = obj_new();
	return n;
}

uint16_t
probe_source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t made = probe_make(probe_of(node), objs, n);

	probe_hit(node, made);
	hy_stream_move(graph, node, 0, made);
	return made;
}

uint16_t
probe_pass(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	probe_hit(node, n);
	hy_stream_move(graph, node, 0, n);
	return n;
}

uint16_t
probe_spread(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t nb_edges = probe_hit(node, n)->nb_edges;
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		next[i] = i % nb_edges;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

uint16_t
probe_drop(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	probe_hit(node, n);
	hy_enqueue(graph, node, HY_DROP(0), objs, n);
	return n;
}

uint16_t
probe_sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	probe_hit(node, n);
	hy_release(graph, objs, n);
	return n;
}

uint16_t
probe_replicate(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct probe *probe = probe_hit(node, n);

	for (uint16_t c = 1; c < probe->copies; c++)
		obj_ref(objs, n);
	for (uint16_t c = 0; c < probe->copies; c++)
		hy_enqueue(graph, node, c % probe->nb_edges, objs, n);
	return n;
}

hy_node_id
node_add(struct probe *probe, const struct hy_node_desc *desc)
{
	struct hy_node_desc full = *desc;
	hy_node_id id = 0;

	if (probe != NULL) {
		if (full.impl.init == NULL)
			full.impl.init = probe_init;
		if (full.impl.fini == NULL)
			full.impl.fini = probe_fini;
		full.impl.ctx_size = RTE_MAX(full.impl.ctx_size, sizeof(struct probe *));
	}
	assert_int_equal(hy_node_register(&full, &id), 0);
	if (probe != NULL)
		assert_int_equal(hy_node_config(id, &probe, sizeof(struct probe *)), 0);
	return id;
}

hy_node_id
source_add(struct probe *probe, const char *name, const char *to)
{
	return NODE(probe, .name = name, .flags = HY_NODE_SOURCE, .impl.process = probe_source,
		.edges = { to });
}

hy_node_id
pass_add(struct probe *probe, const char *name, const char *to)
{
	return NODE(probe, .name = name, .impl.process = probe_pass, .edges = { to });
}

hy_node_id
sink_add(struct probe *probe, const char *name)
{
	return NODE(probe, .name = name, .impl.process = probe_sink);
}

int
graph_try(const char *name, const struct hy_graph_params *params, struct hy_graph **graph)
{
	static const char *const all[] = { "*" };
	struct hy_graph_params full = *params;

	if (full.patterns == NULL) {
		full.patterns = all;
		full.nb_patterns = 1;
	}
	if (full.ops == NULL)
		full.ops = &obj_ops;
	return hy_graph_create(name, &full, graph);
}

struct hy_graph *
graph_add(const char *name, const struct hy_graph_params *params)
{
	struct hy_graph *graph = NULL;

	unit_log_clear();
	if (graph_try(name, params, &graph) != 0)
		fail_msg("graph '%s' is refused: %s", name, unit_log());
	return graph;
}

struct hy_graph *
graph_chain(struct probe *src, const struct hy_object_ops *ops)
{
	source_add(src, "src", "pass");
	pass_add(NULL, "pass", "sink");
	sink_add(NULL, "sink");
	return GRAPH("g", .burst = 8, .ops = ops);
}

struct hy_node *
graph_node(struct hy_graph *graph, const char *name)
{
	struct hy_node *node = NULL;

	if (hy_graph_node(graph, name, &node) != 0)
		fail_msg("graph '%s' has no node '%s'", hy_graph_name(graph), name);
	return node;
}

uint64_t
edge_objs(struct hy_graph *graph, const char *name, uint16_t edge)
{
	return graph_node(graph, name)->edges[(int16_t)edge].objs;
}

uint64_t
stream_full(const struct hy_graph *graph)
{
	uint64_t lost = 0;

	for (unsigned int r = 0; r < graph->plan.nb_nodes; r++)
		lost += graph->plan.nodes[r].edges[-1 - HY_CORE_DROP_STREAM_FULL].objs;
	return lost;
}

uint64_t
waiting(const struct hy_graph *graph)
{
	uint64_t n = 0;

	for (unsigned int r = 0; r < graph->plan.nb_nodes; r++)
		n += graph->plan.nodes[r].waiting;
	return n;
}

static struct {
	pthread_t thread;
	bool runs;
	atomic_bool stop;
} walker;

static void *
walk_on(void *graph)
{
	while (!walker.stop) {
		obj_made = 0;
		hy_graph_walk(graph);
	}
	return NULL;
}

void
walker_start(struct hy_graph *graph)
{
	walker.stop = false;
	assert_int_equal(pthread_create(&walker.thread, NULL, walk_on, graph), 0);
	walker.runs = true;
}

void
walker_stop(void)
{
	walker.stop = true;
	if (walker.runs)
		pthread_join(walker.thread, NULL);
	walker.runs = false;
}

uint32_t
rnd(uint64_t *seed)
{
	/* splitmix64 */
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 32);
}

void
registry_clear(void)
{
	hy_node_id id = 0;

	while (hy_graph_next(NULL) != NULL)
		hy_graph_destroy(hy_graph_next(NULL));
	for (struct hy_reg_node *reg; (reg = hy_registry_next(id)) != NULL;) {
		id = reg->id + 1;
		obj_faults += hy_node_unregister(reg->id) != 0;
	}
}

int
graph_setup(void **state)
{
	RTE_SET_USED(state);
	obj_made = 0;
	obj_under_way = 0;
	obj_faults = 0;
	probe_calls = 0;
	probes_gone = false;
	unit_alloc_fail(0);
	/* The registry keeps its table of ids for ever: let it have one. */
	NODE(NULL, .name = "first", .impl.process = probe_sink);
	registry_clear();
	heap_before = unit_heap_live();
	live_before = unit_alloc_live();
	unit_log_clear();
	return 0;
}

/* Removes what the test left, also one that failed half-way, and what it leaked is a failure. */
int
graph_teardown(void **state)
{
	unsigned int heap;
	int64_t live;

	RTE_SET_USED(state);
	unit_alloc_fail(0);
	walker_stop();
	probes_forget();
	registry_clear();
	heap = unit_heap_live();
	live = unit_alloc_live();
	if (heap != heap_before)
		print_error("blocks of DPDK's heap: %u before, %u after\n", heap_before, heap);
	if (live != live_before)
		print_error("blocks of malloc: %jd before, %jd after\n", (intmax_t)live_before,
			(intmax_t)live);
	if (obj_under_way != 0)
		print_error("%ju objects were lost\n", (uintmax_t)obj_under_way);
	if (obj_faults != 0)
		print_error("%u faults in node code or released objects\n", obj_faults);
	return heap == heap_before && live == live_before && obj_under_way == 0 && obj_faults == 0
		? 0
		: -1;
}
