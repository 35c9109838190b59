/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for l3fwd_pipeline.c where DPDK was built without librte_pipeline. */

#include "l3fwd.h"

struct l3fwd_way
pipeline_create(const struct l3fwd_rig *rig __rte_unused,
	const struct l3fwd_table *table __rte_unused)
{
	bench_cannot("DPDK was built without librte_pipeline");
	return (struct l3fwd_way){ .name = "librte_pipeline" };
}
