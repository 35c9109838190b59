/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that the vector kernels share. A file defines these before it includes this one:
 * WAYS: the name of its flows_bucket_ways_t;
 * VECTOR: the attribute of its functions;
 * ways_of(words, signature): which of eight words are a signature, as bits, without the last; and as bit 7
 * whether the last is not 0.
 *
 * Others write the words meanwhile. Each is read at once, and what it leads to is read after it.
 */

VECTOR void
WAYS(const struct flows_buckets *buckets, const uint32_t hash[], uint8_t ways[], uint32_t n)
{
	const uint32_t mask = buckets->mask;

	for (uint32_t i = 0; i < n; i++)
		ways[i] = ways_of(buckets->bucket[hash[i] & mask].signature,
			flows_signature(hash[i]));
#ifndef __SANITIZE_THREAD__
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}
