/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of a simulated engine: marks that are wrong, and marks that do not arrive. */

#include <rte_random.h>

#include "sim.h"

static bool
one_of(uint32_t n)
{
	return rte_rand_max(n) == 0;
}

enum hy_sim_mark
hy_sim_mark(struct hy_sim_faults *faults)
{
	const struct hy_flow_sim_faults *are = &faults->are;

	if (are->no_marks != 0 || (are->mark_every > 0 && !one_of(are->mark_every)))
		return HY_SIM_MARK_NONE;
	if (are->mark_until > 0 &&
		__atomic_fetch_add(&faults->marks, 1, __ATOMIC_RELAXED) >= are->mark_until)
		return HY_SIM_MARK_NONE;
	return are->lie_every > 0 && one_of(are->lie_every) ? HY_SIM_MARK_WRONG : HY_SIM_MARK_TRUE;
}
