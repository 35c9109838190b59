/* SPDX-License-Identifier: BSD-3-Clause */
/* Fatal errors of hy-bench. */

#include <stdarg.h>
#include <stdlib.h>

#include "bench.h"

void
bench_fail(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "hy-bench: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(EXIT_FAILURE);
}
