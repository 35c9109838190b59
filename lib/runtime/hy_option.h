/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Values of options on a program's command line, or in commands of telemetry: reading them, and
 * refusing them with a reason.
 *
 * Any thread may call these functions, before and after rte_eal_init().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include <hy_ip_filter.h>
#include <hy_terminal.h>

HY_API_BEGIN

#define HY_OPTION_ERROR_SIZE 2048 /**< Bytes of a reason that repeats a value, with its NUL. */

/**
 * Reports on standard error what is wrong with an option's value: "PROGRAM: OPTION: REASON". What a
 * terminal could take for a command is replaced, line ends too.
 *
 * @return -EINVAL.
 */
int hy_option_refuse(const char *option, const char *format, ...) __rte_format_printf(2, 3);

/** The reason that hy_option_refuse() gave last on this thread; "" before the first. */
const char *hy_option_reason(void);

/** Whether a text is a decimal number from @p min to @p max. */
bool hy_option_is_number(const char *text, unsigned int min, unsigned int max, unsigned int *value);

/** Reads a decimal number. @return 0; -EINVAL @p text is none from @p min to @p max (reported). */
int hy_option_number(const char *option, const char *text, unsigned int min, unsigned int max,
	unsigned int *value);

/**
 * Reads the decimal number in front of a separator, as in "0=8" or "7=1,02:00:00:00:00:01".
 *
 * @param[in,out] text Moves behind the separator.
 * @param form What the whole value has to look like, "PORT=PACKETS".
 * @return 0; -EINVAL there is no separator, or no number from 0 to @p max before it (reported).
 */
int hy_option_number_before(const char *option, const char **text, char separator, const char *form,
	unsigned int max, unsigned int *value);

/**
 * Reads numbers in parentheses, "(0,3)" or "(0, 0, 0x1)": decimal, hexadecimal or octal as in C, blanks
 * anywhere between, as DPDK's examples take them.
 *
 * @param[in,out] text Moves behind them and the blanks that follow.
 * @param[out] field @p n of them.
 * @return 0; -EINVAL @p text does not begin so, or a number is above UINT16_MAX. Not reported.
 */
int hy_option_tuple(const char **text, uint16_t field[], unsigned int n);

/** Reads a MAC address, MM:MM:MM:MM:MM:MM. @return 0; -EINVAL @p text is none (reported). */
int hy_option_mac(const char *option, const char *text, struct rte_ether_addr *mac);

/**
 * Reads one of several words.
 *
 * @param words NULL for numbers that have no word.
 * @param form The words as a sentence lists them: "poll, eventdev or dispatch".
 * @return 0 with its number in @p value; -EINVAL @p text is none of them (reported).
 */
int hy_option_word(const char *option, const char *text, const char *const *words,
	unsigned int nb_words, const char *form, unsigned int *value);

/**
 * Reads one condition of a filter: "src=PREFIX", "dst=PREFIX" or "proto=NUMBER"; prefixes are of IPv4
 * or IPv6.
 *
 * @param word Is cut to pieces.
 * @param met Conditions read before, a bit each; 0 before the first.
 * @return 0; -EINVAL it is no such condition, or the second of its kind (reported).
 */
int hy_option_condition(const char *option, char *word, struct hy_ip_filter *filter,
	unsigned int *met);

/** Reads a whole filter: conditions with commas between. As hy_option_condition(). */
int hy_option_filter(const char *option, char *text, struct hy_ip_filter *filter);

HY_API_END
