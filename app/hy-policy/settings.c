/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the command line. */

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_about.h>
#include <hy_file.h>

#include "command.h"

#define WORDS_SIZE 1024

static const struct option options[] = {
	{ "format", required_argument, NULL, 'f' },
	{ "unneeded", no_argument, NULL, 'u' },
	{ "to", required_argument, NULL, 't' },
	{ "action", required_argument, NULL, 'a' },
	{ "no-actions", no_argument, NULL, 'n' },
	{ "port", required_argument, NULL, 'p' },
	{ "kind", required_argument, NULL, 'k' },
	{ "rules", required_argument, NULL, 'r' },
	{ "seed", required_argument, NULL, 's' },
	{ "ip6", no_argument, NULL, '6' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

static const char option_texts[] =
	"  --format FORMAT   of the files: halyard, l3fwd-acl or classbench (default: as they look)\n"
	"  --unneeded        check: find rules that could be left out, too\n"
	"  --to FORMAT       convert: the format to write\n"
	"  --action ACTION   convert: of classbench's rules: permit (default), deny or 'class N'\n"
	"  --no-actions      convert: to classbench, which has no actions\n"
	"  --port PORT       convert: to l3fwd-acl, whose routes name a port\n"
	"  --kind KIND       generate: acl, fw or ipc\n"
	"  --rules N         generate: 1 to 1048576\n"
	"  --seed N          generate: another set for each (default 1)\n"
	"  --ip6             generate: rules of IPv6\n"
	"  --help, -h        print this\n"
	"  --version         print the version\n";

static void
usage(void)
{
	printf("usage: hy-policy COMMAND [options] [arguments]\n");
	for (const struct command *c = commands; c->name != NULL; c++)
		printf("  %-8s %-12s %s\n", c->name, c->arguments, c->text);
	printf("\n%s", option_texts);
	exit(hy_output_end("hy-policy"));
}

static void
version(void)
{
	hy_version_print("hy-policy");
	exit(hy_output_end("hy-policy"));
}

static int
read_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || *value < min ||
		*value > max)
		return refuse("--%s '%s' is not a number from %ju to %ju", option, text,
			(uintmax_t)min, (uintmax_t)max);
	return 0;
}

static int
read_format(const char *option, const char *text, enum hy_policy_format *format)
{
	for (*format = HY_POLICY_HALYARD; *format <= HY_POLICY_CLASSBENCH; (*format)++)
		if (strcmp(text, hy_policy_format_name(*format)) == 0)
			return 0;
	return refuse("--%s '%s' is not halyard, l3fwd-acl or classbench", option, text);
}

static int
read_kind(const char *text, enum generate_kind *kind)
{
	for (*kind = 0; *kind < GENERATE_KINDS; (*kind)++)
		if (strcmp(text, generate_names[*kind]) == 0)
			return 0;
	return refuse("--kind '%s' is not acl, fw or ipc", text);
}

static int
read_option(int letter, const char *value, struct settings *settings)
{
	uint64_t number;
	int rc = 0;

	switch (letter) {
	case 'f':
		return read_format("format", value, &settings->format);
	case 't':
		return read_format("to", value, &settings->to);
	case 'a':
		settings->action = value;
		return 0;
	case 'u':
		settings->unneeded = true;
		return 0;
	case 'n':
		settings->no_actions = true;
		return 0;
	case 'p':
		rc = read_number("port", value, 0, UINT16_MAX, &number);
		settings->port = rc == 0 ? (long)number : -1;
		return rc;
	case 'k':
		return read_kind(value, &settings->kind);
	case 'r':
		rc = read_number("rules", value, 1, RULES_MAX, &number);
		settings->rules = rc == 0 ? (uint32_t)number : 0;
		return rc;
	case 's':
		return read_number("seed", value, 0, UINT64_MAX, &settings->seed);
	default:
		settings->ip6 = true;
		return 0;
	}
}

static int
find_command(const char *name, struct settings *settings)
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

/* Checks that the command takes the options that were given, as letters. */
static int
check_options(const struct settings *settings, const char *given)
{
	const struct command *command = settings->command;

	for (const char *letter = given; *letter != '\0'; letter++)
		for (const struct option *o = options; o->name != NULL; o++)
			if (o->val == *letter && strchr(command->options, *letter) == NULL)
				return refuse("%s does not take --%s", command->name, o->name);
	for (const char *letter = "tkr"; *letter != '\0'; letter++)
		for (const struct option *o = options; o->name != NULL; o++)
			if (o->val == *letter && strchr(command->options, *letter) != NULL &&
				strchr(given, *letter) == NULL)
				return refuse("%s needs --%s", command->name, o->name);
	return 0;
}

/* The words behind the file, as one. */
static int
join_words(int n, char **words, struct settings *settings)
{
	static char text[WORDS_SIZE];
	size_t used = 0;

	for (int i = 0; i < n; i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? " " : "",
			words[i]);
		if (used >= sizeof(text))
			return refuse("the packet is longer than %zu bytes", sizeof(text) - 1);
	}
	settings->other = text;
	return 0;
}

static int
read_arguments(int n, char **arguments, struct settings *settings)
{
	const struct command *command = settings->command;
	const int files = (int)command->nb_files;

	if (n < files + command->words || (!command->words && n > files))
		return refuse("%s takes %s", command->name,
			command->arguments[0] == '\0' ? "options only" : command->arguments);
	if (files > 0)
		settings->file = arguments[0];
	if (files > 1)
		settings->other = arguments[1];
	return command->words ? join_words(n - files, arguments + files, settings) : 0;
}

int
settings_read(int argc, char **argv, struct settings *settings)
{
	static char program[] = "hy-policy";
	char given[RTE_DIM(options) + 1] = "";
	size_t nb_given = 0;
	int letter, rc;

	*settings = (struct settings){ .port = -1, .seed = 1 };
	argv[0] = program; /* for getopt's messages */
	while ((letter = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (letter == 'h')
			usage();
		else if (letter == 'v')
			version();
		else if (letter == '?')
			return refuse("hy-policy --help lists what is accepted");
		if (strchr(given, letter) == NULL)
			given[nb_given++] = (char)letter;
		rc = read_option(letter, optarg, settings);
		if (rc != 0)
			return rc;
	}
	rc = find_command(argv[optind], settings);
	if (rc == 0)
		rc = check_options(settings, given);
	return rc == 0 ? read_arguments(argc - optind - 1, argv + optind + 1, settings) : rc;
}
