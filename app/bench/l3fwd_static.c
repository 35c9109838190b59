/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contenders of the l3fwd benchmark without a graph. The lower bound sends packets unchanged, through
 * the next port. The others are a loop like that of DPDK's own l3fwd, with bursts of 32, four lookups
 * at a time, and packets gathered by port into bursts of 32. Without checks, or with those of pkt_cls
 * and ip4_rewrite, packet by packet.
 *
 * For IPv6 the same with rte_fib6, which looks up a burst at a time. Where both families arrive, a
 * burst is split by family first.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_vect.h>

#include "drivers/nodes/generic/classify/pkt_cls_kernels.h"

#include "l3fwd_static6.h"

#define RXTX_BURST HY_BURST_DEFAULT

#define STEP 4

typedef uint32_t four __attribute__((vector_size(16)));

static struct rte_ipv4_hdr *
ip_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
}

static void
send_now(struct static_loop *s, uint16_t port, struct rte_mbuf **mbufs, uint16_t n)
{
	const struct l3fwd_rig *rig = s->rig;
	uint16_t sent = rte_eth_tx_burst(rig->port[USERS_ALL][port], (uint16_t)rig->lane, mbufs, n);

	for (; unlikely(sent < n); sent++)
		static_drop(s, DROP_TX_FULL, mbufs[sent]);
}

/* Gathers packets for a port until there are enough. A large group is sent at once. */
static __rte_always_inline void
send_later(struct static_loop *s, uint16_t port, struct rte_mbuf **mbufs, uint16_t n,
	uint16_t enough)
{
	struct gathered *g = &s->gathered[port];
	uint16_t now;

	if (n >= enough / 2 && g->n == 0) {
		send_now(s, port, mbufs, n);
		return;
	}
	now = RTE_MIN(n, (uint16_t)(enough - g->n));
	for (uint16_t i = 0; i < now; i++)
		g->mbufs[g->n + i] = mbufs[i];
	g->n = (uint16_t)(g->n + now);
	if (likely(g->n < enough))
		return;
	send_now(s, port, g->mbufs, enough);
	for (uint16_t i = now; i < n; i++)
		g->mbufs[i - now] = mbufs[i];
	g->n = (uint16_t)(n - now);
}

/* Sends consecutive packets for one port together. Drops packets without a route. */
static __rte_always_inline void
send_groups(struct static_loop *s, struct rte_mbuf **mbufs, const uint32_t *hop, uint16_t n,
	uint16_t enough)
{
	uint16_t start[BURST_MAX + 1], groups = 1;

	start[0] = 0;
	for (uint16_t i = 1; i < n; i++) {
		start[groups] = i; /* kept if the port differs */
		groups = (uint16_t)(groups + (hop_port(hop[i]) != hop_port(hop[i - 1])));
	}
	start[groups] = n;
	for (uint16_t g = 0; g < groups; g++) {
		const uint16_t first = start[g], size = (uint16_t)(start[g + 1] - first);

		if (likely(hop[first] != HOP_NONE))
			send_later(s, hop_port(hop[first]), mbufs + first, size, enough);
		else
			for (uint16_t i = 0; i < size; i++)
				static_drop(s, DROP_NO_ROUTE, mbufs[first + i]);
	}
}

/* Next hops of n addresses, four at a time. */
static __rte_always_inline void
lookup(const struct static_loop *s, const uint32_t *dst, uint32_t *hop, uint16_t n)
{
	uint16_t i = 0;

	for (; i + STEP <= n; i += STEP) {
		const four ip = { dst[i], dst[i + 1], dst[i + 2], dst[i + 3] };

		rte_lpm_lookupx4(s->lpm, (xmm_t)ip, hop + i, HOP_NONE);
	}
	for (; i < n; i++)
		if (rte_lpm_lookup(s->lpm, dst[i], &hop[i]) != 0)
			hop[i] = HOP_NONE;
}

static __rte_always_inline void
forward(struct static_loop *s, struct rte_mbuf **mbufs, uint16_t n, uint16_t enough)
{
	uint32_t dst[BURST_MAX], hop[BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH], void *));
		dst[i] = rte_be_to_cpu_32(ip_of(mbufs[i])->dst_addr);
	}
	lookup(s, dst, hop, n);
	for (uint16_t i = 0; i < n; i++)
		l3fwd_rewrite(mbufs[i], &s->hops[hop[i]].l2);
	if (n > 0)
		send_groups(s, mbufs, hop, n, enough);
}

/* Keeps packets that pass the checks of pkt_cls, and drops the others. Returns the number kept. */
static __rte_always_inline uint16_t
check(struct static_loop *s, struct rte_mbuf **mbufs, uint32_t *dst, uint16_t n)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = mbufs[i];
		uint16_t next;

		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH], void *));
		next = hy_pkt_cls_one(rte_pktmbuf_mtod(m, const uint8_t *), m->pkt_len, false,
			&dst[kept]);
		if (likely(next == HY_PKT_CLS_NEXT_IP4_LOOKUP))
			mbufs[kept++] = m;
		else
			static_drop(s, (uint16_t)(next - HY_DROP(0)), m);
	}
	return kept;
}

/* Rewrites packets that have a route and pass the checks of ip4_rewrite, and drops the others. */
static __rte_always_inline uint16_t
rewrite_checked(struct static_loop *s, struct rte_mbuf **mbufs, uint32_t *hop, uint16_t n)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = mbufs[i];

		if (unlikely(hop[i] == HOP_NONE)) {
			static_drop(s, DROP_NO_ROUTE, m);
		} else if (unlikely(ip_of(m)->time_to_live <= 1)) {
			static_drop(s, DROP_TTL, m);
		} else if (unlikely(m->pkt_len > L3FWD_MTU)) {
			static_drop(s, DROP_MTU, m);
		} else {
			l3fwd_rewrite(m, &s->hops[hop[i]].l2);
			hop[kept] = hop[i];
			mbufs[kept++] = m;
		}
	}
	return kept;
}

/* What follows the checks. */
static __rte_always_inline void
finish_checked(struct static_loop *s, struct rte_mbuf **mbufs, const uint32_t *dst, uint16_t n,
	uint16_t enough)
{
	uint32_t hop[BURST_MAX];

	lookup(s, dst, hop, n);
	n = rewrite_checked(s, mbufs, hop, n);
	if (n > 0)
		send_groups(s, mbufs, hop, n, enough);
}

static __rte_always_inline void
forward_checked(struct static_loop *s, struct rte_mbuf **mbufs, uint16_t n, uint16_t enough)
{
	uint32_t dst[BURST_MAX];

	n = check(s, mbufs, dst, n);
	finish_checked(s, mbufs, dst, n, enough);
}

static __rte_always_inline void
finish6(struct static_loop *s, struct static_burst6 *b, uint16_t enough, bool checked)
{
	uint32_t hop[BURST_MAX];
	uint16_t n = b->n;

	static6_lookup(s, b, hop);
	if (checked)
		n = static6_rewrite_checked(s, b, hop);
	else
		for (uint16_t i = 0; i < n; i++)
			static6_rewrite(s, b->mbufs[i], hop[i]);
	if (n > 0)
		send_groups(s, b->mbufs, hop, n, enough);
}

/* IPv6 only. */
static __rte_always_inline void
forward6(struct static_loop *s, struct rte_mbuf **mbufs, uint16_t n, uint16_t enough)
{
	struct static_burst6 b;

	b.n = 0;
	for (uint16_t i = 0; i < n; i++) {
		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH], void *));
		static6_take(&b, mbufs[i]);
	}
	finish6(s, &b, enough, false);
}

/* Both families. */
static __rte_always_inline void
forward46(struct static_loop *s, struct rte_mbuf **mbufs, uint16_t n, uint16_t enough)
{
	struct static_burst6 b;
	uint16_t n4 = 0;

	b.n = 0;
	for (uint16_t i = 0; i < n; i++) {
		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH], void *));
		if (hy_pkt_cls_says_ip6(rte_pktmbuf_mtod(mbufs[i], const uint8_t *)))
			static6_take(&b, mbufs[i]);
		else
			mbufs[n4++] = mbufs[i];
	}
	if (n4 > 0)
		forward(s, mbufs, n4, enough);
	if (b.n > 0)
		finish6(s, &b, enough, false);
}

/* Both families, one of which may be missing. */
static __rte_always_inline void
forward46_checked(struct static_loop *s, struct rte_mbuf **mbufs, uint16_t n, uint16_t enough)
{
	struct static_burst6 b;
	uint32_t dst[BURST_MAX];
	uint16_t n4 = 0;

	b.n = 0;
	for (uint16_t i = 0; i < n; i++) {
		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH], void *));
		if (static6_check(s, &b, mbufs[i], &dst[n4]))
			mbufs[n4++] = mbufs[i];
	}
	if (n4 > 0)
		finish_checked(s, mbufs, dst, n4, enough);
	if (b.n > 0)
		finish6(s, &b, enough, true);
}

typedef void(forward_t)(struct static_loop *s, struct rte_mbuf **mbufs, uint16_t n,
	uint16_t enough);

static __rte_always_inline void
loop(struct static_loop *s, uint64_t turns, forward_t *turn, uint16_t burst)
{
	const struct l3fwd_rig *rig = s->rig;
	const uint16_t enough = RTE_MAX(burst, (uint16_t)BURST);
	struct rte_mbuf *mbufs[BURST_MAX];

	while (turns-- > 0 && rig_pending(rig)) {
		for (unsigned int p = 0; p < rig->nb_ports; p++) {
			const uint16_t n = rte_eth_rx_burst(rig->port[USERS_ALL][p],
				(uint16_t)rig->lane, mbufs, burst);

			if (n > 0)
				turn(s, mbufs, n, enough);
		}
	}
	for (uint16_t p = 0; p < rig->nb_ports; p++) {
		send_now(s, p, s->gathered[p].mbufs, s->gathered[p].n);
		s->gathered[p].n = 0;
	}
}

static void
static_run(void *arg, uint64_t turns)
{
	loop(arg, turns, forward, BURST); /* the compiler knows the number, as in l3fwd */
}

static void
static_burst_run(void *arg, uint64_t turns)
{
	loop(arg, turns, forward, ((const struct static_loop *)arg)->burst);
}

static void
static_checked_run(void *arg, uint64_t turns)
{
	loop(arg, turns, forward_checked, BURST);
}

static void
static6_run(void *arg, uint64_t turns)
{
	loop(arg, turns, forward6, BURST);
}

static void
static46_run(void *arg, uint64_t turns)
{
	loop(arg, turns, forward46, BURST);
}

static void
static46_checked_run(void *arg, uint64_t turns)
{
	loop(arg, turns, forward46_checked, BURST);
}

static uint64_t
static_drops(void *arg)
{
	const struct static_loop *s = arg;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < DROPS; i++)
		sum += s->drops[i];
	return sum;
}

/* The loops of a work share its tables, created with the first of them and freed with the last. */
static struct {
	struct rte_lpm *lpm;
	struct rte_fib6 *fib6; /* NULL: the work has no IPv6 */
	unsigned int users;
} shared;

static void
shared_free(void)
{
	rte_lpm_free(shared.lpm);
	rte_fib6_free(shared.fib6);
	shared.lpm = NULL;
	shared.fib6 = NULL;
}

/* Returns false on failure. */
static bool
shared_create(const struct l3fwd_table *table)
{
	shared.lpm = table_lpm(table, "l3fwd_static");
	if (shared.lpm != NULL && table->n6 > 0)
		shared.fib6 = table_fib6(table, "l3fwd_static");
	if (shared.lpm != NULL && (table->n6 == 0 || shared.fib6 != NULL))
		return true;
	shared_free();
	return false;
}

static void
static_destroy(void *arg)
{
	if (--shared.users == 0)
		shared_free();
	free(arg);
}

static struct l3fwd_way
way_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table, const char *name,
	uint16_t burst, void (*run)(void *arg, uint64_t turns))
{
	struct l3fwd_way way = { .name = name,
		.users = USERS_ALL,
		.rewrites = true,
		.drops = static_drops,
		.destroy = static_destroy,
		.burst = burst };
	struct static_loop *s;

	if (shared.users == 0 && !shared_create(table))
		return way;
	shared.users++;
	s = bench_alloc(1, sizeof(*s));
	s->rig = rig;
	s->lpm = shared.lpm;
	s->fib6 = shared.fib6;
	s->burst = burst;
	for (unsigned int hop = 0; hop < HOPS; hop++)
		s->hops[hop].l2 = l3fwd_hop_header(hop);
	way.run = run;
	way.arg = s;
	return way;
}

struct l3fwd_way
static_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table)
{
	const struct l3fwd_traffic *traffic = rig->traffic;

	return way_create(rig, table, "static", BURST,
		traffic->ip6 == 0                    ? static_run
			: traffic->ip6 == traffic->n ? static6_run
						     : static46_run);
}

struct l3fwd_way
static_burst_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table, uint16_t burst)
{
	return way_create(rig, table, "static", burst, static_burst_run);
}

struct l3fwd_way
static_checked_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table)
{
	return way_create(rig, table, "static_checked", BURST,
		table->n6 == 0 ? static_checked_run : static46_checked_run);
}

static void
rxtx_run(void *arg, uint64_t turns)
{
	const struct l3fwd_rig *rig = arg;
	const uint16_t *port = rig->port[USERS_ALL], queue = (uint16_t)rig->lane;
	struct rte_mbuf *mbufs[RXTX_BURST];

	while (turns-- > 0 && rig_pending(rig)) {
		for (unsigned int p = 0; p < rig->nb_ports; p++) {
			const uint16_t n = rte_eth_rx_burst(port[p], queue, mbufs, RXTX_BURST);
			const unsigned int to = p + 1 < rig->nb_ports ? p + 1 : 0;

			if (n > 0)
				rte_eth_tx_burst(port[to], queue, mbufs, n);
		}
	}
}

static uint64_t
rxtx_drops(void *arg __rte_unused)
{
	return 0;
}

struct l3fwd_way
rxtx_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table __rte_unused)
{
	return (struct l3fwd_way){ .name = "rxtx",
		.users = USERS_ALL,
		.run = rxtx_run,
		.drops = rxtx_drops,
		.destroy = field_keep,
		.burst = RXTX_BURST,
		.arg = (void *)(uintptr_t)rig };
}
