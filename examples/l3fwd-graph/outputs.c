/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that reports are written to. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include <hy_file.h>

#include "option.h"
#include "outputs.h"

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
	return option_refuse(output->option, "'%s' is the file of %s, which is read", output->name,
		reader);
}

int
output_complain(const struct output *output, int rc)
{
	return option_refuse(output->option, "%s: %s", output->name,
		rc == -ETIMEDOUT ? "the file takes nothing" : strerror(-rc));
}

/* Opens a file with what is in it. */
static int
output_open(struct output *output, const struct options *options)
{
	char why[HY_FILE_ERROR_SIZE];

	if (output_spares(output, options) < 0)
		return -1;
	if (hy_output_open(output->name, 0, &output->fd, why) < 0)
		return option_refuse(output->option, "%s: %s", output->name, why);
	output->wanted = true;
	return 0;
}

/* Those of the options that may name standard output come last. */
#define OUTPUTS 4
#define FILES 2

static void
outputs_list(struct outputs *out, struct output *all[OUTPUTS])
{
	all[0] = &out->dot;
	all[1] = &out->graph_json;
	all[2] = &out->json;
	all[3] = &out->routes;
}

int
outputs_open(const struct options *options, struct outputs *out)
{
	struct output *all[OUTPUTS];
	int rc = 0;

	*out = (struct outputs){
		.people = stdout,
		.dot = { .option = "--export-dot", .name = options->dot },
		.graph_json = { .option = "--export-json", .name = options->graph_json },
		.json = { .option = "--json", .name = options->json },
		.routes = { .option = "--dump-routes", .name = options->dump },
	};
	outputs_list(out, all);
	for (unsigned int i = 0; i < OUTPUTS && rc == 0; i++) {
		if (all[i]->name == NULL)
			continue;
		if (i < FILES || strcmp(all[i]->name, "-") != 0) {
			rc = output_open(all[i], options);
		} else {
			all[i]->wanted = all[i]->standard = true;
			out->people = stderr; /* they share it with nothing */
		}
	}
	return rc;
}

int
outputs_empty(struct outputs *out)
{
	struct output *all[OUTPUTS];
	int rc = 0;

	outputs_list(out, all);
	for (unsigned int i = 0; i < OUTPUTS && rc == 0; i++) {
		if (!all[i]->wanted || all[i]->standard)
			continue;
		rc = hy_output_empty(all[i]->fd);
		if (rc < 0)
			output_complain(all[i], rc);
	}
	return rc < 0 ? -1 : 0;
}

void
outputs_close(struct outputs *out)
{
	struct output *all[OUTPUTS];

	outputs_list(out, all);
	for (unsigned int i = 0; i < OUTPUTS; i++)
		if (all[i]->wanted && !all[i]->standard && all[i]->writeback == NULL)
			close(all[i]->fd);
}

FILE *
output_begin(struct output *output)
{
	output->stream = output->standard ? stdout : open_memstream(&output->text, &output->size);
	return output->stream;
}

static int
write_begin(struct output *output, bool last, int rc)
{
	if (output->stream == NULL)
		return rc;
	if (rc == 0)
		rc = hy_output_flush(output->stream);
	if (output->standard)
		return rc;
	if (fclose(output->stream) != 0 && rc == 0)
		rc = -errno;
	output->stream = NULL;
	if (rc == 0)
		return writeback_start(output->fd, last, output->text, output->size,
			&output->writeback);
	free(output->text);
	return rc;
}

int
output_write(struct output *output, int rc)
{
	return write_begin(output, false, rc);
}

bool
output_written(struct output *output, int *rc)
{
	if (!writeback_ended(output->writeback, rc))
		return false;
	output->writeback = NULL;
	return true;
}

int
output_finish(struct output *output, int rc)
{
	rc = write_begin(output, true, rc);
	output->wanted = false;
	if (output->writeback != NULL)
		rc = writeback_wait(output->writeback);
	else if (!output->standard)
		close(output->fd); /* with what was in it */
	output->writeback = NULL;
	return rc < 0 ? output_complain(output, rc) : 0;
}
