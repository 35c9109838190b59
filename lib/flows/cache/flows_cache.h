/* SPDX-License-Identifier: BSD-3-Clause */
/* What caches share. Only their worker reads and writes them. */
#pragma once

#include <hy_flows_cache.h>

#include "lib/flows/flows.h"

#include "flows_pays.h"

/* What one lookup works on: up to FLOWS_BURST packets. */
struct flows_burst {
	const struct hy_flows_key *key;
	const uint32_t *hash;
	uint32_t *flow;
	uint32_t parse;
};

/* A loop over the bits of a word, i being the place of each. */
#define FLOWS_EACH(i, bits) \
	for (uint64_t bits_left = (bits), i; \
		bits_left != 0 && (((i) = (uint64_t)__builtin_ctzll(bits_left)), true); \
		bits_left &= bits_left - 1)

/* An exact cache (flows_exact.c). */
struct flows_exact;

struct flows_exact *flows_exact_create(const struct hy_flows *f, enum hy_flows_exact kind);
size_t flows_exact_bytes(enum hy_flows_exact kind);
/* Finds some of the packets that are wanted, and returns which. */
uint64_t flows_exact_find(const struct hy_flows *f, struct flows_exact *exact,
	const struct flows_burst *b, uint64_t wanted);
/* Enters packet i of a burst, which was found. Returns whether the entry was empty. */
bool flows_exact_enter(const struct hy_flows *f, struct flows_exact *exact,
	const struct flows_burst *b, uint32_t i);
/* Looks at one entry, and empties it if its megaflow was deleted. */
void flows_exact_sweep(const struct hy_flows *f, struct flows_exact *exact);

/* A cache of frames (flows_frames.c). */
struct flows_frames;

size_t flows_frames_bytes(void);
/* Bits of plain frames that a mask looks at. */
struct flows_frame_bits flows_frames_mask(const struct hy_flows_key *mask, bool tunnels);
/* Finds the megaflows of some frames, and returns which. Others' flow[] is written, too. */
uint64_t flows_frames_find(const struct hy_flows *f, struct flows_frames *frames,
	struct rte_mbuf *const mbufs[], uint32_t flow[], uint32_t n);
/* Enters a frame whose megaflow was found. Returns whether the entry was empty. */
bool flows_frames_enter(const struct hy_flows *f, struct flows_frames *frames,
	const struct rte_mbuf *m, uint32_t slot);

/* A kind of index. */
struct flows_index_ops {
	const char *name;
	size_t (*bytes)(const struct hy_flows_caches *caches);
	/* Prepares zeroed memory. */
	void (*init)(void *index, const struct hy_flows_caches *caches);
	uint64_t (*find)(const struct hy_flows *f, void *index, const struct flows_burst *b,
		uint64_t wanted);
	/* Returns whether it fills an empty entry. */
	bool (*enter)(const struct hy_flows *f, void *index, uint32_t hash, uint32_t slot);
	/* Looks at one entry; NULL: entries need not be emptied. */
	void (*sweep)(const struct hy_flows *f, void *index);
	/* Forgets everything; NULL: entries that are not found any more are replaced in time. */
	void (*forget)(void *index);
};

extern const struct flows_index_ops flows_dfc_pointers, flows_dfc, flows_smc, flows_lines16,
	flows_lines32;

/* A worker's caches. */
struct flows_caches {
	struct flows_garbage garbage;
	struct hy_flows_caches kinds;
	const struct flows_index_ops *ops;
	void *index;
	struct flows_exact *exact;
	struct flows_frames *frames;
	struct flows_pays pays;
	uint32_t epoch;  /* of the hashes */
	uint32_t random; /* the last number */
};

void flows_caches_release(struct hy_flows *f, struct flows_garbage *garbage);

static inline uint32_t
flows_random_next(uint32_t *state)
{
	*state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
	return *state >> 8;
}
