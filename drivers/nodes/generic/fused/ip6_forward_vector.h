/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that the vector kernels of ip6_forward share. All headers are checked, WIDTH at a time, then
 * all destinations looked up; then the frames are rewritten one by one.
 *
 * A file defines these before it includes this one:
 * VECTOR: target attribute of the instruction set;
 * PASS: its pkt_cls_ip6_pass_t;
 * write_headers(frame, l2), WRITE_BYTES: see ip6_x86.h.
 */
#pragma once

#include <string.h>

#include "drivers/nodes/generic/classify/pkt_cls_ip6.h"
#include "drivers/nodes/generic/ip4/ip4_rewrite_one.h"
#include "drivers/nodes/generic/ip6/ip6_find.h"
#include "ip6_forward.h"

static_assert(WRITE_BYTES <= HY_PKT_CLS_IP6_LEAST, "every frame that passes has these bytes");

/* Apart: a large table's misses overlap only where little else lies between. */
static __rte_noinline void
look_up(const struct hy_ip6_trie *trie, uint8_t *const frame[], uint32_t entry[], uint32_t n)
{
	ip6_find_all(trie, (const uint8_t *const *)frame, IP6_DST, entry, n);
}

/* Rewrites the frames before the first that has no route, or is to be dropped. Returns how many. */
VECTOR static __rte_noinline uint32_t
rewrite(const struct ip6_forward *forward, uint8_t *const frame[], const uint32_t len[],
	const uint32_t entry[], uint16_t next[], uint32_t n)
{
	const struct hy_ip4_adjacency *adjacencies = hy_ip4_adjacencies(forward->hops);
	uint32_t i;

	for (i = 0; i < n && likely(entry[i] != 0); i++) {
		const struct hy_ip4_adjacency *adjacency = &adjacencies[entry[i] - 1];
		uint64_t port;

		memcpy(&port, &forward->ports[adjacency->port], sizeof(port));
		if (unlikely(len[i] > (uint32_t)port || frame[i][HY_IP6_HOP_LIMIT] <= 1))
			break;
		write_headers(frame[i], &adjacency->l2);
		next[i] = (uint16_t)(port >> 32);
	}
	return i;
}

/* Apart from these, since GCC 12 may forget to clear the upper halves of registers after a call. */
static uint32_t
forward(const struct ip6_forward *forward, uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t *options, uint32_t n)
{
	uint32_t entry[HY_BURST_MAX], done;

	n = PASS((const uint8_t *const *)frame, len, options, n);
	if (unlikely(n == 0))
		return 0;
	look_up(forward->trie, frame, entry, n);
	done = rewrite(forward, frame, len, entry, next, n);
	if (unlikely(done < n))
		ip6_forward_uncount(frame + done, options, n - done);
	return done;
}

static uint16_t
run(struct hy_graph *graph __rte_unused, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	return ip6_forward_run(nodes, objs, n, next, forward);
}
