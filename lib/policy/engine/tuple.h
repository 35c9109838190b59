/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of the tuple-space engine: masks, and the plan of its tables. */
#pragma once

#include <stdlib.h>

#include <rte_common.h>

#include "engine.h"

#define TUPLE_WORDS 9
#define TUPLE_TABLES_MAX 96 /* the last one is for the rules that no other takes */

/* A key as words, for masks and hashes that do not care about fields. */
union tuple_key {
	struct hy_flow_key key;
	uint64_t word[TUPLE_WORDS];
};

_Static_assert(sizeof(union tuple_key) == sizeof(struct hy_flow_key), "a key is all words");

typedef uint64_t __attribute__((may_alias)) tuple_word;

/* The bits of a key that a table hashes. */
struct tuple_mask {
	union tuple_key bits;
	uint8_t word[TUPLE_WORDS]; /* that have any */
	uint8_t nb_words;
};

static inline uint32_t
tuple_hash(const struct tuple_mask *mask, const struct hy_flow_key *key)
{
	const tuple_word *words = (const tuple_word *)key;
	uint64_t hash = 0;

	for (unsigned int i = 0; i < mask->nb_words; i++) {
		const unsigned int at = mask->word[i];

		hash = (hash ^ (words[at] & mask->bits.word[at])) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (uint32_t)hash;
}

/* Which rule goes to which table. */
struct tuple_plan {
	struct tuple_mask mask[TUPLE_TABLES_MAX];
	uint32_t nb_tables;
	uint8_t *table; /* by rank */
};

/* Returns 0, -ENOMEM, or -EINTR; the caller frees the plan. step: only every step-th rule. */
int tuple_plan_make(const struct policy_build *build, uint32_t step, struct tuple_plan *plan);
void tuple_plan_free(struct tuple_plan *plan);
/* The values of a rule's fields, as a key of a packet that matches has them. */
void tuple_value(const struct hy_flow_match *match, union tuple_key *value);
