/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that lookups in indexes share. A file defines these before it includes this one:
 * FIND, FIND_BODY, OTHERS: the names of its functions;
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

/* packet: which they are; NULL: those in a row from the first on. */
static __rte_always_inline uint64_t
FIND_BODY(const struct hy_flows *f, INDEX *index, const struct flows_burst *b,
	const uint8_t *const packet, const uint32_t hash[], const uint32_t n)
{
	const struct flows_record *records = f->records;
	const struct hy_flows_key *key = b->key;
	const uint32_t parse = b->parse;
	uint32_t *const flow = b->flow;
	uint16_t way[FLOWS_BURST];
	uint64_t found = 0, more = 0;

	ways(index, hash, way, n);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t slot = 0; /* any will do, since it is not looked at */

		if (likely(way[k] != 0))
			slot = slot_of(f, index, hash[k], (uint32_t)__builtin_ctz(way[k]));
		flow[packet == NULL ? k : packet[k]] = slot;
		__builtin_prefetch(&records[slot]);
	}
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = packet == NULL ? k : packet[k];
		const bool same = flows_matches(f, flow[i], parse, &key[i]);

		found |= (uint64_t)(same & (way[k] != 0)) << i;
		more |= (uint64_t)(!same & ((way[k] & (way[k] - 1u)) != 0)) << k;
	}
	FLOWS_EACH(k, more) {
		const uint32_t i = packet == NULL ? (uint32_t)k : packet[k];

		found |= (uint64_t)OTHERS(f, index, b, i, way[k] & (way[k] - 1u)) << i;
	}
	return found;
}

static uint64_t
FIND(const struct hy_flows *f, void *memory, const struct flows_burst *b, uint64_t wanted)
{
	INDEX *index = memory;
	uint32_t hash[FLOWS_BURST], n = 0;
	uint8_t packet[FLOWS_BURST];

	if (likely((wanted & (wanted + 1)) == 0)) {
		n = (uint32_t)__builtin_popcountll(wanted);
		for (uint32_t k = 0; k < n; k++)
			fetch(index, b->hash[k]);
		return FIND_BODY(f, index, b, NULL, b->hash, n);
	}
	hash[0] = 0; /* GCC does not see that some are wanted */
	FLOWS_EACH(i, wanted) {
		packet[n] = (uint8_t)i;
		hash[n] = b->hash[i];
		fetch(index, hash[n++]);
	}
	return FIND_BODY(f, index, b, packet, hash, n);
}
