/* SPDX-License-Identifier: BSD-3-Clause */
/* l3fwd-graph: IP forwarding on a packet graph, with the variants that suit the machine. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include <hy_program.h>
#include <hy_signals.h>
#include <hy_terminal.h>

#include "pipeline.h"
#include "report.h"
#include "telemetry.h"

#define INPUTS_MAX (2 + 3 * REPEATS_MAX)

/* Runs about every millisecond while workers walk. */
static void
tick(void *arg, FILE *out)
{
	struct pipeline *pipeline = arg;

	hy_offloads_poll(pipeline->offloads);
	hy_routes_poll(pipeline->routes);
	lists_poll(&pipeline->lists, false);
	if (hy_signals_take(SIGHUP))
		files_reload(pipeline->options, pipeline->routes, &pipeline->classes,
			pipeline->lists.acl, out);
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

	if (o->routes != NULL)
		inputs[n++] = (struct hy_input){ "--routes", o->routes };
	if (o->policy != NULL)
		inputs[n++] = (struct hy_input){ "--policy", o->policy };
	for (unsigned int i = 0; i < o->nb_lists; i++)
		inputs[n++] = (struct hy_input){ "--acl-list", o->list[i].path };
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
		.dump = { .what = "routes", .make = hy_routes_dump, .arg = pipeline->routes },
		.dump_option = "--dump-routes",
		.dump_name = options->dump,
		.tick = tick,
		.picks = report_picks,
		.table = report_table,
		.json = report_json,
		.down = down,
		.arg = pipeline,
	};

	return hy_run(&run);
}

static int
explain(const struct options *options, const struct pipeline *pipeline, const struct hy_hal *hal)
{
	const int rc = hy_hal_options_explain(&options->hal, hal);

	if (options->hal.explain == HY_EXPLAIN_TEXT) {
		hy_mode_print(&options->mode, stdout);
		hy_offloads_print(pipeline->offloads, stdout);
		if (options->policy != NULL) {
			printf("Engine of --policy: ");
			hy_policy_engine_print(pipeline->classes.policy, stdout);
		}
		lists_explain(options, &pipeline->lists, stdout);
	}
	return rc;
}

/* What variants are chosen by besides the machine. */
static int
declare(const struct options *options, const struct pipeline *pipeline, struct hy_hal *hal)
{
	int rc = hy_routes_declare(pipeline->routes, hal);

	if (rc == 0 && options->policy != NULL)
		rc = hy_hal_declare(hal, HY_FLOW_RULES, options->max_rules,
			"the rules that --policy may have, by --max-rules");
	return rc < 0 ? hy_terminal_refuse(rc, "out of memory") : 0;
}

/* All that needs the ports; -EINTR if the program is told to stop before it is ready. */
static int
prepare(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline)
{
	const bool templates = options->offload.params.provider == &hy_flow_rte;
	struct hy_workers *workers = &pipeline->workers;
	int rc = routes_create(options, &pipeline->routes);

	if (rc == 0)
		rc = hy_mode_workers(&options->mode, workers);
	if (rc == 0)
		rc = classes_create(options, workers, &pipeline->classes);
	if (rc == 0)
		rc = lists_create(options, workers, &pipeline->lists);
	if (rc == 0 && hy_stopping())
		rc = -EINTR;
	if (rc == 0)
		rc = declare(options, pipeline, hal);
	if (rc == 0)
		rc = hy_hal_options_plan(&options->hal, hal);
	if (rc == 0)
		rc = hy_mode_ports(&options->mode, hal, workers->nb,
			templates ? options->max_rules : 0);
	if (rc == 0)
		rc = offloads_create(options, pipeline->classes.policy, hal, &pipeline->offloads);
	if (rc == 0)
		rc = offloads_create_acl(options, pipeline->lists.acl, hal);
	if (rc == 0)
		rc = hy_hal_options_select(&options->hal, hal);
	if (rc == 0)
		rc = hy_mode_follow(&options->mode, hal);
	return rc == 0 && hy_stopping() ? -EINTR : rc;
}

static int
l3fwd(const struct options *options)
{
	static struct pipeline pipeline;
	struct hy_hal *hal;
	int rc = hy_hal_begin(&options->hal, &options->ports, &hal);

	if (rc < 0)
		return rc;
	pipeline.options = options;
	rc = prepare(options, hal, &pipeline);
	if (rc == 0 && options->hal.explain != HY_EXPLAIN_NO) {
		rc = explain(options, &pipeline, hal);
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
	const int rc = hy_routes_telemetry(prefix);

	return rc < 0 ? rc : hy_acl_telemetry(prefix);
}

int
main(int argc, char **argv)
{
	static struct options options;
	struct hy_option_group groups[OPTION_GROUPS];
	const struct hy_program program = {
		.name = "l3fwd-graph",
		.usage = "l3fwd-graph [EAL options] -- -p MASK [options]",
		.groups = groups,
		.nb_groups = OPTION_GROUPS,
		.prefix = "/l3fwd",
		.commands = telemetry_commands,
		.nb_commands = TELEMETRY_COMMANDS,
		.telemetry = telemetry,
	};
	int rc;

	options_groups(&options, groups);
	rc = hy_program_begin(&program, &argc, &argv);
	if (rc == 0)
		rc = l3fwd(&options);
	return hy_program_end(rc);
}
