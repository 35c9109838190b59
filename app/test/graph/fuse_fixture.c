/* SPDX-License-Identifier: BSD-3-Clause */
/* A chain, its fusion and their traffic; see fuse_fixture.h. */

#include <string.h>

#include "fuse_fixture.h"

#define MARKS 512 /* of objects that took three edges at most */
#define CLASSES 3 /* of objects, by the node that they come to first */

struct fuse_rig rig;
const char *const fuse_patterns[1] = { "s*" };

/* The number after that of the last object that came to an end, by its class and mark. */
static uint32_t last[CLASSES][MARKS];

static const uint16_t on[] = { 0, 1 };    /* the edges along the chain */
static const uint16_t aside[] = { 1, 0 }; /* the edges of "a" and "b" to "aside" */

/* Whether an object goes to "d": of some hundred in a row none, all, half, few or most. */
static bool
forks(const struct obj *obj)
{
	static const uint32_t shares[] = { 0, 128, 256, 128, 0, 256, 8, 248 };
	uint64_t seed = obj->id;

	return rnd(&seed) % 256 < shares[obj->id / 300 % RTE_DIM(shares)];
}

/* The edge that an object takes from a node of the chains. */
static uint16_t
way(unsigned int stage, const struct obj *obj)
{
	uint64_t seed = (uint64_t)(stage == FUSE_FORK ? ~obj->id : obj->id) * FUSE_STAGES + stage;
	const uint32_t r = rnd(&seed);

	if (rig.rare == 0 || r % rig.rare != 0) {
		if (stage == 0 && rig.fork)
			return forks(obj);
		return stage < 2 ? on[stage] : (uint16_t)(r / 256 % rig.targets);
	}
	if (stage < 2 && r / rig.rare % 2 == 0 && !(rig.fork && stage == 0))
		return aside[stage];
	return HY_DROP(r / rig.rare / 2 % 2);
}

static uint16_t
pass(unsigned int stage, struct obj *obj)
{
	const uint16_t edge = way(stage, obj);
	const uint32_t digit = (int16_t)edge >= 0 ? 1u + edge : edge == HY_DROP(0) ? 6 : 7;

	obj->hops++;
	obj->mark = obj->mark * 8 + digit;
	return edge;
}

/* "a" writes the lane; "b" reads and writes it, "c" and "d" read it. */
static void
lane_pass(struct hy_graph *graph, const struct hy_node *node, unsigned int stage, void **objs,
	uint16_t n)
{
	uint32_t *lane = hy_lane(graph, node, 0);

	if (stage == 0) /* what the source wrote */
		for (uint16_t i = 0; i < n; i++)
			obj_faults += lane[i] != ~((struct obj *)objs[i])->id;
	stage = stage == FUSE_FORK ? 1 : stage;

	for (uint16_t i = 0; i < n; i++) {
		const uint32_t value = ~((struct obj *)objs[i])->id;

		obj_faults += stage > 0 && lane[i] != value + stage;
		lane[i] = value + stage + 1;
	}
}

static bool
is_one_way(const uint16_t next[], uint16_t n)
{
	uint16_t i = 1;

	while (i < n && next[i] == next[0])
		i++;
	return i >= n;
}

static uint16_t
stage_run(struct hy_graph *graph, struct hy_node *node, unsigned int stage, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	obj_faults += probe_hit(node, n) != &rig.stage[stage];
	for (uint16_t i = 0; i < n; i++)
		next[i] = pass(stage, objs[i]);
	if (rig.lanes)
		lane_pass(graph, node, stage, objs, n);
	hy_counter_add(node, 0, n);
	if (is_one_way(next, n))
		hy_stream_move(graph, node, next[0], n);
	else
		hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
stage_a(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return stage_run(graph, node, 0, objs, n);
}

static uint16_t
stage_b(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return stage_run(graph, node, 1, objs, n);
}

static uint16_t
stage_c(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return stage_run(graph, node, 2, objs, n);
}

static uint16_t
stage_d(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return stage_run(graph, node, FUSE_FORK, objs, n);
}

uint16_t
fuse_other_b(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		obj_faults += ((struct obj *)objs[i])->refs !=
			1; /* not the same code as stage_b() */
	return stage_run(graph, node, 1, objs, n);
}

hy_node_process_t *const fuse_process[FUSE_STAGES] = { stage_a, stage_b, stage_c };

static bool
passes_all(const struct obj *obj)
{
	return way(0, obj) == on[0] && way(1, obj) == on[1];
}

static uint16_t
fused(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	uint16_t i = 0;

	obj_faults += !rig.fork && objs != nodes[0]->stream + graph->cursor;
	if (rig.declines > 0) {
		rig.declines--;
		n = 0;
	}
	for (; i < n && passes_all(objs[i]); i++)
		for (unsigned int s = 0; s < FUSE_STAGES; s++)
			next[i] = pass(s, objs[i]);
	for (unsigned int s = 0; s < FUSE_STAGES; s++) {
		obj_faults += probe_of(nodes[s]) != &rig.stage[s];
		hy_counter_add(nodes[s], 0, i);
	}
	hy_count(i == 0 ? &rig.none : i == n ? &rig.whole : &rig.parted, 1);
	return i;
}

const struct hy_fuse fuse_abc = { .name = "abc",
	.nb_nodes = FUSE_STAGES,
	.process = { stage_a, stage_b, stage_c },
	.edge = { 0, 1 },
	.run = fused };

static uint16_t
fused_ad(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	uint16_t i = 0;

	for (; i < n && way(0, objs[i]) == 1; i++) {
		next[i] = way(FUSE_FORK, objs[i]);
		if ((int16_t)next[i] < 0)
			break;
		pass(0, objs[i]);
		pass(FUSE_FORK, objs[i]);
	}
	obj_faults += probe_of(nodes[0]) != &rig.stage[0];
	obj_faults += probe_of(nodes[1]) != &rig.stage[FUSE_FORK];
	hy_counter_add(nodes[0], 0, i);
	hy_counter_add(nodes[1], 0, i);
	hy_count(&rig.forked, i > 0);
	hy_count(&rig.picked, i > 0 && objs != nodes[0]->stream + graph->cursor);
	return i;
}

/* Of objects that "a" drops, it picks some. */
static void
pick_ad(struct hy_node *const nodes[], void *const objs[], uint16_t n, uint64_t mine[HY_FUSE_WORDS])
{
	obj_faults += probe_of(nodes[0]) != &rig.stage[0];
	obj_faults += n == 0 || n > HY_BURST_MAX;
	hy_count(&rig.picks, 1);
	memset(mine, 0, (n + 63u) / 64 * sizeof(*mine));
	for (uint16_t i = 0; i < n; i++) {
		const struct obj *obj = objs[i];
		const uint16_t edge = way(0, obj);
		const bool is = (int16_t)edge < 0 ? obj->id % 2 == 0 : edge == 1;

		mine[i / 64] |= (uint64_t)is << i % 64;
	}
}

const struct hy_fuse fuse_ad = { .name = "ad",
	.nb_nodes = 2,
	.process = { stage_a, stage_d },
	.edge = { 1 },
	.run = fused_ad,
	.pick = pick_ad };

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct probe *probe = probe_of(node);
	const uint32_t from = probe == &rig.to_b ? 1 : probe == &rig.to_c ? 2 : 0;

	n = probe_make(probe_of(node), objs, n);
	probe_hit(node, n);
	for (uint16_t i = 0; i < n; i++) {
		struct obj *obj = objs[i];

		obj->from = from;
		if (rig.lanes)
			hy_lane(graph, node, 0)[i] = ~obj->id + from;
	}
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
end(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint32_t which = 1 + (uint32_t)(probe_hit(node, n) - rig.end);

	for (uint16_t i = 0; i < n; i++) {
		struct obj *obj = objs[i];
		uint32_t *before = &last[obj->from][obj->mark % MARKS];

		obj_faults += obj->mark >= MARKS || *before > obj->id || obj->hops >= 256;
		*before = obj->id + 1;
		obj->hops += 256 * which;
	}
	hy_release(graph, objs, n);
	return n;
}

static void
stages_add(void)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	static const char *const edges[][FUSE_TARGETS] = { { "b", "aside" }, { "aside", "c" },
		{ "t0", "t1", "t2", "t3" }, { "t0", "t1", "t2", "t3" } };

	for (unsigned int s = 0; s < (rig.fork ? FUSE_STAGES + 1 : FUSE_STAGES); s++) {
		struct hy_node_desc desc = { .name = names[s],
			.impl = { .variant = "one",
				.process = s == FUSE_FORK ? stage_d : fuse_process[s] },
			.replicates = s == 1 ? rig.replicates : 0,
			.drops = { { "d0", HY_SEV_INFO, "" }, { "d1", HY_SEV_INFO, "" } },
			.counters = { { "seen" } } };

		desc.lanes[0] = rig.lanes ? "word" : NULL;
		memcpy(desc.edges, edges[s], (s < 2 ? 2 : rig.targets) * sizeof(*edges[s]));
		if (s == 0 && rig.fork)
			desc.edges[1] = names[FUSE_FORK];
		rig.id[s] = node_add(&rig.stage[s], &desc);
	}
}

static void
sources_add(void)
{
	static const char *const names[] = { "s0", "s1", "s2", "s3", "sb", "sc" };
	struct probe *const probes[] = { &rig.src[0], &rig.src[1], &rig.src[2], &rig.src[3],
		&rig.to_b, &rig.to_c };

	for (unsigned int s = 0; s < RTE_DIM(names); s++) {
		struct hy_node_desc desc = { .name = names[s],
			.flags = HY_NODE_SOURCE,
			.impl.process = source,
			.edges = { s < FUSE_SOURCES ? "a" : names[s] + 1 } };

		desc.lanes[0] = rig.lanes ? "word" : NULL;
		*probes[s] = (struct probe){ 0 };
		node_add(probes[s], &desc);
	}
}

void
fuse_objs_anew(void)
{
	memset(last, 0, sizeof(last));
	obj_made = 0;
}

void
fuse_nodes_add(void)
{
	static const char *const names[] = { "t0", "t1", "t2", "t3", "aside", "bin" };

	memset(rig.stage, 0, sizeof(rig.stage));
	memset(rig.end, 0, sizeof(rig.end));
	rig.whole = rig.parted = rig.none = rig.forked = rig.picked = rig.picks = 0;
	fuse_objs_anew();
	sources_add();
	stages_add();
	for (unsigned int e = 0; e < FUSE_ENDS; e++) {
		struct hy_node_desc desc = { .name = names[e], .impl.process = end };

		if (rig.cyclic && e == FUSE_TARGETS)
			desc.edges[0] = "a";
		if (rig.lane_of != NULL && strcmp(rig.lane_of, names[e]) == 0) {
			desc.lanes[0] = "word";
			desc.lanes_set = rig.lane_is_set;
		}
		node_add(&rig.end[e], &desc);
	}
}

void
fuse_walk_with(struct hy_graph *graph, uint32_t n)
{
	rig.src[0].budget = n;
	hy_graph_walk(graph);
}

void
fuse_walk(struct hy_graph *graph, uint64_t *seed)
{
	const unsigned int busy = rnd(seed) % 4 == 0 ? FUSE_SOURCES : 1;
	const uint32_t burst = hy_graph_burst(graph);

	for (unsigned int s = 0; s < busy; s++)
		rig.src[s].budget = rnd(seed) % 2 == 0 ? burst : rnd(seed) % (burst + 1);
	rig.to_b.budget = rnd(seed) % 4 == 0 ? rnd(seed) % 8 : 0;
	rig.to_c.budget = rnd(seed) % 4 == 0 ? rnd(seed) % 8 : 0;
	hy_graph_walk(graph);
}

bool
fuse_runs(struct hy_graph *graph)
{
	const uint64_t before = rig.whole + rig.parted + rig.none;
	struct hy_node *node;
	const char *name;
	bool runs;

	for (unsigned int i = 0; i < 4; i++)
		fuse_walk_with(graph, 4);
	runs = rig.whole + rig.parted + rig.none == before + 4;
	assert_true(runs || rig.whole + rig.parted + rig.none == before);
	assert_int_equal(hy_graph_node(graph, "a", &node), 0);
	name = hy_graph_node_fused(graph, node, 0);
	assert_int_equal(name != NULL, runs);
	if (runs)
		assert_string_equal(name, "abc");
	return runs;
}

int
fuse_teardown(void **state)
{
	rig = (struct fuse_rig){ .replicates = 0 };
	hy_fuse_withdraw(&fuse_abc);
	hy_fuse_withdraw(&fuse_ad);
	return graph_teardown(state);
}
