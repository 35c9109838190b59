/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4_lookup in NEON, which cannot gather: loads rte_lpm entries one by one. Sixteen addresses with
 * routes in tbl24 need one check; others are looked up four at a time.
 */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include <string.h>

#include "ip4_lookup_kernels.h"
#include "ip4_neon.h"

#define VECTORS 4 /* of four entries each, that are checked at once */

static __rte_always_inline void
ids_store(uint32_t route[], uint32x4_t entry)
{
	vst1q_u32(route, vandq_u32(entry, vdupq_n_u32(HY_IP4_ID_MASK)));
}

/* Four addresses at a time, and the last ones singly. Returns 0 if none is without a route. */
static __rte_noinline uint32_t
lookup_fours(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	const struct rte_lpm *lpm = view->lpm;
	const uint32x4_t none = vdupq_n_u32(__atomic_load_n(&view->default_entry,
		__ATOMIC_ACQUIRE));
	const uint32x4_t drop = vdupq_n_u32((uint16_t)HY_DROP(HY_IP4_LOOKUP_NO_ROUTE));
	uint32x4_t misses = vdupq_n_u32(0);
	uint32_t i;

	if (n < 4)
		return ip4_lookup_singly(view, route, next, n);
	for (i = 0; i + 4 <= n; i += 4) {
		const uint32x4_t entry = ip4_entries_neon(lpm, route + i, none);
		const uint32x4_t is_miss = vceqzq_u32(entry);

		misses = vorrq_u32(misses, is_miss);
		ids_store(route + i, entry);
		vst1_u16(next + i, vmovn_u32(vandq_u32(is_miss, drop)));
	}
	if (i < n)
		misses |= ip4_lookup_singly(view, route + i, next + i, n - i);
	return vmaxvq_u32(misses);
}

/* Looks up the addresses of all vectors if each has its route in tbl24; else returns false. */
static __rte_always_inline bool
lookup_vectors(const struct rte_lpm *lpm, uint32_t route[], uint16_t next[])
{
	uint32x4_t entry[VECTORS], odd = vdupq_n_u32(0);

	for (unsigned int v = 0; v < VECTORS; v++) {
		entry[v] = ip4_entries_load_neon(lpm, route + 4 * v);
		odd |= entry[v] ^ RTE_LPM_LOOKUP_SUCCESS;
	}
	if (vmaxvq_u32(odd & RTE_LPM_VALID_EXT_ENTRY_BITMASK) != 0)
		return false;
	for (unsigned int v = 0; v < VECTORS; v++)
		ids_store(route + 4 * v, entry[v]);
	static_assert(HY_IP4_LOOKUP_NEXT_REWRITE == 0, "next is the drop code or nothing");
	memset(next, 0, 4 * VECTORS * sizeof(*next));
	return true;
}

static uint32_t
lookup(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	uint32_t misses = 0, i;

	if (n < 4 * VECTORS)
		return lookup_fours(view, route, next, n);
	for (i = 0; i + 4 * VECTORS <= n; i += 4 * VECTORS)
		if (!lookup_vectors(view->lpm, route + i, next + i))
			misses |= lookup_fours(view, route + i, next + i, 4 * VECTORS);
	return i == n ? misses : misses | lookup_fours(view, route + i, next + i, n - i);
}

void
hy_ip4_lookup_neon(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	lookup(view, route, next, n);
}

static uint16_t
neon_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return ip4_lookup_process(graph, node, objs, n, lookup);
}

HY_NODE_VARIANT(ip4_lookup, neon,
	.text = "Checks sixteen rte_lpm entries at a time",
	.impl.process = neon_process,
	.needs = { { .cap = HY_CAP_NEON }, { .cap = HY_CAP_SIMD_BITS, .at_least = 128 } },
	.score = 20);

#endif
