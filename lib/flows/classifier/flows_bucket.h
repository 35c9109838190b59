/* SPDX-License-Identifier: BSD-3-Clause */
/* Buckets of a table: which ways may be those of hashes. */
#pragma once

#include <assert.h>

#include "lib/flows/flows.h"

#define BUCKET_CONTINUED 0x80 /* in what is written */

static_assert(offsetof(struct flows_bucket, next) == FLOWS_WAYS * sizeof(uint32_t),
	"a vector of eight words has the signatures, and whether there is another bucket");

flows_bucket_ways_t flows_bucket_ways_scalar;
#ifdef RTE_ARCH_X86_64
flows_bucket_ways_t flows_bucket_ways_avx2, flows_bucket_ways_avx512;
#elif defined(RTE_ARCH_ARM64)
flows_bucket_ways_t flows_bucket_ways_neon;
#endif

/* The widest that this CPU can run and EAL allows. */
flows_bucket_ways_t *flows_bucket_ways_best(void);
