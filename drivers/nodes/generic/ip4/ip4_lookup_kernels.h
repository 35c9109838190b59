/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of ip4_lookup, beside the scalar one. */
#ifndef IP4_LOOKUP_KERNELS_H
#define IP4_LOOKUP_KERNELS_H

#include <hy_ip4_lookup.h>

hy_ip4_lookup_kernel_t hy_ip4_lookup_x4;  /* rte_lpm */
hy_ip4_lookup_kernel_t hy_ip4_lookup_fib; /* rte_fib */
#ifdef RTE_ARCH_X86_64
hy_ip4_lookup_kernel_t hy_ip4_lookup_avx2, hy_ip4_lookup_avx512; /* rte_lpm */
hy_ip4_lookup_kernel_t hy_ip4_lookup_fib_avx512;                 /* rte_fib */
#endif

#endif
