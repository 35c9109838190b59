/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 prefixes for tables of routes: of a file, or generated. */

#include <arpa/inet.h>

#include <rte_common.h>

#include "bench.h"
#include "prefixes.h"

/* Parses "A.B.C.D/N". 0/0 is refused, because the libraries do not accept it. */
static bool
parse(void *one, const char *address, unsigned long depth)
{
	struct bench_route *prefix = one;
	struct in_addr in;

	if (inet_pton(AF_INET, address, &in) != 1 || depth > 32)
		return false;
	*prefix = (struct bench_route){ ntohl(in.s_addr), (uint8_t)depth, 0 };
	return (prefix->prefix & ~bench_mask(prefix->depth)) == 0;
}

/* The distribution of lengths of 172,620 real networks. */
static void
make_up(struct prefix_list *list)
{
	static const unsigned int of_length[] = { 0, 0, 0, 0, 0, 0, 2, 4, 15, 16, 67, 167, 403, 718,
		1459, 2583, 6910, 3317, 5327, 9945, 11709, 16787, 50657, 23791, 38559, 65, 74, 32,
		6, 7 };

	for (unsigned int depth = 1; depth < RTE_DIM(of_length); depth++)
		for (unsigned int i = 0; i < of_length[depth]; i++) {
			const struct bench_route prefix = { bench_random() & bench_mask(depth),
				(uint8_t)depth, 0 };

			prefix_append(list, &prefix);
		}
}

int
bench_by_prefix(const void *a, const void *b)
{
	const struct bench_route *pa = a, *pb = b;

	if (pa->prefix != pb->prefix)
		return pa->prefix < pb->prefix ? -1 : 1;
	return pa->depth - pb->depth;
}

struct bench_route *
bench_prefixes(const char *path, unsigned int *n)
{
	struct prefix_list list = { .size = sizeof(struct bench_route), .parse = parse };

	if (path != NULL)
		prefix_read(&list, path);
	if (list.n == 0)
		make_up(&list);
	prefix_sort(&list, bench_by_prefix);
	*n = list.n;
	return list.all;
}
