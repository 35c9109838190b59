/* SPDX-License-Identifier: BSD-3-Clause */
/* Options for a run: see hy_run.h. */

#include <rte_common.h>

#include <hy_recorder.h>
#include <hy_run.h>
#include <hy_tracer.h>

static int
read_user(const char *text, void *to)
{
	struct hy_run_options *o = to;

	return hy_user_read("--user", text, &o->user);
}

static int
read_trace(const char *text, void *to)
{
	struct hy_run_options *o = to;

	o->trace = text;
	return hy_tracer_check(text);
}

static int
read_capture(const char *text, void *to)
{
	struct hy_run_options *o = to;

	if (o->capture != NULL)
		return hy_option_refuse("--capture",
			"is accepted once; at=POINT can be repeated in it");
	o->capture = text;
	return hy_recorder_check(text);
}

#define AT(field) offsetof(struct hy_run_options, field)

static const struct hy_option options[] = {
	{ "user", HY_OPTION_READ, .read = read_user, .value = "NAME|UID:GID",
		.help = "drop root privileges once ports are open" },
	{ "stats", HY_OPTION_NUMBER, AT(stats_s), "SECONDS", .min = 1, .max = 86400,
		.help = "print the tables of nodes and drops at this interval" },
	{ "duration", HY_OPTION_NUMBER, AT(duration_s), "S", .min = 1, .max = 31536000,
		.help = "stop after S seconds" },
	{ "until-idle", HY_OPTION_NUMBER, AT(until_idle_ms), "MS", .min = 1, .max = 3600000,
		.help = "stop when nothing has arrived for MS milliseconds" },
	{ "trace", HY_OPTION_READ, .read = read_trace, .value = "N[:FILTER]",
		.help = "trace N packets on each worker (1 to 1000) and print their paths; FILTER is "
			"src=PREFIX, dst=PREFIX, proto=NUMBER or several of these, separated by "
			"commas" },
	{ "capture", HY_OPTION_READ, .read = read_capture, .value = "FILE,at=POINT...",
		.help = "write packets to FILE, as pcapng, where they enter a NODE, take an edge "
			"(NODE/TARGET) or are dropped (NODE:REASON); may be followed, separated by "
			"commas, by more of at=POINT, a filter as for --trace, max=N packets, "
			"snaplen=N bytes of each, ring=BYTES of buffer, and fifo, if FILE is a FIFO "
			"that another program reads" },
	{ "export-dot", HY_OPTION_TEXT, AT(dot), "FILE",
		"write the graph with its counters, for Graphviz" },
	{ "export-json", HY_OPTION_TEXT, AT(graph_json), "FILE",
		"write the graph with its counters, as JSON" },
	{ "dry-run", HY_OPTION_SET, AT(dry_run),
		.help = "set up, write the graph without counters, and exit",
		.excludes = "json trace capture", .why = "it forwards nothing" },
	{ "json", HY_OPTION_TEXT, AT(json), "FILE",
		"write final statistics; with -, to standard output, and everything else to standard "
		"error" },
};

struct hy_option_group
hy_run_options(struct hy_run_options *o)
{
	*o = (struct hy_run_options){ 0 };
	return (struct hy_option_group){ "The run and its reports", options, RTE_DIM(options), o,
		NULL };
}
