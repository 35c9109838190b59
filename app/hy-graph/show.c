/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs and their statistics, as text, JSON and dot. */

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>

#include "command.h"

int
show_each(const struct settings *settings, const struct hy_share *share,
	int (*show)(const struct hy_share *share, const struct hy_graph *copy, unsigned int nth))
{
	char name[HY_NAME_SIZE] = "";
	unsigned int n = 0;
	int rc = 0;

	while (rc == 0 && (rc = hy_share_next(share, name, name)) == 0) {
		struct hy_graph *copy;

		if (fnmatch(settings->graph, name, 0) != 0)
			continue;
		rc = hy_share_graph(share, name, &copy);
		if (rc == 0) {
			rc = show(share, copy, n++);
			hy_share_free(copy);
		} else if (rc == -ENOENT) {
			rc = 0; /* destroyed since its name was read */
		}
	}
	return rc == -ENOENT && n > 0 ? 0 : rc;
}

int
show_list(const struct settings *settings, const struct hy_share *share)
{
	char name[HY_NAME_SIZE] = "";
	unsigned int n = 0;
	int rc;

	while ((rc = hy_share_next(share, name, name)) == 0)
		if (fnmatch(settings->graph, name, 0) == 0) {
			printf("%s\n", name);
			n++;
		}
	return rc == -ENOENT && n > 0 ? 0 : rc;
}

static int
json_one(const struct hy_share *share __rte_unused, const struct hy_graph *copy, unsigned int nth)
{
	printf("%s", nth == 0 ? "[\n" : ",\n");
	return hy_graph_export_json(copy, stdout);
}

int
show_json(const struct settings *settings, const struct hy_share *share)
{
	const int rc = show_each(settings, share, json_one);

	if (rc == 0)
		printf("]\n");
	return rc;
}

int
show_dot(const struct hy_share *share __rte_unused, const struct hy_graph *copy,
	unsigned int nth __rte_unused)
{
	return hy_graph_export_dot(copy, stdout);
}

/* A text of the program may contain anything, also control characters for a terminal. */
static void
text_print(const char *text)
{
	char *copy = strdup(text);

	printf("%s", copy == NULL ? "?" : hy_printable(copy));
	free(copy);
}

static void
entry_print(const char *sort, const struct hy_edge_stats *entry, uint64_t number)
{
	if (number == 0)
		return;
	printf("    %-7s %-20s %16" PRIu64 "%s%s%s", sort, entry->name, number,
		entry->unit[0] == '\0' ? "" : " ", entry->unit, entry->text[0] == '\0' ? "" : "  ");
	text_print(entry->text);
	putchar('\n');
}

static void
node_print(const struct hy_node_stats *node)
{
	const double calls = node->calls > 0 ? (double)node->calls : 1;
	const char *variant = node->variant[0] == '\0' ? "-" : node->variant;

	printf("%-24s %-10s %14" PRIu64 " %16" PRIu64 " %10.1f", node->name,
		node->gone ? "(gone)" : variant, node->calls, node->objs,
		(double)node->objs / calls);
	if (node->objs > 0)
		printf(" %12.1f\n", (double)node->cycles / (double)node->objs);
	else
		printf(" %12s\n", "-");
	for (unsigned int i = 0; i < node->nb_drops; i++)
		entry_print("drop", &node->drops[i], node->drops[i].objs);
	for (unsigned int i = 0; i < node->nb_counters; i++)
		entry_print("counter", &node->counters[i], node->counters[i].value);
}

int
show_stats(const struct settings *settings, const struct hy_share *share)
{
	struct hy_stats *stats;
	int rc = hy_share_stats(share, settings->graph, &stats);

	if (rc < 0)
		return rc;
	printf("%-24s %-10s %14s %16s %10s %12s\n", "node", "variant", "calls", "objects",
		"objs/call", "cycles/obj");
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		node_print(&stats->nodes[i]);
	hy_stats_free(stats);
	return 0;
}
