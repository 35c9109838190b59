/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers may still read is freed after a grace period, in the order in which it was unpublished. */

#include <rte_malloc.h>

#include <hy_grace.h>

#include "lib/flows/flows.h"

uint64_t
flows_token(const struct hy_flows *f)
{
	return f->params.qsbr == NULL ? 0 : hy_grace_start(f->params.qsbr);
}

bool
flows_passed(const struct hy_flows *f, uint64_t token)
{
	return f->params.qsbr == NULL || hy_grace_over(f->params.qsbr, token);
}

void *
flows_alloc(const struct hy_flows *f, size_t size)
{
	/* A record is two lines of 64 bytes, which CPUs fetch together. */
	return rte_zmalloc_socket("hy_flows", size, 2 * RTE_CACHE_LINE_MIN_SIZE, f->params.socket);
}

void
flows_release(struct hy_flows *f, struct flows_garbage *garbage)
{
	RTE_SET_USED(f);
	rte_free(garbage);
}

void
flows_reap(struct hy_flows *f)
{
	while (f->garbage != NULL && flows_passed(f, f->garbage->token)) {
		struct flows_garbage *garbage = f->garbage;

		f->garbage = garbage->next;
		if (f->garbage == NULL)
			f->garbage_end = &f->garbage;
		garbage->release(f, garbage);
	}
}

void
flows_discard(struct hy_flows *f, struct flows_garbage *garbage,
	void (*release)(struct hy_flows *f, struct flows_garbage *garbage))
{
	if (garbage == NULL)
		return;
	garbage->next = NULL;
	garbage->release = release;
	garbage->token = flows_token(f);
	*f->garbage_end = garbage;
	f->garbage_end = &garbage->next;
	flows_reap(f);
}
