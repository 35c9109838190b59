/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: a program that runs out of memory. From its first call of fopencookie() on, which is in
 * hy_file_prepare(), as many allocations succeed as HALYARD_ALLOCATIONS says, and then none does.
 * Also fails the one call of open_memstream() whose number is HALYARD_TEXT, from 1.
 */

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <dlfcn.h>

/* Of glibc, which calls those below. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static atomic_bool armed;
static atomic_long left;

static bool
granted(void)
{
	if (!armed || atomic_fetch_sub(&left, 1) > 0)
		return true;
	errno = ENOMEM;
	return false;
}

void *
malloc(size_t size)
{
	return granted() ? __libc_malloc(size) : NULL;
}

void *
calloc(size_t n, size_t size)
{
	return granted() ? __libc_calloc(n, size) : NULL;
}

void *
realloc(void *old, size_t size)
{
	return granted() ? __libc_realloc(old, size) : NULL;
}

FILE *
fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
	static FILE *(*original)(void *, const char *, cookie_io_functions_t);

	if (original == NULL) {
		const char *n = getenv("HALYARD_ALLOCATIONS");

		*(void **)&original = dlsym(RTLD_NEXT, "fopencookie");
		left = n == NULL ? INT32_MAX : atol(n);
		armed = true;
	}
	return granted() ? original(cookie, mode, functions) : NULL;
}

FILE *
open_memstream(char **text, size_t *size)
{
	static FILE *(*original)(char **, size_t *);
	static atomic_long calls;
	const char *n = getenv("HALYARD_TEXT");

	if (original == NULL)
		*(void **)&original = dlsym(RTLD_NEXT, "open_memstream");
	if (++calls == (n == NULL ? 0 : atol(n))) {
		errno = ENOMEM;
		return NULL;
	}
	return original(text, size);
}
