/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of DPDK's l2fwd: bursts of 32 from each port, prefetched and sent through the other
 * port by rte_eth_tx_buffer(), with the addresses of l2fwd's --mac-updating. Without its timers
 * and statistics. It looks nothing up. It adds a tag where the bridge that it is compared with
 * does.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "l2_rig.h"

#define BURST 32

struct loop {
	uint16_t port[L2_PORTS];
	struct rte_ring *pending[L2_PORTS];
	struct rte_ether_addr mac[L2_PORTS], next[L2_PORTS];
	struct rte_eth_dev_tx_buffer *buffer[L2_PORTS];
};

static __rte_always_inline bool
tag_push(struct rte_mbuf *m)
{
	static const uint8_t tag[] = { 0x81, 0, 0, L2_VID };
	char *frame = rte_pktmbuf_prepend(m, sizeof(tag));

	if (unlikely(frame == NULL))
		return false;
	memmove(frame, frame + sizeof(tag), 2 * sizeof(struct rte_ether_addr));
	memcpy(frame + 2 * sizeof(struct rte_ether_addr), tag, sizeof(tag));
	return true;
}

static __rte_always_inline void
forward(struct loop *l, unsigned int to, struct rte_mbuf *m, bool push)
{
	struct rte_ether_hdr *eth;

	if (push && !tag_push(m)) {
		rte_pktmbuf_free(m);
		return;
	}
	eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	rte_ether_addr_copy(&l->next[to], &eth->dst_addr);
	rte_ether_addr_copy(&l->mac[to], &eth->src_addr);
	rte_eth_tx_buffer(l->port[to], 0, l->buffer[to], m);
}

static __rte_always_inline void
run(struct loop *l, bool push)
{
	struct rte_mbuf *mbufs[BURST];

	while (l2_rig_pending(l->pending)) {
		for (unsigned int p = 0; p < L2_PORTS; p++) {
			const uint16_t n = rte_eth_rx_burst(l->port[p], 0, mbufs, BURST);

			for (uint16_t i = 0; i < n; i++) {
				rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
				forward(l, 1 - p, mbufs[i], push);
			}
		}
	}
	for (unsigned int p = 0; p < L2_PORTS; p++)
		rte_eth_tx_buffer_flush(l->port[p], 0, l->buffer[p]);
}

static void
run_plain(void *arg)
{
	run(arg, false);
}

static void
run_push(void *arg)
{
	run(arg, true);
}

static void
loop_free(void *arg)
{
	struct loop *l = arg;

	for (unsigned int p = 0; p < L2_PORTS; p++)
		free(l->buffer[p]);
	free(l);
}

struct l2_way
l2_static_create(const struct l2_rig *rig, const struct l2_form *form)
{
	struct loop *l = bench_alloc(1, sizeof(*l));
	struct l2_way way = { .name = "l2fwd",
		.form = *form,
		.arg = l,
		.run = form->tagged_in == form->tagged_out ? run_plain : run_push,
		.free = loop_free };

	way.form.macs_updated = true;
	for (unsigned int p = 0; p < L2_PORTS; p++) {
		l->port[p] = rig->port[p];
		l->pending[p] = rig->rx[p];
		l2_port_mac(p, l->mac[p].addr_bytes);
		l2_next_mac(p, l->next[p].addr_bytes);
		l->buffer[p] = bench_alloc(1, RTE_ETH_TX_BUFFER_SIZE(BURST));
		rte_eth_tx_buffer_init(l->buffer[p], BURST);
	}
	return way;
}
