/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of groups in AVX-512: the flows of sixteen frames are hashed at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include "drivers/nodes/generic/classify/pkt_cls_avx512.h"

#define MEMBERS ip4_members_avx512

VECTOR static __rte_always_inline bool
are_all(lanes v)
{
	return _mm512_movepi32_mask((__m512i)v) == UINT16_MAX;
}

#include "ip4_group_vector.h"

#endif
