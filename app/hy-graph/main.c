/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-graph: shows the graphs of a running program, and their statistics, from outside. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <hy_file.h>
#include <hy_mbuf.h>

#include "command.h"

const struct command commands[] = {
	{ "stats", "calls, objects, drops and counters of each node, summed over graphs",
		show_stats },
	{ "json", "each graph, with its counters, in an array", show_json },
	{ "dot", "each graph, with its counters, in Graphviz's language", .show = show_dot },
	{ "trace", "trace records that the program has not printed yet", .show = show_trace },
	{ "list", "the names of the graphs", show_list },
	{ NULL },
};

static int
run(const struct settings *settings)
{
	struct hy_share *share;
	int rc = hy_share_attach(settings->folder, &hy_mbuf_ops, &share);

	if (rc < 0)
		return rc; /* reported, as all errors are but two */
	rc = settings->command->run != NULL ? settings->command->run(settings, share)
					    : show_each(settings, share, settings->command->show);
	if (rc == -ENOENT)
		fprintf(stderr, "hy-graph: no graph matches '%s'; hy-graph list names all graphs\n",
			settings->graph);
	else if (rc == -ENOMEM)
		fprintf(stderr, "hy-graph: out of memory\n");
	hy_share_detach(share);
	return rc;
}

int
main(int argc, char **argv)
{
	struct settings settings;
	int rc, ended;

	if (hy_file_prepare() < 0 || settings_read(argc, argv, &settings) < 0)
		return EXIT_FAILURE;
	rc = run(&settings);
	ended = hy_output_end("hy-graph");
	return rc < 0 ? EXIT_FAILURE : ended;
}
