/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations of hy-graph's files. */
#pragma once

#include <limits.h>

#include <hy_share.h>

/* The command line. */
struct settings {
	const struct command *command;
	char folder[PATH_MAX];
	const char *graph; /* a pattern */
};

struct command {
	const char *name;
	const char *text; /* for --help */
	/* Shows the matching graphs. Returns 0 or a negative errno. */
	int (*run)(const struct settings *settings, const struct hy_share *share);
	/* Instead of run: shows the copy of a matching graph, as for show_each(). */
	int (*show)(const struct hy_share *share, const struct hy_graph *copy, unsigned int nth);
};

/* The commands, the last one without a name. */
extern const struct command commands[];

/* settings.c: reads the command line. Returns 0, or a negative value (reported). --help exits. */
int settings_read(int argc, char **argv, struct settings *settings);

/* show.c */
int show_list(const struct settings *settings, const struct hy_share *share);
int show_stats(const struct settings *settings, const struct hy_share *share);
int show_json(const struct settings *settings, const struct hy_share *share);
int show_dot(const struct hy_share *share, const struct hy_graph *copy, unsigned int nth);

/* Calls a function for a copy of each matching graph. Returns -ENOENT if none matches. */
int show_each(const struct settings *settings, const struct hy_share *share,
	int (*show)(const struct hy_share *share, const struct hy_graph *copy, unsigned int nth));

/* show_trace.c */
int show_trace(const struct hy_share *share, const struct hy_graph *copy, unsigned int nth);
