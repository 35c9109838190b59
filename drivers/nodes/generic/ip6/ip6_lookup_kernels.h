/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of ip6_lookup other than the scalar one. */
#pragma once

#include <hy_ip6_lookup.h>

hy_ip6_lookup_kernel_t hy_ip6_lookup_batch;
