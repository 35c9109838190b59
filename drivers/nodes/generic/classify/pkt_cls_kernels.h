/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of pkt_cls, beside the scalar one. */
#ifndef PKT_CLS_KERNELS_H
#define PKT_CLS_KERNELS_H

#include <hy_pkt_cls.h>

#ifdef RTE_ARCH_X86_64
hy_pkt_cls_kernel_t hy_pkt_cls_avx2, hy_pkt_cls_avx512;
#elif defined(RTE_ARCH_ARM64)
hy_pkt_cls_kernel_t hy_pkt_cls_neon;
#endif

/* Like hy_pkt_cls_scalar(), but believes packet types of frames that have one. */
void hy_pkt_cls_ptype(const uint8_t *const frame[], const uint32_t len[], const uint32_t ptype[],
	uint16_t next[], uint32_t dst[], uint32_t n);

#endif
