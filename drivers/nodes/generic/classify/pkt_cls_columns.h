/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the vector kernels of pkt_cls load the headers of WIDTH frames and transpose them. Of
 * pkt_cls_vector.h, which says what a file defines before; it defines one of these as well:
 *
 * pieces(frame, at): 16 bytes, from byte at on, of each of the frames 0, 4, 8 and so on;
 * PAIRS, with a WIDTH of 16: pair(a, b): bytes 2 to 33 of two frames; and starts(v, w), ends(v, w): of
 * two such vectors, the first 16 bytes of all four frames, and the last 16. Half as many loads.
 */
#pragma once

#include <stdint.h>

#include <rte_common.h>

typedef uint64_t pairs __attribute__((vector_size(4 * WIDTH)));

/* Interleaves dwords or qwords of two vectors within each 16 bytes, from dword i of these on. */
#if WIDTH == 4
#define EACH_FOUR(index, i) index(i)
#elif WIDTH == 8
#define EACH_FOUR(index, i) index(i), index(4 + (i))
#else
#define EACH_FOUR(index, i) index(i), index(4 + (i)), index(8 + (i)), index(12 + (i))
#endif
#define DWORDS(i) i, WIDTH + (i), (i) + 1, WIDTH + (i) + 1
#define QWORDS(i) (i) / 2, (WIDTH + (i)) / 2
#ifdef __clang__ /* GCC has this builtin from version 12 on */
#define SHUFFLE(type, a, b, ...) __builtin_shufflevector((type)(a), (type)(b), __VA_ARGS__)
#else
#define SHUFFLE(type, a, b, ...) __builtin_shuffle((type)(a), (type)(b), (type){ __VA_ARGS__ })
#endif
#define ZIP32(a, b, i) SHUFFLE(lanes, a, b, EACH_FOUR(DWORDS, i))
#define ZIP64(a, b, i) (lanes) SHUFFLE(pairs, a, b, EACH_FOUR(QWORDS, i))

/* Four neighbouring 32-bit words of WIDTH frames, each in a vector of its own. */
struct columns {
	lanes dword[4];
};

/* Each 16 bytes of a, b, c and d are of four frames: gathers the first words, the second and so on. */
VECTOR static __rte_always_inline struct columns
transpose(lanes a, lanes b, lanes c, lanes d)
{
	const lanes first_ab = ZIP32(a, b, 0), last_ab = ZIP32(a, b, 2);
	const lanes first_cd = ZIP32(c, d, 0), last_cd = ZIP32(c, d, 2);

	return (struct columns){ { ZIP64(first_ab, first_cd, 0), ZIP64(first_ab, first_cd, 2),
		ZIP64(last_ab, last_cd, 0), ZIP64(last_ab, last_cd, 2) } };
}

/* What the checks look at of WIDTH frames. */
struct headers {
	struct columns
		start; /* bytes 2 to 17: the last two words are the ether type and IPv4's first */
	struct columns rest; /* bytes 18 to 33 */
	uint8_t byte0;       /* of all frames, by or */
};

#ifdef PAIRS
VECTOR static __rte_always_inline lanes
pair_of(struct headers *h, const uint8_t *const frame[], unsigned int skip)
{
	h->byte0 |= frame[0][0] | frame[4][0];
	return pair(frame[0] + skip, frame[4] + skip);
}

VECTOR static __rte_always_inline struct columns
columns(struct headers *h, const uint8_t *const frame[], unsigned int skip)
{
	const lanes a = pair_of(h, frame, skip), b = pair_of(h, frame + 1, skip);
	const lanes c = pair_of(h, frame + 2, skip), d = pair_of(h, frame + 3, skip);

	return transpose(a, b, c, d);
}

/* As headers(), of the bytes that come skip later, apart from the first one. */
VECTOR static __rte_always_inline struct headers
headers_after(const uint8_t *const frame[], unsigned int skip)
{
	struct headers h = { .byte0 = 0 };
	const struct columns low = columns(&h, frame, skip), high = columns(&h, frame + 8, skip);

	for (unsigned int i = 0; i < 4; i++) {
		h.start.dword[i] = starts(low.dword[i], high.dword[i]);
		h.rest.dword[i] = ends(low.dword[i], high.dword[i]);
	}
	return h;
}
#else
VECTOR static __rte_always_inline struct columns
columns(const uint8_t *const frame[], unsigned int at)
{
	return transpose(pieces(frame, at), pieces(frame + 1, at), pieces(frame + 2, at),
		pieces(frame + 3, at));
}

/* As headers(), of the bytes that come skip later, apart from the first one. */
VECTOR static __rte_always_inline struct headers
headers_after(const uint8_t *const frame[], unsigned int skip)
{
	struct headers h = { columns(frame, 2 + skip), columns(frame, 18 + skip), 0 };

	for (unsigned int i = 0; i < WIDTH; i++)
		h.byte0 |= frame[i][0];
	return h;
}
#endif

VECTOR static __rte_always_inline struct headers
headers(const uint8_t *const frame[])
{
	return headers_after(frame, 0);
}
