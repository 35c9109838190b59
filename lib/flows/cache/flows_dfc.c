/* SPDX-License-Identifier: BSD-3-Clause */
/* The datapath flow cache with numbers of 32 bits. */

#include "flows_cache.h"

#define VALUE uint32_t
#define OPS flows_dfc
#define NAME "dfc by number"

static __rte_always_inline uint32_t
entry_slot(const struct hy_flows *f, uint32_t value)
{
	RTE_SET_USED(f);
	return value - 1;
}

static __rte_always_inline uint32_t
entry_value(const struct hy_flows *f, uint32_t slot)
{
	RTE_SET_USED(f);
	return slot + 1;
}

#include "flows_dfc.h"
