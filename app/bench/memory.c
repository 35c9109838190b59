/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the heap. Works take too little of it to skip one for the lack of it. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "bench.h"

void *
bench_alloc(size_t n, size_t size)
{
	const size_t align = (size_t)2 * RTE_CACHE_LINE_SIZE;
	const size_t bytes = RTE_ALIGN_CEIL(n * size, align);
	void *memory = aligned_alloc(align, bytes);

	if (memory == NULL)
		bench_fail("no memory for %zu bytes", bytes);
	return memset(memory, 0, bytes);
}
