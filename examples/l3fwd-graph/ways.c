/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting traces, and printing packet by packet what they recorded node by node. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_ip4_filter.h>
#include <hy_trace.h>

#include "ways.h"

/* Nodes that a packet sees, and more: there are five. */
#define RECORDS_A_PACKET 8

int
ways_start(const struct options *options, const struct pipeline *pipeline)
{
	const struct hy_trace_params params = {
		.nb_objs = options->trace,
		.match = options->trace_filtered ? hy_ip4_filter_match : NULL,
		.arg = (void *)(uintptr_t)&options->trace_filter,
		.nb_records = options->trace * RECORDS_A_PACKET,
	};

	for (unsigned int w = 0; options->trace > 0 && w < pipeline->workers.nb; w++) {
		const int rc = hy_trace_start(pipeline->workers.graphs[w], &params);

		if (rc < 0) {
			fprintf(stderr, "l3fwd-graph: --trace: %s\n", strerror(-rc));
			return -1;
		}
	}
	return 0;
}

static int
by_packet(const void *a, const void *b)
{
	const struct hy_trace_record *const *x = a, *const *y = b;

	if ((*x)->serial != (*y)->serial)
		return (*x)->serial < (*y)->serial ? -1 : 1;
	return *x < *y ? -1 : 1; /* in the order of recording */
}

static void
record_print(const struct hy_graph *graph, const struct hy_trace_record *record, uint64_t since,
	FILE *out)
{
	char text[HY_TEXT_SIZE];

	hy_trace_format(graph, record, text, sizeof(text));
	fprintf(out, "  %-16s %3u of %-3u %9.1f us  %s", record->name, record->index + 1u,
		record->burst, (double)(record->tsc - since) * 1e6 / (double)rte_get_tsc_hz(),
		text);
	if (record->drop[0] != '\0')
		fprintf(out, "%sdropped: %s", text[0] == '\0' ? "" : "  ", record->drop);
	fprintf(out, "\n");
}

/* Prints n records, from recorded ones that are sorted into by. */
static void
records_print(const struct hy_graph *graph, const struct hy_trace_record **by, unsigned int n,
	FILE *out)
{
	uint64_t since = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (i == 0 || by[i]->serial != by[i - 1]->serial) {
			fprintf(out, "packet %u of %s\n", by[i]->serial, hy_graph_name(graph));
			since = by[i]->tsc;
		}
		record_print(graph, by[i], since, out);
	}
}

static int
worker_print(struct hy_graph *graph, FILE *out)
{
	struct hy_trace_record *records;
	const struct hy_trace_record **by;
	struct hy_trace_state status;
	unsigned int n;
	int rc = hy_trace_status(graph, &status);

	if (rc < 0)
		return rc;
	n = (unsigned int)status.recorded;
	records = calloc(n + 1, sizeof(*records));
	by = calloc(n + 1, sizeof(*by));
	if (records == NULL || by == NULL) {
		rc = -ENOMEM;
	} else {
		n = hy_trace_read(graph, records, n);
		for (unsigned int i = 0; i < n; i++)
			by[i] = &records[i];
		qsort(by, n, sizeof(*by), by_packet);
		records_print(graph, by, n, out);
		fprintf(out, "%s: %" PRIu32 " packets traced, %u records, %" PRIu64 " lost\n",
			hy_graph_name(graph), status.marked, n, status.lost);
		if (status.unmarked > 0)
			fprintf(out,
				"%s: %" PRIu64 " more matched while %d were followed, the most at "
				"a time\n",
				hy_graph_name(graph), status.unmarked, HY_TRACE_LIVE_MAX);
		fprintf(out, "\n");
	}
	free(records);
	free(by);
	return rc;
}

int
ways_print(const struct pipeline *pipeline, FILE *out)
{
	for (unsigned int w = 0; w < pipeline->workers.nb; w++) {
		const int rc = worker_print(pipeline->workers.graphs[w], out);

		if (rc < 0) {
			fprintf(stderr, "l3fwd-graph: --trace: %s\n", strerror(-rc));
			return -1;
		}
	}
	return 0;
}
