/* SPDX-License-Identifier: BSD-3-Clause */
/* Caches of workers: created, switched, freed, and printed. */

#include <errno.h>

#include <rte_malloc.h>

#include "lib/graph/internal/log.h"

#include "flows_cache.h"

#define LINES_LOG_LEAST 4
#define LINES_LOG_MOST 24

static bool
kinds_are_right(const struct hy_flows_caches *kinds)
{
	return (unsigned int)kinds->exact < HY_FLOWS_EXACTS &&
		(unsigned int)kinds->index < HY_FLOWS_INDEXES &&
		(kinds->exact == HY_FLOWS_EXACT_NONE || kinds->exact_one_in > 0) &&
		(kinds->lines_log == 0 ||
			(kinds->lines_log >= LINES_LOG_LEAST &&
				kinds->lines_log <= LINES_LOG_MOST));
}

static const struct flows_index_ops *
ops_of(const struct hy_flows *f, enum hy_flows_index index)
{
	switch (index) {
	case HY_FLOWS_INDEX_DFC_POINTERS:
		return &flows_dfc_pointers;
	case HY_FLOWS_INDEX_DFC:
		return &flows_dfc;
	case HY_FLOWS_INDEX_SMC:
		return &flows_smc;
	case HY_FLOWS_INDEX_LINES:
		return f->nb_slots <= UINT16_MAX + 1u ? &flows_lines16 : &flows_lines32;
	default:
		return NULL;
	}
}

size_t
hy_flows_caches_bytes(const struct hy_flows *f, const struct hy_flows_caches *kinds)
{
	const struct flows_index_ops *ops;

	if (!kinds_are_right(kinds))
		return 0;
	ops = ops_of(f, kinds->index);
	return (kinds->frames ? flows_frames_bytes() : 0) + flows_exact_bytes(kinds->exact) +
		(ops == NULL ? 0 : ops->bytes(kinds));
}

void
flows_caches_release(struct hy_flows *f, struct flows_garbage *garbage)
{
	struct flows_caches *caches = (struct flows_caches *)garbage;

	RTE_SET_USED(f);
	rte_free(caches->frames);
	rte_free(caches->exact);
	rte_free(caches->index);
	rte_free(caches);
}

static struct flows_caches *
caches_create(const struct hy_flows *f, const struct hy_flows_caches *kinds)
{
	const struct flows_index_ops *ops = ops_of(f, kinds->index);
	struct flows_caches *caches = flows_alloc(f, sizeof(*caches));

	if (caches == NULL)
		return NULL;
	caches->kinds = *kinds;
	caches->ops = ops;
	flows_pays_init(&caches->pays, kinds);
	if (ops != NULL)
		caches->index = flows_alloc(f, ops->bytes(kinds));
	if (kinds->exact != HY_FLOWS_EXACT_NONE)
		caches->exact = flows_exact_create(f, kinds->exact);
	if (kinds->frames)
		caches->frames = flows_alloc(f, flows_frames_bytes());
	if ((ops != NULL && caches->index == NULL) ||
		(kinds->exact != HY_FLOWS_EXACT_NONE && caches->exact == NULL) ||
		(kinds->frames && caches->frames == NULL)) {
		flows_caches_release(NULL, &caches->garbage);
		return NULL;
	}
	if (ops != NULL)
		ops->init(caches->index, kinds);
	return caches;
}

static void
caches_publish(struct hy_flows *f, struct flows_caches *const new[])
{
	for (unsigned int w = 0; w < f->params.workers; w++) {
		struct flows_caches *old = f->workers[w].caches;

		FLOWS_STORE(f->workers[w].caches, new[w]);
		if (old != NULL)
			flows_discard(f, &old->garbage, flows_caches_release);
	}
}

/* With the lock, so that no worker begins or ends meanwhile. */
static int
caches_switch(struct hy_flows *f, const struct hy_flows_caches *kinds, struct flows_caches *new[])
{
	for (unsigned int w = 0; w < f->params.workers; w++) {
		new[w] = f->workers[w].begun ? caches_create(f, kinds) : NULL;
		if (new[w] != NULL || !f->workers[w].begun)
			continue;
		while (w > 0)
			if (new[--w] != NULL)
				flows_caches_release(NULL, &new[w]->garbage);
		return -ENOMEM;
	}
	caches_publish(f, new);
	f->kinds = *kinds;
	return 0;
}

int
hy_flows_caches_set(struct hy_flows *f, const struct hy_flows_caches *kinds)
{
	struct flows_caches **new;
	int rc;

	if (!kinds_are_right(kinds))
		return HY_REFUSE(-EINVAL,
			"caches of a flow cache: exact %d of %d kinds, one packet in %u, index %d "
			"of %d kinds, 2^%u lines: one in 1 or more, and 2^%d to 2^%d lines, are "
			"possible",
			(int)kinds->exact, HY_FLOWS_EXACTS, kinds->exact_one_in, (int)kinds->index,
			HY_FLOWS_INDEXES, kinds->lines_log, LINES_LOG_LEAST, LINES_LOG_MOST);
	new = rte_zmalloc("hy_flows", f->params.workers * sizeof(struct flows_caches *), 0);
	if (new == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&f->lock);
	rc = caches_switch(f, kinds, new);
	pthread_mutex_unlock(&f->lock);
	rte_free(new);
	return rc;
}

int
hy_flows_worker_begin(struct hy_flows *f, unsigned int worker)
{
	struct flows_worker *w = &f->workers[worker];
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = w->begun ? -EALREADY : 0;
	if (rc == 0) {
		struct flows_caches *caches = caches_create(f, &f->kinds);

		rc = caches == NULL ? -ENOMEM : 0;
		w->begun = rc == 0;
		FLOWS_STORE(w->caches, caches);
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

void
hy_flows_worker_end(struct hy_flows *f, unsigned int worker)
{
	struct flows_worker *w = &f->workers[worker];

	pthread_mutex_lock(&f->lock);
	if (w->caches != NULL)
		flows_caches_release(NULL, &w->caches->garbage);
	FLOWS_STORE(w->caches, NULL);
	w->begun = false;
	pthread_mutex_unlock(&f->lock);
}

static double
percent(uint64_t part, uint64_t all)
{
	return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

static void
print_worker(const struct hy_flows *f, unsigned int worker, FILE *out)
{
	struct hy_flows_lookups l;

	hy_flows_lookups(f, worker, &l);
	fprintf(out,
		"worker %u: %ju packets, %.1f %% frames, %.1f %% exact, %.1f %% index, %.1f %% masks, %.1f %% "
		"missed; %.1f tables a hit\n",
		worker, (uintmax_t)l.packets, percent(l.frames, l.packets),
		percent(l.exact, l.packets), percent(l.index, l.packets),
		percent(l.masks, l.packets), percent(l.misses, l.packets),
		percent(l.tables, l.masks) / 100);
}

static void
level_read(const struct hy_flows_level *from, struct hy_flows_level *level)
{
	*level = (struct hy_flows_level){
		.present = from->present,
		.skipped = __atomic_load_n(&from->skipped, __ATOMIC_RELAXED),
		.with = __atomic_load_n(&from->with, __ATOMIC_RELAXED),
		.without = __atomic_load_n(&from->without, __ATOMIC_RELAXED),
		.found = __atomic_load_n(&from->found, __ATOMIC_RELAXED),
		.changes = __atomic_load_n(&from->changes, __ATOMIC_RELAXED),
	};
}

void
hy_flows_levels(struct hy_flows *f, unsigned int worker, struct hy_flows_levels *levels)
{
	const struct flows_caches *caches;

	*levels = (struct hy_flows_levels){ 0 };
	pthread_mutex_lock(&f->lock); /* keeps them from being freed */
	caches = f->workers[worker].caches;
	if (caches != NULL) {
		level_read(&caches->pays.view[PAYS_FRAMES], &levels->frames);
		level_read(&caches->pays.view[PAYS_EXACT], &levels->exact);
		level_read(&caches->pays.view[PAYS_INDEX], &levels->index);
	}
	pthread_mutex_unlock(&f->lock);
}

static void
print_level(unsigned int worker, const char *name, const struct hy_flows_level *l, FILE *out)
{
	if (l->with != 0 && l->without != 0)
		fprintf(out,
			"worker %u: %s %s: %.1f clocks a packet with it, %.1f without; it found "
			"%.1f %%\n",
			worker, name, l->skipped ? "skipped" : "used", l->with / 100.0,
			l->without / 100.0, l->found / 10.0);
}

void
hy_flows_print(struct hy_flows *f, FILE *out)
{
	static const char *const exact[] = { [HY_FLOWS_EXACT_NONE] = "none",
		[HY_FLOWS_EXACT_8K] = "8192 entries",
		[HY_FLOWS_EXACT_16K] = "16384 entries" };
	const struct flows_index_ops *ops;
	struct hy_flows_caches kinds;

	pthread_mutex_lock(&f->lock);
	kinds = f->kinds;
	pthread_mutex_unlock(&f->lock);
	ops = ops_of(f, kinds.index);
	fprintf(out, "frames: %s, exact: %s, index: %s; %zu KiB a worker\n",
		kinds.frames ? "4096 entries" : "none", exact[kinds.exact],
		ops == NULL ? "none" : ops->name, hy_flows_caches_bytes(f, &kinds) / 1024);
	for (unsigned int w = 0; w < f->params.workers; w++) {
		struct hy_flows_levels levels;

		print_worker(f, w, out);
		hy_flows_levels(f, w, &levels);
		print_level(w, "frames", &levels.frames, out);
		print_level(w, "exact", &levels.exact, out);
		print_level(w, "index", &levels.index, out);
	}
}
