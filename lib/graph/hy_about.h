/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The --version and --help options of a program.
 */
#pragma once

#include <stdbool.h>

#include <hy_api.h>

HY_API_BEGIN

/** @return The version of the library, as in "0.1.0". Any thread. */
const char *hy_version(void);

/**
 * Prints a program's name, the library's version and DPDK's to standard output, in one line. Any
 * thread, before rte_eal_init() too.
 */
void hy_version_print(const char *program);

/**
 * Handles -h, --help and --version on the command line of a program whose own arguments follow
 * EAL's and "--". Called on the main thread before rte_eal_init(); needs neither memory nor
 * devices.
 *
 * --version, anywhere, prints the version. -h and --help after "--" print @p usage. Among EAL's
 * arguments, they are left to rte_eal_init(), which prints EAL's options and @p usage, and exits.
 *
 * @param program The program's name.
 * @param usage Printed to standard output. Must live as long as the program.
 * @return Whether something was printed: the program then exits with the result of hy_output_end()
 * (hy_file.h).
 */
bool hy_about(int argc, char **argv, const char *program, const char *usage);

HY_API_END
