/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks that are kept: see memory.h. */

#include <string.h>

#include <rte_malloc.h>
#include <rte_memory.h>

#include "memory.h"

/* Lies in the block itself. */
struct kept {
	struct kept *next;
	const char *type;
	size_t size;
	int socket;
};

static struct kept *kept;
static bool keeping;

/* Takes the smallest block that fits and is not twice as large as need be; NULL if none does. */
static void *
kept_take(const char *type, size_t size, int socket)
{
	struct kept **best = NULL, *block;

	for (struct kept **link = &kept; *link != NULL; link = &(*link)->next)
		if (strcmp((*link)->type, type) == 0 && (*link)->size >= size &&
			(*link)->size / 2 <= size &&
			(socket == SOCKET_ID_ANY || (*link)->socket == socket) &&
			(best == NULL || (*link)->size < (*best)->size))
			best = link;
	if (best == NULL)
		return NULL;
	block = *best;
	*best = block->next;
	return memset(block, 0, size);
}

void *
hy_memory_zalloc(const char *type, size_t size, int socket)
{
	const size_t step = (size_t)rte_align64pow2(size) / 8;
	void *block = kept_take(type, size, socket);

	if (block != NULL)
		return block;
	/* A few sizes for each power of two, so that a block fits more than what it was made for. */
	if (keeping && step >= RTE_CACHE_LINE_SIZE)
		size = RTE_ALIGN(size, step);
	return rte_zmalloc_socket(type, size, RTE_CACHE_LINE_SIZE, socket);
}

void
hy_memory_free(const char *type, void *block)
{
	struct kept *put = block;
	size_t size;

	if (block == NULL || !keeping || rte_malloc_validate(block, &size) < 0) {
		rte_free(block);
		return;
	}
	put->type = type;
	put->size = size;
	put->socket = rte_mem_virt2memseg(block, NULL)->socket_id;
	put->next = kept;
	kept = put;
}

void
hy_memory_keep(bool keep)
{
	keeping = keep;
	while (!keep && kept != NULL) {
		struct kept *next = kept->next;

		rte_free(kept);
		kept = next;
	}
}
