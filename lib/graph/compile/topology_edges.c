/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rule for edges that every graph keeps, compiled or read: those of one node lead to different
 * nodes. Enqueuing deals objects to the ends of targets' streams, and statistics name an edge by
 * its target: both take it for granted.
 */

#include <errno.h>
#include <stdlib.h>

#include "topology.h"

int
hy_edges_distinct(unsigned int nb_nodes, const unsigned int *first_edge,
	const unsigned int *targets, struct hy_twins *twins)
{
	/* By target: the last edge that leads there, plus 1. */
	unsigned int *last = calloc(nb_nodes + 1, sizeof(*last));
	int rc = last == NULL ? -ENOMEM : 0;

	for (unsigned int n = 0; n < nb_nodes && rc == 0; n++) {
		for (unsigned int e = first_edge[n]; e < first_edge[n + 1] && rc == 0; e++) {
			const unsigned int to = targets[e];

			if (last[to] > first_edge[n]) {
				*twins = (struct hy_twins){ n, last[to] - 1 - first_edge[n],
					e - first_edge[n] };
				rc = -EEXIST;
			}
			last[to] = e + 1;
		}
	}
	free(last);
	return rc;
}
