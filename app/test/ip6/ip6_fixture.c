/* SPDX-License-Identifier: BSD-3-Clause */
/* See ip6_fixture.h. */

#include <stdlib.h>

#include <rte_cpuflags.h>

#include "ip6_fixture.h"

struct hy_ip4_fib *hops6;
struct hy_ip6_fib *fib6;

void
ip6_tables(uint32_t n)
{
	ip6_tables_in(HY_IP4_FIB, n);
}

void
ip6_tables_in(enum hy_ip4_engine engine, uint32_t n)
{
	const struct hy_ip4_fib_params params = { .engine = engine,
		.max_routes = 16,
		.max_tbl8s = 16,
		.socket = SOCKET_ID_ANY,
		.qsbr = rig_qsbr };

	assert_int_equal(hy_ip4_fib_create("ip6", &params, &hops6), 0);
	for (uint16_t p = 0; p < 2; p++)
		assert_int_equal(hy_ip4_port_add(hops6,
					 &(struct hy_ip4_port){ .port = p,
						 .mac = *rig_mac(0, p),
						 .max_len = 1514 }),
			0);
	for (uint32_t i = 0; i < n; i++) {
		struct hy_ip4_next_hop hop = { .port = (uint16_t)(i % 2),
			.mac = *rig_mac(1, (uint16_t)(i % 2)) };
		uint32_t id;

		hop.mac.addr_bytes[1] ^= (uint8_t)(i / 2);
		hop.mac.addr_bytes[2] ^= (uint8_t)(i / 512);
		assert_int_equal(hy_ip4_next_hop_add(hops6, &hop, &id), 0);
		assert_int_equal(id, i);
	}
	assert_int_equal(hy_ip6_fib_create(hops6, &fib6), 0);
}

struct hy_ip6_route
ip6_route(const char *prefix, uint32_t next_hop)
{
	struct hy_ip6_route route = { .next_hop = next_hop };
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchr(prefix, '/');

	assert_non_null(slash);
	assert_true(slash - prefix < INET6_ADDRSTRLEN);
	memcpy(address, prefix, (size_t)(slash - prefix));
	address[slash - prefix] = '\0';
	assert_int_equal(inet_pton(AF_INET6, address, route.prefix), 1);
	route.depth = (uint8_t)strtoul(slash + 1, NULL, 10);
	return route;
}

void
ip6_frame(uint8_t *frame, uint32_t len)
{
	uint8_t *ip = frame + 14;

	memset(frame, 0, len);
	memcpy(frame, rig_mac(0, 0), 6);
	frame[6] = 6;
	frame[12] = 0x86;
	frame[13] = 0xdd;
	ip[0] = 0x60;
	ip[4] = (uint8_t)((len - 54) >> 8);
	ip[5] = (uint8_t)(len - 54);
	ip[6] = 59;
	ip[7] = 64;
	assert_int_equal(inet_pton(AF_INET6, "2001:db8::1", ip + 8), 1);
	assert_int_equal(inet_pton(AF_INET6, "2001:db8:1::2", ip + 24), 1);
	for (uint32_t i = 54; i < len; i++)
		frame[i] = (uint8_t)i;
}

bool
ip6_route_covers(const struct hy_ip6_route *route, const uint8_t *address)
{
	for (unsigned int bit = 0; bit < route->depth; bit++)
		if (((route->prefix[bit / 8] ^ address[bit / 8]) & 0x80 >> bit % 8) != 0)
			return false;
	return true;
}

uint32_t
ip6_search(const struct hy_ip6_route *routes, uint32_t n, const uint8_t *address)
{
	uint32_t found = n;

	for (uint32_t i = 0; i < n; i++)
		if ((found == n || routes[i].depth > routes[found].depth) &&
			ip6_route_covers(&routes[i], address))
			found = i;
	return found;
}

int
ip6_teardown(void **state)
{
	rig_clear();
	hy_ip6_fib_destroy(fib6);
	hy_ip4_fib_destroy(hops6);
	fib6 = NULL;
	hops6 = NULL;
	rig_qsbr = NULL;
	return node_teardown(state);
}

bool
ip6_can_run(const char *variant)
{
#ifdef RTE_ARCH_X86_64
	if (strcmp(variant, "avx512") == 0)
		return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
			rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
			rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0;
	if (strcmp(variant, "avx2") == 0)
		return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0;
#endif
	RTE_SET_USED(variant);
	return true;
}
