/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adapters of the simulated event_cn10k: internal ports to and from net_cn10k, with event vectors.
 * After event/cnxk/cn10k_eventdev.c and cnxk_eventdev_adptr.c of DPDK v22.11.
 */

#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "event.h"

#define KIN "net_cn10k"
#define BURST 32
#define VECTOR_MIN 4    /* common/cnxk: 1 << ROC_NIX_VWQE_MIN_SIZE_LOG2 */
#define VECTOR_MAX 2048 /* 1 << ROC_NIX_VWQE_MAX_SIZE_LOG2 */
#define VECTOR_NS 100
#define VECTOR_NS_MAX (511 * VECTOR_NS)
#define FLOW_IDS (1u << 20)

/* Whether a port and this event device are blocks of the same SoC. */
static bool
is_kin(const struct rte_eth_dev *eth)
{
	return strcmp(eth->device->driver->name, KIN) == 0;
}

static int
rx_caps(const struct rte_eventdev *dev __rte_unused, const struct rte_eth_dev *eth, uint32_t *caps)
{
	*caps = is_kin(eth) ? RTE_EVENT_ETH_RX_ADAPTER_CAP_INTERNAL_PORT |
			RTE_EVENT_ETH_RX_ADAPTER_CAP_MULTI_EVENTQ |
			RTE_EVENT_ETH_RX_ADAPTER_CAP_OVERRIDE_FLOW_ID |
			RTE_EVENT_ETH_RX_ADAPTER_CAP_EVENT_VECTOR
			    : RTE_EVENT_ETH_RX_ADAPTER_SW_CAP;
	return 0;
}

static int
vector_limits(const struct rte_eventdev *dev __rte_unused, const struct rte_eth_dev *eth,
	struct rte_event_eth_rx_adapter_vector_limits *limits)
{
	if (!is_kin(eth))
		return -ENOTSUP;
	limits->log2_sz = true;
	limits->min_sz = VECTOR_MIN;
	limits->max_sz = VECTOR_MAX;
	limits->min_timeout_ns = VECTOR_NS;
	limits->max_timeout_ns = VECTOR_NS_MAX;
	return 0;
}

static struct event_rx *
rx_find(struct event_device *device, const struct nic *nic, uint16_t queue)
{
	for (int i = 0; i < EVENT_RX; i++)
		if (device->rx[i].nic == nic && (nic == NULL || device->rx[i].queue == queue))
			return &device->rx[i];
	return NULL;
}

static int
rx_add_one(struct event_device *device, const struct rte_eth_dev *eth, uint16_t queue,
	const struct rte_event_eth_rx_adapter_queue_conf *conf)
{
	struct nic *nic = nic_of_dev(eth);
	struct event_rx *rx = rx_find(device, nic, queue);

	if (rx == NULL)
		rx = rx_find(device, NULL, 0);
	if (rx == NULL)
		return -ENOSPC;
	pthread_mutex_lock(
		&rx->lock); /* a port may still be polling the queue that was here before */
	rx->port = eth->data->port_id;
	rx->queue = queue;
	/*
	 * cnxk_sso_rx_adapter_queue_add(): dev->rx_offloads copies the port's flags at this moment.
	 */
	rx->marks = nic->negotiated;
	rx->own_flow_id = (conf->rx_queue_flags & RTE_EVENT_ETH_RX_ADAPTER_QUEUE_FLOW_ID_VALID) !=
		0;
	rx->event = conf->ev;
	rx->event.op = RTE_EVENT_OP_NEW;
	rx->event.event_type = RTE_EVENT_TYPE_ETHDEV;
	rx->vector_size = 0;
	if ((conf->rx_queue_flags & RTE_EVENT_ETH_RX_ADAPTER_QUEUE_EVENT_VECTOR) != 0) {
		rx->event.event_type = RTE_EVENT_TYPE_ETHDEV_VECTOR;
		rx->vector_size = conf->vector_sz;
		rx->vector_pool = conf->vector_mp;
		rx->vector_cycles = conf->vector_timeout_ns * rte_get_tsc_hz() / NS_PER_S;
	}
	__atomic_store_n(&rx->nic, nic, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&rx->lock);
	return 0;
}

static int
rx_add(const struct rte_eventdev *dev, const struct rte_eth_dev *eth, int32_t queue,
	const struct rte_event_eth_rx_adapter_queue_conf *conf)
{
	int rc = 0;

	if (!is_kin(eth))
		return -EINVAL;
	event_restart(dev); /* to v24.11: cnxk_sso_xae_reconfigure() */
	if (queue >= 0)
		return rx_add_one(dev->data->dev_private, eth, (uint16_t)queue, conf);
	for (uint16_t q = 0; q < eth->data->nb_rx_queues && rc == 0; q++)
		rc = rx_add_one(dev->data->dev_private, eth, q, conf);
	return rc;
}

static int
rx_del(const struct rte_eventdev *dev, const struct rte_eth_dev *eth, int32_t queue)
{
	struct event_device *device = dev->data->dev_private;

	for (int i = 0; i < EVENT_RX; i++) {
		struct event_rx *rx = &device->rx[i];

		if (rx->nic != nic_of_dev(eth) || (queue >= 0 && rx->queue != queue))
			continue;
		pthread_mutex_lock(&rx->lock);
		if (rx->open != NULL) {
			rte_pktmbuf_free_bulk(rx->open->mbufs, rx->open->nb_elem);
			rte_mempool_put(rx->vector_pool, rx->open);
		}
		rx->open = NULL;
		__atomic_store_n(&rx->nic, NULL, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&rx->lock);
	}
	return 0;
}

/* cnxk_sso_rx_adapter_start(), _stop(): packets arrive once their queue is added. */
static int
rx_start_stop(const struct rte_eventdev *dev __rte_unused,
	const struct rte_eth_dev *eth __rte_unused)
{
	return 0;
}

static void
event_put(struct event_device *device, struct event_rx *rx, struct rte_event event)
{
	simnic_sync();
	/* The ring has room: event_rx_poll() checked, and holds the lock of this receive queue. */
	while (rte_ring_enqueue_elem(device->queues[rx->event.queue_id].ring, &event,
		       sizeof(event)) != 0)
		rte_pause();
}

static void
vector_put(struct event_device *device, struct event_rx *rx)
{
	struct rte_event event = rx->event;

	event.vec = rx->open;
	rx->open = NULL;
	event_put(device, rx, event);
}

/* The vector being filled; NULL: the pool is empty. */
static struct rte_event_vector *
vector_open(struct event_rx *rx)
{
	if (rx->open != NULL || rte_mempool_get(rx->vector_pool, (void **)&rx->open) != 0)
		return rx->open;
	rx->open->nb_elem = 0;
	rx->open->elem_offset = 0;
	rx->open->attr_valid = 1;
	rx->open->port = rx->port;
	rx->open->queue = rx->queue;
	rx->opened = rte_rdtsc();
	return rx->open;
}

static void
hide_marks(struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		pkts[i]->ol_flags &= ~(RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID);
}

static void
poll_vector(struct event_device *device, struct event_rx *rx)
{
	struct rte_event_vector *vector = vector_open(rx);
	struct rte_mbuf **at;
	uint16_t n;

	if (vector == NULL)
		return;
	at = &vector->mbufs[vector->nb_elem];
	n = nic_rx(&rx->nic->rx[rx->queue], at,
		(uint16_t)RTE_MIN(rx->vector_size - vector->nb_elem, BURST));
	if (!rx->marks)
		hide_marks(at, n);
	vector->nb_elem += n;
	if (vector->nb_elem == rx->vector_size ||
		(vector->nb_elem > 0 && rte_rdtsc() - rx->opened >= rx->vector_cycles))
		vector_put(device, rx);
}

static void
poll_packets(struct event_device *device, struct event_rx *rx)
{
	struct rte_mbuf *pkts[BURST];
	const uint16_t n = nic_rx(&rx->nic->rx[rx->queue], pkts, BURST);

	if (!rx->marks)
		hide_marks(pkts, n);
	for (uint16_t i = 0; i < n; i++) {
		struct rte_event event = rx->event;

		if (!rx->own_flow_id)
			event.flow_id = pkts[i]->hash.rss & (FLOW_IDS - 1);
		event.mbuf = pkts[i];
		event_put(device, rx, event);
	}
}

void
event_rx_poll(struct event_device *device, uint8_t queue)
{
	for (int i = 0; i < EVENT_RX; i++) {
		struct event_rx *rx = &device->rx[i];

		if (__atomic_load_n(&rx->nic, __ATOMIC_ACQUIRE) == NULL ||
			pthread_mutex_trylock(&rx->lock) != 0)
			continue;
		if (rx->nic != NULL && rx->event.queue_id == queue &&
			rte_ring_free_count(device->queues[queue].ring) > EVENT_MAX / 2) {
			if (rx->vector_size > 0)
				poll_vector(device, rx);
			else
				poll_packets(device, rx);
		}
		pthread_mutex_unlock(&rx->lock);
	}
}

static int
tx_caps(const struct rte_eventdev *dev __rte_unused, const struct rte_eth_dev *eth, uint32_t *caps)
{
	*caps = is_kin(eth) ? RTE_EVENT_ETH_TX_ADAPTER_CAP_INTERNAL_PORT |
			RTE_EVENT_ETH_TX_ADAPTER_CAP_EVENT_VECTOR
			    : 0;
	return 0;
}

static int
tx_change(const struct rte_eventdev *dev, const struct rte_eth_dev *eth, int32_t queue, bool add)
{
	struct event_device *device = dev->data->dev_private;
	uint64_t *added = &device->tx_added[eth->data->port_id];
	const uint64_t bits = queue < 0 ? UINT64_MAX : UINT64_C(1) << queue;

	if (!is_kin(eth))
		return -EINVAL;
	if (add)
		__atomic_fetch_or(added, bits, __ATOMIC_RELEASE);
	else
		__atomic_fetch_and(added, ~bits, __ATOMIC_RELEASE);
	return 0;
}

static int
tx_add(uint8_t id __rte_unused, const struct rte_eventdev *dev, const struct rte_eth_dev *eth,
	int32_t queue)
{
	return tx_change(dev, eth, queue, true);
}

static int
tx_del(uint8_t id __rte_unused, const struct rte_eventdev *dev, const struct rte_eth_dev *eth,
	int32_t queue)
{
	return tx_change(dev, eth, queue, false);
}

static int
tx_start_stop(uint8_t id __rte_unused, const struct rte_eventdev *dev __rte_unused)
{
	return 0;
}

/* Sends on a queue, if it was added to the adapter. Returns how many packets were sent. */
static uint16_t
transmit(const struct event_device *device, uint16_t port, uint16_t queue, struct rte_mbuf **pkts,
	uint16_t n)
{
	if (port >= RTE_MAX_ETHPORTS || queue >= SIMNIC_QUEUES ||
		(__atomic_load_n(&device->tx_added[port], __ATOMIC_ACQUIRE) >> queue & 1) == 0)
		return 0;
	return nic_tx(&nic_of(port)->tx[queue], pkts, n);
}

/* Packets that could not be sent stay in the vector, for another try. */
static bool
send_vector(const struct event_device *device, struct rte_event_vector *vector)
{
	struct rte_mbuf **pkts = vector->mbufs + vector->elem_offset;
	uint16_t sent = 0;

	if (vector->attr_valid) {
		sent = transmit(device, vector->port, vector->queue, pkts, vector->nb_elem);
	} else {
		while (sent < vector->nb_elem &&
			transmit(device, pkts[sent]->port,
				rte_event_eth_tx_adapter_txq_get(pkts[sent]), &pkts[sent], 1) == 1)
			sent++;
	}
	vector->nb_elem -= sent;
	vector->elem_offset += sent;
	if (vector->nb_elem > 0)
		return false;
	rte_mempool_put(rte_mempool_from_obj(vector), vector);
	return true;
}

/*
 * cn10k_worker.h, SSO_TX(): takes one event a call, whatever n is. For vectors and ordered events,
 * cn10k_nix_xmit_pkts_vector() and cn10k_sso_tx_one() wait until the event that the port holds is
 * the head. A port that holds no event would wait forever; here it sends nothing instead.
 */
uint16_t
event_tx(void *arg, struct rte_event events[], uint16_t n __rte_unused)
{
	const struct event_port *port = arg;
	const bool vector = (events->event_type & RTE_EVENT_TYPE_VECTOR) != 0;
	bool sent;

	if (!port->in_hand && (vector || events->sched_type == RTE_SCHED_TYPE_ORDERED))
		return 0;
	if (vector)
		sent = send_vector(port->device, events->vec);
	else
		sent = transmit(port->device, events->mbuf->port,
			       rte_event_eth_tx_adapter_txq_get(events->mbuf), &events->mbuf,
			       1) == 1;
	return sent;
}

void
event_adapter_ops(struct eventdev_ops *ops)
{
	ops->eth_rx_adapter_caps_get = rx_caps;
	ops->eth_rx_adapter_queue_add = rx_add;
	ops->eth_rx_adapter_queue_del = rx_del;
	ops->eth_rx_adapter_start = rx_start_stop;
	ops->eth_rx_adapter_stop = rx_start_stop;
	ops->eth_rx_adapter_vector_limits_get = vector_limits;
	ops->eth_tx_adapter_caps_get = tx_caps;
	ops->eth_tx_adapter_queue_add = tx_add;
	ops->eth_tx_adapter_queue_del = tx_del;
	ops->eth_tx_adapter_start = tx_start_stop;
	ops->eth_tx_adapter_stop = tx_start_stop;
}
