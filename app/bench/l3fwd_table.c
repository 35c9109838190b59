/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes of the l3fwd benchmark. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ip.h>

#include "l3fwd.h"

#define EIGHT_DEPTH 19                 /* so that 65,536 destinations have room in eight */
#define EIGHT_FIRST IP4(198, 18, 0, 0) /* RFC 2544: for benchmarks */

/* Hop i of eight, on ports in turn. */
static uint8_t
hop_of(unsigned int i, unsigned int nb_ports)
{
	return (uint8_t)(i % nb_ports * HOPS_PER_PORT + i / nb_ports);
}

static uint32_t
mask_of(unsigned int depth)
{
	return depth == 0 ? 0 : UINT32_MAX << (32 - depth);
}

static int
by_prefix(const void *a, const void *b)
{
	const struct l3fwd_route *x = a, *y = b;

	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return (int)x->depth - y->depth;
}

static struct l3fwd_table *
table_create(uint32_t room)
{
	struct l3fwd_table *table = calloc(1, sizeof(*table));

	if (table != NULL)
		table->routes = calloc(room, sizeof(*table->routes));
	if (table == NULL || table->routes == NULL)
		l3fwd_fail("no memory for %u routes", room);
	return table;
}

/* Sorts routes and throws doubles out. */
static struct l3fwd_table *
table_finish(struct l3fwd_table *table)
{
	uint32_t kept = 0, last24 = UINT32_MAX;

	qsort(table->routes, table->n, sizeof(*table->routes), by_prefix);
	for (uint32_t i = 0; i < table->n; i++) {
		const struct l3fwd_route *route = &table->routes[i];

		if (kept > 0 && by_prefix(route, &table->routes[kept - 1]) == 0)
			continue;
		if (route->depth > 24 && route->prefix >> 8 != last24) {
			last24 = route->prefix >> 8;
			table->tbl8s++;
		}
		table->routes[kept++] = *route;
	}
	table->n = kept;
	return table;
}

struct l3fwd_table *
table_eight(unsigned int nb_hops, unsigned int nb_ports)
{
	struct l3fwd_table *table = table_create(TABLE_EIGHT);

	for (table->n = 0; table->n < TABLE_EIGHT; table->n++)
		table->routes[table->n] = (struct l3fwd_route){
			.prefix = EIGHT_FIRST + (table->n << (32 - EIGHT_DEPTH)),
			.depth = EIGHT_DEPTH,
			.hop = hop_of(table->n % nb_hops, nb_ports),
		};
	return table_finish(table);
}

/* Of 100 prefixes in a full table, about 60 are /24, 25 /22 or /23, and the rest shorter. */
static uint8_t
depth_generate(void)
{
	const uint32_t r = bench_random() % 100;

	return (uint8_t)(r < 60 ? 24 : r < 85 ? 22 + r % 2 : r < 99 ? 16 + r % 6 : 25 + r % 4);
}

struct l3fwd_table *
table_generate(uint32_t n, unsigned int nb_ports)
{
	/* Some are thrown out as doubles: what is left of these is at least n. */
	const uint32_t room = n + n / 8 + 64;
	struct l3fwd_table *table = table_create(room);

	for (table->n = 0; table->n < room; table->n++) {
		const uint8_t depth = depth_generate();
		const uint32_t net = 1 + bench_random() % 222; /* no 0/8, nothing from 224/4 on */
		const uint32_t address = net << 24 | (bench_random() & 0xffffff);

		table->routes[table->n] = (struct l3fwd_route){
			.prefix = (net == 127 ? address + (1u << 24) : address) & mask_of(depth),
			.depth = depth,
			.hop = hop_of(bench_random() % TABLE_EIGHT, nb_ports),
		};
	}
	table_finish(table);
	table->n = RTE_MIN(table->n, n);
	return table;
}

/* Whether packets to all addresses of a prefix may be forwarded (RFC 1812 5.3.7). */
static bool
forwardable(const struct l3fwd_route *route)
{
	const uint32_t first = route->prefix >> 24;
	const uint32_t last = (route->prefix | ~mask_of(route->depth)) >> 24;

	return first > 0 && (last < 127 || first > 127) && last < 224;
}

static bool
route_parse(char *line, struct l3fwd_route *route)
{
	char *slash = strchr(line, '/'), *end;
	struct in_addr address;
	unsigned long depth;

	if (slash == NULL)
		return false;
	*slash = '\0';
	depth = strtoul(slash + 1, &end, 10);
	if (inet_pton(AF_INET, line, &address) != 1 || end == slash + 1 || depth < 1 ||
		depth > 32 || end[strspn(end, " \t\r\n")] != '\0')
		return false;
	route->prefix = ntohl(address.s_addr) & mask_of((unsigned int)depth);
	route->depth = (uint8_t)depth;
	return true;
}

static FILE *
file_open(const char *path)
{
	FILE *in = fopen(path, "r");

	if (in == NULL)
		l3fwd_fail("--prefixes %s: %s", path, strerror(errno));
	return in;
}

struct l3fwd_table *
table_read(const char *path, unsigned int nb_ports)
{
	struct l3fwd_table *table = table_create(1);
	FILE *in = file_open(path);
	uint32_t room = 1;
	char line[64];

	for (unsigned int number = 1; fgets(line, sizeof(line), in) != NULL; number++) {
		struct l3fwd_route *route;

		if (table->n == room) {
			room *= 2;
			table->routes = realloc(table->routes, room * sizeof(*table->routes));
			if (table->routes == NULL)
				l3fwd_fail("no memory for %u routes", room);
		}
		route = &table->routes[table->n];
		if (!route_parse(line, route) || !forwardable(route))
			l3fwd_fail(
				"--prefixes %s: line %u: a prefix is wanted, such as 10.0.0.0/8; "
				"none in 0/8, 127/8 or 224/3",
				path, number);
		route->hop = hop_of(bench_random() % TABLE_EIGHT, nb_ports);
		table->n++;
	}
	fclose(in);
	if (table->n == 0)
		l3fwd_fail("--prefixes %s: it is empty", path);
	return table_finish(table);
}

void
table_free(struct l3fwd_table *table)
{
	free(table->routes);
	free(table);
}

uint32_t
table_hop(const struct l3fwd_table *table, uint32_t dst)
{
	for (unsigned int depth = 32; depth > 0; depth--) {
		const struct l3fwd_route key = { .prefix = dst & mask_of(depth),
			.depth = (uint8_t)depth };
		const struct l3fwd_route *found = bsearch(&key, table->routes, table->n,
			sizeof(key), by_prefix);

		if (found != NULL)
			return found->hop;
	}
	return HOP_NONE;
}
