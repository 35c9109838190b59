/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a command line by tables: see hy_command_line.h. */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include <hy_command_line.h>

#define LONG 256     /* value for getopt_long() of the first option, beyond any character */
#define NAME_SIZE 64 /* of an option with its dashes */

/* An option of some group, and what the command line says of it. */
struct entry {
	const struct hy_option *option;
	const struct hy_option_group *group;
	unsigned int given; /* times */
	const char *text;   /* given last; NULL: none */
};

struct command_line {
	struct entry entries[HY_OPTIONS_MAX];
	unsigned int n;
};

static const char *
dashed(const struct hy_option *option, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%s%s", option->name[1] == '\0' ? "-" : "--", option->name);
	return name;
}

static int
fill(const struct entry *entry)
{
	const struct hy_option *option = entry->option;
	void *field = (char *)entry->group->to + option->at;
	struct hy_option_list *list = field;
	char name[NAME_SIZE];

	switch (option->kind) {
	case HY_OPTION_SET:
	case HY_OPTION_CLEAR:
		*(bool *)field = option->kind == HY_OPTION_SET;
		return 0;
	case HY_OPTION_TEXT:
		*(const char **)field = entry->text;
		return 0;
	case HY_OPTION_LIST:
		list->texts[list->n++] = entry->text;
		return 0;
	case HY_OPTION_NUMBER:
		return hy_option_number(dashed(option, name), entry->text, option->min, option->max,
			field);
	case HY_OPTION_READ:
	case HY_OPTION_MAYBE:
		break;
	}
	return option->read(entry->text, entry->group->to);
}

static int
read_option(struct command_line *line, int opt)
{
	struct entry *entry = line->entries;
	char name[NAME_SIZE];

	if (opt == '?') { /* getopt has said why */
		return hy_terminal_refuse(-EINVAL, "--help lists the options");
	}
	if (opt >= LONG)
		entry += opt - LONG;
	else
		while (entry->option->name[0] != opt || entry->option->name[1] != '\0')
			entry++;
	if (entry->given++ == HY_OPTION_REPEATS)
		return hy_option_refuse(dashed(entry->option, name), "more than %d times",
			HY_OPTION_REPEATS);
	entry->text = optarg;
	return fill(entry);
}

static int
read_all(struct command_line *line, int argc, char **argv)
{
	struct option known[HY_OPTIONS_MAX + 1] = { { 0 } };
	char letters[2 * HY_OPTIONS_MAX + 1] = "", *letter = letters;
	int opt, rc = 0;

	for (unsigned int i = 0; i < line->n; i++) {
		const struct hy_option *option = line->entries[i].option;
		const bool bare = option->kind <= HY_OPTION_CLEAR;

		known[i] = (struct option){ .name = option->name,
			.has_arg = bare ? no_argument : required_argument,
			.val = LONG + (int)i };
		if (option->kind == HY_OPTION_MAYBE)
			known[i].has_arg = optional_argument;
		if (option->name[1] == '\0')
			letter += sprintf(letter, bare ? "%c" : "%c:", option->name[0]);
	}
	optind = 0; /* not 1: forgets what is left of another command line, too */
	while (rc == 0 && (opt = getopt_long(argc, argv, letters, known, NULL)) != -1)
		rc = read_option(line, opt);
	if (rc == 0 && optind < argc)
		return hy_option_refuse("command line", "'%s' is not an option; --help lists them",
			argv[optind]);
	return rc;
}

/* Whether one of the words, NAME or NAME=VALUE, is on the command line; copies it. */
static bool
given(const struct command_line *line, const char *words, char word[NAME_SIZE])
{
	while (*words != '\0') {
		const size_t length = strcspn(words, " ");
		const size_t name = RTE_MIN(strcspn(words, "="), length);

		snprintf(word, NAME_SIZE, "%.*s", (int)length, words);
		for (unsigned int i = 0; i < line->n; i++) {
			const struct entry *e = &line->entries[i];

			if (e->given > 0 && strlen(e->option->name) == name &&
				strncmp(e->option->name, words, name) == 0 &&
				(name == length ||
					(e->text != NULL && strcmp(e->text, word + name + 1) == 0)))
				return true;
		}
		words += length + strspn(words + length, " ");
	}
	return false;
}

/* Options with blanks between, as a sentence lists them: "policy or --acl-list". */
static const char *
alternatives(const char *words, char text[4 * NAME_SIZE])
{
	char *to = text;

	for (const char *c = words; *c != '\0' && to < text + 3 * NAME_SIZE; c++) {
		if (*c == ' ')
			to = stpcpy(to, " or --");
		else
			*to++ = *c;
	}
	*to = '\0';
	return text;
}

/* What options require and exclude. */
static int
check_together(const struct command_line *line)
{
	for (unsigned int i = 0; i < line->n; i++) {
		const struct hy_option *option = line->entries[i].option;
		const char *why = option->why == NULL ? "" : option->why;
		const char *colon = option->why == NULL ? "" : ": ";
		char name[NAME_SIZE], other[NAME_SIZE], either[4 * NAME_SIZE];

		if (line->entries[i].given == 0)
			continue;
		if (option->excludes != NULL && given(line, option->excludes, other))
			return hy_option_refuse(dashed(option, name),
				"cannot be combined with --%s%s%s", other, colon, why);
		if (option->needs != NULL && !given(line, option->needs, other))
			return hy_option_refuse(dashed(option, name), "requires --%s%s%s",
				alternatives(option->needs, either), colon, why);
	}
	return 0;
}

int
hy_command_line_read(int argc, char **argv, const struct hy_option_group *groups,
	unsigned int nb_groups)
{
	struct command_line line = { .n = 0 };
	int rc;

	for (unsigned int g = 0; g < nb_groups; g++)
		for (unsigned int i = 0; i < groups[g].nb_options; i++)
			line.entries[line.n++] = (struct entry){ .option = &groups[g].options[i],
				.group = &groups[g] };
	rc = read_all(&line, argc, argv);
	if (rc == 0)
		rc = check_together(&line);
	for (unsigned int g = 0; g < nb_groups && rc == 0; g++)
		if (groups[g].check != NULL)
			rc = groups[g].check(groups[g].to);
	return rc;
}

#define HELP_AT 30  /* column of what an option does */
#define HELP_END 92 /* and where its lines end */

/* Breaks what an option does into lines; the first begins where the cursor is. */
static void
help_wrap(const char *text, int column, FILE *out)
{
	while (*text != '\0') {
		const size_t length = strcspn(text, " ");

		if (column > HELP_AT && column + 1 + (int)length > HELP_END)
			column = fprintf(out, "\n") - 1;
		column += fprintf(out, "%*s%.*s", column < HELP_AT ? HELP_AT - column : 1, "",
			(int)length, text);
		text += length + strspn(text + length, " ");
	}
	fprintf(out, "\n");
}

static void
help_option(const struct hy_option *option, FILE *out)
{
	const char *value = option->value == NULL ? "" : option->value;
	char name[NAME_SIZE];
	int column = fprintf(out, "  %s%s%s", dashed(option, name), strchr("=[", *value) ? "" : " ",
		value);

	if (column > HELP_AT - 2)
		column = fprintf(out, "\n") - 1;
	help_wrap(option->help, column, out);
}

char *
hy_command_line_help(const char *usage, const struct hy_option_group *groups,
	unsigned int nb_groups)
{
	static const struct hy_option common[] = {
		{ "help, -h", .help = "print this; before --, also EAL's options" },
		{ "version", .help = "print the version" },
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	fprintf(out, "usage: %s\n", usage);
	for (unsigned int g = 0; g < nb_groups; g++) {
		fprintf(out, "\n%s:\n", groups[g].title);
		for (unsigned int i = 0; i < groups[g].nb_options; i++)
			help_option(&groups[g].options[i], out);
	}
	fprintf(out, "%s", nb_groups > 0 ? "" : "\n");
	for (unsigned int i = 0; i < RTE_DIM(common); i++)
		help_option(&common[i], out);
	return fclose(out) == 0 ? text : NULL;
}
