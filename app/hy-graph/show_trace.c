/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of traces, object by object. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"

static int
by_object(const void *a, const void *b)
{
	const struct hy_trace_record *const *x = a, *const *y = b;

	if ((*x)->serial != (*y)->serial)
		return (*x)->serial < (*y)->serial ? -1 : 1;
	return *x < *y ? -1 : 1; /* in the order of recording */
}

static void
record_print(const struct hy_graph *copy, const struct hy_trace_record *record, uint64_t since)
{
	char text[HY_TEXT_SIZE];

	hy_trace_format(copy, record, text, sizeof(text));
	printf("  %-16s %3u of %-3u %9" PRIu64 " cycles  %s", record->name, record->index + 1u,
		record->burst, record->tsc - since, text);
	if (record->drop[0] != '\0')
		printf("%sdropped: %s", text[0] == '\0' ? "" : "  ", record->drop);
	printf("\n");
}

static void
records_print(const struct hy_graph *copy, const struct hy_trace_record *records,
	const struct hy_trace_record **by, unsigned int n)
{
	uint64_t since = 0;

	for (unsigned int i = 0; i < n; i++)
		by[i] = &records[i];
	qsort(by, n, sizeof(*by), by_object);
	for (unsigned int i = 0; i < n; i++) {
		if (i == 0 || by[i]->serial != by[i - 1]->serial) {
			printf("object %u of %s\n", by[i]->serial, hy_graph_name(copy));
			since = by[i]->tsc;
		}
		record_print(copy, by[i], since);
	}
}

/* A graph that was never traced has nothing to show. */
static int
trace_one(const struct hy_share *share, const struct hy_graph *copy, unsigned int nth __rte_unused)
{
	const char *name = hy_graph_name(copy);
	struct hy_trace_record *records = NULL;
	const struct hy_trace_record **by = NULL;
	struct hy_trace_state state;
	int n = hy_share_trace(share, name, &state, NULL, 0);

	if (n < 0)
		return n == -ENOENT ? 0 : n;
	n = (int)RTE_MIN(state.recorded, (uint64_t)HY_TRACE_RECORDS_MAX);
	records = calloc((size_t)n + 1, sizeof(*records));
	by = calloc((size_t)n + 1, sizeof(struct hy_trace_record *));
	n = records == NULL || by == NULL
		? -ENOMEM
		: hy_share_trace(share, name, &state, records, (unsigned int)n);
	if (n >= 0) {
		records_print(copy, records, by, (unsigned int)n);
		printf("%s: %" PRIu32 " objects traced, %s; %d records, %" PRIu64 " lost\n", name,
			state.marked, state.running ? "running" : "ended", n, state.lost);
	}
	free(records);
	free(by);
	return n < 0 && n != -ENOENT ? n : 0;
}

int
show_trace(const struct settings *settings, const struct hy_share *share)
{
	return show_each(settings, share, trace_one);
}
