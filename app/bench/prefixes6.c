/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 prefixes for tables of routes: of a file, or generated. */

#include <arpa/inet.h>
#include <string.h>

#include <rte_common.h>

#include "bench.h"
#include "prefixes.h"

#define BLOCKS 64     /* of 16 bits, that all prefixes lie in */
#define NETWORKS 3200 /* of 32 bits, that longer prefixes lie in */

void
bench_cut6(uint8_t address[HY_IP6_BYTES], unsigned int depth)
{
	for (unsigned int bit = depth; bit < 8 * HY_IP6_BYTES; bit++)
		address[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

/* Parses "A:B::/N". ::/0 is refused, as 0/0 is. */
static bool
parse(void *one, const char *address, unsigned long depth)
{
	struct hy_ip6_route *route = one, cut;

	*route = (struct hy_ip6_route){ .depth = (uint8_t)depth };
	if (inet_pton(AF_INET6, address, route->prefix) != 1 || depth > 8 * HY_IP6_BYTES)
		return false;
	cut = *route;
	bench_cut6(cut.prefix, cut.depth);
	return hy_ip6_route_order(&cut, route) == 0;
}

static void
words_put(uint8_t to[HY_IP6_BYTES], uint32_t first, uint32_t second)
{
	first = rte_cpu_to_be_32(first);
	second = rte_cpu_to_be_32(second);
	memcpy(to, &first, sizeof(first));
	memcpy(to + sizeof(first), &second, sizeof(second));
}

/* A network of 32 bits in one of the blocks of 2000::/4 that registries assign from. */
static uint32_t
network(void)
{
	static const uint8_t first[] = { 0x24, 0x26, 0x28, 0x2a };
	const uint32_t block = bench_random() % BLOCKS, high = first[block % 4];

	return high << 24 | block / 4 << 16 | bench_random() >> 16;
}

/*
 * The distribution of lengths of 73,723 real networks, which lie in 68 blocks of 16 bits. Those longer
 * than 32 bits lie in 3,231 networks of 32 bits, of which some have many and most have few.
 */
static void
make_up(struct prefix_list *list)
{
	static const unsigned int of_length[] = { [13] = 1,
		[14] = 1,
		[15] = 1,
		[16] = 1,
		[17] = 1,
		[18] = 3,
		[19] = 4,
		[20] = 31,
		[21] = 15,
		[22] = 37,
		[23] = 13,
		[24] = 76,
		[25] = 10,
		[26] = 70,
		[27] = 495,
		[28] = 682,
		[29] = 16989,
		[30] = 1325,
		[31] = 1364,
		[32] = 32573,
		[33] = 4,
		[34] = 4,
		[35] = 10,
		[36] = 1643,
		[37] = 57,
		[38] = 68,
		[39] = 70,
		[40] = 1755,
		[41] = 75,
		[42] = 90,
		[43] = 90,
		[44] = 1154,
		[45] = 311,
		[46] = 363,
		[47] = 595,
		[48] = 13739,
		[64] = 3 };
	uint32_t networks[NETWORKS];

	for (unsigned int i = 0; i < NETWORKS; i++)
		networks[i] = network();
	for (unsigned int depth = 1; depth < RTE_DIM(of_length); depth++)
		for (unsigned int i = 0; i < of_length[depth]; i++) {
			struct hy_ip6_route route = { .depth = (uint8_t)depth };
			const uint32_t some = 1 + bench_random() % NETWORKS;
			const uint32_t few = 1 + bench_random() % some;

			words_put(route.prefix,
				depth > 32 ? networks[bench_random() % few] : network(),
				bench_random());
			bench_cut6(route.prefix, depth);
			prefix_append(list, &route);
		}
}

struct hy_ip6_route *
bench_prefixes6(const char *path, unsigned int *n)
{
	struct prefix_list list = {
		.size = sizeof(struct hy_ip6_route), .ip6 = true, .parse = parse
	};

	if (path != NULL)
		prefix_read(&list, path);
	if (list.n == 0)
		make_up(&list);
	prefix_sort(&list, hy_ip6_route_order);
	*n = list.n;
	return list.all;
}
