/* SPDX-License-Identifier: BSD-3-Clause */
/* How all parts of the l3fwd benchmark end when they cannot be made. */

#include <stdarg.h>
#include <stdlib.h>

#include "l3fwd.h"

void
l3fwd_fail(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "hy-bench: l3fwd: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(EXIT_FAILURE);
}
