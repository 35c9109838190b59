/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine: what it draws from, how it starts, steps and stops. See graph_machine.h. */

#include "graph_machine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/test/unit.h"
#include "graph_machine_model.h"

struct machine machine;
struct machine_counts machine_counts;
const char *const machine_lane_names[LANES] = { "value", "x", "y", "wide", "widest" };
const uint16_t machine_lane_bytes[LANES] = { 4, 4, 4, 16, 64 };

void
machine_wrong(const char *format, ...)
{
	va_list ap;

	if (machine.fault[0] != '\0')
		return;
	va_start(ap, format);
	vsnprintf(machine.fault, sizeof(machine.fault), format, ap);
	va_end(ap);
}

const char *
machine_fault(void)
{
	return machine.fault[0] == '\0' ? NULL : machine.fault;
}

static uint32_t
splitmix(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 32);
}

uint32_t
machine_mix(uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t state = ((uint64_t)a << 32 | b) ^ ((uint64_t)c << 20);

	return splitmix(&state);
}

bool
machine_has_more(void)
{
	return machine.setup.bytes == NULL || machine.drawn < machine.setup.nb_bytes;
}

uint32_t
machine_draw(uint32_t n)
{
	uint32_t value = 0;

	if (machine.setup.bytes == NULL)
		return splitmix(&machine.setup.seed) % n;
	for (uint32_t room = 1; room < n && machine_has_more(); room <<= 8)
		value = value << 8 | machine.setup.bytes[machine.drawn++];
	return value % n;
}

void
machine_name(unsigned int node, char name[HY_NAME_SIZE])
{
	const unsigned int half = machine.setup.nb_nodes / 2;

	snprintf(name, HY_NAME_SIZE, node < half ? "n%u" : "n%u-c", node % half);
}

unsigned int
machine_draw_node(void)
{
	return machine_draw(machine.setup.nb_nodes);
}

/* A registered node, mostly; what becomes of one that is not is of interest too. */
unsigned int
machine_draw_registered(void)
{
	unsigned int node = machine_draw_node();

	for (unsigned int i = 0; i < 8 && !machine.nodes[node].registered; i++)
		node = machine_draw_node();
	return node;
}

void
machine_start(const struct machine_setup *setup)
{
	machine_fuse_none();
	memset(&machine, 0, sizeof(machine));
	machine.setup = *setup;
	if (setup->nb_objs == 0)
		machine.setup.nb_objs = MACHINE_OBJS;
	machine.heap_before = unit_heap_live();
	machine.live_before = unit_alloc_live();
	machine_counts.runs++;
}

void
machine_register_all(bool chained)
{
	for (unsigned int i = 0; i < machine.setup.nb_nodes; i++)
		machine_register(i);
	for (unsigned int i = 0, next; i < machine.setup.nb_nodes && chained; i++) {
		for (next = i + 1; next < machine.setup.nb_nodes && machine.nodes[next].source;)
			next++;
		if (next < machine.setup.nb_nodes)
			machine_edge_add(i, next);
	}
}

void
machine_create_some(unsigned int graph)
{
	const struct machine_params params = machine_draw_params();

	machine_compile(graph, &params, false);
}

/* Mostly forward, for what has cycles is not fused. */
static void
step_edge(bool add)
{
	const unsigned int a = machine_draw_registered(), b = machine_draw_node();
	const bool turned = b < a && machine_draw(16) != 0;

	if (add)
		machine_edge_add(turned ? b : a, turned ? a : b);
	else
		machine_edge_set(turned ? b : a, turned ? a : b);
}

static void
step_registry(unsigned int what)
{
	if (machine.setup.bare && what >= 6) {
		step_edge(what != 6);
		return;
	}
	switch (what) {
	case 0:
		machine_register(machine_draw_node());
		break;
	case 1:
		machine_unregister(machine_draw_node());
		break;
	case 2:
		machine_clone(machine_draw_registered());
		break;
	case 3:
		machine_configure(machine_draw_registered());
		break;
	case 4:
		machine_impl_set(machine_draw_registered());
		break;
	case 5:
		machine_edge_shrink(machine_draw_registered());
		break;
	case 6:
		machine_edge_set(machine_draw_registered(), machine_draw_node());
		break;
	default:
		machine_edge_add(machine_draw_registered(), machine_draw_node());
	}
}

static void
step_graph(unsigned int what, unsigned int graph)
{
	struct machine_graph *g = &machine.graphs[graph];

	switch (what) {
	case 0:
		machine_destroy(graph);
		break;
	case 1:
		machine_graph_clone(graph);
		break;
	case 2:
		machine_export(graph);
		break;
	case 3:
	case 4:
		machine_compare(graph);
		break;
	case 5:
	case 6:
		if (g->graph != NULL)
			machine_compile(graph, &g->params, true);
		break;
	case 7:
	case 8:
	case 9:
		machine_create_some(graph);
		break;
	default:
		machine_walk(graph);
	}
}

void
machine_step(void)
{
	const unsigned int what = machine_draw(32);

	machine_counts.steps++;
	if (machine.setup.bare && machine_draw(4) == 0)
		machine_fuse();
	if (what < 10)
		step_registry(what);
	else if (what == 10)
		step_graph(0, machine_draw(MACHINE_GRAPHS));
	else
		step_graph(what - 10, machine_draw(8) == 0);
}

void
machine_stop(void)
{
	for (unsigned int i = 0; i < MACHINE_GRAPHS; i++) {
		machine_walk(i);
		machine_compare(i);
	}
	for (unsigned int i = 0; i < MACHINE_GRAPHS; i++)
		machine_destroy(i);
	for (unsigned int i = 0; i < machine.setup.nb_nodes; i++)
		machine_unregister(i);
	machine_fuse_none();
	for (uint32_t i = 0; i < machine.nb_objs; i++)
		CHECK(machine_objs[i].state == DONE, "object %u is in state %d at the end", i,
			(int)machine_objs[i].state);
	CHECK(unit_heap_live() == machine.heap_before, "DPDK's heap: %u blocks, %u before",
		unit_heap_live(), machine.heap_before);
	CHECK(unit_alloc_live() == machine.live_before, "malloc: %jd blocks, %jd before",
		(intmax_t)unit_alloc_live(), (intmax_t)machine.live_before);
}
