/* SPDX-License-Identifier: BSD-3-Clause */
/* The contenders for a work: made before it, destroyed after it. */

#include "bench.h"

void
field_enter(struct field *f, const struct contender *contender, void (*destroy)(void *arg))
{
	if (contender->arg == NULL) {
		bench_skip(f->work, contender->name);
		return;
	}
	if (f->n == CONTENDERS_MAX) {
		bench_cannot("more than %d contenders", CONTENDERS_MAX);
		bench_skip(f->work, contender->name);
		destroy(contender->arg);
		return;
	}
	f->all[f->n] = *contender;
	f->destroy[f->n++] = destroy;
}

/* In reverse order: rte_graph gives the number of the last graph to the next one. */
void
field_measure(struct field *f, enum unit unit)
{
	bench_work(f->work, unit, f->all, f->n);
	while (f->n > 0) {
		f->n--;
		f->destroy[f->n](f->all[f->n].arg);
	}
}
