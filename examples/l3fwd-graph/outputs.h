/* SPDX-License-Identifier: BSD-3-Clause */
/* Where reports go. */
#ifndef L3FWD_OUTPUTS_H
#define L3FWD_OUTPUTS_H

#include <stdio.h>

#include "options.h"

struct outputs {
	FILE *people;
	FILE *json; /* NULL: not wanted, or finished */
	FILE *dot;
	FILE *graph_json; /* likewise */
	FILE *routes;
};

/* The option that has a file read, whatever names it goes by; NULL if none does. */
const char *outputs_reader(const struct options *options, const char *name);
/* Opens what the command line names, with what is in it. Returns 0, or -1 after saying why not. */
int outputs_open(const struct options *options, struct outputs *out);
/*
 * Removes what was in the files, once nothing can fail any more: a start that is refused leaves them
 * as they were. Returns 0, or -1 after saying why not.
 */
int outputs_empty(const struct options *options, struct outputs *out);
/* Closes what is still open. */
void outputs_close(struct outputs *out);
/* Closes a file that was written to. Returns 0, or why not all of it is there: a negative errno. */
int output_finish(FILE **file);

#endif
