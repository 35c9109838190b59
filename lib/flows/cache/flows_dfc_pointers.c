/* SPDX-License-Identifier: BSD-3-Clause */
/* The datapath flow cache with pointers, as it was proposed. */

#include "flows_cache.h"

#define VALUE uintptr_t
#define OPS flows_dfc_pointers
#define NAME "dfc by pointer"

static __rte_always_inline uint32_t
entry_slot(const struct hy_flows *f, uintptr_t value)
{
	return (uint32_t)((const struct flows_record *)value - f->records);
}

static __rte_always_inline uintptr_t
entry_value(const struct hy_flows *f, uint32_t slot)
{
	return (uintptr_t)&f->records[slot];
}

#include "flows_dfc.h"
