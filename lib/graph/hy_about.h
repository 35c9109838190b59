/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a program answers before it starts: its version, and how it is used.
 */
#ifndef HY_ABOUT_H
#define HY_ABOUT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** @return The version of the library, as in "0.1.0". Any thread. */
const char *hy_version(void);

/**
 * Prints a program's name, the library's version and DPDK's to standard output, in one line. Any
 * thread, before rte_eal_init() too.
 */
void hy_version_print(const char *program);

/**
 * Answers -h, --help and --version on the command line of a program whose own words follow EAL's
 * and "--". To be called on the main thread before rte_eal_init(); needs neither memory nor devices.
 *
 * --version, anywhere, prints the version. -h and --help behind "--" print @p usage. Among EAL's
 * words they are left to rte_eal_init(), which then prints EAL's options and @p usage, and exits.
 *
 * @param program The program's name.
 * @param usage Printed to standard output. Must live as long as the program.
 * @return Whether an answer was printed: the program exits with what hy_output_end() of
 * hy_file.h returns.
 */
bool hy_about(int argc, char **argv, const char *program, const char *usage);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
