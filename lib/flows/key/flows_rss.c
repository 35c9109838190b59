/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hashes that NICs deliver. Some NICs deliver the same hash for all packets of a kind, such as those
 * inside a tunnel; caches would have one place for them. And RSS has chosen the queue by the low bits of
 * the hash, so that these are the same for all packets of a worker; caches take their place by these. So
 * the hash is mixed.
 */

#include <rte_mbuf.h>

#include "lib/flows/flows.h"

#define TURNS 64  /* bursts of which one is compared */
#define PAIRS 256 /* that are counted before a port is judged */

static __rte_always_inline bool
is_promised(const struct hy_flows_rss *rss, uint16_t port)
{
	return port < RTE_MAX_ETHPORTS && rss->promised[port] && !rss->constant[port];
}

static __rte_always_inline bool
is_usable(const struct hy_flows_rss *rss, const struct rte_mbuf *m)
{
	return is_promised(rss, m->port) && (m->ol_flags & RTE_MBUF_F_RX_RSS_HASH) != 0;
}

/* Compares neighbours of one port whose keys differ. */
static void
compare(const struct hy_flows *f, struct hy_flows_rss *rss, struct rte_mbuf *const mbufs[],
	const struct hy_flows_key key[], uint32_t n)
{
	const struct flows_union *u = FLOWS_LOAD(f->looked_at);

	for (uint32_t i = 1; i < n; i++) {
		const struct rte_mbuf *one = mbufs[i - 1], *other = mbufs[i];
		const uint16_t port = other->port;

		if (one->port != port || !is_usable(rss, one) || !is_usable(rss, other) ||
			flows_union_hash(&f->secret, u, &key[i - 1]) ==
				flows_union_hash(&f->secret, u, &key[i]))
			continue;
		rss->pairs[port]++;
		rss->same[port] += one->hash.rss == other->hash.rss;
		if (rss->pairs[port] < PAIRS)
			continue;
		rss->constant[port] = rss->same[port] > PAIRS / 2;
		rss->pairs[port] = 0;
		rss->same[port] = 0;
	}
}

void
hy_flows_rss_hashes(const struct hy_flows *f, struct hy_flows_rss *rss,
	struct rte_mbuf *const mbufs[], const struct hy_flows_key key[], uint32_t hash[],
	uint32_t n)
{
	const struct flows_union *u = FLOWS_LOAD(f->looked_at);
	bool some = false;

	if (rss->turn++ % TURNS == 0)
		compare(f, rss, mbufs, key, n);
	for (uint32_t i = 0; i < n; i++)
		some |= is_promised(rss, mbufs[i]->port);
	if (!some) {
		hy_flows_hashes(f, key, hash, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		hash[i] = is_usable(rss, mbufs[i]) ? flows_hash_mix(mbufs[i]->hash.rss)
						   : flows_union_hash(&f->secret, u, &key[i]);
}
