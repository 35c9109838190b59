/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Flow Director that stands behind the fixtures of Intel's drivers: filters as the driver
 * programs them, by a packet that stands for those to match, and their lookup. All filters of a flow
 * type compare the same fields.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "app/sim/flow/sim.h"

#define FDIR_TYPES 256

struct fdir_filter {
	uint32_t type; /* of flow, as the driver counts them */
	uint32_t id;   /* what the descriptor of a matching packet reports */
	bool reports;
	struct hy_sim_key value;
};

struct fdir {
	struct hy_sim_key
		mask[FDIR_TYPES]; /* fields that a type compares, and headers it is made of */
	struct fdir_filter *filters;
	uint32_t n, room; /* filters in the table, and its size */
};

static inline bool
fdir_same(const struct hy_sim_key *a, const struct hy_sim_key *b, const struct hy_sim_key *mask)
{
	for (int i = 0; i < HY_SIM_WORDS; i++)
		if (((a->words[i] ^ b->words[i]) & mask->words[i]) != 0)
			return false;
	return true;
}

/* The filter of a type that has this value in the fields that the type compares; NULL: none. */
static inline struct fdir_filter *
fdir_find(const struct fdir *fdir, uint32_t type, const struct hy_sim_key *value)
{
	for (uint32_t i = 0; i < fdir->n; i++)
		if (fdir->filters[i].type == type &&
			fdir_same(&fdir->filters[i].value, value, &fdir->mask[type]))
			return &fdir->filters[i];
	return NULL;
}

/* Adds or replaces a filter. 0; -ENOSPC. */
static inline int
fdir_add(struct fdir *fdir, const struct fdir_filter *filter)
{
	struct fdir_filter *old = fdir_find(fdir, filter->type, &filter->value);

	if (old == NULL) {
		if (fdir->filters == NULL)
			fdir->filters = calloc(fdir->room, sizeof(*fdir->filters));
		if (fdir->filters == NULL || fdir->n == fdir->room)
			return -ENOSPC;
		old = &fdir->filters[fdir->n++];
	}
	*old = *filter;
	return 0;
}

/* 0; -ENOENT. */
static inline int
fdir_remove(struct fdir *fdir, const struct fdir_filter *filter)
{
	struct fdir_filter *old = fdir_find(fdir, filter->type, &filter->value);

	if (old == NULL)
		return -ENOENT;
	*old = fdir->filters[--fdir->n];
	return 0;
}

/* Whether a filter that reports marks matches a frame. */
static inline bool
fdir_matches(const struct fdir *fdir, const uint8_t *frame, uint32_t len)
{
	struct hy_sim_key key;

	hy_sim_parse(frame, len, &key);
	for (uint32_t i = 0; i < fdir->n; i++) {
		const struct fdir_filter *f = &fdir->filters[i];

		if (f->reports && fdir_same(&f->value, &key, &fdir->mask[f->type]))
			return true;
	}
	return false;
}

/* The headers of a packet that programs a filter: it goes the opposite way of those it stands for. */
static inline void
fdir_reverse(struct hy_sim_key *key)
{
	const rte_be32_t addr = key->src;
	const rte_be16_t port = key->sport;

	key->src = key->dst;
	key->dst = addr;
	key->sport = key->dport;
	key->dport = port;
}
