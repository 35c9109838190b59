/* SPDX-License-Identifier: BSD-3-Clause */
/* l2fwd-graph: frames from port to port on a packet graph, with the variants that suit the machine. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include <hy_program.h>
#include <hy_signals.h>
#include <hy_terminal.h>

#include "pipeline.h"
#include "report.h"

#define INPUTS_MAX (1 + 2 * HY_OPTION_REPEATS)

/* Runs about every millisecond while workers walk. */
static void
tick(void *arg, FILE *out)
{
	struct pipeline *pipeline = arg;
	struct hy_reload_part part;
	struct timespec now;

	if (pipeline->bridge != NULL) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		hy_bridge_poll(pipeline->bridge, (uint32_t)now.tv_sec);
	}
	if (!hy_signals_take(SIGHUP))
		return;
	if (pipeline->bridge == NULL) {
		hy_terminal_error(
			"nothing changed: SIGHUP reads a file again, which requires --bridge");
		return;
	}
	part = hy_bridge_part(pipeline->bridge);
	hy_reload(&part, 1, out);
}

static void
down(void *arg, struct hy_report *report)
{
	report->under_way = pipeline_destroy(arg);
}

/* Lists the files that are read, so that none is written to. Returns how many. */
static unsigned int
inputs_list(const struct options *o, struct hy_input inputs[INPUTS_MAX])
{
	unsigned int n = 0;

	if (o->bridge != NULL)
		inputs[n++] = (struct hy_input){ "--bridge", o->bridge };
	for (unsigned int i = 0; i < o->hal.cap_files.n; i++)
		inputs[n++] = (struct hy_input){ "--cap-file", o->hal.cap_files.texts[i] };
	for (unsigned int i = 0; i < o->hal.packs.n; i++)
		inputs[n++] = (struct hy_input){ "--pack", o->hal.packs.texts[i] };
	return n;
}

static int
forward(const struct options *options, const struct hy_hal *hal, struct pipeline *pipeline)
{
	static struct hy_input inputs[INPUTS_MAX];
	const struct hy_run run = {
		.options = &options->run,
		.mode = &options->mode,
		.hal = hal,
		.workers = &pipeline->workers,
		.ends = &pipeline->ends,
		.inputs = inputs,
		.nb_inputs = inputs_list(options, inputs),
		.tick = tick,
		.picks = report_picks,
		.table = report_table,
		.json = report_json,
		.down = down,
		.arg = pipeline,
	};

	return hy_run(&run);
}

/* All that needs the ports; -EINTR if the program is told to stop before it is ready. */
static int
prepare(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline)
{
	struct hy_workers *workers = &pipeline->workers;
	int rc = bridge_create(options, &pipeline->bridge);

	if (rc == 0)
		rc = hy_mode_workers(&options->mode, workers);
	if (rc == 0 && hy_stopping())
		rc = -EINTR;
	if (rc == 0)
		rc = hy_hal_options_plan(&options->hal, hal);
	if (rc == 0)
		rc = hy_mode_ports(&options->mode, hal, workers->nb, 0);
	if (rc == 0)
		rc = hy_hal_options_select(&options->hal, hal);
	if (rc == 0)
		rc = hy_mode_follow(&options->mode, hal);
	return rc == 0 && hy_stopping() ? -EINTR : rc;
}

static int
explain(const struct options *options, const struct hy_hal *hal)
{
	const int rc = hy_hal_options_explain(&options->hal, hal);

	if (options->hal.explain == HY_EXPLAIN_TEXT)
		hy_mode_print(&options->mode, stdout);
	return rc;
}

static int
l2fwd(const struct options *options)
{
	struct pipeline pipeline = { .options = options };
	struct hy_hal *hal;
	int rc = hy_hal_begin(&options->hal, &options->ports, &hal);

	if (rc < 0)
		return rc;
	rc = prepare(options, hal, &pipeline);
	if (rc == 0 && options->hal.explain != HY_EXPLAIN_NO) {
		rc = explain(options, hal);
	} else if (rc == 0) {
		rc = pipeline_create(options, hal, &pipeline);
		if (rc == 0)
			rc = forward(options, hal, &pipeline);
	}
	pipeline_destroy(&pipeline);
	hy_mode_end(&options->mode);
	hy_ports_stop(NULL, NULL);
	hy_hal_destroy(hal);
	return rc;
}

int
main(int argc, char **argv)
{
	static struct options options;
	struct hy_option_group groups[OPTION_GROUPS];
	const struct hy_program program = {
		.name = "l2fwd-graph",
		.usage = "l2fwd-graph [EAL options] -- -p PORTMASK [options]",
		.groups = groups,
		.nb_groups = OPTION_GROUPS,
		.prefix = "/l2fwd",
		.telemetry = hy_bridge_telemetry,
	};
	int rc;

	options_groups(&options, groups);
	rc = hy_program_begin(&program, &argc, &argv);
	if (rc == 0)
		rc = l2fwd(&options);
	return hy_program_end(rc);
}
