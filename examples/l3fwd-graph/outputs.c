/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that reports are written to. */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include <hy_file.h>

#include "outputs.h"

#define OUTPUTS 4

struct output {
	const char *option, *name;
	FILE **file;
	bool alone; /* on standard output, which people then do not get */
};

/* Whether there is a file that both names are of. */
static bool
meet(const char *one, const char *two)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(two, &b) == 0 && S_ISREG(a.st_mode) &&
		a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

const char *
outputs_reader(const struct options *options, const char *name)
{
	const struct {
		const char *option;
		const char *const *names;
		unsigned int n;
	} inputs[] = {
		{ "--routes", &options->routes, options->routes != NULL },
		{ "--policy", &options->policy, options->policy != NULL },
		{ "--cap-file", options->cap_files, options->nb_cap_files },
		{ "--pack", options->packs, options->nb_packs },
	};

	for (unsigned int i = 0; i < RTE_DIM(inputs); i++)
		for (unsigned int n = 0; n < inputs[i].n; n++)
			if (meet(name, inputs[i].names[n]))
				return inputs[i].option;
	return NULL;
}

/* To open a file for writing empties it. */
static int
output_spares(const struct output *output, const struct options *options)
{
	const char *reader = outputs_reader(options, output->name);

	if (reader == NULL)
		return 0;
	fprintf(stderr, "l3fwd-graph: %s: '%s' is the file of %s, which is read\n", output->option,
		output->name, reader);
	return -1;
}

/* Opens a file with what is in it. */
static int
output_open(const struct output *output)
{
	char why[HY_FILE_ERROR_SIZE];
	int fd;

	if (hy_output_open(output->name, 0, &fd, why) < 0) {
		fprintf(stderr, "l3fwd-graph: %s: %s: %s\n", output->option, output->name, why);
		return -1;
	}
	*output->file = fdopen(fd, "w");
	if (*output->file != NULL)
		return 0;
	fprintf(stderr, "l3fwd-graph: %s: %s: %s\n", output->option, output->name, strerror(errno));
	close(fd);
	return -1;
}

static int
output_empty(const struct output *output)
{
	const int rc = hy_output_empty(fileno(*output->file));

	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: %s: %s: %s\n", output->option, output->name,
			strerror(-rc));
	return rc;
}

/* What each option names, and where its stream is. */
static void
outputs_list(const struct options *options, struct outputs *out, struct output all[OUTPUTS])
{
	all[0] = (struct output){ "--export-dot", options->dot, &out->dot, false };
	all[1] = (struct output){ "--export-json", options->graph_json, &out->graph_json, false };
	all[2] = (struct output){ "--json", options->json, &out->json, true };
	all[3] = (struct output){ "--dump-routes", options->dump, &out->routes, true };
}

int
outputs_open(const struct options *options, struct outputs *out)
{
	struct output all[OUTPUTS];

	*out = (struct outputs){ .people = stdout };
	outputs_list(options, out, all);
	for (unsigned int i = 0; i < OUTPUTS; i++) {
		if (all[i].name == NULL)
			continue;
		if (all[i].alone && strcmp(all[i].name, "-") == 0) {
			*all[i].file = stdout;
			out->people = stderr;
			continue;
		}
		if (output_spares(&all[i], options) < 0 || output_open(&all[i]) < 0)
			return -1;
	}
	return 0;
}

int
outputs_empty(const struct options *options, struct outputs *out)
{
	struct output all[OUTPUTS];
	int rc = 0;

	outputs_list(options, out, all);
	for (unsigned int i = 0; i < OUTPUTS && rc == 0; i++)
		if (*all[i].file != NULL && *all[i].file != stdout)
			rc = output_empty(&all[i]);
	return rc < 0 ? -1 : 0;
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
	if (out->routes != NULL && out->routes != stdout)
		fclose(out->routes);
}

int
output_finish(FILE **file)
{
	FILE *done = *file;
	int rc;

	*file = NULL;
	rc = hy_output_flush(done);
	if (done != stdout && fclose(done) != 0 && rc == 0)
		rc = -errno;
	return rc;
}
