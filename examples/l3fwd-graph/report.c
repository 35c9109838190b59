/* SPDX-License-Identifier: BSD-3-Clause */
/* What l3fwd-graph reports beyond hy_report.h: classes, offloads, and what lies between workers. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "feature.h"
#include "feed.h"
#include "report.h"

void
report_begin(struct report *report)
{
	const struct options *options = report->options;
	char fed[HY_NAME_SIZE] = "";
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		if (!port_enabled(options, port))
			continue;
		if (options->event.on)
			feed_classifier(options, port, fed);
		hy_report_port_add(&report->base, port, fed);
	}
}

static void
classes_read(struct report *report, const struct pipeline *pipeline)
{
	free(report->classes);
	report->classes = NULL;
	report->nb_classes = 0;
	if (pipeline->classes.policy != NULL &&
		hy_policy_classes(pipeline->classes.policy, &report->classes, &report->nb_classes) <
			0)
		fprintf(stderr, "l3fwd-graph: classes: out of memory\n");
}

static char *
told(const struct offloads *offloads, void (*tell)(const struct offloads *offloads, FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	tell(offloads, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void
offloads_read(struct report *report, const struct pipeline *pipeline)
{
	free(report->offloads);
	free(report->offloads_json);
	report->offloads = told(&pipeline->offloads, offloads_print);
	report->offloads_json = told(&pipeline->offloads, offloads_json);
	if (report->offloads == NULL || report->offloads_json == NULL)
		fprintf(stderr, "l3fwd-graph: offloads: out of memory\n");
}

void
report_read(struct report *report, const struct pipeline *pipeline)
{
	classes_read(report, pipeline);
	offloads_read(report, pipeline);
}

void
report_free(struct report *report)
{
	hy_report_free(&report->base);
	free(report->classes);
	free(report->offloads);
	free(report->offloads_json);
}

void
report_picks(const struct report *report, FILE *out)
{
	feed_print(report->options, out);
	hy_report_picks(&report->base, out);
	features_print(report->options, out);
	fprintf(out, "\n");
	fflush(out);
}

/* What workers handed to others, by the node that it was for. */
static void
spread_table(const struct hy_stats *stats, FILE *out)
{
	struct hy_handover way;
	bool listed = false;

	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		if (!hy_handover_read(stats, i, &way))
			continue;
		if (!listed)
			fprintf(out, "\n%-18s %12s %12s\n", "handed over to", "packets",
				"held back");
		listed = true;
		fprintf(out, "%-18s %12" PRIu64 " %12" PRIu64 "\n", way.node, way.packets,
			way.held_back);
	}
}

void
report_table(const struct report *report, FILE *out)
{
	hy_report_table(&report->base, out);
	for (unsigned int i = 0; i < report->nb_classes; i++)
		fprintf(out, "%s%-18u %12" PRIu64 "\n",
			i == 0 ? "\nclass                   packets\n" : "",
			report->classes[i].class_id, report->classes[i].hits);
	if (report->offloads != NULL && report->offloads[0] != '\0')
		fprintf(out, "\n%s", report->offloads);
	spread_table(report->base.stats, out);
	if (report->options->idle != HY_IDLE_POLL)
		hy_report_rest(&report->base, out);
	fprintf(out, "\n");
	fflush(out);
}

bool
report_result(const struct report *report, FILE *out)
{
	if (report->events_freed > 0)
		fprintf(out, "%" PRIu64 " packets were still in the event device, and are freed\n",
			report->events_freed);
	return hy_report_balance(&report->base, out);
}

/* Or null, with --mode=poll. */
static void
event_json(const struct report *report, FILE *out)
{
	const struct event_options *e = &report->options->event;

	if (!e->on)
		fprintf(out, "  \"event\": null,\n");
	else
		fprintf(out,
			"  \"event\": {\"device\": %u, \"sched\": \"%s\", \"freed\": %" PRIu64
			"},\n",
			e->device, option_sched_name(report->options), report->events_freed);
}

/* {"node": {…}, …}, or null with other modes. */
static void
spread_json(const struct report *report, FILE *out)
{
	const char *comma = "";
	struct hy_handover way;

	if (!report->options->dispatch.on) {
		fprintf(out, "  \"dispatch\": null,\n");
		return;
	}
	fprintf(out, "  \"dispatch\": {");
	for (unsigned int i = 0; i < report->base.stats->nb_nodes; i++) {
		if (!hy_handover_read(report->base.stats, i, &way))
			continue;
		fprintf(out,
			"%s\n    \"%s\": {\"packets\": %" PRIu64 ", \"held_back\": %" PRIu64 "}",
			comma, way.node, way.packets, way.held_back);
		comma = ",";
	}
	fprintf(out, "},\n");
}

/* {"class": packets, …} */
static void
classes_json(const struct report *report, FILE *out)
{
	fprintf(out, "  \"classes\": {");
	for (unsigned int i = 0; i < report->nb_classes; i++)
		fprintf(out, "%s\"%u\": %" PRIu64, i > 0 ? ", " : "", report->classes[i].class_id,
			report->classes[i].hits);
	fprintf(out, "},\n");
}

static void
members_json(const void *arg, FILE *out)
{
	const struct report *report = arg;

	event_json(report, out);
	spread_json(report, out);
	classes_json(report, out);
	fprintf(out, "  \"offloads\": [%s],\n",
		report->offloads_json == NULL ? "" : report->offloads_json);
}

void
report_json(const struct report *report, FILE *out)
{
	hy_report_json(&report->base, members_json, report, out);
}
