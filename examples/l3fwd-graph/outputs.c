/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that reports are written to. */

#include <errno.h>
#include <string.h>

#include "outputs.h"

static FILE *
open_output(const char *option, const char *name)
{
	FILE *file = fopen(name, "w");

	if (file == NULL)
		fprintf(stderr, "l3fwd-graph: %s: %s: %s\n", option, name, strerror(errno));
	return file;
}

int
outputs_open(const struct options *options, struct outputs *out)
{
	*out = (struct outputs){ .people = stdout };
	if (options->json != NULL && strcmp(options->json, "-") == 0) {
		out->json = stdout;
		out->people = stderr;
	} else if (options->json != NULL) {
		out->json = open_output("--json", options->json);
		if (out->json == NULL)
			return -1;
	}
	if (options->dot != NULL) {
		out->dot = open_output("--export-dot", options->dot);
		if (out->dot == NULL)
			return -1;
	}
	if (options->graph_json != NULL) {
		out->graph_json = open_output("--export-json", options->graph_json);
		if (out->graph_json == NULL)
			return -1;
	}
	return 0;
}

void
outputs_close(struct outputs *out)
{
	if (out->json != NULL && out->json != stdout)
		fclose(out->json);
	if (out->dot != NULL)
		fclose(out->dot);
	if (out->graph_json != NULL)
		fclose(out->graph_json);
}

int
output_finish(FILE **file)
{
	FILE *done = *file;

	*file = NULL;
	if (done == stdout)
		return fflush(done);
	if (fflush(done) != 0) {
		const int why = errno;

		fclose(done);
		errno = why;
		return -1;
	}
	return fclose(done);
}
