/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that reports are written to. */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <rte_common.h>

#include "outputs.h"

struct output {
	const char *option, *name;
	FILE **file;
};

static int
output_open(const struct output *output)
{
	*output->file = fopen(output->name, "w");
	if (*output->file != NULL)
		return 0;
	fprintf(stderr, "l3fwd-graph: %s: %s: %s\n", output->option, output->name, strerror(errno));
	return -1;
}

/* Two files must not be one, whatever names they go by. */
static int
output_compare(const struct output *output, const struct output *other)
{
	struct stat one, two;

	if (*output->file == NULL || *other->file == NULL ||
		fstat(fileno(*output->file), &one) < 0 || fstat(fileno(*other->file), &two) < 0 ||
		!S_ISREG(one.st_mode) || one.st_dev != two.st_dev || one.st_ino != two.st_ino)
		return 0;
	fprintf(stderr, "l3fwd-graph: %s: '%s' is the file of %s too\n", output->option,
		output->name, other->option);
	return -1;
}

int
outputs_open(const struct options *options, struct outputs *out)
{
	const struct output outputs[] = {
		{ "--export-dot", options->dot, &out->dot },
		{ "--export-json", options->graph_json, &out->graph_json },
		{ "--json", options->json, &out->json },
	};

	*out = (struct outputs){ .people = stdout };
	for (unsigned int i = 0; i < RTE_DIM(outputs); i++) {
		if (outputs[i].name == NULL)
			continue;
		if (outputs[i].file == &out->json && strcmp(options->json, "-") == 0) {
			out->json = stdout;
			out->people = stderr;
			continue;
		}
		if (output_open(&outputs[i]) < 0)
			return -1;
		for (unsigned int j = 0; j < i; j++)
			if (output_compare(&outputs[i], &outputs[j]) < 0)
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
