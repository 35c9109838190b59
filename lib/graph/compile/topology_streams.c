/* SPDX-License-Identifier: BSD-3-Clause */
/* How many objects may wait on one node of a topology. */

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "topology.h"

/* The rank that successor e of the node of rank r has. */
static unsigned int
successor_rank(const struct hy_topology *topo, unsigned int r, unsigned int e)
{
	return e < topo->nodes[r]->nb_edges ? topo->targets[topo->first_edge[r] + e]
					    : topo->drop_rank;
}

/* The most sources that lead to one node: each brings at most a burst to it in one walk. */
static int
converging_sources(const struct hy_topology *topo, uint64_t *most)
{
	const unsigned int words = (topo->nb_sources + 63) / 64;
	uint64_t *reach = calloc((size_t)topo->nb_nodes * words, sizeof(*reach));

	if (reach == NULL)
		return -ENOMEM;
	*most = 1;
	for (unsigned int r = 0; r < topo->nb_nodes; r++) {
		uint64_t *own = &reach[(size_t)r * words], count = 0;

		if (r < topo->nb_sources)
			own[r / 64] |= UINT64_C(1) << (r % 64);
		for (unsigned int w = 0; w < words; w++)
			count += (unsigned int)__builtin_popcountll(own[w]);
		*most = RTE_MAX(*most, count);
		for (unsigned int e = 0; e < hy_successors(topo->nodes[r]); e++) {
			uint64_t *to = &reach[(size_t)successor_rank(topo, r, e) * words];

			for (unsigned int w = 0; w < words; w++)
				to[w] |= own[w];
		}
	}
	free(reach);
	return 0;
}

/*
 * The most objects that one object of each source can become, summed over sources: the product of
 * declared replication along the worst path. Capped at HY_STREAM_MAX; back edges are ignored.
 */
static int
replicated_objects(const struct hy_topology *topo, uint64_t *objects)
{
	uint64_t *grown = calloc(topo->nb_nodes, sizeof(*grown));

	if (grown == NULL)
		return -ENOMEM;
	*objects = 0;
	for (unsigned int r = topo->nb_nodes; r-- > 0;) {
		const unsigned int n = hy_successors(topo->nodes[r]);

		grown[r] = 1;
		for (unsigned int e = 0; e < n; e++) {
			const unsigned int to = successor_rank(topo, r, e);

			if (to > r)
				grown[r] = RTE_MAX(grown[r], grown[to]);
		}
		if (n > 0 && r >= topo->nb_sources)
			grown[r] *= topo->nodes[r]->replicates;
		grown[r] = RTE_MIN(grown[r], (uint64_t)HY_STREAM_MAX);
		if (r < topo->nb_sources)
			*objects += grown[r];
	}
	free(grown);
	return 0;
}

/*
 * Determines the streams' capacity. Without replication, a node never holds more than a burst of
 * each source that reaches it. In a cycle, it never holds more than all objects in the graph, which
 * the walk limits by what sources may make. With replication in a cycle, or beyond HY_STREAM_MAX,
 * no capacity is enough, and the walk gives nodes only as much as their targets have room for.
 */
int
hy_topology_streams(struct hy_topology *topo, uint16_t burst)
{
	bool replicating = false;
	uint64_t bursts;
	int rc = 0;

	for (unsigned int r = topo->nb_sources; r < topo->nb_nodes; r++)
		replicating |= topo->nodes[r]->replicates > 1;
	if (replicating)
		rc = replicated_objects(topo, &bursts);
	else if (topo->cyclic)
		bursts = topo->nb_sources;
	else
		rc = converging_sources(topo, &bursts);
	if (rc < 0)
		return rc;
	bursts *= burst;
	topo->throttled = (replicating && topo->cyclic) || bursts > HY_STREAM_MAX;
	topo->stream_cap = (uint32_t)RTE_MIN(bursts, (uint64_t)HY_STREAM_MAX);
	return 0;
}
