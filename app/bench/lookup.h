/* SPDX-License-Identifier: BSD-3-Clause */
/* The lookup benchmark's parts by family. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the CPU has the instructions of kernels with vectors of that width. */
bool lookup_cpu_can(uint16_t simd_bits);

/* The works of IPv6 (lookup6.c). */
void bench_lookup6(void);
