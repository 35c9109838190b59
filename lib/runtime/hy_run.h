/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A program's run: from graphs that exist to the last line of its report. And the options of the
 * command line (hy_command_line.h) that it follows: --user, --stats, --duration, --until-idle,
 * --trace, --capture, --export-dot, --export-json, --dry-run and --json.
 *
 * Programs differ in what they build, and are alike in what happens then: files are opened before
 * anything is given up and emptied when nothing can be refused any more; rights are dropped before
 * packets flow; captures end before graphs do; what graphs and tables did is read before they are
 * destroyed, and buffers are counted after. hy_run() keeps this order. A program that wants another
 * one calls the functions that it names itself.
 *
 * For the control thread that uses the HAL.
 */
#pragma once

#include <hy_command_line.h>
#include <hy_document.h>
#include <hy_privileges.h>
#include <hy_report.h>

HY_API_BEGIN

/** What the options say. Zeroed: run until a signal, and report to standard output. */
struct hy_run_options {
	struct hy_user user;        /**< --user */
	unsigned int stats_s;       /**< --stats: seconds between tables; 0: one at the end. */
	unsigned int duration_s;    /**< --duration: seconds; 0: no limit. */
	unsigned int until_idle_ms; /**< --until-idle: milliseconds; 0: no matter. */
	const char *trace;          /**< --trace, as hy_tracer.h reads it. */
	const char *capture;        /**< --capture, as hy_recorder.h reads it. */
	const char *dot;            /**< --export-dot: a path. */
	const char *graph_json;     /**< --export-json: a path. */
	bool dry_run;               /**< --dry-run */
	const char *json;           /**< --json: a path, or "-". */
};

/** The group of these options. Zeroes @p options, which outlives the group. */
struct hy_option_group hy_run_options(struct hy_run_options *options);

/** A run. Members that are not used are 0. */
struct hy_run {
	const struct hy_run_options *options; /**< Outlives the run. */
	const struct hy_mode_options *mode;   /**< How packets reach workers; NULL: they poll. */
	const struct hy_hal *hal;             /**< That placed the nodes. */
	struct hy_workers *workers;           /**< With graphs. */
	const struct hy_ends *ends;           /**< The ports; next as the receiving nodes got it. */
	const struct hy_input *inputs; /**< Files that are read: they are not written to. Static. */
	unsigned int nb_inputs;        /**< Entries of inputs. */
	/** What is written at the end and on SIGUSR1. what NULL: nothing. document is the run's. */
	struct hy_dump dump;
	const char *dump_option; /**< The option that names its file, */
	const char *dump_name;   /**< and the file, or "-"; NULL: the option was not given. */
	/**
	 * The program's part; each function may be NULL. The first is called about every millisecond
	 * while packets flow,
	 */
	void (*tick)(void *arg, FILE *out);
	void (*picks)(const void *arg, FILE *out); /**< to print more of what was selected, */
	void (*table)(const void *arg, FILE *out); /**< to print what stands below each table, */
	/** to print members of the JSON report, each followed by a comma, */
	void (*json)(const void *arg, FILE *out);
	/**
	 * and at the end, to destroy what the program has made, but for ports, and to set under_way.
	 * What the others show exists until then.
	 */
	void (*down)(void *arg, struct hy_report *report);
	void *arg; /**< For these functions. */
};

/**
 * Runs a program whose graphs exist: until hy_stopping(), or as long as the options say. Prints the
 * selection, tables and reports, reports when order is no longer kept (hy_mode_check()), and stops the
 * event device (hy_mode_end()) and the ports (hy_ports_stop()). With --dry-run: only writes graphs and
 * the dump.
 *
 * down() is called only if workers were started. So the program also destroys, after this, what is
 * left.
 *
 * @return 0; a negative errno (reported): the run could not begin or was not whole, or some packet or
 * buffer is not accounted for.
 */
int hy_run(const struct hy_run *run);

HY_API_END
