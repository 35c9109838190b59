/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that other processes may look at: graphs, images, traces. While the process shares them,
 * what is freed is kept for whoever needs as much next, and never unmapped under a reader. Wants
 * the registry's lock held.
 */
#ifndef HY_GRAPH_MEMORY_H
#define HY_GRAPH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory from DPDK's heap on a socket, in whole cache lines; NULL if there is none. */
void *hy_memory_zalloc(const char *type, size_t size, int socket);
void hy_memory_free(void *block);

/* From now on what is freed is kept; or no longer, and what was kept is given back. */
void hy_memory_keep(bool keep);

#endif
