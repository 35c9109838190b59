/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A program's begin and end: what main() does before and after its own work, in the one order that
 * loses no message, misses no signal and leaves nothing behind.
 *
 * @code
 * int
 * main(int argc, char **argv)
 * {
 *	int rc = hy_program_begin(&program, &argc, &argv);
 *
 *	if (rc == 0)
 *		rc = bridge(argc, argv);
 *	return hy_program_end(rc);
 * }
 * @endcode
 */
#pragma once

#include <hy_command_line.h>
#include <hy_telemetry.h>

HY_API_BEGIN

/** A program. Read during hy_program_begin(), but for name, which lives as long as the process. */
struct hy_program {
	const char *name;  /**< Messages begin with it. */
	const char *usage; /**< Behind "usage: " of the help. */
	const struct hy_option_group
		*groups;        /**< Its command line; NULL: it reads its words itself. */
	unsigned int nb_groups; /**< Entries of groups. */
	const char *prefix;     /**< Of its telemetry commands, "/l3fwd"; NULL: it has none. */
	const struct hy_telemetry_command *commands; /**< Its own, behind the prefix. */
	unsigned int nb_commands;                    /**< Entries of commands. */
	/** Registers further commands, such as hy_routes_telemetry(); NULL: none. */
	int (*telemetry)(const char *prefix);
};

/**
 * Begins a program, first of all in main(): prepares files and the terminal, answers --help and
 * --version (hy_about.h), gives up the right to gain rights (hy_privileges_begin()), registers
 * telemetry commands, catches signals, starts EAL, and reads the command line.
 *
 * @param[in,out] argc Words that rte_eal_init() has left.
 * @param[in,out] argv Likewise, the program's name first.
 * @return 0; 1 a question was answered, and the program is to end; -EINTR it was told to stop; or
 * another negative errno (reported).
 */
int hy_program_begin(const struct hy_program *program, int *argc, char ***argv);

/**
 * Ends a program, whatever hy_program_begin() returned: cleans up EAL, and writes what is left of the
 * output.
 *
 * @param rc What the program came to: 0, or a negative errno that was reported; -EINTR is
 * success if hy_stopping(), and is then reported here.
 * @return EXIT_SUCCESS; EXIT_FAILURE if @p rc is another error, or output was lost (reported).
 */
int hy_program_end(int rc);

HY_API_END
