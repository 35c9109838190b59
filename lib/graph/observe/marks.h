/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that a trace follows, by address: a table with open addressing, never full. */
#pragma once

#include <assert.h>

#include <hy_trace.h>

#define MARKS_BITS 10
#define MARKS_SLOTS (1u << MARKS_BITS)

static_assert(MARKS_SLOTS >= 2 * (HY_TRACE_LIVE_MAX + HY_BURST_MAX),
	"half of the slots stay free with all marks and a burst of candidates");

struct hy_mark {
	const void *obj; /* NULL: a free slot */
	uint32_t serial; /* 0: a candidate */
	uint32_t seen;   /* the last look at the streams that found the object waiting */
};

struct hy_marks {
	struct hy_mark slots[MARKS_SLOTS];
};

/* The mark of an object, or NULL. */
struct hy_mark *hy_marks_find(struct hy_marks *marks, const void *obj);
/* Marks an object that has no mark. Pointers to other marks stay valid. */
struct hy_mark *hy_marks_add(struct hy_marks *marks, const void *obj);
/* Takes a mark away. No pointer to any mark is valid after. */
void hy_marks_remove(struct hy_marks *marks, struct hy_mark *mark);
