/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bridge by hand: what the nodes of the graph do to untagged frames of two ports, in one loop,
 * with the table's kernel for sources and destinations of a burst at once. It shows what the graph
 * costs.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "l2_rig.h"

#define BURST L2_BURST
#define PREFETCH 3

struct loop {
	uint16_t port[L2_PORTS];
	struct rte_ring *pending[L2_PORTS];
	const struct hy_l2_view *view;
	hy_l2_find_t *find;
	uint64_t unknown; /* sources that would be learned */
};

/*
 * What l2_input refuses: tags and what is too short, reserved destinations, sources of groups and
 * 0.
 */
static __rte_always_inline bool
refused(const struct rte_mbuf *m, const uint8_t *frame, uint64_t to, uint64_t from)
{
	const uint64_t source = from & HY_L2_KEY_MAC;
	rte_be16_t type;

	memcpy(&type, frame + 12, sizeof(type));
	return m->nb_segs != 1 || m->data_len < 18 || type == RTE_BE16(0x8100) ||
		(to & HY_L2_KEY_MAC & ~(UINT64_C(0xf) << 40)) == UINT64_C(0x0000c28001) ||
		(source & 1) != 0 || source == 0;
}

static __rte_always_inline void
forward(struct loop *l, unsigned int in, struct rte_mbuf **mbufs, unsigned int n)
{
	const struct hy_l2_view *view = l->view;
	uint64_t key[2 * BURST];
	uint32_t slot[2 * BURST];
	uint16_t from[BURST], to[BURST];
	uint8_t verdict[BURST];
	unsigned int k = 0;
	bool same = true;

	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);

		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH], void *));
		key[k] = hy_l2_key_load(frame, L2_VID);
		key[BURST + k] = hy_l2_key_load(frame + 6, L2_VID);
		if (unlikely(refused(mbufs[i], frame, key[k], key[BURST + k]))) {
			rte_pktmbuf_free(mbufs[i]);
			continue;
		}
		from[k] = (uint16_t)(in + 1);
		mbufs[k++] = mbufs[i];
	}
	if (unlikely(k == 0))
		return;
	l->find(view, key + BURST, slot, k);
	l->unknown += hy_l2_sources(view, slot, from, verdict, k);
	l->find(view, key, slot, k);
	hy_l2_ports(view, slot, to, k);
	for (unsigned int i = 0; i < k; i++)
		same &= to[i] == 2 - in;
	if (likely(same)) {
		uint16_t sent = rte_eth_tx_burst(l->port[1 - in], 0, mbufs, (uint16_t)k);

		for (; unlikely(sent < k); sent++)
			rte_pktmbuf_free(mbufs[sent]);
		return;
	}
	for (unsigned int i = 0; i < k; i++)
		if (to[i] != 2 - in || rte_eth_tx_burst(l->port[1 - in], 0, &mbufs[i], 1) == 0)
			rte_pktmbuf_free(mbufs[i]);
}

static void
run(void *arg)
{
	struct rte_mbuf *mbufs[BURST];
	struct loop *l = arg;

	while (l2_rig_pending(l->pending)) {
		for (unsigned int p = 0; p < L2_PORTS; p++) {
			const uint16_t n = rte_eth_rx_burst(l->port[p], 0, mbufs, BURST);

			if (n > 0)
				forward(l, p, mbufs, n);
		}
	}
}

struct l2_way
l2_by_hand_create(const struct l2_rig *rig, const struct hy_l2_table *table,
	const struct l2_form *form)
{
	struct l2_way way = { .name = "by_hand", .form = *form, .run = run, .free = free };
	struct loop *l;

	if (table == NULL)
		return way;
	l = bench_alloc(1, sizeof(*l));
	for (unsigned int p = 0; p < L2_PORTS; p++) {
		l->port[p] = rig->port[p];
		l->pending[p] = rig->rx[p];
	}
	l->view = hy_l2_table_view(table);
	l->find = l2_kernel_best();
	way.arg = l;
	return way;
}
