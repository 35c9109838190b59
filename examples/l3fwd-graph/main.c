/* SPDX-License-Identifier: BSD-3-Clause */
/* l3fwd-graph: IPv4 forwarding on a packet graph, with the variants that suit the box. */

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_lcore.h>

#include <hy_about.h>
#include <hy_file.h>
#include <hy_plugin.h>
#include <hy_privileges.h>
#include <hy_recorder.h>
#include <hy_share.h>
#include <hy_signals.h>
#include <hy_terminal.h>
#include <hy_tracer.h>

#include "feed.h"
#include "outputs.h"
#include "pipeline.h"
#include "ports.h"
#include "reload.h"
#include "report.h"
#include "route_dump.h"
#include "telemetry.h"

#define TABLE_WAIT_US 200000 /* for a walk of each worker, which may have to share its CPU */

/* What is done while workers walk. */
struct watch {
	const struct options *options;
	struct pipeline *pipeline;
	struct report *report;
	struct outputs *out;
	struct hy_dump dump; /* of --dump-routes */
	uint64_t next;       /* TSC of the next table of --stats */
};

/* The rows of a table are of one moment for each worker: they agree. */
static void
table_show(struct report *report, const struct pipeline *pipeline, FILE *people)
{
	if (hy_report_read_between_walks(&report->base, TABLE_WAIT_US) < 0)
		return;
	report_read(report, pipeline);
	report_table(report, people);
}

/* Does what is due, and what signals ask for; prints the table now and then. */
static void
tick(void *arg)
{
	struct watch *watch = arg;
	const struct options *options = watch->options;
	struct pipeline *pipeline = watch->pipeline;
	FILE *people = watch->out->people;
	const uint64_t now = rte_rdtsc();

	offloads_poll(&pipeline->offloads);
	ports_poll(options, pipeline->workers.graphs, pipeline->workers.nb, people);
	if (hy_signals_take(SIGHUP))
		reload(options, pipeline, people);
	hy_dump_poll(&watch->dump, people);
	hy_telemetry_poll(&watch->report->base);
	if (options->stats_s == 0 || now < watch->next)
		return;
	table_show(watch->report, pipeline, people);
	watch->next = now + options->stats_s * rte_get_tsc_hz();
}

static struct hy_dump
routes_dumped(const struct pipeline *pipeline, struct outputs *out)
{
	return (struct hy_dump){
		.document = &out->routes,
		.what = "routes",
		.make = route_dump,
		.arg = &pipeline->tables,
	};
}

/* Writes a graph: what it did, or, if it never ran, what it would be. */
static int
export_one(const struct hy_graph *graph, struct hy_document *document,
	int (*ran)(const struct hy_graph *graph, FILE *out),
	int (*would)(const char *name, const struct hy_graph_params *params, FILE *out))
{
	struct hy_graph_params params;
	FILE *file;
	int rc = -ENOMEM;

	if (!document->wanted)
		return 0;
	hy_graph_params_get(graph, &params);
	file = hy_document_begin(document);
	if (file != NULL)
		rc = ran != NULL ? ran(graph, file) : would(hy_graph_name(graph), &params, file);
	return hy_document_finish(document, rc);
}

/* Writes the first worker's graph. */
static int
export_graph(const struct options *options, const struct pipeline *pipeline, struct outputs *out)
{
	const struct hy_graph *graph = pipeline->workers.graphs[0];
	const bool dry = options->dry_run;
	const int dot = export_one(graph, &out->dot, dry ? NULL : hy_graph_export_dot,
		hy_topology_export_dot);
	const int json = export_one(graph, &out->graph_json, dry ? NULL : hy_graph_export_json,
		hy_topology_export_json);

	return dot < 0 ? dot : json;
}

/* Writes what was asked for of the graphs and tables, while they exist. */
static int
export_all(const struct options *options, const struct pipeline *pipeline, struct outputs *out)
{
	const int graph = export_graph(options, pipeline, out);
	const struct hy_dump dump = routes_dumped(pipeline, out);
	const int routes = hy_dump_finish(&dump, out->people);

	return graph < 0 ? graph : routes;
}

static int
dry_run(const struct options *options, const struct pipeline *pipeline, struct outputs *out)
{
	return outputs_empty(out) < 0 ? -1 : export_all(options, pipeline, out);
}

static int
write_json(const struct report *report, struct hy_document *document)
{
	FILE *file = hy_document_begin(document);

	if (file != NULL)
		report_json(report, file);
	return hy_document_finish(document, file == NULL ? -ENOMEM : 0);
}

/* Lets the workers run until it is time. */
static int
run(const struct options *options, struct pipeline *pipeline, struct report *report,
	struct outputs *out)
{
	struct watch watch = { .options = options,
		.pipeline = pipeline,
		.report = report,
		.out = out,
		.dump = routes_dumped(pipeline, out),
		.next = rte_rdtsc() + options->stats_s * rte_get_tsc_hz() };
	const struct hy_loop loop = { .tick = tick,
		.arg = &watch,
		.quiet_ms = options->until_idle_ms,
		.seconds = options->duration_s };
	int rc;

	hy_report_start(&report->base);
	hy_terminal_hurry(true);
	rc = hy_workers_run(&pipeline->workers, &loop);
	hy_telemetry_end();
	hy_terminal_hurry(false);
	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: workers: %s\n", strerror(-rc));
	return rc;
}

static int
recorder_begin(const struct options *options, const struct pipeline *pipeline, FILE *people)
{
	static struct hy_input inputs[INPUTS_MAX];
	const struct hy_recorder_params params = {
		.graphs = pipeline->workers.graphs,
		.nb_graphs = pipeline->workers.nb,
		.inputs = inputs,
		.nb_inputs = outputs_inputs(options, inputs),
		.out = people,
	};

	return hy_recorder_begin(&params, options->capture);
}

static int
report_stats(struct report *report)
{
	const int rc = hy_report_read(&report->base);

	if (rc < 0)
		hy_terminal_error("statistics: %s", strerror(-rc));
	return rc;
}

/* Prepares what can still fail, in an order that leaves files as they are if it does. */
static int
controls_begin(const struct options *options, const struct pipeline *pipeline, struct outputs *out)
{
	int rc = hy_tracer_begin(pipeline->workers.graphs, pipeline->workers.nb, options->trace);

	if (rc == 0)
		rc = hy_privileges_drop(&options->user);
	if (rc == 0)
		rc = recorder_begin(options, pipeline, out->people);
	if (rc == 0)
		rc = outputs_empty(out);
	if (rc < 0) {
		hy_recorder_end();
		hy_tracer_end();
	}
	return rc;
}

/* Reports what the workers, which have stopped, have done; takes all down. */
static int
conclude(struct report *report, struct pipeline *pipeline, struct outputs *out, int rc)
{
	const struct options *options = report->options;
	struct hy_report *base = &report->base;
	const int captured = hy_recorder_end();

	if (rc == 0)
		rc = report_stats(report);
	if (rc == 0) {
		report_read(report, pipeline);
		rc = export_all(options, pipeline, out);
	}
	if (options->trace != NULL && hy_tracer_print(out->people) < 0)
		rc = -1;
	hy_tracer_end();
	hy_share_stop();
	base->under_way = pipeline_destroy(pipeline);
	report->events_freed = feed_destroy(options);
	hy_ports_stop(&base->mbufs_in_use, &base->mbufs_total);
	report_table(report, out->people);
	if (!report_result(report, out->people) || captured < 0)
		rc = -1;
	if (out->json.wanted && write_json(report, &out->json) < 0)
		rc = -1;
	return rc;
}

static int
forward(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline,
	struct outputs *out)
{
	struct report report = {
		.options = options,
		.base = { .hal = hal, .all = &pipeline->workers },
	};
	int rc;

	/* Where it cannot, the log says why, and packets are forwarded. Another user could not keep up. */
	if (options->user.uid == 0)
		hy_share_start(NULL);
	report_begin(&report);
	rc = report_stats(&report);
	if (rc == 0) {
		report_picks(&report, out->people);
		rc = controls_begin(options, pipeline, out);
	}
	if (rc == 0) {
		rc = run(options, pipeline, &report, out);
		rc = conclude(&report, pipeline, out, rc);
	}
	report_free(&report);
	return rc;
}

/* Ports beyond -p are none of our business, nor the HAL's. */
static void
ports_ignore(const struct options *options, struct hy_hal *hal)
{
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (!port_enabled(options, p))
			hy_hal_port_ignore(hal, p);
}

/* Hands one option's values to the HAL; names the option that is refused. */
static int
apply(struct hy_hal *hal, const char *option, const char *const *values, unsigned int n,
	int (*one)(struct hy_hal *hal, const char *value, char *error))
{
	char error[HY_HAL_ERROR_SIZE] = "out of memory";
	int rc = 0;

	for (unsigned int i = 0; i < n && rc == 0; i++) {
		rc = one(hal, values[i], error);
		if (rc < 0)
			fprintf(stderr, "l3fwd-graph: --%s: %s\n", option, hy_printable(error));
	}
	return rc;
}

static int
rules_read(const struct options *o, struct hy_hal *hal)
{
	int rc = apply(hal, "cap-file", o->cap_files, o->nb_cap_files, hy_hal_override_file);

	if (rc == 0)
		rc = apply(hal, "cap", o->caps, o->nb_caps, hy_hal_override);
	if (rc == 0)
		rc = apply(hal, "node", o->force, o->nb_force, hy_hal_force);
	if (rc == 0)
		rc = apply(hal, "deny", o->deny, o->nb_deny, hy_hal_deny);
	return rc;
}

static int
variants_refused(const struct options *options, const char *error)
{
	fprintf(stderr, "l3fwd-graph: %s%s: %s\n", options->nb_force > 0 ? "--node" : "variants",
		options->nb_deny > 0 ? " with --deny" : "", error);
	return -1;
}

/* Before ports are configured: which variants have a say in that. */
static int
plan_ports(const struct options *options, struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE] = "out of memory";

	return hy_hal_plan(hal, error) < 0 ? variants_refused(options, error) : 0;
}

/* What drivers say of packet types depends on how they were started: select once they are. */
static int
select_variants(const struct options *options, struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE] = "out of memory";

	hy_hal_probe(hal);
	return hy_hal_select(hal, error) < 0 ? variants_refused(options, error) : 0;
}

static int
packs_load(const struct options *options)
{
	char error[HY_PLUGIN_ERROR_SIZE];

	if (hy_plugin_load_list(secure_getenv(HY_PLUGIN_ENV), error) < 0) {
		fprintf(stderr, "l3fwd-graph: " HY_PLUGIN_ENV ": %s\n", hy_printable(error));
		return -1;
	}
	for (unsigned int i = 0; i < options->nb_packs; i++) {
		if (hy_plugin_load(options->packs[i], NULL, error) < 0) {
			fprintf(stderr, "l3fwd-graph: --pack: %s\n", hy_printable(error));
			return -1;
		}
	}
	return 0;
}

static void
packs_print(void)
{
	const struct hy_plugin *plugin = NULL;

	while ((plugin = hy_plugin_next(plugin)) != NULL) {
		const struct hy_plugin_info *info = hy_plugin_describe(plugin);
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s", info->path);
		printf("pack %s %s, %s: %s\n", info->name, info->version, hy_printable(path),
			info->text);
	}
}

static int
explain(const struct options *options, const struct pipeline *pipeline, const struct hy_hal *hal)
{
	int rc;

	if (options->explain == EXPLAIN_JSON) {
		rc = hy_hal_explain_json(hal, stdout);
	} else {
		packs_print();
		rc = hy_hal_inventory_print(hal, stdout);
		printf("\n");
		if (rc == 0)
			rc = hy_hal_explain(hal, stdout);
		feed_print(options, stdout);
		offloads_print(&pipeline->offloads, stdout);
	}
	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: --explain: standard output: %s\n", strerror(-rc));
	return rc;
}

static int
routes_declare(const struct options *options, const struct routes *routes, struct hy_hal *hal)
{
	const bool read = options->routes != NULL;
	int rc = hy_hal_declare(hal, HY_IP4_ROUTES, routes->n,
		read ? "the routes of --routes" : "the default routes");

	if (rc == 0 && read)
		rc = hy_hal_declare(hal, HY_IP4_LIVE_ROUTES, 1,
			"SIGHUP has --routes read again while packets flow");
	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: out of memory\n");
	return rc;
}

static int
classes_declare(const struct options *options, struct hy_hal *hal)
{
	int rc = 0;

	if (options->policy != NULL)
		rc = hy_hal_declare(hal, HY_FLOW_RULES, options->max_rules,
			"the rules that --policy may have, by --max-rules");
	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: out of memory\n");
	return rc;
}

/* All that needs the ports; -EINTR if it is to stop before it is ready. */
static int
prepare(const struct options *options, struct hy_hal *hal, const struct routes *routes,
	struct pipeline *pipeline)
{
	int rc = pipeline_workers(options, pipeline);

	if (rc == 0)
		rc = classes_create(options, pipeline->workers.nb, pipeline->workers.qsbr,
			&pipeline->classes);
	if (rc == 0 && hy_stopping())
		rc = -EINTR;
	if (rc == 0 &&
		(classes_declare(options, hal) < 0 || routes_declare(options, routes, hal) < 0 ||
			plan_ports(options, hal) < 0 ||
			ports_start(options, hal, pipeline->workers.nb) < 0 ||
			offloads_create(options, pipeline->classes.policy, hal,
				&pipeline->offloads) < 0 ||
			feed_create(options, pipeline->workers.nb) < 0 ||
			select_variants(options, hal) < 0 || feed_start(options, hal) < 0))
		rc = -1;
	return rc == 0 && hy_stopping() ? -EINTR : rc;
}

static int
l3fwd(const struct options *options, struct hy_hal *hal)
{
	struct pipeline pipeline = { 0 };
	char error[ROUTES_ERROR_SIZE];
	struct routes routes;
	struct outputs out = { 0 };
	int rc;

	ports_ignore(options, hal);
	/* Before ports run: one that asks for a reset asks once. */
	rc = hy_hal_watch(hal);
	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: events of ports: %s\n", strerror(-rc));
	if (rc == 0)
		rc = rules_read(options, hal);
	if (rc < 0)
		return rc;
	rc = routes_read(options, &routes, error);
	if (rc < 0) {
		fprintf(stderr, "l3fwd-graph: %s\n", error);
		return rc;
	}
	rc = prepare(options, hal, &routes, &pipeline);
	if (rc == 0 && options->explain != EXPLAIN_NO)
		rc = explain(options, &pipeline, hal);
	else if (rc == 0)
		rc = pipeline_create(options, &routes, hal, &pipeline);
	if (rc == 0 && options->explain == EXPLAIN_NO) {
		rc = outputs_open(options, &out);
		if (rc == 0)
			rc = options->dry_run ? dry_run(options, &pipeline, &out)
					      : forward(options, hal, &pipeline, &out);
		outputs_close(&out);
	}
	pipeline_destroy(&pipeline);
	feed_destroy(options);
	hy_ports_stop(NULL, NULL);
	routes_free(&routes);
	return rc;
}

static int
run_program(int argc, char **argv)
{
	struct options options;
	struct hy_hal *hal;
	int rc = options_read(argc, argv, &options);

	if (rc != 0)
		return rc;
	if (packs_load(&options) < 0)
		return -1;
	rc = hy_hal_create(&hal);
	if (rc < 0) {
		fprintf(stderr, "l3fwd-graph: out of memory\n");
		return rc;
	}
	rc = l3fwd(&options, hal);
	hy_hal_destroy(hal);
	return rc;
}

int
main(int argc, char **argv)
{
	int rc;

	if (hy_file_prepare() < 0)
		return EXIT_FAILURE;
	if (hy_about(argc, argv, "l3fwd-graph", options_usage))
		return hy_output_end("l3fwd-graph");
	if (hy_terminal_begin("l3fwd-graph") < 0 || hy_privileges_begin() < 0 ||
		telemetry_begin() < 0)
		return EXIT_FAILURE;
	hy_signals_catch(); /* before all that takes long: a stop at any time is a clean one */
	hy_file_stop_when(hy_stopping);
	rc = rte_eal_init(argc, argv);
	if (rc < 0 && hy_stopping() && rte_errno == EINTR) {
		rc = -EINTR;
	} else if (rc < 0) {
		fprintf(stderr, "l3fwd-graph: EAL could not be initialised: %s\n",
			rte_strerror(rte_errno));
		return EXIT_FAILURE;
	} else {
		rc = hy_stopping() ? -EINTR : run_program(argc - rc, argv + rc);
		rte_eal_cleanup();
	}
	if (rc == -EINTR)
		fprintf(stderr, "l3fwd-graph: stopped while it started\n");
	if (hy_terminal_end() < 0)
		return EXIT_FAILURE;
	return rc < 0 && rc != -EINTR ? EXIT_FAILURE : EXIT_SUCCESS;
}
