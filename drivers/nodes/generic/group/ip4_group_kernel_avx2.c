/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of groups in AVX2: the flows of eight frames are hashed at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include "drivers/nodes/generic/classify/pkt_cls_avx2.h"

#define MEMBERS ip4_members_avx2

VECTOR static __rte_always_inline bool
are_all(lanes v)
{
	return true_lanes(v) == UINT8_MAX;
}

#include "ip4_group_vector.h"

#endif
