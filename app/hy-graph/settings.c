/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the command line. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_about.h>
#include <hy_file.h>

#include "command.h"

static const struct option options[] = {
	{ "file-prefix", required_argument, NULL, 'p' },
	{ "folder", required_argument, NULL, 'f' },
	{ "graph", required_argument, NULL, 'g' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

static const char option_texts[] =
	"  --file-prefix NAME  the program's, as given to EAL (default rte)\n"
	"  --folder FOLDER     where the program shares its graphs, instead of EAL's folder\n"
	"  --graph PATTERN     only graphs whose names match a shell pattern\n"
	"  --help, -h          print this\n"
	"  --version           print the version\n";

static void
usage(void)
{
	printf("usage: hy-graph [options] COMMAND\nCOMMAND is one of:\n");
	for (const struct command *c = commands; c->name != NULL; c++)
		printf("  %-6s %s\n", c->name, c->text);
	printf("\n%s", option_texts);
	exit(hy_output_end("hy-graph"));
}

static void
version(void)
{
	hy_version_print("hy-graph");
	exit(hy_output_end("hy-graph"));
}

/* Its value is to be returned. */
#define refuse(...) (fprintf(stderr, "hy-graph: " __VA_ARGS__), fputc('\n', stderr), -1)

static int
read_command(const char *name, struct settings *settings)
{
	char names[128] = "";

	for (const struct command *c = commands; c->name != NULL; c++) {
		const size_t used = strlen(names);

		if (name != NULL && strcmp(c->name, name) == 0) {
			settings->command = c;
			return 0;
		}
		snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "", c->name);
	}
	if (name == NULL)
		return refuse("a command is required: %s", names);
	return refuse("'%s' is not a command; the commands are: %s", name, names);
}

int
settings_read(int argc, char **argv, struct settings *settings)
{
	static char program[] = "hy-graph";
	const char *prefix = "rte", *folder = NULL;
	int letter;

	*settings = (struct settings){ .graph = "*" };
	argv[0] = program; /* for getopt's messages */
	/* The command may stand before, between or after options: getopt moves it to the end. */
	while ((letter = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (letter == 'p')
			prefix = optarg;
		else if (letter == 'f')
			folder = optarg;
		else if (letter == 'g')
			settings->graph = optarg;
		else if (letter == 'h')
			usage();
		else if (letter == 'v')
			version();
		else
			return refuse("hy-graph --help lists what is accepted");
	}
	if (read_command(argv[optind], settings) < 0)
		return -1;
	if (optind + 1 < argc)
		return refuse("'%s': %s takes options only", argv[optind + 1],
			settings->command->name);
	if (folder == NULL)
		return hy_share_folder(prefix, settings->folder, PATH_MAX);
	if (snprintf(settings->folder, PATH_MAX, "%s", folder) >= PATH_MAX)
		return refuse("--folder: the path is too long");
	return 0;
}
