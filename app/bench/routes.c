/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"
void
bench_routes(void)
{
}
