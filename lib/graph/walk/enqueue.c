/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hy_enqueue_next(): the scalar body, and which body is the best here. Objects are dealt out like
 * cards: one pass writes each to the end of its target's stream, the ends being kept in a small
 * table; then every target is told once how many it got.
 */

#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "enqueue.h"
#include "lib/graph/compile/image.h"

#define TABLE 128 /* targets that a burst may be dealt to */
#define FEW 8     /* objects that are sent sooner than a table is made */

/* The targets of a burst: first that of drops, then that of each edge from 0 on. */
struct table {
	unsigned int n;
	unsigned int lanes;        /* that some target uses */
	struct hy_node *to[TABLE]; /* NULL: no object goes there */
	void **end[TABLE];         /* of their streams */
};

static inline unsigned int
entry_of(uint16_t next)
{
	const uint16_t entry = (uint16_t)(next + 1);

	/* 0 for all drops. RTE_MAX() would make a detour by a vector register. */
	return entry & ((entry >> 15) - 1u);
}

/* Returns whether the target has room. */
static inline bool
table_set(const struct hy_graph *graph, struct table *table, unsigned int i, struct hy_node *to,
	uint32_t n)
{
	table->to[i] = to;
	table->end[i] = to->stream + to->waiting;
	table->lanes |= to->lanes_in;
	return graph->plan.stream_cap - to->waiting >= n;
}

/*
 * Makes the table, unless it would be too long, a target may not have room, or the target of drops
 * is also that of an edge.
 */
static bool
table_make(const struct hy_graph *graph, const struct hy_node *node, const uint16_t *next,
	uint32_t n, struct table *table)
{
	int16_t most = -1, least = 0;

	for (uint32_t i = 0; i < n; i++) {
		most = RTE_MAX(most, (int16_t)next[i]);
		least = RTE_MIN(least, (int16_t)next[i]);
	}
	table->n = (unsigned int)(most + 2);
	table->lanes = 0;
	table->to[0] = NULL;
	if (table->n > RTE_MIN(TABLE, 2 * n)) /* more would cost more than they save */
		return false;
	if (least < 0 && !table_set(graph, table, 0, node->edges[(int16_t)HY_DROP(0)].to, n))
		return false;
	for (unsigned int i = 1; i < table->n; i++) {
		struct hy_node *to = node->edges[i - 1].to;

		if (to == table->to[0] || !table_set(graph, table, i, to, n))
			return false;
	}
	return true;
}

static void
deal_lane(const struct hy_graph *graph, const struct table *table, unsigned int lane,
	const uint16_t *next, const uint32_t *values, uint32_t n)
{
	uint32_t *end[TABLE];

	for (unsigned int i = 0; i < table->n; i++)
		if (table->to[i] != NULL)
			end[i] = hy_stream_lane(graph, table->to[i]->stream, lane) +
				table->to[i]->waiting;
	for (uint32_t i = 0; i < n; i++)
		*end[entry_of(next[i])]++ = values == NULL ? 0 : values[i];
}

/* Counts what has come to the ends of streams. */
static void
deal_count(struct hy_graph *graph, struct hy_node *node, const struct table *table,
	const uint16_t *next, uint32_t n)
{
	uint64_t bits = 0;

	for (unsigned int i = table->to[0] == NULL; i < table->n; i++) {
		struct hy_node *to = table->to[i];
		const uint32_t all = (uint32_t)(table->end[i] - to->stream);

		if (all == to->waiting)
			continue;
		if (i > 0)
			hy_count(&node->edges[i - 1].objs, all - to->waiting);
		to->waiting = all;
		if (likely(graph->plan.nb_words == 1))
			bits |= UINT64_C(1) << to->rank % 64;
		else
			hy_pending_set(graph, to);
	}
	graph->plan.pending[0] |= bits;
	for (uint32_t i = 0; i < n && table->to[0] != NULL; i++)
		if ((int16_t)next[i] < 0)
			hy_count(&node->edges[(int16_t)next[i]].objs, 1);
}

/* Not inlined: few objects need none of its stack. Returns false if it has sent nothing. */
static __rte_noinline bool
deal(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs, uint32_t n)
{
	struct table table;
	void ***const end = table.end;
	unsigned int lanes;
	size_t from;
	bool beside;

	if (!table_make(graph, node, next, n, &table))
		return false;
	if (table.to[0] == NULL)
		for (uint32_t i = 0; i < n; i++)
			*end[next[i] + 1]++ = objs[i];
	else
		for (uint32_t i = 0; i < n; i++)
			*end[entry_of(next[i])]++ = objs[i];
	beside = hy_in_stream(graph, node, objs, &from);
	for (lanes = hy_lanes_of_use(node, table.lanes, beside); lanes != 0; lanes &= lanes - 1) {
		const unsigned int l = (unsigned int)__builtin_ctz(lanes);

		deal_lane(graph, &table, l, next,
			beside ? hy_stream_lane(graph, node->stream, l) + from : NULL, n);
	}
	deal_count(graph, node, &table, next, n);
	return true;
}

/* Objects from the start of next[] that take the same edge. */
static uint32_t
run_length(const uint16_t *next, uint32_t n)
{
	uint32_t i = 1;

	while (i < n && next[i] == next[0])
		i++;
	return i;
}

static void
by_runs(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs, uint32_t n)
{
	for (uint32_t i = 0, run; i < n; i += run) {
		run = run_length(next + i, n - i);
		if (run == 1) /* a width that the compiler knows: no call of memcpy() */
			hy_append(graph, node, next[i], objs + i, 1);
		else
			hy_append(graph, node, next[i], objs + i, run);
	}
}

/*
 * Sends few objects. Which target is new to the walk cannot be predicted, so none asks: the bits of
 * all are gathered and stored once.
 */
static void
one_by_one(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	uint64_t *const pending = graph->plan.pending;
	uint64_t bits = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct hy_edge *e = &node->edges[(int16_t)next[i]];

		if (unlikely(e->to->waiting + 1 > graph->append_cap)) {
			hy_append_apart(graph, node, next[i], objs + i, 1);
			continue;
		}
		hy_append_copy(graph, node, e, objs + i, 1);
		bits |= UINT64_C(1) << e->to->rank % 64;
	}
	pending[0] |= bits;
}

void
hy_scatter_scalar(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	if (run_length(next, n) == n) {
		hy_send_all(graph, node, next[0], objs, n);
		return;
	}
	hy_stream_settle(graph, node);
	if (n <= FEW && graph->plan.nb_words == 1)
		one_by_one(graph, node, next, objs, n);
	else if (n <= FEW || !deal(graph, node, next, objs, n))
		by_runs(graph, node, next, objs, n);
}

void
hy_scatter_wide(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	const struct hy_wide *wide = graph->image->wide;

	if (wide->nodes[node->rank].next == 0)
		wide->scatter(graph, node, next, objs, n);
	else if (run_length(next, n) == n)
		hy_send_all(graph, node, next[0], objs, n);
	else
		by_runs(graph, node, next, objs, n);
}

static bool
any_cpu(void)
{
	return true;
}

#ifdef RTE_ARCH_X86_64
static bool
cpu_has(const enum rte_cpu_flag_t flags[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (rte_cpu_get_flag_enabled(flags[i]) <= 0)
			return false;
	return true;
}

static bool
cpu_can_avx2(void)
{
	static const enum rte_cpu_flag_t flags[] = { RTE_CPUFLAG_AVX2, RTE_CPUFLAG_POPCNT,
		RTE_CPUFLAG_BMI1, RTE_CPUFLAG_BMI2 };

	return cpu_has(flags, RTE_DIM(flags));
}

static bool
cpu_can_avx512(void)
{
	static const enum rte_cpu_flag_t flags[] = { RTE_CPUFLAG_AVX512F, RTE_CPUFLAG_AVX512BW,
		RTE_CPUFLAG_AVX512VL };

	return cpu_can_avx2() && cpu_has(flags, RTE_DIM(flags));
}
#endif

const struct hy_scatter_body hy_scatter_bodies[] = {
#ifdef RTE_ARCH_X86_64
	{ "avx512", hy_scatter_avx512, RTE_VECT_SIMD_512, cpu_can_avx512 },
	{ "avx2", hy_scatter_avx2, RTE_VECT_SIMD_256, cpu_can_avx2 },
#elif defined(RTE_ARCH_ARM64)
	{ "neon", hy_scatter_neon, RTE_VECT_SIMD_128, any_cpu },
#endif
	{ "scalar", hy_scatter_scalar, 0, any_cpu },
};

const unsigned int hy_scatter_nb_bodies = RTE_DIM(hy_scatter_bodies);

hy_scatter_t *
hy_scatter_best(void)
{
	static const struct hy_scatter_body *first; /* that the CPU can run */
	const struct hy_scatter_body *body;

	/* Asking the CPU traps in virtual machines: some 20 us. Any thread finds the same. */
	body = __atomic_load_n(&first, __ATOMIC_RELAXED);
	if (body == NULL) {
		for (body = hy_scatter_bodies; !body->cpu_can(); body++)
			;
		__atomic_store_n(&first, body, __ATOMIC_RELAXED);
	}
	/* A CPU that can run one can run all that are narrower. */
	while (body->simd_bits > rte_vect_get_max_simd_bitwidth())
		body++;
	return body->scatter;
}
