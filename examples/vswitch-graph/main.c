/* SPDX-License-Identifier: BSD-3-Clause */
/* vswitch-graph: a virtual switch by rules, on a packet graph with the variants that suit the machine. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include <hy_program.h>
#include <hy_signals.h>
#include <hy_terminal.h>

#include "pipeline.h"
#include "report.h"

#define INPUTS_MAX (2 + 2 * HY_OPTION_REPEATS)

static void
reload(struct pipeline *pipeline, FILE *out)
{
	struct hy_reload_part parts[2];
	unsigned int n = 0;

	if (pipeline->bridge != NULL)
		parts[n++] = hy_bridge_part(pipeline->bridge);
	if (pipeline->options->flows != NULL)
		parts[n++] = hy_datapath_part(pipeline->datapath);
	if (n == 0)
		hy_terminal_error(
			"nothing changed: SIGHUP reads files again, which requires --flows "
			"or --bridge");
	else
		hy_reload(parts, n, out);
}

/* Runs about every millisecond while workers walk. */
static void
tick(void *arg, FILE *out)
{
	struct pipeline *pipeline = arg;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	hy_datapath_poll(pipeline->datapath,
		(uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
	if (pipeline->bridge != NULL)
		hy_bridge_poll(pipeline->bridge, (uint32_t)now.tv_sec);
	if (hy_signals_take(SIGHUP))
		reload(pipeline, out);
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

	if (o->flows != NULL)
		inputs[n++] = (struct hy_input){ "--flows", o->flows };
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
		.dump = { .what = "flows", .make = report_rules, .arg = pipeline },
		.dump_option = "--dump-flows",
		.dump_name = options->dump_flows,
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
	const uint32_t most = options->offload.params.max_rules;
	const bool templates = options->offload.params.provider == &hy_flow_rte;
	struct hy_workers *workers = &pipeline->workers;
	int rc = files_read(options, pipeline);

	if (rc == 0)
		rc = hy_mode_workers(&options->mode, workers);
	if (rc == 0 && hy_stopping())
		rc = -EINTR;
	if (rc == 0)
		rc = hy_hal_options_plan(&options->hal, hal);
	if (rc == 0)
		rc = hy_mode_ports(&options->mode, hal, workers->nb,
			templates ? (most != 0 ? most : HY_DATAPATH_OFFLOAD_RULES) : 0);
	if (rc == 0)
		rc = offload(options, hal, pipeline);
	if (rc == 0)
		rc = hy_hal_options_select(&options->hal, hal);
	return rc == 0 && hy_stopping() ? -EINTR : rc;
}

static int
vswitch(const struct options *options)
{
	struct pipeline pipeline = { .options = options };
	struct hy_hal *hal;
	int rc = hy_hal_begin(&options->hal, &options->ports, &hal);

	if (rc < 0)
		return rc;
	rc = prepare(options, hal, &pipeline);
	if (rc == 0 && options->hal.explain != HY_EXPLAIN_NO) {
		rc = hy_hal_options_explain(&options->hal, hal);
		if (options->hal.explain == HY_EXPLAIN_TEXT)
			hy_datapath_offload_print(pipeline.datapath, stdout);
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

static int
telemetry(const char *prefix)
{
	const int rc = hy_bridge_telemetry(prefix);

	return rc < 0 ? rc : hy_datapath_telemetry(prefix);
}

int
main(int argc, char **argv)
{
	static struct options options;
	struct hy_option_group groups[OPTION_GROUPS];
	const struct hy_program program = {
		.name = "vswitch-graph",
		.usage = "vswitch-graph [EAL options] -- -p PORTMASK [options]",
		.groups = groups,
		.nb_groups = OPTION_GROUPS,
		.prefix = "/vswitch",
		.telemetry = telemetry,
	};
	int rc;

	options_groups(&options, groups);
	rc = hy_program_begin(&program, &argc, &argv);
	if (rc == 0)
		rc = vswitch(&options);
	return hy_program_end(rc);
}
