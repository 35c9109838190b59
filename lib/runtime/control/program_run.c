/* SPDX-License-Identifier: BSD-3-Clause */
/* A run from graphs that exist to the last line of its report: see hy_run.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_recorder.h>
#include <hy_run.h>
#include <hy_share.h>
#include <hy_telemetry.h>
#include <hy_terminal.h>
#include <hy_tracer.h>

#define TABLE_WAIT_US 200000 /* for a walk of each worker, which may have to share its CPU */

enum { DOT, GRAPH_JSON, JSON, DUMP, DOCUMENTS };

/* A run under way. */
struct state {
	const struct hy_run *run;
	struct hy_report report;
	struct hy_document documents[DOCUMENTS];
	struct hy_dump dump;
	FILE *out;                      /* where people read */
	bool lost;                      /* a document: its file could not be emptied */
	uint64_t next;                  /* TSC of the next table */
	char *last_table, *last_json;   /* the program's parts of the last report; NULL: none */
	char unordered[HY_REASON_SIZE]; /* why order is not kept, as reported; or "" */
};

static int
documents_open(struct state *s)
{
	const struct hy_run *run = s->run;
	const struct {
		const char *option, *name;
	} all[DOCUMENTS] = {
		[DOT] = { "--export-dot", run->options->dot },
		[GRAPH_JSON] = { "--export-json", run->options->graph_json },
		[JSON] = { "--json", run->options->json },
		[DUMP] = { run->dump_option, run->dump_name },
	};
	int rc = 0;

	for (unsigned int i = 0; i < DOCUMENTS && rc == 0; i++) {
		rc = hy_document_open(&s->documents[i], all[i].option, all[i].name, i >= JSON,
			run->inputs, run->nb_inputs);
		if (s->documents[i].standard)
			s->out = stderr; /* a report shares stdout with nothing */
	}
	return rc;
}

/* From here on reports are written, even at once: what was in the files is gone. */
static void
documents_empty(struct state *s)
{
	for (unsigned int i = 0; i < DOCUMENTS; i++)
		s->lost |= hy_document_empty(&s->documents[i]) < 0;
}

/* Writes the first worker's graph: what it did, or, if it never ran, what it would be. */
static int
export_graph(const struct state *s, struct hy_document *document,
	int (*ran)(const struct hy_graph *graph, FILE *out),
	int (*would)(const char *name, const struct hy_graph_params *params, FILE *out))
{
	const struct hy_graph *graph = s->run->workers->graphs[0];
	struct hy_graph_params params;
	FILE *file;
	int rc = -ENOMEM;

	if (!document->wanted)
		return 0;
	hy_graph_params_get(graph, &params);
	file = hy_document_begin(document);
	if (file != NULL && s->run->options->dry_run)
		rc = would(hy_graph_name(graph), &params, file);
	else if (file != NULL)
		rc = ran(graph, file);
	return hy_document_finish(document, rc);
}

/* Writes what was asked for about graphs and tables, while they exist. Returns 0 or -EIO. */
static int
export_all(struct state *s)
{
	const int dot = export_graph(s, &s->documents[DOT], hy_graph_export_dot,
		hy_topology_export_dot);
	const int json = export_graph(s, &s->documents[GRAPH_JSON], hy_graph_export_json,
		hy_topology_export_json);
	const int dump = hy_dump_finish(&s->dump, s->out);

	/* Not -EINTR, which would be a stop. */
	return s->lost || dot < 0 || json < 0 || dump < 0 ? -EIO : 0;
}

/* What the program prints now, for a report that is written later. Returns 0 or -ENOMEM (reported). */
static int
keep(const struct hy_run *run, void (*print)(const void *arg, FILE *out), char **text)
{
	size_t size;
	FILE *file;

	if (print == NULL)
		return 0;
	file = open_memstream(text, &size);
	if (file != NULL) {
		print(run->arg, file);
		if (fclose(file) == 0)
			return 0;
		free(*text);
	}
	*text = NULL;
	return hy_terminal_refuse(-ENOMEM, "report: out of memory");
}

static void
kept_print(const void *text, FILE *out)
{
	fputs(text == NULL ? "" : text, out);
}

/* The table, then what the program adds to it. */
static void
table(const struct state *s, void (*more)(const void *arg, FILE *out), const void *arg)
{
	hy_report_table(&s->report, s->out);
	if (more != NULL)
		more(arg, s->out);
	hy_report_rest(&s->report, s->out);
	fprintf(s->out, "\n");
	fflush(s->out);
}

static int
write_json(struct state *s)
{
	struct hy_document *document = &s->documents[JSON];
	FILE *file;

	if (!document->wanted)
		return 0;
	if (s->run->json != NULL && s->last_json == NULL) /* a part of it would be missing */
		return hy_document_finish(document, -ENOMEM);
	file = hy_document_begin(document);
	if (file != NULL)
		hy_report_json(&s->report, kept_print, s->last_json, file);
	return hy_document_finish(document, file == NULL ? -ENOMEM : 0);
}

/* A port that came back may have got a variant that does not keep order. Reports each reason once. */
static void
order_check(struct state *s)
{
	char reason[HY_REASON_SIZE];

	if (s->run->mode == NULL || hy_mode_check(s->run->mode, reason, sizeof(reason)) == 0)
		reason[0] = '\0';
	else if (strcmp(reason, s->unordered) != 0)
		hy_terminal_error("%s", reason);
	strcpy(s->unordered, reason);
}

static void
tick(void *arg)
{
	struct state *s = arg;
	const struct hy_run *run = s->run;
	const uint64_t now = rte_rdtsc(), interval = run->options->stats_s * rte_get_tsc_hz();

	if (run->tick != NULL)
		run->tick(run->arg, s->out);
	order_check(s);
	if (run->dump.what != NULL)
		hy_dump_poll(&s->dump, s->out);
	hy_telemetry_poll(&s->report);
	if (interval == 0 || now < s->next)
		return;
	/* Each worker is read between two of its walks, so that the rows of a table agree. */
	if (hy_report_read_between_walks(&s->report, TABLE_WAIT_US) == 0)
		table(s, run->table, run->arg);
	s->next = now + interval;
}

/* Prepares what can still fail, in an order that leaves files as they are if it does. */
static int
begin(struct state *s)
{
	const struct hy_run *run = s->run;
	const struct hy_recorder_params recorder = {
		.graphs = run->workers->graphs,
		.nb_graphs = run->workers->nb,
		.inputs = run->inputs,
		.nb_inputs = run->nb_inputs,
		.out = s->out,
	};
	int rc = hy_tracer_begin(recorder.graphs, recorder.nb_graphs, run->options->trace);

	if (rc == 0)
		rc = hy_privileges_drop(&run->options->user);
	if (rc == 0)
		rc = hy_recorder_begin(&recorder, run->options->capture);
	if (rc < 0) {
		hy_recorder_end();
		hy_tracer_end();
		return rc;
	}
	documents_empty(s);
	return 0;
}

static int
walk(struct state *s)
{
	const struct hy_run_options *o = s->run->options;
	const struct hy_loop loop = { .tick = tick,
		.arg = s,
		.out = s->out,
		.quiet_ms = o->until_idle_ms,
		.seconds = o->duration_s };
	int rc;

	s->next = rte_rdtsc() + o->stats_s * rte_get_tsc_hz();
	hy_report_start(&s->report);
	hy_terminal_hurry(true);
	rc = hy_workers_run(s->run->workers, &loop);
	hy_telemetry_end();
	hy_terminal_hurry(false);
	return hy_terminal_report("workers", rc);
}

/* Reports what the workers, which have stopped, have done; takes all down. */
static int
conclude(struct state *s, int rc)
{
	const struct hy_run *run = s->run;
	const int captured = hy_recorder_end();
	int kept;

	if (rc == 0)
		rc = hy_terminal_report("statistics", hy_report_read(&s->report));
	kept = keep(run, run->table, &s->last_table);
	if (s->documents[JSON].wanted)
		keep(run, run->json, &s->last_json);
	if (rc == 0)
		rc = export_all(s);
	if (run->options->trace != NULL && hy_tracer_print(s->out) < 0)
		rc = -ENOMEM;
	hy_tracer_end();
	hy_share_stop();
	if (run->down != NULL)
		run->down(run->arg, &s->report);
	else
		s->report.under_way = hy_workers_graphs_destroy(run->workers);
	if (run->mode != NULL)
		s->report.events_freed = hy_mode_end(run->mode);
	hy_ports_stop(&s->report.mbufs_in_use, &s->report.mbufs_total);
	table(s, kept_print, s->last_table);
	if (!hy_report_balance(&s->report, s->out) || captured < 0 || kept < 0)
		rc = -EIO;
	return write_json(s) < 0 ? -EIO : rc;
}

static int
forward(struct state *s)
{
	const struct hy_run *run = s->run;
	int rc;

	/* Where it cannot, the log says why, and packets are forwarded. Another user could not keep up. */
	if (run->options->user.uid == 0)
		hy_share_start(NULL);
	hy_report_ends_add(&s->report, run->ends);
	rc = hy_terminal_report("statistics", hy_report_read(&s->report));
	if (rc < 0)
		return rc;
	hy_report_picks(&s->report, s->out);
	if (run->picks != NULL)
		run->picks(run->arg, s->out);
	if (run->mode != NULL)
		hy_mode_print(run->mode, s->out);
	fprintf(s->out, "\n");
	fflush(s->out);
	rc = begin(s);
	return rc == 0 ? conclude(s, walk(s)) : rc;
}

int
hy_run(const struct hy_run *run)
{
	struct state s = { .run = run,
		.report = { .hal = run->hal, .all = run->workers, .mode = run->mode },
		.dump = run->dump,
		.out = stdout };
	int rc = documents_open(&s);

	s.dump.document = &s.documents[DUMP];
	if (rc == 0 && run->options->dry_run) {
		documents_empty(&s);
		rc = export_all(&s);
	} else if (rc == 0) {
		rc = forward(&s);
	}
	for (unsigned int i = 0; i < DOCUMENTS; i++)
		hy_document_close(&s.documents[i]);
	hy_report_free(&s.report);
	free(s.last_table);
	free(s.last_json);
	return rc;
}
