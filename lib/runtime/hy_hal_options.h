/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Options of the command line (hy_command_line.h) for what the HAL selects: --node, --deny, --cap,
 * --cap-file, --pack and --explain; and the steps of a program's start that depend on them.
 *
 * For the control thread that uses the HAL. Functions return 0 or a negative errno (reported on
 * standard error, with the option).
 */
#pragma once

#include <hy_hal.h>
#include <hy_port_options.h>

HY_API_BEGIN

/** What --explain asks for. */
enum hy_explain {
	HY_EXPLAIN_NO,   /**< Nothing. */
	HY_EXPLAIN_TEXT, /**< Text. */
	HY_EXPLAIN_JSON, /**< One JSON object. */
};

/** What the options say. Filled in by hy_command_line_read(), and then read-only. */
struct hy_hal_options {
	struct hy_option_list force;     /**< --node */
	struct hy_option_list deny;      /**< --deny */
	struct hy_option_list caps;      /**< --cap */
	struct hy_option_list cap_files; /**< --cap-file */
	struct hy_option_list packs;     /**< --pack */
	enum hy_explain explain;         /**< --explain */
};

/** The group of these options. Writes the defaults into @p options, which outlives the group. */
struct hy_option_group hy_hal_options(struct hy_hal_options *options);

/**
 * Loads the packs of HALYARD_PACKS and --pack, creates the HAL, has it ignore ports that are not of
 * -p and watch the others (hy_hal_watch()), and hands it all other options. Before ports are started.
 *
 * @param ports NULL: all ports are the program's.
 * @param[out] hal For hy_hal_destroy(); NULL after an error.
 */
int hy_hal_begin(const struct hy_hal_options *options, const struct hy_port_options *ports,
	struct hy_hal **hal);

/** As hy_hal_plan(): before ports are configured. */
int hy_hal_options_plan(const struct hy_hal_options *options, struct hy_hal *hal);

/**
 * hy_hal_probe() and hy_hal_select(), one after the other: once ports run, as what drivers report
 * depends on how they were started.
 */
int hy_hal_options_select(const struct hy_hal_options *options, struct hy_hal *hal);

/** Prints what --explain asks for to standard output, after a selection: packs, inventory, selections. */
int hy_hal_options_explain(const struct hy_hal_options *options, const struct hy_hal *hal);

HY_API_END
