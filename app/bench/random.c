/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers of benchmarks, the same in every run, so that runs do the same work. */

#include "bench.h"

uint32_t
bench_random(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 32);
}

void
bench_shuffle(uint32_t *numbers, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		const uint32_t other = bench_random() % i, number = numbers[i - 1];

		numbers[i - 1] = numbers[other];
		numbers[other] = number;
	}
}
