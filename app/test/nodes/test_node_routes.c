/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of routes: against a list of them, through all errors; all or none; and nothing is lost
 * or left when memory is short.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "node_fixture.h"

#define HOPS 5
#define MAX_ROUTES 40
#define MAX_TBL8S 4
#define MODEL_MAX (MAX_ROUTES + 1)

static union {
	struct rte_rcu_qsbr v;
	alignas(RTE_CACHE_LINE_SIZE) uint8_t room[1024];
} qsbr;

static struct {
	struct hy_ip4_fib *fib;
	/* What the table must have: by prefix and depth, the default route among them. */
	struct hy_ip4_route routes[MODEL_MAX + 1]; /* and one that is too many */
	uint32_t n;
} t;

static void
table_create(enum hy_ip4_engine engine, uint32_t hops)
{
	const struct hy_ip4_fib_params params = { .engine = engine,
		.max_routes = MAX_ROUTES,
		.max_tbl8s = MAX_TBL8S,
		.socket = SOCKET_ID_ANY,
		.qsbr = &qsbr.v };
	const struct hy_ip4_port port = { .port = 0, .max_len = 1514 };

	t.n = 0;
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	assert_int_equal(hy_ip4_fib_create("routes", &params, &t.fib), 0);
	assert_int_equal(hy_ip4_port_add(t.fib, &port), 0);
	for (uint32_t i = 0; i < hops; i++) {
		const struct hy_ip4_next_hop hop = { .mac.addr_bytes[5] = (uint8_t)i };
		uint32_t id;

		assert_int_equal(hy_ip4_next_hop_add(t.fib, &hop, &id), 0);
		assert_int_equal(id, i);
	}
}

static uint32_t
mask_of(uint8_t depth)
{
	return depth == 0 ? 0 : UINT32_MAX << (32 - depth);
}

/* The model. */

/* Where a prefix is or would be. */
static uint32_t
model_place(const struct hy_ip4_route *r, bool *there)
{
	uint32_t i = 0;

	while (i < t.n &&
		(t.routes[i].prefix < r->prefix ||
			(t.routes[i].prefix == r->prefix && t.routes[i].depth < r->depth)))
		i++;
	*there = i < t.n && t.routes[i].prefix == r->prefix && t.routes[i].depth == r->depth;
	return i;
}

/* /24s with longer prefixes, and routes but the default one. */
static void
model_count(uint32_t *tbl8s, uint32_t *routes)
{
	uint32_t last = UINT32_MAX; /* no /24: these have 24 bits */

	*tbl8s = *routes = 0;
	for (uint32_t i = 0; i < t.n; i++) {
		*routes += t.routes[i].depth > 0;
		if (t.routes[i].depth <= 24 || t.routes[i].prefix >> 8 == last)
			continue;
		last = t.routes[i].prefix >> 8;
		(*tbl8s)++;
	}
}

static int
model_change(const struct hy_ip4_change *change)
{
	const struct hy_ip4_route *r = &change->route;
	uint32_t tbl8s, routes, i;
	bool there;

	if (change->verb > HY_IP4_DELETE || r->depth > 32 || (r->prefix & ~mask_of(r->depth)) != 0)
		return -EINVAL;
	i = model_place(r, &there);
	if (change->verb == HY_IP4_DELETE) {
		if (!there)
			return -ENOENT;
		memmove(&t.routes[i], &t.routes[i + 1], (--t.n - i) * sizeof(*r));
		return 0;
	}
	if (r->next_hop >= HOPS)
		return -ENOENT;
	if (there && change->verb == HY_IP4_ADD)
		return -EEXIST;
	if (!there) {
		memmove(&t.routes[i + 1], &t.routes[i], (t.n++ - i) * sizeof(*r));
		t.routes[i] = *r;
		model_count(&tbl8s, &routes);
		if (tbl8s > MAX_TBL8S || routes > MAX_ROUTES) {
			memmove(&t.routes[i], &t.routes[i + 1], (--t.n - i) * sizeof(*r));
			return -ENOSPC;
		}
	}
	t.routes[i] = *r;
	return 0;
}

/* The route that an address takes; NULL: none. */
static const struct hy_ip4_route *
model_lookup(uint32_t dst)
{
	const struct hy_ip4_route *best = NULL;

	for (uint32_t i = 0; i < t.n; i++) {
		const struct hy_ip4_route *r = &t.routes[i];

		if ((dst & mask_of(r->depth)) == r->prefix &&
			(best == NULL || r->depth > best->depth))
			best = r;
	}
	return best;
}

static void
assert_lookup_as_model(uint32_t dst)
{
	const struct hy_ip4_route *r = model_lookup(dst);
	struct hy_ip4_next_hop hop;
	struct hy_ip4_route found;
	uint32_t id = UINT32_MAX;
	const int rc = hy_ip4_lookup(t.fib, dst, &id);

	if (rc != (r == NULL ? -ENOENT : 0) || (r != NULL && id != r->next_hop))
		fail_msg("0x%08x: %d, not %d", dst, (int)id, r == NULL ? -1 : (int)r->next_hop);
	assert_int_equal(hy_ip4_route_lookup(t.fib, dst, &found, &hop), rc);
	if (r == NULL)
		return;
	assert_int_equal(found.prefix, r->prefix);
	assert_int_equal(found.depth, r->depth);
	assert_int_equal(found.next_hop, r->next_hop);
	assert_int_equal(hop.mac.addr_bytes[5], r->next_hop);
}

/* The table has the model's routes, counts, and answers, at the ends of all routes at least. */
static void
assert_as_model(void)
{
	struct hy_ip4_route got[MODEL_MAX];
	uint32_t per_hop[HOPS] = { 0 };

	assert_int_equal(hy_ip4_routes_get(t.fib, got, MODEL_MAX), t.n);
	for (uint32_t i = 0; i < t.n; i++) {
		const struct hy_ip4_route *r = &t.routes[i];
		const uint32_t last = r->prefix | ~mask_of(r->depth);
		const uint32_t at[] = { r->prefix, r->prefix - 1, last, last + 1 };

		assert_int_equal(got[i].prefix, r->prefix);
		assert_int_equal(got[i].depth, r->depth);
		assert_int_equal(got[i].next_hop, r->next_hop);
		per_hop[r->next_hop]++;
		for (size_t a = 0; a < RTE_DIM(at); a++)
			assert_lookup_as_model(at[a]);
	}
	for (uint32_t i = 0; i < HOPS; i++) {
		struct hy_ip4_next_hop hop;
		uint32_t routes;

		assert_int_equal(hy_ip4_next_hop_get(t.fib, i, &hop, &routes), 0);
		assert_int_equal(routes, per_hop[i]);
	}
}

/* A change among few prefixes: the ends of the address space, and five /24s with all around. */
static struct hy_ip4_change
change_random(uint64_t *seed)
{
	static const uint32_t around[] = { 0, UINT32_MAX, IP4(10, 0, 0, 255), IP4(10, 0, 1, 0),
		IP4(10, 0, 2, 127), IP4(10, 0, 3, 64), IP4(10, 1, 0, 0) };
	const uint8_t depth = (uint8_t)(rnd(seed) % 4 == 0 ? rnd(seed) % 33 : 21 + rnd(seed) % 12);
	uint32_t address = around[rnd(seed) % RTE_DIM(around)];
	struct hy_ip4_change change;

	if (rnd(seed) % 4 == 0)
		address ^= rnd(seed) & 0x1ff;
	change = (struct hy_ip4_change){ .verb = rnd(seed) % 100 == 0 ? 3 : rnd(seed) % 3,
		.route = { .prefix = rnd(seed) % 50 == 0 ? address : address & mask_of(depth),
			.depth = rnd(seed) % 100 == 0 ? 33 : depth,
			.next_hop = rnd(seed) % 50 == 0 ? HOPS : rnd(seed) % HOPS } };
	if (change.verb != HY_IP4_ADD && t.n > 0 && rnd(seed) % 8 > 0) {
		const struct hy_ip4_route *r = &t.routes[rnd(seed) % t.n];

		change.route.prefix = r->prefix;
		change.route.depth = r->depth;
	}
	return change;
}

/* One at a time and in lots, some of which fail; in use or not. */
static void
random_changes(enum hy_ip4_engine engine)
{
	unsigned int outcomes[5] = { 0 }, undone = 0;
	uint64_t seed = 11;

	table_create(engine, HOPS);
	for (unsigned int i = 0; i < 8000; i++) {
		struct hy_ip4_route before[MODEL_MAX];
		struct hy_ip4_change changes[8];
		const uint32_t n = rnd(&seed) % 3 == 0 ? 2 + rnd(&seed) % 7 : 1, nb_before = t.n;
		uint32_t at, wrong = 0;
		int rc = 0;

		memcpy(before, t.routes, sizeof(before));
		t.fib->nb_users = i / 500 % 2;
		for (uint32_t c = 0; c < n; c++)
			changes[c] = change_random(&seed);
		while (wrong < n && (rc = model_change(&changes[wrong])) == 0)
			wrong++;
		assert_int_equal(hy_ip4_routes_change(t.fib, changes, n, &at), rc);
		assert_int_equal(at, wrong);
		if (rc < 0) {
			memcpy(t.routes, before, sizeof(before));
			t.n = nb_before;
			undone += wrong > 0;
		}
		outcomes[rc == 0                ? 0
				: rc == -ENOENT ? 1
				: rc == -EEXIST ? 2
				: rc == -ENOSPC ? 3
						: 4]++;
		assert_as_model();
	}
	t.fib->nb_users = 0;
	assert_true(undone > 500);
	for (size_t o = 0; o < RTE_DIM(outcomes); o++)
		assert_true(outcomes[o] > 50);
	hy_ip4_fib_destroy(t.fib);
	t.fib = NULL;
}

static void
random_changes_are_all_or_none_and_agree_with_a_list(void **state)
{
	RTE_SET_USED(state);
	random_changes(HY_IP4_LPM);
	random_changes(HY_IP4_FIB);
}

static int
add(uint32_t prefix, uint8_t depth, uint32_t id)
{
	const struct hy_ip4_route route = { .prefix = prefix, .depth = depth, .next_hop = id };

	return hy_ip4_route_add(t.fib, &route);
}

/* Each adds, replaces and deletes within all that an address can be in. */
static void
tbl8s_come_back(enum hy_ip4_engine engine)
{
	table_create(engine, HOPS);
	assert_int_equal(add(IP4(10, 0, 0, 0), 16, 1), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		/* The same next hop as around them, and another. */
		const uint32_t id = 1 + i % 2, net = IP4(10, 0, i % 256, 0);

		for (uint32_t j = 0; j < MAX_TBL8S; j++)
			assert_int_equal(add((net ^ (j << 8)) + 128, 25, id), 0);
		assert_int_equal(add(IP4(10, 1, 0, 128), 25, id), -ENOSPC);
		for (uint32_t j = 0; j < MAX_TBL8S; j++)
			assert_int_equal(hy_ip4_route_delete(t.fib, (net ^ (j << 8)) + 128, 25), 0);
	}
	assert_int_equal(hy_ip4_routes_get(t.fib, NULL, 0), 1);
	hy_ip4_fib_destroy(t.fib);
	t.fib = NULL;
}

static void
tbl8s_come_back_however_often(void **state)
{
	RTE_SET_USED(state);
	tbl8s_come_back(HY_IP4_LPM);
	tbl8s_come_back(HY_IP4_FIB);
}

static void
routes_are_listed_by_prefix_and_depth_if_there_is_room(void **state)
{
	static const struct hy_ip4_route wanted[] = { { 0, 0, 4 }, { 0, 1, 3 },
		{ IP4(10, 0, 0, 0), 8, 2 }, { IP4(10, 0, 0, 0), 32, 1 }, { UINT32_MAX, 32, 0 } };
	struct hy_ip4_route got[6];

	RTE_SET_USED(state);
	table_create(HY_IP4_LPM, HOPS);
	assert_int_equal(hy_ip4_routes_get(t.fib, got, 6), 0);
	for (size_t i = RTE_DIM(wanted); i-- > 0;)
		assert_int_equal(hy_ip4_route_add(t.fib, &wanted[i]), 0);
	memset(got, 0x77, sizeof(got));
	assert_int_equal(hy_ip4_routes_get(t.fib, got, 4), 5);
	assert_int_equal(got[0].prefix, 0x77777777);
	assert_int_equal(hy_ip4_routes_get(t.fib, got, 6), 5);
	for (size_t i = 0; i < RTE_DIM(wanted); i++) {
		assert_int_equal(got[i].prefix, wanted[i].prefix);
		assert_int_equal(got[i].depth, wanted[i].depth);
		assert_int_equal(got[i].next_hop, wanted[i].next_hop);
	}
	assert_int_equal(got[5].prefix, 0x77777777);
}

static void
next_hops_are_found_counted_and_kept_while_routes_lead_there(void **state)
{
	struct hy_ip4_next_hop hop = { .mac.addr_bytes[5] = 3 }, got;
	uint32_t id, routes;

	RTE_SET_USED(state);
	table_create(HY_IP4_LPM, HOPS);
	assert_int_equal(hy_ip4_next_hop_add(t.fib, &hop, &id), 0);
	assert_int_equal(id, 3);
	assert_int_equal(add(0, 0, 3), 0);
	assert_int_equal(add(IP4(1, 0, 0, 0), 8, 3), 0);
	assert_int_equal(hy_ip4_next_hop_get(t.fib, 3, &got, &routes), 0);
	assert_int_equal(routes, 2);
	assert_int_equal(got.port, 0);
	assert_memory_equal(&got.mac, &hop.mac, sizeof(got.mac));
	assert_int_equal(hy_ip4_next_hop_delete(t.fib, 3), -EBUSY);
	assert_int_equal(hy_ip4_route_delete(t.fib, 0, 0), 0);
	assert_int_equal(hy_ip4_next_hop_delete(t.fib, 3), -EBUSY);
	assert_int_equal(hy_ip4_route_delete(t.fib, IP4(1, 0, 0, 0), 8), 0);
	assert_int_equal(hy_ip4_next_hop_delete(t.fib, 3), 0);
	assert_int_equal(hy_ip4_next_hop_delete(t.fib, 3), -ENOENT);
	assert_int_equal(hy_ip4_next_hop_get(t.fib, 3, &got, NULL), -ENOENT);
	assert_int_equal(hy_ip4_next_hop_set(t.fib, 3, &hop), -ENOENT);
	assert_int_equal(hy_ip4_next_hop_get(t.fib, HOPS, &got, NULL), -ENOENT);
	assert_int_equal(hy_ip4_next_hop_delete(t.fib, UINT32_MAX), -ENOENT);
	assert_int_equal(add(IP4(1, 0, 0, 0), 8, 3), -ENOENT);
	assert_int_equal(hy_ip4_next_hops(t.fib), HOPS);
}

/* The tree of one was called what a copy of the other is. */
static void
names_of_tables_do_not_meet_those_of_their_parts(void **state)
{
	static const char *const names[] = { "t", "t.a", "t" };
	static const int wanted[] = { 0, 0, -EEXIST };
	struct hy_ip4_fib *tables[] = { NULL, NULL, NULL };
	int got[RTE_DIM(names)];

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(names); i++) {
		const struct hy_ip4_fib_params params = { .engine = i == 0 ? HY_IP4_FIB
									   : HY_IP4_LPM,
			.max_routes = MAX_ROUTES,
			.max_tbl8s = MAX_TBL8S,
			.socket = SOCKET_ID_ANY };

		if (i == 2) {
			hy_ip4_fib_destroy(tables[1]);
			tables[1] = NULL;
		}
		got[i] = hy_ip4_fib_create(names[i], &params, &tables[i]);
	}
	for (size_t i = 0; i < RTE_DIM(names); i++)
		hy_ip4_fib_destroy(tables[i]);
	for (size_t i = 0; i < RTE_DIM(names); i++)
		assert_int_equal(got[i], wanted[i]);
}

/* The library cuts the names of its rings; that of more room was then the one of less. */
static void
next_hops_of_a_long_name_grow_to_their_end(void **state)
{
	const struct hy_ip4_fib_params params = { .max_routes = MAX_ROUTES,
		.max_tbl8s = MAX_TBL8S,
		.max_next_hops = 0x10001,
		.socket = SOCKET_ID_ANY,
		.qsbr = &qsbr.v };
	const struct hy_ip4_port port = { .port = 0, .max_len = 1514 };
	struct hy_ip4_next_hop hop = { .port = 0 };
	uint32_t id;

	RTE_SET_USED(state);
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	assert_int_equal(hy_ip4_fib_create("sixteen-bytes-ok", &params, &t.fib), 0);
	assert_int_equal(hy_ip4_port_add(t.fib, &port), 0);
	for (uint32_t i = 0; i <= params.max_next_hops; i++) {
		const int wanted = i < params.max_next_hops ? 0 : -ENOSPC;

		memcpy(hop.mac.addr_bytes, &i, sizeof(i));
		assert_int_equal(hy_ip4_next_hop_add(t.fib, &hop, &id), wanted);
	}
	assert_int_equal(id, params.max_next_hops - 1);
}

static void
next_hop_is_set_to_what_no_other_one_is(void **state)
{
	struct hy_ip4_next_hop hop = { .mac.addr_bytes[5] = 1 };
	uint32_t id;

	RTE_SET_USED(state);
	table_create(HY_IP4_LPM, HOPS);
	assert_int_equal(hy_ip4_next_hop_set(t.fib, 2, &hop), -EEXIST);
	assert_int_equal(hy_ip4_next_hop_set(t.fib, 1, &hop), 0);
	hop.port = 1;
	assert_int_equal(hy_ip4_next_hop_set(t.fib, 1, &hop), -ENODEV);
	hop.port = HY_IP4_PORTS;
	assert_int_equal(hy_ip4_next_hop_set(t.fib, 1, &hop), -ENODEV);
	hop = (struct hy_ip4_next_hop){ .mac.addr_bytes[5] = 77 };
	assert_int_equal(hy_ip4_next_hop_set(t.fib, 1, &hop), 0);
	assert_int_equal(hy_ip4_next_hop_add(t.fib, &hop, &id), 0);
	assert_int_equal(id, 1);
	/* What it was is a new one. */
	hop.mac.addr_bytes[5] = 1;
	assert_int_equal(hy_ip4_next_hop_add(t.fib, &hop, &id), 0);
	assert_int_equal(id, HOPS);
}

/* With the nth allocation of ours failing, for every n that there is. */
static void
allocations_fail(enum hy_ip4_engine engine)
{
	const struct hy_ip4_change changes[] = {
		{ .verb = HY_IP4_ADD, .route = { .prefix = IP4(20, 0, 0, 0), .depth = 8 } },
		{ .verb = HY_IP4_REPLACE, .route = { 0, 0, 1 } },
		{ .verb = HY_IP4_DELETE, .route = { .prefix = IP4(20, 0, 0, 0), .depth = 8 } },
	};
	const struct hy_ip4_change first = { .verb = HY_IP4_ADD,
		.route = { IP4(10, 0, 0, 128), 25, 2 } };
	struct hy_ip4_next_hop hop = { .mac.addr_bytes[5] = 99 };
	unsigned int failed = 0;
	uint32_t id;
	int rc = -ENOMEM;

	table_create(engine, 0);
	for (unsigned int n = 1; hy_ip4_next_hops(t.fib) < 40; n++) {
		hop.mac.addr_bytes[4] = (uint8_t)n;
		unit_alloc_fail(1);
		rc = hy_ip4_next_hop_add(t.fib, &hop, &id);
		unit_alloc_fail(0);
		failed += rc < 0;
		if (rc < 0)
			assert_int_equal(hy_ip4_next_hop_add(t.fib, &hop, &id), 0);
		assert_int_equal(id, n - 1);
	}
	assert_int_equal(failed, 2); /* when room is doubled */
	assert_int_equal(hy_ip4_routes_change(t.fib, &first, 1, NULL), 0);
	t.fib->nb_users = 1;
	unit_alloc_fail(1);
	hop.mac.addr_bytes[4] = 200;
	assert_int_equal(hy_ip4_next_hop_set(t.fib, 0, &hop), -ENOMEM);
	rc = -ENOMEM;
	for (unsigned int n = 1; rc < 0 && n < 10; n++) {
		unit_alloc_fail(n);
		rc = hy_ip4_routes_change(t.fib, changes, 3, &id);
		unit_alloc_fail(0);
		assert_int_equal(rc, rc == 0 ? 0 : -ENOMEM);
		failed += rc < 0;
		assert_int_equal(hy_ip4_routes_get(t.fib, NULL, 0), rc == 0 ? 2 : 1);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(failed, engine == HY_IP4_LPM ? 3 : 4);
	t.fib->nb_users = 0;
	hy_ip4_fib_destroy(t.fib);
	t.fib = NULL;
}

static void
allocations_that_fail_change_nothing_and_leak_nothing(void **state)
{
	RTE_SET_USED(state);
	allocations_fail(HY_IP4_LPM);
	allocations_fail(HY_IP4_FIB);
}

/* The second copy, made at the first change under readers, has no memory. */
static void
second_copy_without_memory_leaves_the_first(void **state)
{
	void *taken[64];
	unsigned int n = 0;
	uint32_t id;

	RTE_SET_USED(state);
	table_create(HY_IP4_FIB, HOPS);
	assert_int_equal(add(IP4(10, 0, 0, 0), 8, 1), 0);
	while (n < RTE_DIM(taken) && (taken[n] = rte_malloc(NULL, 16 << 20, 0)) != NULL)
		n++;
	assert_true(n > 0 && n < RTE_DIM(taken));
	t.fib->nb_users = 1;
	assert_int_equal(add(IP4(11, 0, 0, 0), 8, 2), -ENOMEM);
	assert_int_equal(hy_ip4_lookup(t.fib, IP4(11, 0, 0, 1), &id), -ENOENT);
	assert_int_equal(hy_ip4_lookup(t.fib, IP4(10, 0, 0, 1), &id), 0);
	while (n > 0)
		rte_free(taken[--n]);
	assert_int_equal(add(IP4(11, 0, 0, 0), 8, 2), 0);
	assert_int_equal(hy_ip4_lookup(t.fib, IP4(11, 0, 0, 1), &id), 0);
	t.fib->nb_users = 0;
}

static int
routes_teardown(void **state)
{
	if (t.fib != NULL)
		t.fib->nb_users = 0;
	hy_ip4_fib_destroy(t.fib);
	t.fib = NULL;
	return node_teardown(state);
}

#define ROUTES_TEST(f) cmocka_unit_test_setup_teardown(f, node_setup, routes_teardown)

static const struct CMUnitTest node_routes_tests[] = {
	ROUTES_TEST(random_changes_are_all_or_none_and_agree_with_a_list),
	ROUTES_TEST(tbl8s_come_back_however_often),
	ROUTES_TEST(routes_are_listed_by_prefix_and_depth_if_there_is_room),
	ROUTES_TEST(next_hops_are_found_counted_and_kept_while_routes_lead_there),
	ROUTES_TEST(next_hop_is_set_to_what_no_other_one_is),
	ROUTES_TEST(next_hops_of_a_long_name_grow_to_their_end),
	ROUTES_TEST(names_of_tables_do_not_meet_those_of_their_parts),
	ROUTES_TEST(allocations_that_fail_change_nothing_and_leak_nothing),
	ROUTES_TEST(second_copy_without_memory_leaves_the_first),
};

UNIT_SUITE(node_routes_tests)
