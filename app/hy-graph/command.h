/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of hy-graph share. */
#ifndef HY_GRAPH_COMMAND_H
#define HY_GRAPH_COMMAND_H

#include <limits.h>

#include <hy_share.h>

/* What the user asks for. */
struct settings {
	const struct command *command;
	char folder[PATH_MAX];
	const char *graph; /* a pattern */
};

struct command {
	const char *name;
	const char *text; /* for --help */
	/* Shows the graphs that match; 0, or a negative errno. */
	int (*run)(const struct settings *settings, const struct hy_share *share);
};

/* The commands, the last one without a name. */
extern const struct command commands[];

/* settings.c: 0, or negative: said why. --help prints and exits. */
int settings_read(int argc, char **argv, struct settings *settings);

/* show.c */
int show_list(const struct settings *settings, const struct hy_share *share);
int show_stats(const struct settings *settings, const struct hy_share *share);
int show_json(const struct settings *settings, const struct hy_share *share);
int show_dot(const struct settings *settings, const struct hy_share *share);

/* Calls a function for a copy of each graph that matches. -ENOENT if none does. */
int show_each(const struct settings *settings, const struct hy_share *share,
	int (*show)(const struct hy_share *share, const struct hy_graph *copy, unsigned int nth));

/* show_trace.c */
int show_trace(const struct settings *settings, const struct hy_share *share);

#endif
