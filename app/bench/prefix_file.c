/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of prefixes, and files of them: see prefixes.h. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_file.h>

#include "bench.h"
#include "prefixes.h"

void
prefix_append(struct prefix_list *list, const void *one)
{
	/* Room doubles at every power of two. */
	if ((list->n & (list->n - 1)) == 0) {
		list->all = realloc(list->all, 2ul * RTE_MAX(list->n, 1u) * list->size);
		if (list->all == NULL)
			bench_fail("no memory for prefixes");
	}
	memcpy((char *)list->all + list->n++ * list->size, one, list->size);
}

/* Takes a line "ADDRESS/N" of either family. Returns false if it is wrong. */
static bool
line_take(struct prefix_list *list, char *line)
{
	union {
		struct bench_route ip4;
		struct hy_ip6_route ip6;
	} one;
	char *slash = strchr(line, '/'), *end;
	unsigned long depth;

	if (slash == NULL)
		return false;
	*slash = '\0';
	depth = strtoul(slash + 1, &end, 10);
	if (end == slash + 1 || end[strspn(end, " \r\n")] != '\0' || depth == 0)
		return false;
	if ((strchr(line, ':') != NULL) != list->ip6) {
		list->others++;
		return true;
	}
	if (!list->parse(&one, line, depth))
		return false;
	prefix_append(list, &one);
	return true;
}

void
prefix_read(struct prefix_list *list, const char *path)
{
	char why[HY_FILE_ERROR_SIZE];
	struct hy_file file;
	char *line;
	int rc;

	if (hy_file_read(path, HY_FILE_MAX, &file, why) < 0)
		bench_fail("--prefixes %s: %s", path, why);
	while ((rc = hy_file_line(&file, &line, why)) > 0)
		if (!line_take(list, line))
			bench_fail("--prefixes %s:%u: is not A.B.C.D/1 to /32, or A:B::/1 to /128, "
				   "without bits beyond",
				path, file.line);
	if (rc < 0)
		bench_fail("--prefixes %s:%u: %s", path, file.line, why);
	hy_file_free(&file);
	if (list->n + list->others == 0)
		bench_fail("--prefixes %s: has no prefixes", path);
}

void
prefix_sort(struct prefix_list *list, int (*order)(const void *a, const void *b))
{
	const size_t size = list->size;
	char *all = list->all;
	unsigned int different = 0;

	qsort(all, list->n, size, order);
	for (unsigned int i = 0; i < list->n; i++)
		if (i == 0 || order(all + (different - 1) * size, all + i * size) != 0)
			memmove(all + different++ * size, all + i * size, size);
	list->n = different;
}
