/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hy_enqueue_next() in NEON, which cannot compress: four pointers, or lane values, at a time are
 * picked by a table of what goes first for each pattern of four bits.
 */

#include "enqueue.h"

#ifdef RTE_ARCH_ARM64

#include <assert.h>

#include <arm_neon.h>

#define VECTOR /* any 64-bit Arm CPU has it */
#define MANY 4 /* as in AVX2, which packs as many at a time; not measured on an Arm CPU */

static_assert(HY_STREAM_SLACK >= 4, "vectors are stored whole at a stream's end");

/* Numbers of the bytes of the i-th of four lane values, and of four pointers. */
#define VALUE(i) 4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3
#define POINTER(i) VALUE(2 * (i)), VALUE(2 * (i) + 1)

/* For each pattern, the elements whose bits are set, then any. */
#define PATTERNS(element) \
	{ element(0), element(0), element(0), element(0) }, \
		{ element(0), element(0), element(0), element(0) }, \
		{ element(1), element(0), element(0), element(0) }, \
		{ element(0), element(1), element(0), element(0) }, \
		{ element(2), element(0), element(0), element(0) }, \
		{ element(0), element(2), element(0), element(0) }, \
		{ element(1), element(2), element(0), element(0) }, \
		{ element(0), element(1), element(2), element(0) }, \
		{ element(3), element(0), element(0), element(0) }, \
		{ element(0), element(3), element(0), element(0) }, \
		{ element(1), element(3), element(0), element(0) }, \
		{ element(0), element(1), element(3), element(0) }, \
		{ element(2), element(3), element(0), element(0) }, \
		{ element(0), element(2), element(3), element(0) }, \
		{ element(1), element(2), element(3), element(0) }, \
		{ element(0), element(1), element(2), element(3) },

static const uint8_t pointers_of[16][32] __attribute__((aligned(32))) = { PATTERNS(POINTER) };
static const uint8_t values_of[16][16] __attribute__((aligned(16))) = { PATTERNS(VALUE) };

/* An Arm CPU counts bits in vectors only. */
static const uint8_t count_of[16] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };

/* All ones in the bytes of those of 16 next[] that are wanted. */
static inline uint8x16_t
match_bytes(const uint16_t *next, uint16x8_t wanted)
{
	return vuzp1q_u8((uint8x16_t)vceqq_u16(vld1q_u16(next), wanted),
		(uint8x16_t)vceqq_u16(vld1q_u16(next + 8), wanted));
}

static inline uint32_t
match_word(const uint16_t *next, uint16_t edge)
{
	static const uint8_t bit_of[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64,
		128 };
	const uint8x16_t bit = vld1q_u8(bit_of);
	const uint16x8_t wanted = vdupq_n_u16(edge);
	uint8x16_t bits;

	/* Neighbours are added up until each byte has the bits of eight. */
	bits = vpaddq_u8(vandq_u8(match_bytes(next, wanted), bit),
		vandq_u8(match_bytes(next + 16, wanted), bit));
	bits = vpaddq_u8(bits, bits);
	bits = vpaddq_u8(bits, bits);
	return vgetq_lane_u32((uint32x4_t)bits, 0);
}

static inline void **
pack_objs(void **tail, void *const *objs, uint32_t hit)
{
	for (unsigned int q = 0; q < 8; q++) {
		const unsigned int m = hit >> (4 * q) & 15;
		const uint8x16x2_t v = vld1q_u8_x2((const uint8_t *)(objs + 4 * q));

		vst1q_u8((uint8_t *)tail, vqtbl2q_u8(v, vld1q_u8(pointers_of[m])));
		vst1q_u8((uint8_t *)(tail + 2), vqtbl2q_u8(v, vld1q_u8(pointers_of[m] + 16)));
		tail += count_of[m];
	}
	return tail;
}

static inline uint32_t *
pack_lane(uint32_t *tail, const uint32_t *lane, uint32_t hit)
{
	for (unsigned int q = 0; q < 8; q++) {
		const unsigned int m = hit >> (4 * q) & 15;
		const uint8x16_t v = vld1q_u8((const uint8_t *)(lane + 4 * q));

		vst1q_u8((uint8_t *)tail, vqtbl1q_u8(v, vld1q_u8(values_of[m])));
		tail += count_of[m];
	}
	return tail;
}

#include "enqueue_vector.h"

void
hy_scatter_neon(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	scatter(graph, node, next, objs, n);
}

#endif
