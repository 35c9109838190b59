/* SPDX-License-Identifier: BSD-3-Clause */
/* Where reports go. */
#ifndef L3FWD_OUTPUTS_H
#define L3FWD_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"
#include "writeback.h"

/* A file whose content is made in memory first; or standard output. */
struct output {
	const char *option, *name;
	bool wanted;   /* and not finished */
	bool standard; /* it is standard output */
	int fd;        /* if it is not */
	char *text;    /* what is made, with its stream, */
	size_t size;
	FILE *stream;
	struct writeback *writeback; /* and on its way into the file; NULL: nothing */
};

struct outputs {
	FILE *people;
	struct output dot, graph_json, json, routes;
};

/* The option that has a file read, whatever names it goes by; NULL if none does. */
const char *outputs_reader(const struct options *options, const char *name);
/*
 * Opens what the command line names, with what is in it, when all else is ready. Returns 0, or -1
 * after saying what is wrong.
 */
int outputs_open(const struct options *options, struct outputs *out);
/*
 * Removes what was in the files, once nothing can fail any more: a start that is refused leaves them
 * as they were. Returns 0, or -1 after saying why not.
 */
int outputs_empty(struct outputs *out);
/* Closes what is still open. */
void outputs_close(struct outputs *out);

/* A stream for what is to be in the file; NULL if memory runs out. */
FILE *output_begin(struct output *output);
/*
 * Ends it, and has it replace what was in the file; or, if making it has failed with rc, nothing.
 * Returns rc then; 0, which output_written() follows for a file and not for standard output; or a
 * negative errno.
 */
int output_write(struct output *output, int rc);
/* Whether it is in the file, with *rc as of writeback_ended(). */
bool output_written(struct output *output, int *rc);
/* Likewise, waits for it, and closes the file. Returns 0, or -1 after saying why it is not whole. */
int output_finish(struct output *output, int rc);
/* Says what writing a file failed with; returns -1. */
int output_complain(const struct output *output, int rc);

#endif
