/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fusions of forwarding share: the frames of a burst. */
#pragma once

#include <string.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include <hy_graph_worker.h>

/* The first four fields of 16 bits in an mbuf, read as one word. */
#define REARM_FIELD(word, i) \
	((uint16_t)((word) >> 16 * (RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN ? (i) : 3 - (i))))

/* Finds and prefetches the frames of a burst. Returns whether all packets have one segment. */
static __rte_always_inline bool
forward_frames(void **objs, uint16_t n, uint8_t *frame[], uint32_t len[])
{
	uint64_t segments = 0;
	uint32_t i = 0;

	do { /* n is at least 1 */
		const struct rte_mbuf *m = objs[i];
		uint64_t word; /* data_off, refcnt, nb_segs, port */

		memcpy(&word, &m->rearm_data, sizeof(word));
		frame[i] = (uint8_t *)m->buf_addr + REARM_FIELD(word, 0);
		rte_prefetch0(frame[i]); /* all are under way when the first is checked */
		len[i] = m->pkt_len;
		segments |= word;
	} while (++i < n);
	return REARM_FIELD(segments, 2) == 1;
}

/* Where forward_frames() stops a fusion. */
static inline uint16_t
forward_stops(void *const objs[], uint16_t n, const char **why)
{
	for (uint16_t i = 0; i < n; i++)
		if (((const struct rte_mbuf *)objs[i])->nb_segs != 1)
			return *why = "a packet has several segments", 0;
	return n;
}
