/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefixes for tables of routes: of a file, or made up. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "bench.h"

static void __attribute__((noreturn)) refuse(const char *what, unsigned int line, const char *why)
{
	fprintf(stderr, "hy-bench: --prefixes %s", what);
	if (line > 0) /* 0: the file as a whole */
		fprintf(stderr, ":%u", line);
	fprintf(stderr, ": %s\n", why);
	exit(EXIT_FAILURE);
}

static struct bench_prefix *
append(struct bench_prefix *prefixes, unsigned int n, struct bench_prefix prefix)
{
	/* Room doubles at every power of two. */
	if ((n & (n - 1)) == 0) {
		prefixes = realloc(prefixes, 2ul * RTE_MAX(n, 1u) * sizeof(*prefixes));
		if (prefixes == NULL)
			exit(EXIT_FAILURE);
	}
	prefixes[n] = prefix;
	return prefixes;
}

static uint32_t
mask(uint8_t depth)
{
	return UINT32_MAX << (32 - depth);
}

/* Of "A.B.C.D/N"; 0/0 is no prefix here, as libraries of longest prefixes do not take it. */
static bool
parse(char *line, struct bench_prefix *prefix)
{
	char *slash = strchr(line, '/'), *end;
	struct in_addr address;
	unsigned long depth;

	if (slash == NULL)
		return false;
	*slash = '\0';
	depth = strtoul(slash + 1, &end, 10);
	if (inet_pton(AF_INET, line, &address) != 1 || end == slash + 1 ||
		end[strspn(end, " \r\n")] != '\0' || depth == 0 || depth > 32)
		return false;
	prefix->address = ntohl(address.s_addr);
	prefix->depth = (uint8_t)depth;
	return (prefix->address & ~mask(prefix->depth)) == 0;
}

static struct bench_prefix *
read_file(const char *path, unsigned int *n)
{
	FILE *in = fopen(path, "r");
	struct bench_prefix *prefixes = NULL;
	char line[64];

	if (in == NULL)
		refuse(path, 0, strerror(errno));
	for (*n = 0; fgets(line, sizeof(line), in) != NULL; (*n)++) {
		struct bench_prefix prefix;

		if (!parse(line, &prefix))
			refuse(path, *n + 1, "is not A.B.C.D/1 to /32 without bits beyond");
		prefixes = append(prefixes, *n, prefix);
	}
	fclose(in);
	return prefixes;
}

/* As many of each length as 172,620 networks of the world have. */
static struct bench_prefix *
make_up(unsigned int *n)
{
	static const unsigned int of_length[33] = { [6] = 2,
		[7] = 4,
		[8] = 15,
		[9] = 16,
		[10] = 67,
		[11] = 167,
		[12] = 403,
		[13] = 718,
		[14] = 1459,
		[15] = 2583,
		[16] = 6910,
		[17] = 3317,
		[18] = 5327,
		[19] = 9945,
		[20] = 11709,
		[21] = 16787,
		[22] = 50657,
		[23] = 23791,
		[24] = 38559,
		[25] = 65,
		[26] = 74,
		[27] = 32,
		[28] = 6,
		[29] = 7 };
	struct bench_prefix *prefixes = NULL;

	*n = 0;
	for (uint8_t depth = 1; depth <= 32; depth++)
		for (unsigned int i = 0; i < of_length[depth]; i++, (*n)++) {
			const struct bench_prefix prefix = { bench_random() & mask(depth), depth };

			prefixes = append(prefixes, *n, prefix);
		}
	return prefixes;
}

static int
by_address(const void *a, const void *b)
{
	const struct bench_prefix *pa = a, *pb = b;

	if (pa->address != pb->address)
		return pa->address < pb->address ? -1 : 1;
	return pa->depth - pb->depth;
}

struct bench_prefix *
bench_prefixes(const char *path, unsigned int *n)
{
	struct bench_prefix *prefixes = path != NULL ? read_file(path, n) : make_up(n);
	unsigned int different = 0;

	if (*n == 0)
		refuse(path, 0, "has no prefixes");
	qsort(prefixes, *n, sizeof(*prefixes), by_address);
	for (unsigned int i = 0; i < *n; i++)
		if (i == 0 || by_address(&prefixes[i - 1], &prefixes[i]) != 0)
			prefixes[different++] = prefixes[i];
	*n = different;
	return prefixes;
}
