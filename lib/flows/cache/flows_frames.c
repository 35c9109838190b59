/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache of frames: entries with the bits of a plain frame that masks look at, read from the frame
 * without making its key. As in flows_exact.c, a tag that differs means that the megaflow was deleted.
 *
 * A frame is compared by the masks of now, and an entry was written by the masks of then. A megaflow that
 * is there has its mask among both: masks are shown before their first megaflow is written
 * (flows_mask_show()), and hidden after the last one is deleted. So frame and entry agree in all bits that
 * the megaflow looks at. Where masks of now and then differ otherwise, a frame is not found, at worst.
 *
 * VXLAN is left out where tunnels end, as its key is that of the frame inside.
 */

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "lib/flows/key/flows_plain.h"

#include "flows_cache.h"

#define PLACES 2048
#define WAYS 2 /* at each place */
/* Where words of a frame begin. The second ends with the type of service, the last with the ports. */
enum { LINK = 0, TYPE = 8, TTL = 22, DST = 30 };
#define FRAGMENTS 20
#define TCP_FLAGS 47

struct entry {
	alignas(RTE_CACHE_LINE_MIN_SIZE) struct flows_frame_bits bits;
	uint64_t tag; /* 0: the entry is empty */
	uint32_t slot;
};

struct flows_frames {
	struct entry entries[PLACES * WAYS];
	uint32_t turn; /* the way that gave way last */
};

static_assert(sizeof(struct entry) == RTE_CACHE_LINE_MIN_SIZE, "one line is fetched for a frame");

size_t
flows_frames_bytes(void)
{
	return sizeof(struct flows_frames);
}

/* With what makes a frame plain, and its port, whether the mask looks at them or not. */
struct flows_frame_bits
flows_frames_mask(const struct hy_flows_key *mask, bool tunnels)
{
	uint8_t frame[FLOWS_PLAIN_LEN] = { 0 };

	memcpy(frame, mask->dst_mac, sizeof(mask->dst_mac));
	memcpy(frame + 6, mask->src_mac, sizeof(mask->src_mac));
	memset(frame + 12, UINT8_MAX, 3); /* the ether type, the version and length of IP */
	frame[15] = mask->tos;
	frame[22] = mask->ttl;
	frame[23] = UINT8_MAX; /* the protocol */
	memcpy(frame + 26, &mask->src, sizeof(mask->src));
	memcpy(frame + 30, &mask->dst, sizeof(mask->dst));
	memcpy(frame + 34, &mask->sport, sizeof(mask->sport));
	memcpy(frame + 36, &mask->dport, sizeof(mask->dport));
	if (tunnels)
		memset(frame + 36, UINT8_MAX, sizeof(mask->dport));
	return (struct flows_frame_bits){
		.words = { flow_load64(frame + LINK), flow_load64(frame + TYPE),
			flow_load64(frame + TTL), flow_load64(frame + DST) },
		.rest = UINT16_MAX | (uint64_t)FLOWS_FRAGMENT << 16 |
			(uint64_t)mask->tcp_flags << 32
	};
}

/* Reads a frame of FLOWS_PLAIN_LEN bytes or more. */
static __rte_always_inline struct flows_frame_bits
read_bits(const uint8_t *frame, uint16_t port, const struct flows_frame_bits *mask)
{
	const uint64_t tcp = frame[TTL + 1] == IPPROTO_TCP;
	const uint64_t rest = port | (uint64_t)flow_load16(frame + FRAGMENTS) << 16 |
		(frame[TCP_FLAGS] & -tcp) << 32;

	return (struct flows_frame_bits){ .words = { flow_load64(frame + LINK) & mask->words[0],
						  flow_load64(frame + TYPE) & mask->words[1],
						  flow_load64(frame + TTL) & mask->words[2],
						  flow_load64(frame + DST) & mask->words[3] },
		.rest = rest & mask->rest };
}

/* The halves of a product, of words of which each is added to a secret. */
static __rte_always_inline uint64_t
product(const struct flows_secret *secret, uint32_t i, uint64_t one, uint64_t other)
{
	const unsigned __int128 product = (unsigned __int128)(one + secret->add[i]) *
		(other + secret->add[i + 1]);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* In the way of NH (Black and others, UMAC, 1999): fewer multiplications than by flows_hash.h. */
static __rte_always_inline struct entry *
place_of(const struct hy_flows *f, struct flows_frames *frames, const struct flows_frame_bits *bits)
{
	const uint64_t sum = product(&f->secret, 0, bits->words[0], bits->words[1]) +
		product(&f->secret, 2, bits->words[2], bits->words[3]) +
		bits->rest * f->secret.times[0];

	return &frames->entries[(sum ^ sum >> 32) % PLACES * WAYS];
}

static __rte_always_inline bool
is_same(const struct entry *entry, const struct flows_frame_bits *bits)
{
	uint64_t differ = entry->bits.rest ^ bits->rest;

	for (uint32_t w = 0; w < RTE_DIM(bits->words); w++)
		differ |= entry->bits.words[w] ^ bits->words[w];
	return differ == 0;
}

static __rte_always_inline bool
is_alive(const struct hy_flows *f, const struct entry *entry)
{
	return (entry->tag != 0) & (FLOWS_LOAD(f->records[entry->slot].tag) == entry->tag);
}

uint64_t
flows_frames_find(const struct hy_flows *f, struct flows_frames *frames,
	struct rte_mbuf *const mbufs[], uint32_t flow[], uint32_t n)
{
	const struct flows_frame_bits mask = FLOWS_LOAD(f->looked_at)->frame;
	uint64_t found = 0;

	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint32_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = mbufs[i];
		struct flows_frame_bits bits;
		const struct entry *entry;
		bool same;

		if (unlikely(rte_pktmbuf_data_len(m) < FLOWS_PLAIN_LEN))
			continue;
		bits = read_bits(rte_pktmbuf_mtod(m, const uint8_t *), m->port, &mask);
		entry = place_of(f, frames, &bits);
		same = is_same(entry, &bits);
		if (unlikely(!same))
			same = is_same(++entry, &bits);
		flow[i] = entry->slot;
		found |= (uint64_t)(same & is_alive(f, entry)) << i;
	}
	return found;
}

/* The entry that gives way: one of the same bits, or a dead one, or each in turn. */
static struct entry *
victim(const struct hy_flows *f, struct flows_frames *frames, const struct flows_frame_bits *bits)
{
	struct entry *place = place_of(f, frames, bits);

	for (uint32_t way = 0; way < WAYS; way++)
		if (is_same(&place[way], bits))
			return &place[way];
	for (uint32_t way = 0; way < WAYS; way++)
		if (!is_alive(f, &place[way]))
			return &place[way];
	return &place[++frames->turn % WAYS];
}

bool
flows_frames_enter(const struct hy_flows *f, struct flows_frames *frames, const struct rte_mbuf *m,
	uint32_t slot)
{
	/* Read after the megaflow was found: its mask is among those. */
	const struct flows_frame_bits mask = FLOWS_LOAD(f->looked_at)->frame;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const uint64_t tag = FLOWS_LOAD(f->records[slot].tag);
	struct flows_frame_bits bits;
	struct entry *entry;
	bool empty;

	if (FLOWS_TABLE(tag) == 0 || rte_pktmbuf_data_len(m) < FLOWS_PLAIN_LEN ||
		!flows_is_plain(frame) ||
		(f->params.tunnels && flow_load16(frame + 36) == FLOW_VXLAN_PORT))
		return false;
	bits = read_bits(frame, m->port, &mask);
	entry = victim(f, frames, &bits);
	empty = entry->tag == 0;
	*entry = (struct entry){ .bits = bits, .tag = tag, .slot = slot };
	return empty;
}
