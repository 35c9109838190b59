/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow cache: creation and destruction, what is counted. */

#include <errno.h>

#include <rte_malloc.h>
#include <rte_random.h>

#include "lib/flows/cache/flows_cache.h"
#include "lib/flows/flows.h"
#include "lib/graph/internal/log.h"

#include "flows_bucket.h"

#define WAITING_LEAST 64 /* slots more than megaflows: an eighth, and so many */

static uint32_t
slots_of(const struct hy_flows_params *params)
{
	return params->max_flows + params->max_flows / 8 + WAITING_LEAST;
}

/* Tables that wait have numbers too; 0 is none. */
static uint32_t
numbers_of(const struct hy_flows_params *params)
{
	return 2 * params->max_masks + 1;
}

static bool
params_are_right(const struct hy_flows_params *params)
{
	return params->max_flows > 0 && params->max_flows <= HY_FLOWS_MOST &&
		params->max_masks > 0 && params->max_masks <= HY_FLOWS_MASKS_MOST &&
		params->max_port_masks > 0 && params->workers > 0 && params->pressed_idle > 0;
}

size_t
hy_flows_bytes(const struct hy_flows_params *params)
{
	const size_t slots = slots_of(params), numbers = numbers_of(params);

	if (!params_are_right(params))
		return 0;
	return sizeof(struct hy_flows) + FLOWS_USED_WORDS(slots) * sizeof(uint64_t) +
		slots * (sizeof(struct flows_record) + sizeof(struct flows_slot)) +
		numbers * sizeof(struct flows_table *) + sizeof(struct flows_union) +
		params->workers *
		(sizeof(struct flows_worker) + slots * sizeof(struct flows_counts) +
			numbers * sizeof(uint64_t));
}

static int
arrays_create(struct hy_flows *f)
{
	const uint32_t numbers = numbers_of(&f->params);

	f->records = flows_alloc(f, f->nb_slots * sizeof(*f->records));
	f->slots = flows_alloc(f, f->nb_slots * sizeof(*f->slots));
	f->used = flows_alloc(f, FLOWS_USED_WORDS(f->nb_slots) * sizeof(*f->used));
	f->tables = flows_alloc(f, numbers * sizeof(*f->tables));
	f->workers = flows_alloc(f, f->params.workers * sizeof(*f->workers));
	f->looked_at = flows_alloc(f, sizeof(*f->looked_at));
	if (f->records == NULL || f->slots == NULL || f->used == NULL || f->tables == NULL ||
		f->workers == NULL || f->looked_at == NULL)
		return -ENOMEM;
	for (unsigned int w = 0; w < f->params.workers; w++) {
		struct flows_worker *worker = &f->workers[w];

		worker->begun = !f->params.workers_begin;
		worker->counts = flows_alloc(f, f->nb_slots * sizeof(*worker->counts));
		worker->hits = flows_alloc(f, numbers * sizeof(*worker->hits));
		if (worker->counts == NULL || worker->hits == NULL)
			return -ENOMEM;
	}
	return 0;
}

int
hy_flows_create(const struct hy_flows_params *params, struct hy_flows **out)
{
	struct hy_flows *f;

	*out = NULL;
	if (!params_are_right(params)) {
		HY_LOG(ERR,
			"a cache of %u flows, %u masks and %u workers: 1 to %u flows, 1 to %u "
			"masks, at least 1 mask of a port, 1 worker and 1 ms are possible",
			params->max_flows, params->max_masks, params->workers, HY_FLOWS_MOST,
			HY_FLOWS_MASKS_MOST);
		return -EINVAL;
	}
	f = rte_zmalloc_socket("hy_flows", sizeof(*f), RTE_CACHE_LINE_SIZE, params->socket);
	if (f == NULL)
		return -ENOMEM;
	f->params = *params;
	f->nb_slots = slots_of(params);
	f->bucket_ways = flows_bucket_ways_best();
	f->waiting = FLOWS_NOWHERE;
	f->garbage_end = &f->garbage;
	flows_secret_make(&f->secret, params->seed != 0 ? params->seed : rte_rand());
	pthread_mutex_init(&f->lock, NULL);
	if (arrays_create(f) < 0) {
		hy_flows_destroy(f);
		return -ENOMEM;
	}
	f->looked_at->parse = params->tunnels ? HY_FLOWS_PARSE_TUNNEL : 0;
	for (uint32_t slot = 0; slot < f->nb_slots; slot++)
		f->slots[slot].next = slot + 1 == f->nb_slots ? FLOWS_NOWHERE : slot + 1;
	*out = f;
	return 0;
}

/* Frees what is published. */
static void
tables_free(struct hy_flows *f)
{
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
		struct flows_order *order = f->order[port];

		for (uint32_t i = 0; order != NULL && i < order->n; i++) {
			rte_free(order->table[i]->buckets);
			rte_free(order->table[i]);
		}
		rte_free(order);
	}
}

void
hy_flows_destroy(struct hy_flows *f)
{
	if (f == NULL)
		return;
	tables_free(f);
	while (f->garbage != NULL) {
		struct flows_garbage *garbage = f->garbage;

		f->garbage = garbage->next;
		garbage->release(f, garbage);
	}
	for (unsigned int w = 0; f->workers != NULL && w < f->params.workers; w++) {
		if (f->workers[w].caches != NULL)
			flows_caches_release(f, &f->workers[w].caches->garbage);
		rte_free(f->workers[w].counts);
		rte_free(f->workers[w].hits);
	}
	rte_free(f->looked_at);
	rte_free(f->workers);
	rte_free(f->tables);
	rte_free(f->used);
	rte_free(f->slots);
	rte_free(f->records);
	pthread_mutex_destroy(&f->lock);
	rte_free(f);
}

void
hy_flows_stats(struct hy_flows *f, struct hy_flows_stats *stats)
{
	pthread_mutex_lock(&f->lock);
	*stats = f->stats;
	pthread_mutex_unlock(&f->lock);
}
