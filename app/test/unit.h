/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runner that all unit test programs share. A test file ends with its table and UNIT_SUITE();
 * tables run in link order, as one cmocka group. "PROGRAM --list" prints the names of the tests,
 * "PROGRAM PATTERN..." runs those that match an fnmatch(3) pattern.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_common.h>

/* Sanitizers take ten times as long, and look for something else than rare packets. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

void unit_suite_add(const struct CMUnitTest *tests, size_t n);

/* Adds a table of tests to the program. */
#define UNIT_SUITE(table) \
	RTE_INIT(unit_suite_##table) \
	{ \
		unit_suite_add(table, RTE_DIM(table)); \
	}

/* What was logged through DPDK since unit_log_clear(): tests expect errors, nobody reads them. */
const char *unit_log(void);
unsigned int unit_log_lines(void);
void unit_log_clear(void);

/* The path of a file that was built beside the test program. */
const char *unit_beside(const char *file);

/*
 * Memory of the code under test. malloc(3) and friends, and rte_malloc's, are wrapped at link time
 * in all that is linked statically, the library included.
 */

/* Makes the nth allocation from now fail (1 is the next one); 0 makes none fail. */
void unit_alloc_fail(unsigned int nth);
/* Called once, by the next malloc(3) or rte_zmalloc_socket() itself, on the thread that calls that; NULL: nothing is. */
extern void (*unit_alloc_hook)(void);
/* Allocations since unit_alloc_fail() was called last. */
unsigned int unit_alloc_count(void);
/* Blocks of malloc(3) and friends that nobody freed yet; compare two of these. */
int64_t unit_alloc_live(void);
/* Blocks that are taken from DPDK's heaps. */
unsigned int unit_heap_live(void);
/* Bytes that are taken from them, headers of blocks included. */
size_t unit_heap_bytes(void);
