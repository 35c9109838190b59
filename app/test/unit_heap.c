/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's heap as ThreadSanitizer sees it; only built with it. The heap's own lock is in a library that is
 * not built with it: memory that a thread frees and another one gets would seem to be used by both at
 * once. The program's functions stand before the library's for all callers, DPDK's libraries included,
 * and take a lock that is seen. All others of rte_malloc.h call these.
 */

#include <dlfcn.h>
#include <pthread.h>

#include <rte_debug.h>
#include <rte_malloc.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef void *malloc_socket_t(const char *type, size_t size, unsigned int align, int socket);
typedef void free_t(void *block);

void *
rte_malloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	static malloc_socket_t *next;
	void *block;

	pthread_mutex_lock(&lock);
	if (next == NULL)
		next = (malloc_socket_t *)dlsym(RTLD_NEXT, "rte_malloc_socket");
	RTE_VERIFY(next != NULL);
	block = next(type, size, align, socket);
	pthread_mutex_unlock(&lock);
	return block;
}

void
rte_free(void *block)
{
	static free_t *next;

	pthread_mutex_lock(&lock);
	if (next == NULL)
		next = (free_t *)dlsym(RTLD_NEXT, "rte_free");
	RTE_VERIFY(next != NULL);
	next(block);
	pthread_mutex_unlock(&lock);
}
