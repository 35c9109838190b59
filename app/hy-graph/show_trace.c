/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of traces, object by object. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "lib/graph/internal/trace_print.h"

/* Shows the trace of a graph; nothing if it was never traced. */
int
show_trace(const struct hy_share *share, const struct hy_graph *copy, unsigned int nth __rte_unused)
{
	static const struct hy_trace_style style = { "object", "cycles", 1, 0 };
	const char *name = hy_graph_name(copy);
	struct hy_trace_record *records;
	struct hy_trace_state state;
	int n = hy_share_trace(share, name, &state, NULL, 0);

	if (n < 0)
		return n == -ENOENT ? 0 : n;
	n = (int)RTE_MIN(state.recorded, (uint64_t)HY_TRACE_RECORDS_MAX);
	records = calloc((size_t)n + 1, sizeof(*records));
	n = records == NULL ? -ENOMEM
			    : hy_share_trace(share, name, &state, records, (unsigned int)n);
	if (n >= 0 && hy_trace_print(copy, records, (unsigned int)n, &style, stdout) < 0)
		n = -ENOMEM;
	if (n >= 0)
		printf("%s: %" PRIu32 " objects traced, %s; %d records, %" PRIu64 " lost\n", name,
			state.marked, state.running ? "running" : "ended", n, state.lost);
	free(records);
	return n < 0 && n != -ENOENT ? n : 0;
}
