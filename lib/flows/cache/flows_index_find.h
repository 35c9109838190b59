/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that lookups in indexes share. A file defines these before it includes this one:
 * FIND, OTHERS: the names of its functions;
 * INDEX: its struct;
 * fetch(index, hash): fetches what ways() reads;
 * ways(index, hash[], way[], n): writes which ways of buckets may be those of hashes, as bits;
 * slot_of(f, index, hash, way): the slot in a way.
 *
 * All buckets of a burst are fetched first, then the records of the first way of each.
 */

/* Compares a packet with further ways. */
static __rte_noinline bool
OTHERS(const struct hy_flows *f, INDEX *index, const struct flows_burst *b, uint32_t i,
	uint32_t left)
{
	for (; left != 0; left &= left - 1) {
		b->flow[i] = slot_of(f, index, b->hash[i], (uint32_t)__builtin_ctz(left));
		if (flows_matches(f, b->flow[i], b->parse, &b->key[i]))
			return true;
	}
	return false;
}

static uint64_t
FIND(const struct hy_flows *f, void *memory, const struct flows_burst *b, uint64_t wanted)
{
	INDEX *index = memory;
	uint32_t hash[FLOWS_BURST], n = 0, k = 0;
	uint16_t way[FLOWS_BURST];
	uint8_t packet[FLOWS_BURST];
	uint64_t found = 0;

	hash[0] = 0; /* GCC does not see that some are wanted */
	FLOWS_EACH(i, wanted) {
		packet[n] = (uint8_t)i;
		hash[n] = b->hash[i];
		fetch(index, hash[n++]);
	}
	ways(index, hash, way, n);
	for (k = 0; k < n; k++) {
		uint32_t slot = 0; /* any will do, since it is not looked at */

		if (likely(way[k] != 0))
			slot = slot_of(f, index, hash[k], (uint32_t)__builtin_ctz(way[k]));
		b->flow[packet[k]] = slot;
		__builtin_prefetch(&f->records[slot]);
	}
	for (k = 0; k < n; k++) {
		const uint32_t i = packet[k];

		if (unlikely(way[k] == 0))
			continue;
		if (likely(flows_matches(f, b->flow[i], b->parse, &b->key[i])) ||
			OTHERS(f, index, b, i, way[k] & (way[k] - 1u)))
			found |= UINT64_C(1) << i;
	}
	return found;
}
