/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables that grow by one entry at a time. */
#pragma once

#include <stdlib.h>

/*
 * Makes room for one more entry after the first n. The room is the least power of two that n entries
 * need, so it doubles when n is one. Returns the table, which may have moved; or NULL: memory is
 * short, and the table stays valid and unchanged.
 */
static inline void *
hy_table_room(void *table, size_t n, size_t size)
{
	return (n & (n - 1)) != 0 ? table : realloc(table, (n == 0 ? 1 : 2 * n) * size);
}
