/* SPDX-License-Identifier: BSD-3-Clause */
/* The tails of the binomial distribution. */

#include <math.h>

#include "bench.h"

#define IMPROBABLE 1e-9

/* The probability of exactly k successes in n trials of probability p, 0 < p < 1. */
static double
exactly(uint64_t k, uint64_t n, double p)
{
	const double a = (double)k, b = (double)(n - k);

	return exp(lgamma((double)n + 1) - lgamma(a + 1) - lgamma(b + 1) + a * log(p) +
		b * log1p(-p));
}

bool
chance_explains(uint64_t found, uint64_t n, double p)
{
	double tail = 0; /* probability of this deviation or a larger one */

	if (found > n)
		return false;
	if (p <= 0 || p >= 1)
		return found == (p <= 0 ? 0 : n);
	/* Each tail is summed from its far end, to keep precision. */
	if ((double)found <= (double)n * p) {
		for (uint64_t k = 0; k <= found; k++)
			tail += exactly(k, n, p);
		return tail >= IMPROBABLE / 2;
	}
	for (uint64_t k = n; k >= found; k--)
		tail += exactly(k, n, p);
	return tail >= IMPROBABLE / 2;
}

uint64_t
chance_samples(double p)
{
	return p >= 1 ? 1 : (uint64_t)ceil(log(IMPROBABLE / 2) / log1p(-p));
}
