/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets in memory. The reference gets each packet as a driver would make it. The variant under
 * test gets it at any address, in any segments, and adjacent to pages that fault when accessed.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_random.h>

#include "conform.h"

#define SLOTS (2 * HY_BURST_MAX) /* pages for data, each between two that fault */
#define ROOM 4096                /* bytes used at the end or the start of a page */
#define BORDER 32                /* bytes around a segment that are checked */
#define CANARY 0xa5
#define SHIFT_MAX 64 /* most bytes by which a plain segment is shifted, for its alignment */

/* For all segments in pages: their references are not counted. */
static struct rte_mbuf_ext_shared_info shared;

static void
page_free(void *address __rte_unused, void *arg __rte_unused)
{
}

int
conform_arena_create(struct conform_arena *arena)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);

	shared.free_cb = page_free;
	arena->page_size = size;
	arena->pages = mmap(NULL, (2 * SLOTS + 1) * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	if (arena->pages == MAP_FAILED) {
		arena->pages = NULL;
		return -ENOMEM;
	}
	for (size_t i = 0; i < SLOTS; i++)
		if (mprotect(arena->pages + (2 * i + 1) * size, size, PROT_READ | PROT_WRITE) < 0) {
			conform_arena_destroy(arena);
			return -ENOMEM;
		}
	return 0;
}

void
conform_arena_destroy(struct conform_arena *arena)
{
	if (arena->pages != NULL)
		munmap(arena->pages, (2 * SLOTS + 1) * arena->page_size);
	arena->pages = NULL;
}

/* The place of a segment. */
enum place { PLAIN, AT_END, AT_START };

static enum place
place_random(void)
{
	const uint32_t r = (uint32_t)rte_rand_max(8);

	return r < 3 ? PLAIN : r < 7 ? AT_END : AT_START;
}

/* The number of checked bytes before and after a segment. */
static void
borders(const struct rte_mbuf *m, uint32_t *before, uint32_t *behind)
{
	*before = RTE_MIN((uint32_t)m->data_off, (uint32_t)BORDER);
	*behind = RTE_MIN((uint32_t)rte_pktmbuf_tailroom(m), (uint32_t)BORDER);
}

/* Makes a segment's buffer of the n bytes of its data: a part of what it was. */
static void
tighten(struct rte_mbuf *m, uint32_t n)
{
	rte_mbuf_ext_refcnt_set(&shared, 1);
	rte_pktmbuf_attach_extbuf(m, rte_pktmbuf_mtod(m, void *), RTE_BAD_IOVA, (uint16_t)n,
		&shared);
	m->data_off = 0;
}

/* Makes a segment with these bytes, and fills its borders, which a tight one lacks. */
static struct rte_mbuf *
segment(struct rte_mempool *pool, struct conform_arena *arena, enum place place, bool tight,
	const uint8_t *bytes, uint32_t n)
{
	const uint16_t room = (uint16_t)(tight ? n : ROOM);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint32_t before, behind;
	uint8_t *data;

	if (m == NULL)
		return NULL;
	if (place == PLAIN || arena->used == SLOTS) {
		m->data_off = (uint16_t)(m->data_off - rte_rand_max(SHIFT_MAX));
		if (tight)
			tighten(m, n);
	} else {
		uint8_t *page = arena->pages + (2 * (size_t)arena->used++ + 1) * arena->page_size;

		if (place == AT_END)
			page += arena->page_size - room;
		rte_mbuf_ext_refcnt_set(&shared, 1);
		rte_pktmbuf_attach_extbuf(m, page, RTE_BAD_IOVA, room, &shared);
		m->data_off = (uint16_t)(place == AT_END ? room - n : 0);
	}
	m->data_len = (uint16_t)n;
	m->pkt_len = n;
	conform_tag(m)->begin = m->data_off;
	conform_tag(m)->end = (uint16_t)(m->data_off + n);
	data = rte_pktmbuf_mtod(m, uint8_t *);
	borders(m, &before, &behind);
	memset(data - before, CANARY, before);
	memcpy(data, bytes, n);
	memset(data + n, CANARY, behind);
	return m;
}

static struct rte_mbuf *
metadata_set(struct rte_mbuf *m, const struct hy_suite_packet *packet)
{
	if (m == NULL)
		return NULL;
	m->packet_type = packet->packet_type;
	m->port = packet->port;
	m->hash.fdir.hi = packet->mark; /* pools do not reset it */
	m->ol_flags |= packet->mark_flags;
	return m;
}

struct rte_mbuf *
conform_packet_plain(struct rte_mempool *pool, const struct hy_suite_packet *packet)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m == NULL)
		return NULL;
	memcpy(rte_pktmbuf_mtod(m, void *), packet->bytes, packet->len);
	if (packet->tight)
		tighten(m, packet->len);
	m->data_len = (uint16_t)packet->len;
	m->pkt_len = packet->len;
	return metadata_set(m, packet);
}

/* A packet in two segments or more, some possibly empty, mostly split within the headers. */
static struct rte_mbuf *
pieces(struct rte_mempool *pool, struct conform_arena *arena, const struct hy_suite_packet *packet)
{
	uint32_t left = 1 + (uint32_t)rte_rand_max(4), at = 0;
	struct rte_mbuf *m = NULL;

	for (;; left--) {
		const uint32_t rest = packet->len - at;
		const uint32_t n = left == 0
			? rest
			: (uint32_t)rte_rand_max(RTE_MIN(rest, (uint32_t)SHIFT_MAX) + 1);
		struct rte_mbuf *next = segment(pool, arena, place_random(),
			m == NULL && packet->tight, packet->bytes + at, n);

		if (next == NULL) {
			rte_pktmbuf_free(m);
			return NULL;
		}
		if (m == NULL)
			m = next;
		else
			rte_pktmbuf_chain(m, next);
		at += n;
		if (left == 0)
			return m;
	}
}

struct rte_mbuf *
conform_packet_odd(struct rte_mempool *pool, struct conform_arena *arena, bool whole,
	const struct hy_suite_packet *packet)
{
	if (!whole && rte_rand_max(4) == 0)
		return metadata_set(pieces(pool, arena, packet), packet);
	return metadata_set(segment(pool, arena, place_random(), packet->tight, packet->bytes,
				    packet->len),
		packet);
}

bool
conform_room_untouched(const struct rte_mbuf *m, char *text, size_t size)
{
	for (unsigned int s = 0; m != NULL; m = m->next, s++) {
		const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
		const struct conform_tag *tag = conform_tag((void *)(uintptr_t)m);
		const uint32_t end = (uint32_t)m->data_off + m->data_len;
		/* Bytes that the node has removed from the start are its own. */
		const uint32_t own = m->data_off > tag->begin ? m->data_off - tag->begin : 0;
		uint32_t before, behind;

		borders(m, &before, &behind);
		/* Nothing was written beyond the borders of what the segment was. */
		before -= RTE_MIN(before,
			tag->begin > m->data_off ? tag->begin - (uint32_t)m->data_off : 0);
		for (uint32_t i = own + 1; i <= before; i++)
			if (data[-(int)i] != CANARY)
				return HY_REASON(false, text, size,
					"wrote to byte %u before its segment %u", i, s);
		behind -= RTE_MIN(behind, end > tag->end ? end - tag->end : 0);
		for (uint32_t i = 0; i < behind; i++)
			if (data[m->data_len + i] != CANARY)
				return HY_REASON(false, text, size,
					"wrote to byte %u behind its segment %u", i + 1, s);
	}
	return true;
}

uintptr_t
conform_guard_of(const struct conform_arena *arena, const struct rte_mbuf *m, uintptr_t address,
	char *text, size_t size)
{
	const char *what = m->nb_segs > 1 ? "segment" : "frame";
	uintptr_t nearest = 0;

	for (; m != NULL; m = m->next) {
		const uintptr_t data = rte_pktmbuf_mtod(m, uintptr_t), end = data + m->data_len;
		uintptr_t far = 0;

		if (!RTE_MBUF_HAS_EXTBUF(m))
			continue;
		if (end % arena->page_size == 0 && address - end < arena->page_size)
			far = address - end + 1;
		else if (data % arena->page_size == 0 && data - address <= arena->page_size)
			far = data - address;
		if (far == 0 || (nearest != 0 && far >= nearest))
			continue;
		nearest = far;
		snprintf(text, size,
			address < data ? "touched byte %" PRIuPTR " before its %s"
				       : "touched byte %" PRIuPTR " past the end of its %s",
			far, what);
	}
	return nearest;
}
