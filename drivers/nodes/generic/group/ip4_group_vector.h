/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that the kernels share which find members of groups. WIDTH frames at a time, their flows are
 * hashed; then their members are read one by one. Frames with options, or that end where ports would be,
 * go one after another, and those beside them too.
 *
 * A file defines these before it includes this one, besides what pkt_cls_columns.h needs:
 * MEMBERS: the name of its ip4_members_t;
 * are_all(v): whether all lanes are all ones, of lanes that are that or 0.
 */
#pragma once

#include "drivers/nodes/generic/classify/pkt_cls_columns.h"
#include "ip4_group.h"

/* Of a frame without options: it ends with the ports, and is all that is loaded. */
#define FLOW_END (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) + 4)
/* headers() loads bytes 2 to 33 of a frame: with this added, those up to the ports. */
#define FLOW_SKIP (FLOW_END - 34)

/* A vector in memory. A fortified memcpy() to a part of an array is a call. */
typedef uint32_t words __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

#define ALL(number) ((lanes){ 0 } + (number))

/* Lanes whose comparison is one instruction in AVX2, too. None is negative. */
typedef int32_t ints __attribute__((vector_size(4 * WIDTH)));

enum number { BYTE, UPPER, PARTS, TCP, UDP, SCTP, SHORT, PROTO, SRC, DST, PORTS, LAST, NUMBERS };

/*
 * What fields are compared and multiplied with. Read from memory, as in pkt_cls_checks.h: GCC makes
 * vectors of constants that it knows in each round.
 */
static const uint32_t numbers[NUMBERS] = {
	[BYTE] = 0xff,
	[UPPER] = 0xff00,
	[PARTS] = RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK),
	[TCP] = IPPROTO_TCP,
	[UDP] = IPPROTO_UDP,
	[SCTP] = IPPROTO_SCTP,
	[SHORT] = sizeof(struct rte_ipv4_hdr) + 4 - 1,
	[PROTO] = HY_FLOW_HASH_PROTO,
	[SRC] = HY_FLOW_HASH_SRC,
	[DST] = HY_FLOW_HASH_DST,
	[PORTS] = HY_FLOW_HASH_PORTS,
	[LAST] = HY_FLOW_HASH_LAST,
};

/* All ones where a frame has ports. */
VECTOR static __rte_always_inline lanes
have_ports(const struct headers *h, lanes proto, const uint32_t number[])
{
	/* In memory order: the total length is in the upper half, its bytes reversed. */
	const lanes total = (h->start.dword[2] >> 8 & ALL(number[UPPER])) | h->start.dword[2] >> 24;
	const lanes offset = h->start.dword[3] >> 16 & ALL(number[PARTS]);
	const lanes known = (lanes)(proto == ALL(number[TCP])) |
		(lanes)(proto == ALL(number[UDP])) | (lanes)(proto == ALL(number[SCTP]));

	return known & (lanes)(offset == 0) & (lanes)((ints)total > (ints)ALL(number[SHORT]));
}

/* As hy_flow_hash(). */
VECTOR static __rte_always_inline lanes
flow_hash(const struct headers *h, const uint32_t seed[2], const uint32_t number[])
{
	const lanes proto = h->rest.dword[0] >> 8 & ALL(number[BYTE]);
	lanes hash = proto * ALL(number[PROTO]) ^ ALL(seed[0]) ^ h->rest.dword[1];

	hash = (hash ^ hash >> 16) * ALL(number[SRC]) + h->rest.dword[2];
	hash = (hash ^ hash >> 15) * ALL(number[DST]) + ALL(seed[1]);
	hash ^= h->rest.dword[3] & have_ports(h, proto, number);
	hash = (hash ^ hash >> 16) * ALL(number[PORTS]);
	hash = (hash ^ hash >> 15) * ALL(number[LAST]);
	return hash ^ hash >> 16;
}

/* Hashes of WIDTH frames. Returns false if one of them is not as usual. */
VECTOR static __rte_always_inline bool
hash_vector(const uint32_t seed[2], const uint8_t *const frame[], const uint32_t len[], lanes *hash)
{
	const lanes lengths = *(const words *)len;
	const uint32_t *number = numbers;
	struct headers h;

	if (unlikely(!are_all((lanes)((ints)lengths > FLOW_END - 1))))
		return false;
	__asm__("" : "+r"(number)); /* now the compiler does not know them */
	h = headers_after(frame, FLOW_SKIP);
	*hash = flow_hash(&h, seed, number);
	return are_all((lanes)((h.start.dword[2] & ALL(number[BYTE])) == RTE_IPV4_VHL_DEF));
}

/* Members of WIDTH frames by their hashes. Usually, one route leads to one group. */
VECTOR static __rte_always_inline void
pick_vector(const struct hy_ip4_adjacency *adjacencies, lanes hashes, uint32_t id[])
{
	const struct hy_ip4_adjacency *first = &adjacencies[id[0]];
	const lanes ids = *(const words *)id;
	uint32_t hash[WIDTH];

	if (likely(hy_ip4_is_group(first) && are_all((lanes)(ids == ALL(id[0]))))) {
		const struct hy_ip4_buckets *buckets = hy_ip4_group_buckets(first);

		*(words *)hash = hashes & ALL(buckets->mask);
#pragma GCC unroll 16
		for (uint32_t j = 0; j < WIDTH; j++)
			id[j] = __atomic_load_n(&buckets->member[hash[j]], __ATOMIC_RELAXED);
		return;
	}
	*(words *)hash = hashes;
	for (uint32_t j = 0; j < WIDTH; j++) {
		const struct hy_ip4_adjacency *adjacency = &adjacencies[id[j]];

		if (hy_ip4_is_group(adjacency))
			id[j] = hy_ip4_group_member(hy_ip4_group_buckets(adjacency), hash[j]);
	}
}

VECTOR static void
find(const struct hy_ip4_adjacency *adjacencies, const uint8_t *const frame[], const uint32_t len[],
	uint32_t id[], uint32_t n)
{
	/* All groups of a table have the same seed. */
	const uint32_t *seed = hy_ip4_group_buckets(&adjacencies[id[0]])->seed;
	lanes hash;
	uint32_t i;

	for (i = 0; i + WIDTH <= n; i += WIDTH) {
		if (likely(hash_vector(seed, frame + i, len + i, &hash)))
			pick_vector(adjacencies, hash, id + i);
		else
			ip4_members_singly(adjacencies, frame + i, len + i, id + i, WIDTH);
	}
	ip4_members_singly(adjacencies, frame + i, len + i, id + i, n - i);
}

/* Apart, since GCC 12 may forget to clear the upper halves of registers after a call. */
void
MEMBERS(const struct hy_ip4_adjacency *adjacencies, const uint8_t *const frame[],
	const uint32_t len[], uint32_t id[], uint32_t n)
{
	find(adjacencies, frame, len, id, n);
}
