/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the l2 benchmark share: addresses, tables of them, and kernels. */
#pragma once

#include <hy_l2_table.h>

#include "bench.h"

#define L2_BURST 64    /* of all contenders, so that one thing differs at a time */
#define L2_LONG_KEY 14 /* bytes: what a switch generated from P4 looked up, an Ethernet header */
#define L2_VID 1       /* of all keys */
/* Ports of a table. None of its entries has port 0, so that a sum shows a miss. */
#define L2_TABLE_PORTS 3

/* Entries, and what is looked up: each equally often, in random order, a part in each run. */
struct l2_macs {
	struct hy_l2_source *entries;
	uint32_t *turn;            /* entries by number */
	uint64_t *order;           /* their keys */
	uint8_t (*long_order)[16]; /* the same as keys of L2_LONG_KEY bytes */
	uint64_t *expected;        /* sum of the ports of each part */
	uint32_t n, part, parts;   /* part: lookups of a run */
};

/* Makes n entries, which is a power of two. Freed with l2_macs_free(). */
void l2_macs_create(struct l2_macs *macs, uint32_t n);
void l2_macs_free(struct l2_macs *macs);

/* The key of L2_LONG_KEY bytes of an entry: its address, and behind it as different ones. */
void l2_long_key(uint8_t to[16], uint64_t key);

/* The functions below return NULL after bench_cannot(). */

/*
 * A table of rte_hash with room for twice as many keys, to be half full as ours is; of keys of 8
 * bytes or L2_LONG_KEY.
 */
struct rte_hash *l2_hash_create(const char *name, uint32_t n, uint32_t key_len);
/* The bridge's table with all entries. */
struct hy_l2_table *l2_table_create(const struct l2_macs *macs);

struct l2_kernel {
	const char *name;
	hy_l2_find_t *find;
	uint16_t simd_bits; /* width that EAL must allow; 0: any */
};

#define L2_KERNELS_MAX 3

/* All kernels, the widest one last. */
extern const struct l2_kernel l2_kernels[];
extern const unsigned int l2_nb_kernels;
/* Returns whether a kernel can run; if not, calls bench_cannot(). */
bool l2_kernel_can(const struct l2_kernel *kernel);
/* The widest kernel that can run. */
hy_l2_find_t *l2_kernel_best(void);

/* The works that forward frames (l2_steps.c). */
void bench_l2_steps(void);
/* The works with a whole bridge (l2_bridge.c). */
void bench_l2_bridge(void);
