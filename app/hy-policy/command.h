/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of hy-policy share. */
#pragma once

#include <stdio.h>

#include <hy_policy_format.h>

#include "generate.h"

/* Exit statuses, as of diff(1). */
#define SAME 0
#define FOUND 1
#define TROUBLE 2

#define RULES_MAX (1u << 20) /* of a list: the most that a policy can have */

/* Prints an error. Its value is TROUBLE, to be returned. */
#define refuse(...) (fprintf(stderr, "hy-policy: " __VA_ARGS__), fputc('\n', stderr), TROUBLE)

static inline int
out_of_memory(void)
{
	return refuse("out of memory");
}

/* The command line. */
struct settings {
	const struct command *command;
	enum hy_policy_format format, to; /* HY_POLICY_ANY: not given */
	const char *action;               /* of rules that have none; or NULL */
	bool unneeded, no_actions;
	long port; /* of routes; -1: not given */
	enum generate_kind kind;
	uint32_t rules; /* 0: not given */
	uint64_t seed;
	bool ip6;
	const char *file, *other; /* the command's arguments */
};

struct command {
	const char *name;
	const char *arguments, *text; /* for --help */
	const char *options;          /* letters of the options it takes, as in settings.c */
	unsigned int nb_files;        /* paths among its arguments */
	bool words;                   /* takes words behind, joined to one argument */
	/* Returns an exit status. Errors are reported. */
	int (*run)(const struct settings *settings);
};

/* The commands, the last one without a name. */
extern const struct command commands[];

/* settings.c: reads the command line. Returns 0, or TROUBLE (reported). --help exits. */
int settings_read(int argc, char **argv, struct settings *settings);

/* A file for each. */
int check(const struct settings *settings);
int test(const struct settings *settings);
int convert(const struct settings *settings);
int diff(const struct settings *settings);
int generate(const struct settings *settings);
