/* SPDX-License-Identifier: BSD-3-Clause */
/* The contenders for a work: created before it, destroyed after it. */

#include <rte_common.h>

#include "bench.h"

void
field_enter(struct field *f, const struct contender *contender, void (*destroy)(void *arg))
{
	if (contender->arg == NULL) {
		bench_skip(f->work, contender->name);
		return;
	}
	if (f->n == CONTENDERS_MAX)
		bench_fail("%s: more than %d contenders", f->work, CONTENDERS_MAX);
	f->all[f->n] = *contender;
	f->destroy[f->n++] = destroy;
}

void
field_keep(void *arg __rte_unused)
{
}

/* In reverse order, because rte_graph reuses only the number of the last graph. */
void
field_measure(struct field *f, enum unit unit)
{
	bench_work(f->work, unit, f->all, f->n);
	while (f->n > 0) {
		f->n--;
		f->destroy[f->n](f->all[f->n].arg);
	}
}
