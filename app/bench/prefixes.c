/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefixes for tables of routes: of a file, or made up. */

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_file.h>

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
	struct bench_prefix *prefixes = NULL;
	char why[HY_FILE_ERROR_SIZE];
	struct hy_file file;
	char *line;
	int rc;

	if (hy_file_read(path, HY_FILE_MAX, &file, why) < 0)
		refuse(path, 0, why);
	for (*n = 0; (rc = hy_file_line(&file, &line, why)) > 0; (*n)++) {
		struct bench_prefix prefix;

		if (!parse(line, &prefix))
			refuse(path, file.line, "is not A.B.C.D/1 to /32 without bits beyond");
		prefixes = append(prefixes, *n, prefix);
	}
	if (rc < 0)
		refuse(path, file.line, why);
	hy_file_free(&file);
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
