/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The datapath flow cache: 2^20 entries in one place each, by 20 bits of the hash. A file defines VALUE,
 * the type of an entry; entry_slot() and entry_value(), which convert; and OPS and NAME.
 */

#include <rte_branch_prediction.h>

#include "flows_cache.h"

#define ENTRIES (1u << 20)

struct dfc {
	uint32_t sweep;
	alignas(RTE_CACHE_LINE_SIZE) VALUE value[ENTRIES]; /* 0: empty */
};

static __rte_always_inline void
fetch(const struct dfc *index, uint32_t hash)
{
	__builtin_prefetch(&index->value[hash & (ENTRIES - 1)]);
}

static __rte_always_inline void
ways(const struct dfc *index, const uint32_t hash[], uint16_t way[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		way[i] = index->value[hash[i] & (ENTRIES - 1)] != 0;
}

static __rte_always_inline uint32_t
slot_of(const struct hy_flows *f, const struct dfc *index, uint32_t hash, uint32_t way)
{
	RTE_SET_USED(way);
	return entry_slot(f, index->value[hash & (ENTRIES - 1)]);
}

#define FIND dfc_find
#define FIND_BODY dfc_find_body
#define OTHERS dfc_others
#define INDEX struct dfc
#include "flows_index_find.h"

static size_t
dfc_bytes(const struct hy_flows_caches *caches)
{
	RTE_SET_USED(caches);
	return sizeof(struct dfc);
}

static void
dfc_init(void *index, const struct hy_flows_caches *caches)
{
	RTE_SET_USED(index);
	RTE_SET_USED(caches);
}

static bool
dfc_enter(const struct hy_flows *f, void *index, uint32_t hash, uint32_t slot)
{
	struct dfc *dfc = index;
	VALUE *value = &dfc->value[hash & (ENTRIES - 1)];
	const bool empty = *value == 0;

	*value = entry_value(f, slot);
	return empty;
}

static void
dfc_sweep(const struct hy_flows *f, void *index)
{
	struct dfc *dfc = index;
	VALUE *value = &dfc->value[dfc->sweep++ & (ENTRIES - 1)];

	if (*value != 0 && FLOWS_TABLE(FLOWS_LOAD(f->records[entry_slot(f, *value)].tag)) == 0)
		*value = 0;
}

const struct flows_index_ops OPS = {
	.name = NAME,
	.bytes = dfc_bytes,
	.init = dfc_init,
	.find = dfc_find,
	.enter = dfc_enter,
	.sweep = dfc_sweep,
};
