/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of pkt_cls other than the scalar one. */
#pragma once

#include <hy_pkt_cls.h>

/* A kernel that returns 0 if all frames pass. */
typedef uint32_t(pkt_cls_classify_t)(const uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t dst[], uint32_t n);

#ifdef RTE_ARCH_X86_64
hy_pkt_cls_kernel_t hy_pkt_cls_avx2, hy_pkt_cls_avx512;
pkt_cls_classify_t pkt_cls_classify_avx2, pkt_cls_classify_avx512;
#elif defined(RTE_ARCH_ARM64)
hy_pkt_cls_kernel_t hy_pkt_cls_neon;
pkt_cls_classify_t pkt_cls_classify_neon;
#endif

/* As hy_pkt_cls_scalar(), but trusts the packet types that NICs report. */
void hy_pkt_cls_ptype(const uint8_t *const frame[], const uint32_t len[], const uint32_t ptype[],
	uint16_t next[], uint32_t dst[], uint32_t n);
