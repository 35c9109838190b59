/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that lookups in indexes share. A file defines these before it includes this one:
 * FIND: the name of its function;
 * INDEX: its struct;
 * fetch(index, hash): fetches what ways() reads;
 * ways(index, hash[], way[], n): writes which ways of buckets may be those of hashes, as bits;
 * slot_of(f, index, hash, way): the slot in a way.
 *
 * All buckets of a burst are fetched first, then the records of the first way of each.
 */

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
		uint32_t slot = 0; /* any will do, if it is not looked at */

		if (way[k] != 0)
			slot = slot_of(f, index, hash[k], (uint32_t)__builtin_ctz(way[k]));
		b->flow[packet[k]] = slot;
		__builtin_prefetch(&f->records[slot]);
	}
	for (k = 0; k < n; k++) {
		const uint32_t i = packet[k];

		for (uint32_t left = way[k]; left != 0; left &= left - 1) {
			const uint32_t slot = slot_of(f, index, hash[k],
				(uint32_t)__builtin_ctz(left));

			if (likely(flows_matches(f, slot, b->parse, &b->key[i]))) {
				b->flow[i] = slot;
				found |= UINT64_C(1) << i;
				break;
			}
		}
	}
	return found;
}
