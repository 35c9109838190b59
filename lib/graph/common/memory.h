/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that other processes may look at: graphs, images, traces. From when the process first shares
 * them, a block that is freed is kept for the next use of its type, and never given back to DPDK's
 * heap, not even when sharing stops: a reader may be copying it. In the heap it could become anything,
 * with a word that looks like the serial that the reader expects (share.h). A block that never changes
 * its type has its serial in the same place for ever. All calls require the registry's lock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Zeroed memory from DPDK's heap on a socket, in whole cache lines; NULL if there is none. The type
 * is a name that lives as long as the process, and the same when the block is freed.
 */
void *hy_memory_zalloc(const char *type, size_t size, int socket);
void hy_memory_free(const char *type, void *block);

/* From now on what is freed is kept; or, when there are no readers, given back, with all that was. */
void hy_memory_keep(bool keep);
