/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv4 forwarding table: what its functions take, refuse, and leave as it was. */

#include <errno.h>
#include <string.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "node_fixture.h"

static struct hy_ip4_fib *fib;

static const struct rte_ether_addr mac = { { 0x02, 0, 0, 0, 0, 9 } };

/* Adds a next hop with one of many addresses. */
static int
hop_add(struct hy_ip4_fib *to, uint16_t port, uint32_t which, uint32_t *id)
{
	const struct hy_ip4_next_hop hop = { .port = port,
		.mac = { { 0x06, 0, (uint8_t)(which >> 24), (uint8_t)(which >> 16),
			(uint8_t)(which >> 8), (uint8_t)which } } };

	return hy_ip4_next_hop_add(to, &hop, id);
}

static int
route_add(struct hy_ip4_fib *to, uint32_t prefix, uint8_t depth, uint32_t next_hop)
{
	const struct hy_ip4_route route = {
		.prefix = prefix, .depth = depth, .next_hop = next_hop
	};

	return hy_ip4_route_add(to, &route);
}

/* Small sizes, and a port 0 with so many next hops. */
static void
small_table(uint32_t max_routes, uint32_t max_tbl8s, uint32_t next_hops)
{
	const struct hy_ip4_fib_params params = { .max_routes = max_routes,
		.max_tbl8s = max_tbl8s,
		.max_next_hops = next_hops,
		.socket = SOCKET_ID_ANY };
	const struct hy_ip4_port port = { .port = 0, .mac = mac, .max_len = 1514 };

	assert_int_equal(hy_ip4_fib_create("fib", &params, &fib), 0);
	assert_int_equal(hy_ip4_port_add(fib, &port), 0);
	for (uint32_t i = 0; i < next_hops; i++) {
		uint32_t id;

		assert_int_equal(hop_add(fib, 0, i, &id), 0);
		assert_int_equal(id, i);
	}
}

static void
assert_route(uint32_t dst, int rc, uint32_t id)
{
	uint32_t found = UINT32_MAX;

	assert_int_equal(hy_ip4_lookup(fib, dst, &found), rc);
	if (rc == 0)
		assert_int_equal(found, id);
}

static void
malformed_sizes_and_names_are_refused(void **state)
{
	static const struct {
		const char *name;
		struct hy_ip4_fib_params params;
	} bad[] = {
		{ "", { .max_next_hops = 1 } },
		{ "a123456789b123456", { .max_next_hops = 1 } },
		{ "fib", { .max_next_hops = 1, .engine = HY_IP4_FIB_AVX512 + 1 } },
		{ "fib", { .max_next_hops = 1, .max_routes = (1 << 28) + 1 } },
		{ "fib", { .max_next_hops = 1, .max_routes = UINT32_MAX } },
		{ "fib", { .max_next_hops = (1 << 24) + 1 } },
		{ "fib", { .max_next_hops = UINT32_MAX } },
		{ "fib", { .max_next_hops = 1, .max_tbl8s = (1 << 21) + 1 } },
		{ "fib", { .max_next_hops = 1, .max_tbl8s = UINT32_MAX } },
	};

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(hy_ip4_fib_create(bad[i].name, &bad[i].params, &fib), -EINVAL);
		assert_null(fib);
	}
}

static void
longest_name_is_taken_and_taken_names_are_refused(void **state)
{
	const struct hy_ip4_fib_params params = {
		.max_routes = 1, .max_tbl8s = 1, .max_next_hops = 1, .socket = SOCKET_ID_ANY
	};
	struct hy_ip4_fib *other = NULL;

	RTE_SET_USED(state);
	assert_int_equal(hy_ip4_fib_create("a123456789b12345", &params, &fib), 0);
	assert_int_equal(hy_ip4_fib_create("a123456789b12345", &params, &other), -EEXIST);
	assert_null(other);
	assert_int_equal(hy_ip4_fib_create("a123456789b1234", &params, &other), 0);
	hy_ip4_fib_destroy(other);
	hy_ip4_fib_destroy(NULL);
}

static void
tables_without_end_run_out_of_memory_and_leak_nothing(void **state)
{
	const struct hy_ip4_fib_params params = {
		.max_routes = 1, .max_tbl8s = 1, .max_next_hops = 1, .socket = SOCKET_ID_ANY
	};
	const struct hy_ip4_fib_params huge = { .max_next_hops = 1 << 24, .socket = SOCKET_ID_ANY };
	const unsigned int heap = unit_heap_live();
	struct hy_ip4_fib *fibs[5] = { NULL };
	unsigned int n = 0;
	int rc = 0;

	RTE_SET_USED(state);
	assert_int_equal(hy_ip4_fib_create("fib", &huge, &fib), -ENOMEM);
	assert_int_equal(unit_heap_live(), heap);
	while (rc == 0 && n < RTE_DIM(fibs)) {
		const char name[] = { 'f', (char)('0' + n), '\0' };

		rc = hy_ip4_fib_create(name, &params, &fibs[n]);
		n += rc == 0;
	}
	assert_int_equal(rc, -ENOMEM);
	assert_true(n >= 1 && n < 4); /* 64 MB each, of 256 */
	while (n > 0)
		hy_ip4_fib_destroy(fibs[--n]);
	assert_int_equal(unit_heap_live(), heap);
}

static void
socket_is_the_one_asked_for(void **state)
{
	static const int sockets[] = { SOCKET_ID_ANY, 0 };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(sockets); i++) {
		const struct hy_ip4_fib_params params = {
			.max_routes = 1, .max_tbl8s = 1, .max_next_hops = 1, .socket = sockets[i]
		};

		assert_int_equal(hy_ip4_fib_create("fib", &params, &fib), 0);
		assert_int_equal(hy_ip4_fib_socket(fib), sockets[i]);
		hy_ip4_fib_destroy(fib);
		fib = NULL;
	}
}

static void
ports_are_checked(void **state)
{
	struct hy_ip4_port port = { .port = HY_IP4_PORTS - 1, .mac = mac, .max_len = 1514 };

	RTE_SET_USED(state);
	small_table(1, 1, 1);
	assert_int_equal(hy_ip4_port_add(fib, &port), 0);
	assert_int_equal(hy_ip4_port_add(fib, &port), -EEXIST);
	port.port = 0;
	assert_int_equal(hy_ip4_port_add(fib, &port), -EEXIST);
	port.port = HY_IP4_PORTS;
	assert_int_equal(hy_ip4_port_add(fib, &port), -EINVAL);
	port.port = UINT16_MAX;
	assert_int_equal(hy_ip4_port_add(fib, &port), -EINVAL);
}

static void
ports_are_fixed_once_a_graph_has_the_table(void **state)
{
	const struct hy_ip4_port port = { .port = 5, .mac = mac, .max_len = 1514 };
	struct hy_ip4_fib *used;
	uint32_t id;

	RTE_SET_USED(state);
	rig_chain("scalar", "scalar", 32, &used);
	assert_int_equal(hy_ip4_port_add(used, &port), -EBUSY);
	assert_int_equal(hop_add(used, 5, 0, &id), -ENODEV);
	assert_int_equal(hop_add(used, 1, 0, &id), 0);
	assert_int_equal(id, 2);
	assert_int_equal(route_add(used, IP4(9, 0, 0, 0), 8, id), 0);
}

static void
next_hops_are_checked_and_counted_from_zero(void **state)
{
	uint32_t id = 77;

	RTE_SET_USED(state);
	small_table(1, 1, 3);
	assert_int_equal(hop_add(fib, 0, 3, &id), -ENOSPC);
	assert_int_equal(id, 77);
	hy_ip4_fib_destroy(fib);
	small_table(1, 1, 1);
	assert_int_equal(hop_add(fib, 1, 0, &id), -ENODEV);
	assert_int_equal(hop_add(fib, HY_IP4_PORTS, 0, &id), -ENODEV);
	assert_int_equal(hop_add(fib, UINT16_MAX, 0, &id), -ENODEV);
	assert_int_equal(id, 77);
}

static void
default_sizes_hold_32767_next_hops(void **state)
{
	const struct hy_ip4_fib_params params = { .socket = SOCKET_ID_ANY };
	const struct hy_ip4_port port = { .port = 0, .mac = mac, .max_len = 1514 };
	uint32_t id = 0;
	unsigned int n = 0;

	RTE_SET_USED(state);
	assert_int_equal(hy_ip4_fib_create("fib", &params, &fib), 0);
	assert_int_equal(hy_ip4_port_add(fib, &port), 0);
	while (n < 70000 && hop_add(fib, 0, n, &id) == 0)
		n++;
	assert_int_equal(n, 32767);
	assert_int_equal(id, 32766);
	assert_int_equal(route_add(fib, IP4(10, 0, 0, 0), 8, 32766), 0);
	assert_route(IP4(10, 1, 1, 1), 0, 32766);
}

static void
routes_of_every_depth_are_taken_once(void **state)
{
	RTE_SET_USED(state);
	small_table(64, 8, 40);
	for (uint8_t depth = 0; depth <= 32; depth++) {
		const uint32_t prefix = depth == 0 ? 0 : 0xaaaaaaaau & (UINT32_MAX << (32 - depth));

		assert_int_equal(route_add(fib, prefix, depth, depth), 0);
		assert_int_equal(route_add(fib, prefix, depth, depth), -EEXIST);
		assert_int_equal(route_add(fib, prefix, depth, 39), -EEXIST);
		assert_route(0xaaaaaaaa, 0, depth);
	}
	assert_route(0, 0, 0);
	assert_route(0xaaaaaaab, 0, 31);
}

static void
bits_beyond_the_depth_are_refused(void **state)
{
	unsigned int refused = 0;

	RTE_SET_USED(state);
	small_table(64, 8, 1);
	for (uint8_t depth = 0; depth < 32; depth++) {
		for (uint8_t bit = 0; bit < 32 - depth; bit++, refused++)
			assert_int_equal(route_add(fib, UINT32_C(1) << bit, depth, 0), -EINVAL);
	}
	assert_int_equal(refused, 32 * 33 / 2);
	for (unsigned int depth = 33; depth <= 255; depth++)
		assert_int_equal(route_add(fib, 0, (uint8_t)depth, 0), -EINVAL);
	for (uint8_t bit = 0; bit < 32; bit++)
		assert_route(UINT32_C(1) << bit, -ENOENT, 0);
}

static void
next_hop_that_is_not_there_is_refused(void **state)
{
	static const uint32_t ids[] = { 2, 3, 1 << 24, (1 << 24) + 1, UINT32_MAX };
	static const uint8_t depths[] = { 0, 1, 24, 25, 32 };

	RTE_SET_USED(state);
	small_table(8, 8, 2);
	for (size_t i = 0; i < RTE_DIM(ids); i++)
		for (size_t d = 0; d < RTE_DIM(depths); d++)
			assert_int_equal(route_add(fib, 0, depths[d], ids[i]), -ENOENT);
	assert_route(0, -ENOENT, 0);
}

static void
routes_and_long_prefixes_run_out_of_space_and_the_others_stand(void **state)
{
	RTE_SET_USED(state);
	small_table(2, 1, 3);
	assert_int_equal(route_add(fib, IP4(10, 0, 0, 128), 25, 0), 0);
	/* There is one group for long prefixes: a second /24 of them has no room. */
	assert_int_equal(route_add(fib, IP4(10, 0, 1, 128), 25, 1), -ENOSPC);
	assert_route(IP4(10, 0, 1, 129), -ENOENT, 0);
	assert_int_equal(route_add(fib, IP4(10, 0, 0, 1), 32, 1), 0);
	assert_int_equal(route_add(fib, IP4(11, 0, 0, 0), 8, 2), -ENOSPC);
	assert_route(IP4(11, 0, 0, 1), -ENOENT, 0);
	assert_route(IP4(10, 0, 0, 200), 0, 0);
	assert_route(IP4(10, 0, 0, 1), 0, 1);
	/* The default route is none of those that are counted. */
	assert_int_equal(route_add(fib, 0, 0, 2), 0);
	assert_route(IP4(11, 0, 0, 1), 0, 2);
}

static void
default_route_can_have_next_hop_0(void **state)
{
	RTE_SET_USED(state);
	small_table(4, 1, 2);
	assert_route(IP4(1, 2, 3, 4), -ENOENT, 0);
	assert_int_equal(route_add(fib, 0, 0, 0), 0);
	assert_route(IP4(1, 2, 3, 4), 0, 0);
	assert_int_equal(route_add(fib, 0, 0, 1), -EEXIST);
	assert_int_equal(route_add(fib, IP4(1, 0, 0, 0), 8, 1), 0);
	assert_route(IP4(1, 2, 3, 4), 0, 1);
	assert_route(IP4(2, 2, 3, 4), 0, 0);
}

static int
fib_teardown(void **state)
{
	hy_ip4_fib_destroy(fib);
	fib = NULL;
	return node_teardown(state);
}

#define FIB_TEST(f) cmocka_unit_test_setup_teardown(f, node_setup, fib_teardown)

static const struct CMUnitTest node_fib_tests[] = {
	FIB_TEST(malformed_sizes_and_names_are_refused),
	FIB_TEST(longest_name_is_taken_and_taken_names_are_refused),
	FIB_TEST(tables_without_end_run_out_of_memory_and_leak_nothing),
	FIB_TEST(socket_is_the_one_asked_for),
	FIB_TEST(ports_are_checked),
	FIB_TEST(ports_are_fixed_once_a_graph_has_the_table),
	FIB_TEST(next_hops_are_checked_and_counted_from_zero),
	FIB_TEST(default_sizes_hold_32767_next_hops),
	FIB_TEST(routes_of_every_depth_are_taken_once),
	FIB_TEST(bits_beyond_the_depth_are_refused),
	FIB_TEST(next_hop_that_is_not_there_is_refused),
	FIB_TEST(routes_and_long_prefixes_run_out_of_space_and_the_others_stand),
	FIB_TEST(default_route_can_have_next_hop_0),
};

UNIT_SUITE(node_fib_tests)
