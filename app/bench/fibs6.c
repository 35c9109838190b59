/* SPDX-License-Identifier: BSD-3-Clause */
/* See fibs6.h. DPDK's type of an address depends on its version: void pointers stand for all. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "bench.h"
#include "fibs6.h"

#define SPARE_TBL8S 64
#define NARROW_TBL8S INT16_MAX /* most that rte_fib6 takes with entries of two bytes */

uint32_t
fib6_tbl8s(const struct hy_ip6_route *routes, uint32_t n)
{
	uint32_t tbl8s = 0;

	for (uint32_t i = 0; i < n; i++)
		for (unsigned int bytes = 3; 8 * bytes < routes[i].depth; bytes++)
			tbl8s += i == 0 || routes[i - 1].depth <= 8 * bytes ||
				memcmp(routes[i - 1].prefix, routes[i].prefix, bytes) != 0;
	return tbl8s;
}

static unsigned int
common_bits(const uint8_t *a, const uint8_t *b)
{
	unsigned int bit = 0;

	while (bit < 8 * HY_IP6_BYTES && ((a[bit / 8] ^ b[bit / 8]) & 0x80 >> bit % 8) == 0)
		bit++;
	return bit;
}

/* Number of routes that do not come after a prefix. */
static uint32_t
not_after(const struct hy_ip6_route *routes, uint32_t n, const struct hy_ip6_route *prefix)
{
	uint32_t from = 0;

	while (from < n) {
		const uint32_t mid = from + (n - from) / 2;

		if (hy_ip6_route_order(&routes[mid], prefix) <= 0)
			from = mid + 1;
		else
			n = mid;
	}
	return from;
}

/* A route that covers the address covers what lies between, and so agrees with it as far. */
uint32_t
fib6_find(const struct hy_ip6_route *routes, uint32_t n, const uint8_t dst[HY_IP6_BYTES],
	uint32_t none)
{
	struct hy_ip6_route key = { .depth = 8 * HY_IP6_BYTES };

	memcpy(key.prefix, dst, HY_IP6_BYTES);
	while ((n = not_after(routes, n, &key)) > 0) {
		const struct hy_ip6_route *last = &routes[n - 1];

		key.depth = (uint8_t)common_bits(last->prefix, dst);
		if (last->depth <= key.depth)
			return last->next_hop;
		bench_cut6(key.prefix, key.depth);
	}
	return none;
}

void
fib6_address(const struct hy_ip6_route *route, uint8_t address[HY_IP6_BYTES])
{
	uint8_t kept[HY_IP6_BYTES];

	for (unsigned int b = 0; b < HY_IP6_BYTES; b++)
		address[b] = (uint8_t)bench_random();
	memcpy(kept, address, sizeof(kept));
	bench_cut6(kept, route->depth); /* what the prefix replaces */
	for (unsigned int b = 0; b < HY_IP6_BYTES; b++)
		address[b] = (uint8_t)((address[b] ^ kept[b]) | route->prefix[b]);
}

uint32_t
fib6_rte_tbl8s(const struct hy_ip6_route *routes, uint32_t n)
{
	uint32_t tbl8s = 0;

	for (uint32_t i = 0; i < n; i++)
		tbl8s += routes[i].depth <= 24 ? 0 : (routes[i].depth - 17u) / 8;
	return tbl8s;
}

struct rte_fib6 *
fib6_rte_create(const char *name, uint32_t n, uint32_t tbl8s, uint32_t none)
{
	struct rte_fib6_conf conf = { .type = RTE_FIB6_TRIE,
		.default_nh = none,
		.max_routes = (int)n,
		.trie = { .num_tbl8 = tbl8s + SPARE_TBL8S } };
	struct rte_fib6 *fib;

	conf.trie.nh_sz = conf.trie.num_tbl8 <= NARROW_TBL8S ? RTE_FIB6_TRIE_2B : RTE_FIB6_TRIE_4B;
	fib = rte_fib6_create(name, SOCKET_ID_ANY, &conf);
	if (fib == NULL)
		bench_cannot("rte_fib6, %u routes: %s", n, rte_strerror(rte_errno));
	return fib;
}

struct rte_lpm6 *
fib6_lpm_create(const char *name, uint32_t n, uint32_t tbl8s)
{
	const struct rte_lpm6_config config = { .max_rules = n,
		.number_tbl8s = tbl8s + SPARE_TBL8S };
	struct rte_lpm6 *lpm = rte_lpm6_create(name, SOCKET_ID_ANY, &config);

	if (lpm == NULL)
		bench_cannot("rte_lpm6, %u routes: %s", n, rte_strerror(rte_errno));
	return lpm;
}

struct rte_fib6 *
fib6_rte(const char *name, const struct hy_ip6_route *routes, uint32_t n, uint32_t none)
{
	struct rte_fib6 *fib = fib6_rte_create(name, n, fib6_rte_tbl8s(routes, n), none);

	for (uint32_t i = 0; i < n && fib != NULL; i++) {
		const void *prefix = routes[i].prefix;

		if (rte_fib6_add(fib, prefix, routes[i].depth, routes[i].next_hop) == 0)
			continue;
		bench_cannot("%s: route %u of %u does not fit in rte_fib6", name, i, n);
		rte_fib6_free(fib);
		fib = NULL;
	}
	return fib;
}

struct rte_lpm6 *
fib6_lpm(const char *name, const struct hy_ip6_route *routes, uint32_t n)
{
	struct rte_lpm6 *lpm = fib6_lpm_create(name, n, fib6_tbl8s(routes, n));

	for (uint32_t i = 0; i < n && lpm != NULL; i++) {
		const void *prefix = routes[i].prefix;

		if (rte_lpm6_add(lpm, prefix, routes[i].depth, routes[i].next_hop) == 0)
			continue;
		bench_cannot("%s: route %u of %u does not fit in rte_lpm6", name, i, n);
		rte_lpm6_free(lpm);
		lpm = NULL;
	}
	return lpm;
}

struct hy_ip6_fib *
fib6_create(const char *name, struct rte_rcu_qsbr *qsbr)
{
	const struct hy_ip4_fib_params params = { .engine = HY_IP4_LPM,
		.max_routes = 1,
		.max_tbl8s = 1,
		.socket = SOCKET_ID_ANY,
		.qsbr = qsbr };
	struct hy_ip4_fib *next_hops = fib_create(name, &params, NULL, 0);
	struct hy_ip6_fib *fib;

	if (next_hops == NULL)
		return NULL;
	if (hy_ip6_fib_create(next_hops, &fib) == 0)
		return fib;
	bench_cannot("no memory for a table of IPv6");
	hy_ip4_fib_destroy(next_hops);
	return NULL;
}

void
fib6_destroy(struct hy_ip6_fib *fib)
{
	struct hy_ip4_fib *next_hops = fib == NULL ? NULL : hy_ip6_fib_next_hops(fib);

	hy_ip6_fib_destroy(fib);
	hy_ip4_fib_destroy(next_hops);
}
