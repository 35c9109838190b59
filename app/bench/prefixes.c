/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefixes for tables of routes: of a file, or generated. */

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_file.h>

#include "bench.h"

static struct bench_route *
append(struct bench_route *prefixes, unsigned int n, struct bench_route prefix)
{
	/* Room doubles at every power of two. */
	if ((n & (n - 1)) == 0) {
		prefixes = realloc(prefixes, 2ul * RTE_MAX(n, 1u) * sizeof(*prefixes));
		if (prefixes == NULL)
			bench_fail("no memory for prefixes");
	}
	prefixes[n] = prefix;
	return prefixes;
}

/* Parses "A.B.C.D/N". 0/0 is refused, because the libraries do not accept it. */
static bool
parse(char *line, struct bench_route *prefix)
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
	prefix->prefix = ntohl(address.s_addr);
	prefix->depth = (uint8_t)depth;
	return (prefix->prefix & ~bench_mask(prefix->depth)) == 0;
}

static struct bench_route *
read_file(const char *path, unsigned int *n)
{
	struct bench_route *prefixes = NULL;
	char why[HY_FILE_ERROR_SIZE];
	struct hy_file file;
	char *line;
	int rc;

	if (hy_file_read(path, HY_FILE_MAX, &file, why) < 0)
		bench_fail("--prefixes %s: %s", path, why);
	for (*n = 0; (rc = hy_file_line(&file, &line, why)) > 0; (*n)++) {
		struct bench_route prefix = { 0 };

		if (!parse(line, &prefix))
			bench_fail("--prefixes %s:%u: is not A.B.C.D/1 to /32 without bits beyond",
				path, file.line);
		prefixes = append(prefixes, *n, prefix);
	}
	if (rc < 0)
		bench_fail("--prefixes %s:%u: %s", path, file.line, why);
	hy_file_free(&file);
	return prefixes;
}

/* The distribution of lengths of 172,620 real networks. */
static struct bench_route *
make_up(unsigned int *n)
{
	static const unsigned int of_length[] = { 0, 0, 0, 0, 0, 0, 2, 4, 15, 16, 67, 167, 403, 718,
		1459, 2583, 6910, 3317, 5327, 9945, 11709, 16787, 50657, 23791, 38559, 65, 74, 32,
		6, 7 };
	struct bench_route *prefixes = NULL;

	*n = 0;
	for (unsigned int depth = 1; depth < RTE_DIM(of_length); depth++)
		for (unsigned int i = 0; i < of_length[depth]; i++, (*n)++) {
			const struct bench_route prefix = { bench_random() & bench_mask(depth),
				(uint8_t)depth, 0 };

			prefixes = append(prefixes, *n, prefix);
		}
	return prefixes;
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
	struct bench_route *prefixes = path != NULL ? read_file(path, n) : make_up(n);
	unsigned int different = 0;

	if (*n == 0)
		bench_fail("--prefixes %s: has no prefixes", path);
	qsort(prefixes, *n, sizeof(*prefixes), bench_by_prefix);
	for (unsigned int i = 0; i < *n; i++)
		if (i == 0 || bench_by_prefix(&prefixes[i - 1], &prefixes[i]) != 0)
			prefixes[different++] = prefixes[i];
	*n = different;
	return prefixes;
}
