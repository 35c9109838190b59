/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine owns the packets all the time: nodes pass them on, and never free them. Each packet
 * gets so many references that it stays readable if a node frees it, and can be named in the
 * result.
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

/* References that a node has dropped (negative) or added. */
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

	if (unused != trial->unused) { /* these may be any of the burst: none may be read */
		conform_fail(trial, -1,
			"%u put directly into the pool, without a free or a release",
			unused - trial->unused);
		trial->n = 0;
		return -EILSEQ;
	}
	for (uint32_t i = 0; i < trial->n; i++) {
		const int n = references(trial->cand.packets[i]);

		if (n != 0)
			return conform_fail(trial, (int)i,
				n < 0 ? "was freed; a node hands packets on, or calls hy_release()"
				      : "is held by another reference after the burst");
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
