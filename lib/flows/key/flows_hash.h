/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash of the words of a key in which a mask has bits. Each word is added to one secret and multiplied
 * by another, and the halves of the product are folded: senders who do not know the secrets cannot
 * choose keys that collide, as they can with a CRC, seeded or not. The multiplications of a key do not
 * wait for each other.
 */
#pragma once

#include <rte_common.h>

#include <hy_flows_key.h>

struct flows_secret {
	uint64_t add[HY_FLOWS_WORDS], times[HY_FLOWS_WORDS];
};

/* Fills the secret from a number. */
static inline void
flows_secret_make(struct flows_secret *secret, uint64_t number)
{
	for (uint32_t i = 0; i < 2 * HY_FLOWS_WORDS; i++) {
		/* splitmix64 */
		uint64_t z = (number += UINT64_C(0x9e3779b97f4a7c15));

		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		z ^= z >> 31;
		if (i < HY_FLOWS_WORDS)
			secret->add[i] = z;
		else
			secret->times[i - HY_FLOWS_WORDS] = z | 1;
	}
}

static __rte_always_inline uint64_t
flows_hash_word(const struct flows_secret *secret, uint32_t i, uint64_t word)
{
	const unsigned __int128 product = (unsigned __int128)(word + secret->add[i]) *
		secret->times[i];

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static __rte_always_inline uint32_t
flows_hash_end(uint64_t sum)
{
	return (uint32_t)(sum ^ sum >> 32);
}

/* Has each bit of a hash change all bits: the last step of MurmurHash3. */
static __rte_always_inline uint32_t
flows_hash_mix(uint32_t hash)
{
	hash ^= hash >> 16;
	hash *= 0x85ebca6b;
	hash ^= hash >> 13;
	hash *= 0xc2b2ae35;
	return hash ^ hash >> 16;
}
