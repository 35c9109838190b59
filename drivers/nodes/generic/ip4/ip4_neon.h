/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels for IPv4 share in NEON, which cannot gather: entries are loaded one by one. */
#pragma once

#include <assert.h>
#include <string.h>

#include <arm_neon.h>

#include <rte_lpm.h>

#include <hy_ip4_lookup.h>

/* Entries in tbl24 of four addresses. */
static __rte_always_inline uint32x4_t
ip4_entries_load_neon(const struct rte_lpm *lpm, const uint32_t route[])
{
	const uint32_t *tbl24 = (const uint32_t *)lpm->tbl24;
	uint64_t ip[2]; /* half as many loads as addresses */

	static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "the first address is the lower half");
	memcpy(ip, route, sizeof(ip));
	return (uint32x4_t){ tbl24[(uint32_t)ip[0] >> 8], tbl24[ip[0] >> 40],
		tbl24[(uint32_t)ip[1] >> 8], tbl24[ip[1] >> 40] };
}

/* Entries of four addresses; an address without one gets the default entry, or 0. */
static __rte_always_inline uint32x4_t
ip4_entries_neon(const struct rte_lpm *lpm, const uint32_t route[], uint32x4_t none)
{
	const uint32x4_t ext = vdupq_n_u32(RTE_LPM_VALID_EXT_ENTRY_BITMASK);
	uint32x4_t entry = ip4_entries_load_neon(lpm, route);
	const uint32x4_t is_ext = vceqq_u32(vandq_u32(entry, ext), ext);

	if (unlikely(vmaxvq_u32(is_ext) != 0)) {
		/* 24 bits of the entry select a group of 256 entries, 8 of the address one of them. */
		const uint32_t *tbl8 = (const uint32_t *)lpm->tbl8;
		const uint32x4_t index = vandq_u32(is_ext, vsliq_n_u32(vld1q_u32(route), entry, 8));

		entry = vbslq_u32(is_ext,
			(uint32x4_t){
				tbl8[index[0]], tbl8[index[1]], tbl8[index[2]], tbl8[index[3]] },
			entry);
	}
	return vbslq_u32(vtstq_u32(entry, vdupq_n_u32(RTE_LPM_LOOKUP_SUCCESS)), entry, none);
}

/* Writes 14 bytes to a frame, of 16 that can be read at l2. */
static __rte_always_inline void
ip4_write_l2_neon(uint8_t *frame, const void *l2)
{
	const uint8x16_t new = vld1q_u8(l2);

	vst1_u8(frame, vget_low_u8(new));
	vst1_u8(frame + 6, vget_low_u8(vextq_u8(new, new, 6)));
}
