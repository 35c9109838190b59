/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forwarding table of a bridge, for the files that implement it:
 *
 * l2_table.c     creation and destruction, what is counted
 * l2_slot.c      slots: found, taken, given up, reused after a grace period
 * l2_overflow.c  slots in the rte_hash, for keys whose buckets are full
 * l2_entry.c     entries: learned, added, deleted, read
 * l2_sweep.c     all entries: aged, flushed, dumped
 * l2_find_*.c    kernels
 */
#pragma once

#include <pthread.h>
#include <stdalign.h>

#include <rte_common.h>
#include <rte_hash.h>

#include <hy_l2_table.h>

/* In the last word of a bucket that has no key there, while it has entries in the overflow. */
#define L2_TOMBSTONE UINT64_C(1)
#define L2_LAST (HY_L2_WAYS - 1)
#define L2_NOWHERE UINT32_MAX /* no position */

struct l2_bucket {
	uint64_t token;      /* once it passes, no worker is in the slots that wait */
	uint32_t overflowed; /* entries in the overflow */
	uint8_t waiting;     /* bit i: slot i may still be read by workers that found its old key */
};

/* Positions of rte_hash that wait, by link, in two lists, of which one has a token. */
struct l2_waiting {
	uint32_t open, closed; /* the first ones, or L2_NOWHERE */
	uint32_t n;            /* in both */
	uint64_t token;        /* of the closed list */
};

struct l2_port {
	uint32_t max;     /* learned entries */
	uint32_t learned; /* entries */
	uint32_t fixed;   /* static entries */
	uint64_t aged;    /* entries deleted */
};

struct hy_l2_table {
	struct hy_l2_view view; /* what workers read */

	alignas(RTE_CACHE_LINE_SIZE) pthread_mutex_t lock;
	struct hy_l2_table_params params;
	uint64_t *words;  /* view.words */
	uint16_t *values; /* view.values */
	struct l2_bucket *buckets;
	uint32_t nb_buckets;
	uint32_t *moved; /* by slot: the clock when the entry moved last */
	struct rte_hash *overflow;
	uint64_t *overflow_words; /* by position: its key, the next one that waits, or 0 */
	uint32_t overflow_room;   /* positions */
	struct l2_waiting waiting;
	struct l2_port *ports;
	uint32_t vlans[HY_L2_VIDS]; /* entries */
	uint64_t aged[HY_L2_VIDS];  /* by VLAN: entries deleted */
	uint32_t before;            /* the clock before its last change */
	uint32_t sweep;             /* the bucket that hy_l2_age() looks at next */
	struct hy_l2_stats stats;
};

static inline uint16_t
l2_vid(uint64_t key)
{
	return (uint16_t)(key >> HY_L2_KEY_VID & (HY_L2_VIDS - 1));
}

/* Whether a word is that of hy_l2_key_load(). */
static inline bool
l2_is_key(uint64_t key)
{
	return (key & ~(HY_L2_KEY_MAC | (uint64_t)(HY_L2_VIDS - 1) << HY_L2_KEY_VID)) == HY_L2_KEY;
}

/* Finds the slot of a key, or view.none. */
static inline uint32_t
l2_find(const struct hy_l2_table *t, uint64_t key)
{
	uint32_t slot;

	hy_l2_find_scalar(&t->view, &key, &slot, 1);
	return slot;
}

/* The key in a slot, or a word without HY_L2_KEY. */
static inline uint64_t
l2_word(const struct hy_l2_table *t, uint32_t slot)
{
	return slot < t->view.overflow_base ? t->words[slot]
					    : t->overflow_words[slot - t->view.overflow_base];
}

/* Starts a grace period, and whether it has passed. */
uint64_t l2_token(const struct hy_l2_table *t);
bool l2_passed(const struct hy_l2_table *t, uint64_t token);

/* Takes a slot for a key that has none and shows it to workers. Returns -EAGAIN if all have to wait. */
int l2_slot_take(struct hy_l2_table *t, uint64_t key, uint16_t value, uint32_t *slot);
/* Hides the key of a slot from workers; it is reused once they have left it. */
void l2_slot_give_up(struct hy_l2_table *t, uint32_t slot);

/* The overflow. take() expects that room is wanted for the key there; it fills the slot's arrays. */
int l2_overflow_create(struct hy_l2_table *t);
int l2_overflow_take(struct hy_l2_table *t, uint64_t key, uint16_t value, uint32_t *slot);
void l2_overflow_give_up(struct hy_l2_table *t, uint32_t position);
/* Bytes of an rte_hash of so many entries. */
size_t l2_overflow_bytes(uint32_t entries);

/* Deletes the entry of a slot. */
void l2_entry_delete(struct hy_l2_table *t, uint32_t slot);
/* Reads the entry of a slot. */
struct hy_l2_entry l2_entry_read(const struct hy_l2_table *t, uint32_t slot);
