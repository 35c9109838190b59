/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation that can be made to fail, and is counted; see unit.h. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_hash.h>
#include <rte_malloc.h>

#include "unit.h"

static unsigned int fail_at; /* 0: never */
static unsigned int count;
static int64_t live;

void (*unit_alloc_hook)(void);

/* What the linker makes of --wrap. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
char *__real_strdup(const char *s);
void __real_free(void *block);
void *__real_rte_malloc_socket(const char *type, size_t size, unsigned int align, int socket);
void *__real_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket);

struct rte_hash *__real_rte_hash_create(const struct rte_hash_parameters *params);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
char *__wrap_strdup(const char *s);
void __wrap_free(void *block);
FILE *__real_open_memstream(char **bytes, size_t *size);
FILE *__wrap_open_memstream(char **bytes, size_t *size);
void *__wrap_rte_malloc_socket(const char *type, size_t size, unsigned int align, int socket);
void *__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket);
struct rte_hash *__wrap_rte_hash_create(const struct rte_hash_parameters *params);

void
unit_alloc_fail(unsigned int nth)
{
	__atomic_store_n(&count, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&fail_at, nth, __ATOMIC_RELAXED);
}

unsigned int
unit_alloc_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_RELAXED);
}

int64_t
unit_alloc_live(void)
{
	return __atomic_load_n(&live, __ATOMIC_RELAXED);
}

unsigned int
unit_heap_live(void)
{
	struct rte_malloc_socket_stats stats;
	unsigned int blocks = 0;

	for (int s = 0; s < RTE_MAX_NUMA_NODES; s++)
		if (rte_malloc_get_socket_stats(s, &stats) == 0)
			blocks += stats.alloc_count;
	return blocks;
}

size_t
unit_heap_bytes(void)
{
	struct rte_malloc_socket_stats stats;
	size_t bytes = 0;

	for (int s = 0; s < RTE_MAX_NUMA_NODES; s++)
		if (rte_malloc_get_socket_stats(s, &stats) == 0)
			bytes += stats.heap_allocsz_bytes;
	return bytes;
}

static bool
fails(void)
{
	return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) ==
		__atomic_load_n(&fail_at, __ATOMIC_RELAXED);
}

static void *
counted(void *block)
{
	if (block != NULL)
		__atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
	return block;
}

static void
hook_run(void)
{
	void (*hook)(void) = __atomic_load_n(&unit_alloc_hook, __ATOMIC_RELAXED);

	if (hook == NULL)
		return;
	__atomic_store_n(&unit_alloc_hook, NULL, __ATOMIC_RELAXED);
	hook();
}

void *
__wrap_malloc(size_t size)
{
	hook_run();
	return fails() ? NULL : counted(__real_malloc(size));
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(n, size));
}

void *
__wrap_realloc(void *old, size_t size)
{
	void *block = fails() ? NULL : __real_realloc(old, size);

	return old == NULL ? counted(block) : block;
}

void *
__wrap_reallocarray(void *old, size_t n, size_t size)
{
	void *block = fails() ? NULL : __real_reallocarray(old, n, size);

	return old == NULL ? counted(block) : block;
}

char *
__wrap_strdup(const char *s)
{
	return fails() ? NULL : counted(__real_strdup(s));
}

void
__wrap_free(void *block)
{
	if (block != NULL)
		__atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
	__real_free(block);
}

/* What it gives in *bytes is freed by who asked for it. */
FILE *
__wrap_open_memstream(char **bytes, size_t *size)
{
	return fails() ? NULL : counted(__real_open_memstream(bytes, size));
}

void *
__wrap_rte_malloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	void *block = fails() ? NULL : __real_rte_malloc_socket(type, size, align, socket);

	/* DPDK's heap happens to be zeroed. Code that did not ask for that must not rely on it. */
	return block == NULL ? NULL : memset(block, 0xa5, size);
}

void *
__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	hook_run();
	return fails() ? NULL : __real_rte_zmalloc_socket(type, size, align, socket);
}

/* All memory of a hash table is one allocation here, since librte_hash is not wrapped. */
struct rte_hash *
__wrap_rte_hash_create(const struct rte_hash_parameters *params)
{
	return fails() ? NULL : __real_rte_hash_create(params);
}
