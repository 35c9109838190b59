/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings between workers: objects that lie near each other and far apart, places that are freed many
 * at once, and both ends on threads of their own. Objects are numbers, which nobody follows.
 */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <rte_malloc.h>

#include "dispatch_fixture.h"
#include "lib/dispatch/dispatch.h"

#define GIB (UINT64_C(1) << 30)
#define FIRST (UINT64_C(1) << 40) /* number(0) */

static struct hy_ring *
ring_new(uint32_t objs)
{
	const struct hy_dispatch shape = { .ring_objs = objs };
	struct hy_ring *ring = hy_ring_new(&shape, SOCKET_ID_ANY);

	assert_non_null(ring);
	return ring;
}

static void
put(struct hy_ring *ring, const uint64_t *numbers, uint32_t n)
{
	void *objs[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++)
		objs[i] = (void *)(uintptr_t)numbers[i];
	assert_true(hy_ring_room(ring, n) >= n);
	hy_ring_put(ring, NULL, NULL, objs, n);
}

/* Takes n objects, and checks them. */
static void
take(struct hy_ring *ring, const uint64_t *numbers, uint32_t n)
{
	void *objs[HY_BURST_MAX];

	assert_int_equal(hy_ring_take(ring, NULL, NULL, objs, 0, n), n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal((uintptr_t)objs[i], numbers[i]);
}

/* The first object is 2 GiB above the base. */
static void
distances_have_32_bits_and_what_is_further_away_is_stored_whole(void **state)
{
	static const struct {
		int64_t distance; /* from the first object */
		bool whole;
	} cases[] = {
		{ 0, false },
		{ 1, false },
		{ -1, false },
		{ (int64_t)(2 * GIB) - 1, false },
		{ (int64_t)(2 * GIB), true },
		{ 1 - (int64_t)(2 * GIB), false },
		{ -(int64_t)(2 * GIB), true }, /* the base itself */
		{ -(int64_t)(2 * GIB) - 1, true },
		{ (int64_t)(6 * GIB), true }, /* the same low bits as a distance that fits */
		{ -(int64_t)FIRST, true },    /* NULL */
		{ INT64_MAX, true },
		{ 8, false },
	};
	uint64_t numbers[RTE_DIM(cases)];

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		numbers[i] = FIRST + (uint64_t)cases[i].distance;
	for (unsigned int alone = 0; alone < 2; alone++) {
		struct hy_ring *ring = ring_new(16);

		put(ring, numbers, alone ? 1 : RTE_DIM(cases));
		for (unsigned int i = 1; alone && i < RTE_DIM(cases); i++)
			put(ring, &numbers[i], 1);
		for (unsigned int i = 0; i < RTE_DIM(cases); i++)
			if ((ring->near[i] == 0) != cases[i].whole)
				fail_msg("object %u is stored %s", i,
					ring->near[i] == 0 ? "whole" : "as a distance");
		take(ring, numbers, RTE_DIM(cases));
		rte_free(ring);
	}
}

static void
the_base_follows_objects_once_the_ring_is_empty(void **state)
{
	const uint64_t here[] = { FIRST, FIRST + 8 }, there[] = { 9 * FIRST, 9 * FIRST + 8 };
	struct hy_ring *ring = ring_new(8);

	RTE_SET_USED(state);
	put(ring, here, 2);
	put(ring, there, 2);
	assert_true(ring->near[0] != 0 && ring->near[1] != 0);
	assert_true(ring->near[2] == 0 && ring->near[3] == 0);
	take(ring, here, 1);
	put(ring, there, 2); /* not empty: what waits depends on the base */
	assert_true(ring->near[4] == 0 && ring->near[5] == 0);
	take(ring, here + 1, 1);
	take(ring, there, 2);
	take(ring, there, 2);
	assert_int_equal(hy_ring_room(ring, 8), 8);
	put(ring, there, 2);
	assert_true(ring->near[6] != 0 && ring->near[7] != 0);
	take(ring, there, 2);
	put(ring, here, 2); /* the old region is now far away */
	assert_true(ring->near[0] == 0 && ring->near[1] == 0);
	take(ring, here, 2);
	rte_free(ring);
}

static void
places_are_freed_by_the_quarter_and_all_when_nothing_is_left(void **state)
{
	uint64_t numbers[64];
	struct hy_ring *ring = ring_new(64);
	uint32_t tail;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 64; i++)
		numbers[i] = FIRST + 64 * i;
	put(ring, numbers, 64);
	take(ring, numbers, 15);
	assert_int_equal(hy_ring_room(ring, 1), 0);
	take(ring, numbers + 15, 1);
	assert_int_equal(hy_ring_room(ring, 1), 16);
	take(ring, numbers + 16, 15);
	assert_int_equal(hy_ring_room(ring, 64), 16);
	assert_int_equal(hy_ring_look(ring, &tail), 48);
	take(ring, numbers + 31, 33);
	assert_int_equal(hy_ring_room(ring, 64), 64);
	assert_int_equal(hy_ring_look(ring, &tail), 0);
	put(ring, numbers, 1); /* less than a quarter, but all */
	take(ring, numbers, 1);
	assert_int_equal(hy_ring_room(ring, 64), 64);
	assert_int_equal(tail, 64);
	rte_free(ring);
}

static uint64_t released[3];
static unsigned int nb_released;

static void
note_release(void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		released[nb_released++ % 3] = (uintptr_t)objs[i];
}

static void
what_is_left_in_a_ring_is_released_whatever_its_form(void **state)
{
	static const struct hy_object_ops ops = { .release = note_release };
	const uint64_t numbers[] = { FIRST, 9 * FIRST, FIRST + 8, FIRST + 16 };
	struct hy_ring *ring = ring_new(4);

	RTE_SET_USED(state);
	nb_released = 0;
	put(ring, numbers, 4);
	take(ring, numbers, 1);
	assert_int_equal(hy_ring_release(ring, &ops), 3);
	assert_int_equal(nb_released, 3);
	assert_memory_equal(released, numbers + 1, sizeof(released));
	rte_free(ring);
}

/* --- Through a dispatch: each number of lanes, one way and several. --- */

#define OBJS 5000
#define FLOWS 7

static const char *const lane_names[HY_LANES_MAX] = { "a", "b", "c", "d" };
static unsigned int nb_lanes, seen, faults;
static uint32_t made, at[FLOWS]; /* of each flow, where to look for its next object */

/* Most are near the first one; every fifth is not, each time elsewhere. */
static uint64_t
number(uint32_t i)
{
	return FIRST + 64 * i + (i % 5 == 4 ? (UINT64_C(7) << (30 + i % 24)) : 0);
}

static uint32_t
flow(uint64_t object)
{
	return (uint32_t)(object % FLOWS);
}

static void
number_flow(void *const *objs, uint32_t *hash, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		hash[i] = flow((uintptr_t)objs[i]);
}

static uint16_t
number_source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	n = (uint16_t)RTE_MIN((uint32_t)n, RTE_MIN(1 + made % BURST, OBJS - made));
	for (uint16_t i = 0; i < n; i++, made++) {
		objs[i] = (void *)(uintptr_t)number(made);
		for (unsigned int l = 0; l < nb_lanes; l++)
			hy_lane(graph, node, l)[i] = made * 5 + l;
	}
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
number_sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		uint32_t *next = &at[flow((uintptr_t)objs[i])];

		while (*next < OBJS && flow(number(*next)) != flow((uintptr_t)objs[i]))
			(*next)++;
		faults += number(*next) != (uintptr_t)objs[i];
		for (unsigned int l = 0; l < nb_lanes; l++)
			faults += hy_lane(graph, node, l)[i] != *next * 5 + l;
		(*next)++;
	}
	seen += n;
	return n;
}

static void
number_drop(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	faults += n;
}

/* Places of a ring that had a distance, and those that had a whole object. */
static void
forms_count(const struct hy_ring *ring, unsigned int *near, unsigned int *whole)
{
	for (uint32_t i = 0; i < ring->size; i++) {
		*near += ring->near[i] != 0;
		*whole += ring->whole[i] != NULL;
	}
}

static void
objects_far_apart_stay_in_order_with_any_number_of_lanes(void **state)
{
	static const struct hy_object_ops ops = { .release = number_drop,
		.flow_hash = number_flow };
	static const uint16_t workers[2][2] = { { 1 }, { 1, 2 } };
#define LANE(l) (nb_lanes > (l) ? lane_names[l] : NULL)
#define LANES .lanes = { LANE(0), LANE(1), LANE(2), LANE(3) }

	RTE_SET_USED(state);
	for (unsigned int run = 0; run < 2 * (HY_LANES_MAX + 1); run++) {
		const uint16_t nb_workers = 1 + run % 2;
		const struct hy_dispatch_pin pin = { "sink", workers[run % 2], nb_workers };
		unsigned int near = 0, whole = 0;

		nb_lanes = run / 2;
		made = seen = faults = 0;
		memset(at, 0, sizeof(at));
		NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = number_source,
			.edges = { "sink" }, LANES);
		NODE(NULL, .name = "sink", .impl.process = number_sink, LANES);
		sink_add(NULL, "gone");
		DISPATCH(.graph = CHAIN_PARAMS(.ops = &ops, LANES), .nb_workers = 3, .pins = &pin,
			.nb_pins = 1, .ring_bursts = 3);
		for (unsigned int i = 0; seen < OBJS && i < 50000; i++)
			walk((uint16_t)(i % 7 < 3 ? 0 : i % 3));
		for (uint16_t w = 1; w <= nb_workers; w++)
			forms_count(dispatch->stages->rings[w], &near, &whole);
		assert_int_equal(seen, OBJS);
		assert_int_equal(faults, 0);
		assert_true(near > 0 && whole > 0);
		hy_dispatch_destroy(dispatch);
		dispatch = NULL;
		registry_clear();
	}
}

/* It has taken objects, but not enough to free their places; so a full ring stays full. */
static void
a_worker_that_stalls_before_it_frees_places_holds_its_source_back_only(void **state)
{
	static const struct {
		uint16_t takes;
		uint32_t comes; /* objects that find room after that */
	} steps[] = { { 3, 0 }, { 3, 0 }, { 2, 8 }, { 7, 0 }, { 8, 15 }, { 8, 8 } };
	uint64_t held = 0;

	RTE_SET_USED(state);
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .ring_bursts = 4,
		PINS({ "work", WORKERS(1) }));
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(walk(0), BURST);
	for (unsigned int i = 0; i < RTE_DIM(steps); i++) {
		assert_int_equal(hy_graph_source_budget(hy_dispatch_graph(dispatch, 1), "d-in-work",
					 steps[i].takes),
			0);
		assert_int_equal(walk(1), steps[i].takes);
		for (uint32_t came = 0; came < steps[i].comes;)
			came += walk(0);
		for (unsigned int stall = 0; stall < 5; stall++, held++)
			assert_int_equal(walk(0), 0);
		assert_int_equal(counted("d-out-work", "held_back"), held);
	}
	rig.src.budget = 0;
	while (walk(1) > 0)
		;
	/* All places are free, although the last ones were less than a quarter: nothing is left. */
	hy_graph_rest(hy_dispatch_graph(dispatch, 0));
	hy_graph_rest(hy_dispatch_graph(dispatch, 1));
	assert_int_equal(hy_dispatch_drain(dispatch), 0);
	assert_int_equal(rig.sink.objs, rig.src.objs);
	assert_int_equal(rig.src.objs, 4 * BURST + 31);
	assert_int_equal(counted("d-out-work", "ring_full"), 0);
}

/* --- Two threads. --- */

#ifdef SANITIZED
#define CARRIED 100000
#else
#define CARRIED 2000000
#endif

static struct hy_ring *between;
static uint64_t nb_wrong;

/* By turns near, near but elsewhere, and scattered. */
static uint64_t
carried(uint64_t i)
{
	const uint64_t phase = i / 1024 % 4;

	return FIRST + 64 * i + (phase == 1 ? 99 * FIRST : phase == 2 ? i % 3 * FIRST : 0);
}

/* Stops now and then, in the middle of what is there. */
static void *
carry_away(void *arg)
{
	void *objs[HY_BURST_MAX];
	uint64_t i = 0;

	RTE_SET_USED(arg);
	while (i < CARRIED) {
		const uint32_t most = 1 + (uint32_t)(i * 7 % 64);
		const uint32_t n = hy_ring_take(between, NULL, NULL, objs, 0, most);

		for (uint32_t k = 0; k < n; k++, i++)
			nb_wrong += (uintptr_t)objs[k] != carried(i);
		if (n < most)
			sched_yield();
	}
	return NULL;
}

static void
objects_near_and_far_pass_between_threads_in_order(void **state)
{
	uint64_t bases = 0, base = 0, whole = 0, near = 0;
	pthread_t thread;

	RTE_SET_USED(state);
	between = ring_new(512);
	nb_wrong = 0;
	assert_int_equal(pthread_create(&thread, NULL, carry_away, NULL), 0);
	for (uint64_t i = 0; i < CARRIED;) {
		const uint32_t most = (uint32_t)RTE_MIN(1 + i * 5 % 64, CARRIED - i);
		/* Often enough, the ring is empty before it is filled again. */
		const uint32_t wanted = i / 256 % 4 == 0 ? 512 : most;
		const uint32_t from = between->put & 511;
		void *objs[HY_BURST_MAX];

		if (hy_ring_room(between, wanted) < wanted) {
			sched_yield();
			continue;
		}
		for (uint32_t k = 0; k < most; k++)
			objs[k] = (void *)(uintptr_t)carried(i + k);
		hy_ring_put(between, NULL, NULL, objs, most);
		bases += between->base != base;
		base = between->base;
		whole += between->near[from] == 0;
		near += between->near[from] != 0;
		i += most;
	}
	pthread_join(thread, NULL);
	assert_int_equal(nb_wrong, 0);
	assert_int_equal(hy_ring_room(between, 512), 512);
	assert_true(bases > 10 && near > 100 && whole > 10);
	rte_free(between);
}

static const struct CMUnitTest tests[] = {
	DISPATCH_TEST(distances_have_32_bits_and_what_is_further_away_is_stored_whole),
	DISPATCH_TEST(the_base_follows_objects_once_the_ring_is_empty),
	DISPATCH_TEST(places_are_freed_by_the_quarter_and_all_when_nothing_is_left),
	DISPATCH_TEST(what_is_left_in_a_ring_is_released_whatever_its_form),
	DISPATCH_TEST(objects_far_apart_stay_in_order_with_any_number_of_lanes),
	DISPATCH_TEST(a_worker_that_stalls_before_it_frees_places_holds_its_source_back_only),
	DISPATCH_TEST(objects_near_and_far_pass_between_threads_in_order),
};

UNIT_SUITE(tests)
