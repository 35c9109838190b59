/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rule of every graph, compiled or read: the edges of a node lead to different nodes. Enqueuing
 * writes objects to the ends of targets' streams, and statistics name an edge by its target; both
 * rely on this.
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
		const unsigned int first = first_edge[n], end = first_edge[n + 1];

		/* Most nodes need no marks. */
		if (end - first < 2 || (end - first == 2 && targets[first] != targets[first + 1]))
			continue;
		for (unsigned int e = first; e < end && rc == 0; e++) {
			const unsigned int to = targets[e];

			if (last[to] > first) {
				*twins = (struct hy_twins){ n, last[to] - 1 - first, e - first };
				rc = -EEXIST;
			}
			last[to] = e + 1;
		}
	}
	free(last);
	return rc;
}
