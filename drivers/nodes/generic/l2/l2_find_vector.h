/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that the vector kernels share. A file defines these before it includes this one:
 * FIND: the name of its hy_l2_find_t;
 * VECTOR: the attribute of its functions;
 * matches(words, key): bits of the words of a bucket that are the key, of which at most one is.
 *
 * A vector is loaded without order, but each word of it at once: CPUs with these vectors do that for
 * aligned words. Values are read after the keys of the whole burst, behind a barrier.
 */
#pragma once

#include <rte_atomic.h>

#include "l2_find.h"

VECTOR static __rte_always_inline bool
find(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[], uint32_t n)
{
	const uint32_t none = view->none;
	uint32_t missing = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t bits = matches(&view->words[slot[i]], key[i]);
		const uint32_t found = slot[i] + (uint32_t)__builtin_ctz(bits | 1u << HY_L2_WAYS);

		slot[i] = bits != 0 ? found : none;
		missing |= bits - 1;
	}
	return missing >> 31 != 0;
}

VECTOR void
FIND(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[], uint32_t n)
{
	l2_find_fetch(view, key, slot, n);
	if (unlikely(find(view, key, slot, n)))
		l2_find_rest(view, key, slot, n);
	rte_smp_rmb();
}
