/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets belong to the engine from the first to the last: a node hands them on, and never frees
 * them. So each is given references enough that a node which frees it leaves it readable, and the
 * packet can be named.
 */

#include <errno.h>

#include "conform.h"

#define HELD 1024 /* references to each segment */

void
conform_hold(struct conform_trial *trial)
{
	for (uint32_t i = 0; i < trial->n; i++)
		for (struct rte_mbuf *m = trial->cand.packets[i]; m != NULL; m = m->next)
			rte_mbuf_refcnt_set(m, HELD);
	trial->unused = rte_mempool_avail_count(trial->pool);
}

/* References that a node has taken away (less than 0) or added. */
static int
references(const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next)
		if (rte_mbuf_refcnt_read(m) != HELD)
			return rte_mbuf_refcnt_read(m) - HELD;
	return 0;
}

int
conform_hold_check(struct conform_trial *trial)
{
	const unsigned int unused = rte_mempool_avail_count(trial->pool);

	if (unused != trial->unused) { /* these may be any of the burst: none is looked at */
		conform_fail(trial, -1,
			"%u put into the pool, which neither frees nor releases them",
			unused - trial->unused);
		trial->n = 0;
		return -EILSEQ;
	}
	for (uint32_t i = 0; i < trial->n; i++) {
		const int n = references(trial->cand.packets[i]);

		if (n == 0)
			continue;
		conform_fail(trial, (int)i,
			n < 0 ? "was freed; a node hands packets on, or calls hy_release()"
			      : "is held by another reference after the burst");
		return -EILSEQ;
	}
	return 0;
}

void
conform_hold_end(struct conform_trial *trial)
{
	for (uint32_t i = 0; i < trial->n; i++)
		for (struct rte_mbuf *m = trial->cand.packets[i]; m != NULL; m = m->next)
			rte_mbuf_refcnt_set(m, 1);
}
