/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A program's command line: tables of options, which say how each is read, what it fills in, what it
 * requires or excludes, and what --help prints.
 *
 * A group is a table with the structure that it fills in. The library offers groups for what most
 * programs take from their users (hy_port_options.h, hy_worker_options.h, hy_hal_options.h,
 * hy_run.h); a program lists those that it wants beside its own. It writes defaults into the
 * structures before it reads the command line, or the function that returns the group has done so.
 *
 * For the main thread. A refusal is one line on standard error, by hy_option_refuse(), that names
 * the option.
 */
#pragma once

#include <stddef.h>

#include <hy_option.h>

HY_API_BEGIN

#define HY_OPTION_REPEATS 64 /**< Most times that an option is accepted on one command line. */
#define HY_OPTIONS_MAX 128   /**< Most options of all groups. */

/** What becomes of an option's value. */
enum hy_option_kind {
	HY_OPTION_SET,    /**< There is no value: a bool becomes true, */
	HY_OPTION_CLEAR,  /**< or false. */
	HY_OPTION_TEXT,   /**< A const char * points to it. */
	HY_OPTION_LIST,   /**< It is appended to a struct hy_option_list. */
	HY_OPTION_NUMBER, /**< An unsigned int becomes the decimal number, from min to max. */
	HY_OPTION_READ,   /**< The function read is called with it, */
	HY_OPTION_MAYBE,  /**< or with NULL if the option stands alone. */
};

/** The values of an option that can be repeated. They live as long as the command line. */
struct hy_option_list {
	const char *texts[HY_OPTION_REPEATS]; /**< In order. */
	unsigned int n;                       /**< Entries of texts. */
};

/** An option. Members that are not used are 0. */
struct hy_option {
	const char *name;         /**< "burst" for --burst; a single letter, "p", for -p. */
	enum hy_option_kind kind; /**< What becomes of the value. */
	size_t at;                /**< Offset of what is filled in, in the group's structure. */
	/** Names the value in the help, "N"; attached to the option if it starts with '=' or '['. */
	const char *value;
	const char *help; /**< What the option does. Lines are broken where they have to be. */
	unsigned int min; /**< HY_OPTION_NUMBER: the least value accepted. */
	unsigned int max; /**< HY_OPTION_NUMBER: the greatest value accepted. */
	/** @param to The group's structure. @return 0 or a negative errno (reported). */
	int (*read)(const char *text, void *to);
	/**
	 * Options, with blanks between, of which this one needs one: "policy", or "mode=eventdev"
	 * with the value that it must have.
	 */
	const char *needs;
	/** Options, with blanks between, beside which this one is refused. Likewise. */
	const char *excludes;
	const char *why; /**< The reason for either, in a few words. */
};

/** A table of options. */
struct hy_option_group {
	const char *title;               /**< In the help, with a colon. */
	const struct hy_option *options; /**< The table. */
	unsigned int nb_options;         /**< Entries of options. */
	void *to;                        /**< The structure that the options fill in. */
	/**
	 * Checks what the options of the group say together, and completes it, once all options of
	 * all groups were read. NULL: nothing to check. @return 0 or a negative errno (reported).
	 */
	int (*check)(void *to);
};

/**
 * Reads a command line: all options in order, then which options go together, then the checks of the
 * groups in order. May be called again for another command line.
 *
 * @param argv Its first word is the program's name, as rte_eal_init() leaves it.
 * @return 0; -EINVAL, or what a group's function returned (reported).
 */
int hy_command_line_read(int argc, char **argv, const struct hy_option_group *groups,
	unsigned int nb_groups);

/**
 * Writes what --help prints: the usage, and the options of each group under its title.
 *
 * @param usage "l3fwd-graph [EAL options] -- -p MASK [options]".
 * @return The text, for free(); NULL: out of memory.
 */
char *hy_command_line_help(const char *usage, const struct hy_option_group *groups,
	unsigned int nb_groups);

HY_API_END
