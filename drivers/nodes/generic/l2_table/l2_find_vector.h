/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that the vector kernels share. A file defines these before it includes this one:
 * FIND: the name of its hy_l2_find_t;
 * VECTOR: the attribute of its functions;
 * way_of(words, key): which word of a bucket is the key, of which at most one is, or L2_ABSENT.
 *
 * A vector is loaded without order, but each word of it at once: CPUs with these vectors do that for
 * aligned words. Values are read after the keys of the whole burst, behind a barrier.
 */
#pragma once

#include <rte_atomic.h>

#include "l2_find.h"

/* Returns whether a key is not in its bucket. */
VECTOR static __rte_always_inline bool
find(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[], uint32_t n)
{
	const uint64_t *words = view->words;
	uint32_t ways = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t way = way_of(&words[slot[i]], key[i]);

		slot[i] += way;
		ways |= way;
	}
	return (ways & L2_ABSENT) != 0;
}

VECTOR void
FIND(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[], uint32_t n)
{
	l2_find_fetch(view, key, slot, n);
	if (unlikely(find(view, key, slot, n)))
		l2_find_rest(view, key, slot, n);
	rte_smp_rmb();
}
