/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of simulated NICs: packets come from a wire or a feed of frames, and go to a wire. */

#include <string.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_jhash.h>
#include <rte_mbuf.h>

#include "nic.h"

#define IP4_ADDRESSES 26 /* their offset in an untagged frame */

/* Its ring is created when the queue is first set up, and lives as long as the port. */
static int
queue_setup(struct rte_eth_dev *dev, struct queue *queue, const char *direction, uint16_t index,
	unsigned int socket)
{
	char name[RTE_RING_NAMESIZE];

	queue->nic = nic_of_dev(dev);
	queue->port = dev->data->port_id;
	if (queue->wire != NULL)
		return 0;
	snprintf(name, sizeof(name), "simnic%u_%s%u", queue->port, direction, index);
	queue->wire = rte_ring_create(name, SIMNIC_WIRE, (int)socket, RING_F_EXACT_SZ);
	return queue->wire != NULL ? 0 : -rte_errno;
}

int
nic_rx_setup(struct rte_eth_dev *dev, uint16_t index, uint16_t nb_desc __rte_unused,
	unsigned int socket, const struct rte_eth_rxconf *conf __rte_unused,
	struct rte_mempool *pool)
{
	struct queue *queue = &nic_of_dev(dev)->rx[index];

	if (!nic_pool_fits(nic_of_dev(dev), pool))
		return -EINVAL;
	queue->pool = pool;
	dev->data->rx_queues[index] = queue;
	return queue_setup(dev, queue, "rx", index, socket);
}

int
nic_tx_setup(struct rte_eth_dev *dev, uint16_t index, uint16_t nb_desc __rte_unused,
	unsigned int socket, const struct rte_eth_txconf *conf __rte_unused)
{
	struct queue *queue = &nic_of_dev(dev)->tx[index];

	dev->data->tx_queues[index] = queue;
	return queue_setup(dev, queue, "tx", index, socket);
}

static void
queue_free(struct queue *queue)
{
	struct rte_mbuf *pkt;

	while (queue->wire != NULL && rte_ring_dequeue(queue->wire, (void **)&pkt) == 0)
		rte_pktmbuf_free(pkt);
	rte_ring_free(queue->wire);
	nic_capture_free(queue->capture);
	nic_dump_close(queue->dump);
	queue->wire = NULL;
	queue->capture = NULL;
	queue->dump = NULL;
}

void
nic_queues_free(struct nic *nic)
{
	for (uint16_t q = 0; q < SIMNIC_QUEUES; q++) {
		queue_free(&nic->rx[q]);
		queue_free(&nic->tx[q]);
	}
}

/* Fills a packet, and as many more segments as needed. False: no mbufs; the packet was freed. */
static bool
fill(struct rte_mbuf *pkt, const struct simnic_frame *frame, struct rte_mempool *pool)
{
	struct rte_mbuf *at = pkt;
	uint16_t done = 0;

	for (;;) {
		const uint16_t n = RTE_MIN(rte_pktmbuf_tailroom(at), frame->len - done);

		rte_memcpy(rte_pktmbuf_mtod(at, void *), frame->data + done, n);
		rte_pktmbuf_data_len(at) = n;
		done += n;
		if (done == frame->len)
			break;
		at->next = rte_pktmbuf_alloc(pool);
		if (at->next == NULL) {
			rte_pktmbuf_free(pkt);
			return false;
		}
		at = at->next;
		pkt->nb_segs++;
	}
	rte_pktmbuf_pkt_len(pkt) = frame->len;
	return true;
}

/* Makes packets from the next frames of a feed. */
static uint16_t
feed(struct queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct feed *feed = &queue->feed;
	const uint64_t left = __atomic_load_n(&feed->left, __ATOMIC_ACQUIRE);

	n = (uint16_t)RTE_MIN(left, n);
	if (n == 0)
		return 0;
	if (rte_pktmbuf_alloc_bulk(queue->pool, pkts, n) != 0) {
		__atomic_fetch_add(&queue->no_mbufs, 1, __ATOMIC_RELAXED);
		return 0;
	}
	for (uint16_t i = 0; i < n; i++) {
		if (!fill(pkts[i], &feed->frames[feed->next], queue->pool)) {
			__atomic_fetch_add(&queue->no_mbufs, 1, __ATOMIC_RELAXED);
			rte_pktmbuf_free_bulk(pkts + i + 1, n - i - 1);
			n = i;
			break;
		}
		feed->next = feed->next + 1 < feed->n ? feed->next + 1 : 0;
	}
	__atomic_store_n(&feed->left, left - n, __ATOMIC_RELEASE);
	return n;
}

/* Stands in for the RSS hash: a hash of the addresses, for flow ids of events. */
static uint32_t
hash_of(const struct rte_mbuf *pkt)
{
	uint32_t addresses[2];

	if (rte_pktmbuf_data_len(pkt) < IP4_ADDRESSES + sizeof(addresses))
		return 0;
	memcpy(addresses, rte_pktmbuf_mtod_offset(pkt, const void *, IP4_ADDRESSES),
		sizeof(addresses));
	return rte_jhash_32b(addresses, RTE_DIM(addresses), 0);
}

void
simnic_sync(void)
{
#ifdef __SANITIZE_THREAD__
	static unsigned int handed;

	__atomic_fetch_add(&handed, 1, __ATOMIC_ACQ_REL);
#endif
}

uint16_t
nic_rx(void *arg, struct rte_mbuf **pkts, uint16_t room)
{
	struct queue *queue = arg;
	uint64_t bytes = 0;
	uint16_t n;

	if (!nic_works(queue->nic))
		return 0;
	n = (uint16_t)rte_ring_dequeue_burst(queue->wire, (void **)pkts, room, NULL);
	simnic_sync();
	if (n < room)
		n += feed(queue, pkts + n, room - n);
	for (uint16_t i = 0; i < n; i++) {
		pkts[i]->port = queue->port;
		pkts[i]->ol_flags = RTE_MBUF_F_RX_RSS_HASH;
		pkts[i]->hash.rss = hash_of(pkts[i]);
		bytes += rte_pktmbuf_pkt_len(pkts[i]);
	}
	__atomic_fetch_add(&queue->packets, n, __ATOMIC_RELAXED);
	__atomic_fetch_add(&queue->bytes, bytes, __ATOMIC_RELAXED);
	n = hy_flow_sim_rx(queue->nic->engine, pkts, n);
	for (uint16_t i = 0; i < n && __atomic_load_n(&queue->nic->strips, __ATOMIC_RELAXED); i++)
		if (pkts[i]->data_len >= sizeof(struct rte_ether_hdr) + RTE_VLAN_HLEN)
			rte_vlan_strip(pkts[i]);
	return n;
}

uint16_t
nic_tx(void *arg, struct rte_mbuf **pkts, uint16_t n)
{
	struct queue *queue = arg;
	const bool wired = __atomic_load_n(&queue->wired, __ATOMIC_ACQUIRE);
	uint64_t bytes = 0;
	uint16_t space = n;

	if (!nic_works(queue->nic))
		return 0;
	if (wired)
		space = (uint16_t)RTE_MIN(rte_ring_free_count(queue->wire), n);
	for (uint16_t i = 0; i < space; i++)
		bytes += rte_pktmbuf_pkt_len(pkts[i]);
	simnic_sync();
	if (!wired && queue->dump != NULL)
		nic_dump_write(queue->dump, pkts, space);
	if (wired)
		space = (uint16_t)rte_ring_enqueue_burst(queue->wire, (void **)pkts, space, NULL);
	else
		rte_pktmbuf_free_bulk(pkts, space);
	__atomic_fetch_add(&queue->packets, space, __ATOMIC_RELAXED);
	__atomic_fetch_add(&queue->bytes, bytes, __ATOMIC_RELAXED);
	return space;
}

int
nic_stats(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	struct nic *nic = nic_of_dev(dev);
	struct hy_flow_sim_stats engine;

	if ((nic->clears & NIC_COUNTS_STARTED) != 0 && !dev->data->dev_started)
		return 0;
	for (uint16_t q = 0; q < SIMNIC_QUEUES; q++) {
		stats->ipackets += __atomic_load_n(&nic->rx[q].packets, __ATOMIC_RELAXED);
		stats->ibytes += __atomic_load_n(&nic->rx[q].bytes, __ATOMIC_RELAXED);
		stats->rx_nombuf += __atomic_load_n(&nic->rx[q].no_mbufs, __ATOMIC_RELAXED);
		stats->opackets += __atomic_load_n(&nic->tx[q].packets, __ATOMIC_RELAXED);
		stats->obytes += __atomic_load_n(&nic->tx[q].bytes, __ATOMIC_RELAXED);
	}
	/* A register that nobody answers for reads as all ones. */
	stats->imissed = nic_works(nic) ? __atomic_load_n(&nic->missed, __ATOMIC_RELAXED)
					: UINT32_MAX;
	if (!nic_works(nic))
		__atomic_fetch_add(&nic->offences.stats_unanswered, 1, __ATOMIC_RELAXED);
	hy_flow_sim_stats(nic->engine, &engine);
	stats->ipackets -= engine.dropped + engine.missed + engine.filtered;
	return 0;
}

int
nic_stats_reset(struct rte_eth_dev *dev __rte_unused)
{
	return -ENOTSUP;
}

struct rte_ring *
simnic_rx_wire(uint16_t port, uint16_t queue)
{
	return nic_of(port)->rx[queue].wire;
}

struct rte_ring *
simnic_tx_wire(uint16_t port, uint16_t queue)
{
	struct queue *tx = &nic_of(port)->tx[queue];

	__atomic_store_n(&tx->wired, true, __ATOMIC_RELEASE);
	return tx->wire;
}

void
simnic_feed(uint16_t port, uint16_t queue, const struct simnic_frame *frames, uint32_t n,
	uint64_t total)
{
	struct feed *to = &nic_of(port)->rx[queue].feed;

	RTE_VERIFY(simnic_feed_left(port, queue) == 0 && n > 0);
	to->frames = frames;
	to->n = n;
	to->next = 0;
	__atomic_store_n(&to->left, total, __ATOMIC_RELEASE);
}

uint64_t
simnic_feed_left(uint16_t port, uint16_t queue)
{
	return __atomic_load_n(&nic_of(port)->rx[queue].feed.left, __ATOMIC_ACQUIRE);
}
