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
#include <hy_share.h>
#include <hy_signals.h>
#include <hy_terminal.h>

#include "capture.h"
#include "dump.h"
#include "feed.h"
#include "outputs.h"
#include "pipeline.h"
#include "ports.h"
#include "reload.h"
#include "report.h"
#include "ways.h"

#define TABLE_WAIT_US 200000 /* for a walk of each worker, which may have to share its CPU */

/* What is done while workers walk, and the tables of --stats. */
struct watch {
	const struct options *options;
	struct pipeline *pipeline;
	struct report *report;
	struct outputs *out;
	uint64_t start, last, next; /* TSC; when workers started, of the last table and the next */
	struct hy_stats *before;    /* in the last table */
};

/* The rows of a table are of one moment for each worker: they agree. */
static void
table_show(struct watch *watch)
{
	const double hz = (double)rte_get_tsc_hz();
	const struct pipeline *pipeline = watch->pipeline;
	struct report *report = watch->report;
	struct hy_stats *stats;
	uint64_t now;

	if (hy_stats_read_between_walks(HY_WORKERS_GRAPHS, TABLE_WAIT_US, &stats) < 0)
		return;
	now = rte_rdtsc();
	report->stats = stats;
	report->before = watch->before;
	report->seconds = (double)(now - watch->start) / hz;
	report->interval = (double)(now - watch->last) / hz;
	report_events(report);
	report_workers(report, pipeline);
	report_classes(report, pipeline);
	report_offloads(report, pipeline);
	report_table(report, watch->out->people);
	fflush(watch->out->people);
	report->before = NULL;
	report->seconds = 0;
	hy_stats_free(watch->before);
	watch->before = stats;
	watch->last = now;
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
	dump_poll(&pipeline->tables, watch->out);
	if (options->stats_s == 0 || now < watch->next)
		return;
	table_show(watch);
	watch->next = now + options->stats_s * rte_get_tsc_hz();
}

/* Writes a graph: what it did, or, if it never ran, what it would be. */
static int
export_one(const struct hy_graph *graph, struct output *output,
	int (*ran)(const struct hy_graph *graph, FILE *out),
	int (*would)(const char *name, const struct hy_graph_params *params, FILE *out))
{
	struct hy_graph_params params;
	FILE *file;
	int rc = -ENOMEM;

	if (!output->wanted)
		return 0;
	hy_graph_params_get(graph, &params);
	file = output_begin(output);
	if (file != NULL)
		rc = ran != NULL ? ran(graph, file) : would(hy_graph_name(graph), &params, file);
	return output_finish(output, rc);
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

/* What is told of the graphs and tables, while there are any. */
static int
export_all(const struct options *options, const struct pipeline *pipeline, struct outputs *out)
{
	const int graph = export_graph(options, pipeline, out);
	const int routes = dump_last(&pipeline->tables, out);

	return graph < 0 ? graph : routes;
}

static int
dry_run(const struct options *options, const struct pipeline *pipeline, struct outputs *out)
{
	return outputs_empty(out) < 0 ? -1 : export_all(options, pipeline, out);
}

static int
write_json(const struct report *report, struct output *output)
{
	FILE *file = output_begin(output);

	if (file != NULL)
		report_json(report, file);
	return output_finish(output, file == NULL ? -ENOMEM : 0);
}

/* Lets the workers run until it is time. */
static int
run(const struct options *options, struct pipeline *pipeline, struct report *report,
	struct outputs *out)
{
	const uint64_t start = rte_rdtsc();
	struct watch watch = { .options = options,
		.pipeline = pipeline,
		.report = report,
		.out = out,
		.start = start,
		.last = start,
		.next = start + options->stats_s * rte_get_tsc_hz() };
	const struct hy_loop loop = { .tick = tick,
		.arg = &watch,
		.quiet_ms = options->until_idle_ms,
		.seconds = options->duration_s };
	int rc;

	hy_terminal_hurry(true);
	rc = hy_workers_run(&pipeline->workers, &loop);
	hy_terminal_hurry(false);
	hy_stats_free(watch.before);
	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: workers: %s\n", strerror(-rc));
	return rc;
}

static int
stats_read(struct hy_stats **stats)
{
	const int rc = hy_stats_read(HY_WORKERS_GRAPHS, stats);

	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: statistics: %s\n", strerror(-rc));
	return rc;
}

static int
forward(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline,
	struct outputs *out)
{
	struct report report = { .options = options, .hal = hal };
	struct hy_stats *stats;
	int rc, captured;

	/* Where it cannot, the log says why, and packets are forwarded. Another user could not keep up. */
	if (options->user.uid == 0)
		hy_share_start(NULL);
	rc = stats_read(&stats);
	if (rc < 0)
		return rc;
	report.stats = stats;
	report_ports(&report);
	report_picks(&report, out->people);
	fflush(out->people);
	hy_stats_free(stats);

	rc = ways_start(options, pipeline);
	if (rc == 0)
		rc = hy_privileges_drop(&options->user);
	if (rc == 0)
		rc = capture_begin(options, pipeline, out->people);
	if (rc < 0)
		return rc;
	if (outputs_empty(out) < 0) {
		capture_end();
		return -1;
	}
	rc = run(options, pipeline, &report, out);
	captured = capture_end();

	if (rc == 0)
		rc = stats_read(&stats);
	if (rc < 0)
		return rc;
	report.stats = stats;
	report_events(&report);
	report_workers(&report, pipeline);
	report_classes(&report, pipeline);
	report_offloads(&report, pipeline);
	rc = export_all(options, pipeline, out);
	rc = rc < 0 ? rc : captured;
	if (options->trace > 0 && ways_print(pipeline, out->people) < 0)
		rc = -1;
	hy_share_stop();
	report.under_way = pipeline_destroy(pipeline);
	report.events_freed = feed_destroy(options);
	hy_ports_stop(&report.mbufs_in_use, &report.mbufs_total);
	report_table(&report, out->people);
	if (!report_result(&report, out->people))
		rc = -1;
	if (out->json.wanted && write_json(&report, &out->json) < 0)
		rc = -1;
	free(report.classes);
	free(report.offloads);
	free(report.offloads_json);
	hy_stats_free(stats);
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
	if (hy_terminal_begin("l3fwd-graph") < 0 || hy_privileges_begin() < 0)
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
