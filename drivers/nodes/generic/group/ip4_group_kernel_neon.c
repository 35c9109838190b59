/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of groups in NEON: the flows of four frames are hashed at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include "drivers/nodes/generic/classify/pkt_cls_neon.h"

#define MEMBERS ip4_members_neon

static __rte_always_inline bool
are_all(lanes v)
{
	return vminvq_u32((uint32x4_t)v) == UINT32_MAX;
}

#include "ip4_group_vector.h"

#endif
