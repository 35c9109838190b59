/* SPDX-License-Identifier: BSD-3-Clause */
/* Where reports go. */
#ifndef L3FWD_OUTPUTS_H
#define L3FWD_OUTPUTS_H

#include <hy_document.h>

#include "options.h"

#define INPUTS_MAX (2 + 2 * REPEATS_MAX)

struct outputs {
	FILE *people; /* standard output, or standard error where a report takes that */
	struct hy_document dot, graph_json, json, routes;
};

/* Lists the files that options have read. Returns how many. */
unsigned int outputs_inputs(const struct options *options, struct hy_input inputs[INPUTS_MAX]);
/*
 * Opens what the command line names, with its content, when all else is ready. Returns 0, or a
 * negative errno after saying what is wrong.
 */
int outputs_open(const struct options *options, struct outputs *out);
/* Empties the files once nothing can fail any more. Likewise. */
int outputs_empty(struct outputs *out);
/* Closes what is still open. */
void outputs_close(struct outputs *out);

#endif
