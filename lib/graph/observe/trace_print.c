/* SPDX-License-Identifier: BSD-3-Clause */
/* See trace_print.h. */

#include <errno.h>
#include <stdlib.h>

#include "lib/graph/internal/trace_print.h"

static int
by_object(const void *a, const void *b)
{
	const struct hy_trace_record *const *x = a, *const *y = b;

	if ((*x)->serial != (*y)->serial)
		return (*x)->serial < (*y)->serial ? -1 : 1;
	return *x < *y ? -1 : 1; /* in the order of recording */
}

static void
record_print(const struct hy_graph *graph, const struct hy_trace_record *record, uint64_t since,
	const struct hy_trace_style *style, FILE *out)
{
	char text[HY_TEXT_SIZE];

	hy_trace_format(graph, record, text, sizeof(text));
	fprintf(out, "  %-16s %3u of %-3u %9.*f %s  %s", record->name, record->index + 1u,
		record->burst, style->decimals, (double)(record->tsc - since) / style->cycles,
		style->unit, text);
	if (record->drop[0] != '\0')
		fprintf(out, "%sdropped: %s", text[0] == '\0' ? "" : "  ", record->drop);
	fprintf(out, "\n");
}

int
hy_trace_print(const struct hy_graph *graph, const struct hy_trace_record *records, unsigned int n,
	const struct hy_trace_style *style, FILE *out)
{
	const struct hy_trace_record **by = calloc(n + 1, sizeof(struct hy_trace_record *));
	uint64_t since = 0;

	if (by == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++)
		by[i] = &records[i];
	qsort(by, n, sizeof(*by), by_object);
	for (unsigned int i = 0; i < n; i++) {
		if (i == 0 || by[i]->serial != by[i - 1]->serial) {
			fprintf(out, "%s %u of %s\n", style->object, by[i]->serial,
				hy_graph_name(graph));
			since = by[i]->tsc;
		}
		record_print(graph, by[i], since, style, out);
	}
	free(by);
	return 0;
}
