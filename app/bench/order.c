/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of contenders: a square of E. J. Williams, "Experimental designs balanced for the
 * estimation of residual effects of treatments", 1949. Row r of n is 0, n-1, 1, n-2, 2, ... with r
 * added to each; if n is odd, the reversed rows are needed too.
 */

#include "bench.h"

void
order_of(unsigned int n, unsigned int round, unsigned int order[])
{
	const bool reversed = n % 2 == 1 && round / n % 2 == 1;

	for (unsigned int place = 0; place < n; place++) {
		const unsigned int k = reversed ? n - 1 - place : place;

		order[place] = ((k % 2 == 0 ? k / 2 : n - 1 - k / 2) + round) % n;
	}
}

unsigned int
order_rounds(unsigned int n, unsigned int least)
{
	const unsigned int all = n % 2 == 1 && n > 1 ? 2 * n : n;

	return (least + all - 1) / all * all;
}
