/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Standard output and standard error of a program that must not wait for their readers: a terminal
 * with flow control, a pipe whose reader has stopped, or a file on a disk that stalls. And the form of
 * the program's messages.
 */
#pragma once

#include <stdbool.h>

#include <rte_common.h>

#include <hy_api.h>

HY_API_BEGIN

/**
 * Replaces stdout and stderr by streams that wait for their readers only as hy_terminal_hurry()
 * says. What passes stderr is made harmless as by hy_printable_lines(); stdout is left as it is, as
 * it may be a report. To be called on the main thread, after hy_file_prepare(), hy_about() and
 * hy_privileges_begin(), and before rte_eal_init() and other threads. Starts a thread for each of the
 * two that is a regular file. DPDK's log goes to stderr alone, and not to a syslog or journal daemon,
 * which may stall, too.
 *
 * @param program The program's name, with which messages begin; lives as long as the process.
 * @return 0; -ENOMEM; or what starting a thread failed with. Errors are reported on standard error.
 */
int hy_terminal_begin(const char *program);

/** The name that hy_terminal_begin() was given; NULL before. Any thread. */
const char *hy_terminal_program(void);

/**
 * Sets how long a write may wait. With @p hurry: one second, and then not at all until the reader
 * takes something. Otherwise: as long as it takes; ten seconds once hy_stopping(). What was not
 * taken by then is lost, which hy_terminal_end() reports. A program hurries while packets flow. Any
 * thread; threads that write to the same stream wait for one another.
 */
void hy_terminal_hurry(bool hurry);

/**
 * Writes what is left in the streams, and reports on standard error if output was lost. Once, on
 * the main thread, when the program ends.
 *
 * @return 0; -EIO output was lost.
 */
int hy_terminal_end(void);

/**
 * Prints one message on standard error: the program's name, ": ", the text, and a line end. Any
 * thread. Before hy_terminal_begin(), the text stands alone.
 */
void hy_terminal_error(const char *format, ...) __rte_format_printf(1, 2);

/** Prints a message of hy_terminal_error(). Its value is @p rc, to be returned. */
#define hy_terminal_refuse(rc, ...) (hy_terminal_error(__VA_ARGS__), (rc))

/**
 * Prints what a negative errno means, as a message of hy_terminal_error(); for -ENOMEM also that EAL's
 * option -m sets how much memory there is.
 *
 * @param what What failed; it stands before the reason.
 * @param rc   A negative errno; prints nothing otherwise.
 * @return @p rc.
 */
int hy_terminal_report(const char *what, int rc);

HY_API_END
