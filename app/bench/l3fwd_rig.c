/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig of the l3fwd benchmark: ports over rings, and the packets in them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "l3fwd.h"

#define PORTS_BIG 2 /* ports of works with many packets or several lanes */
#define RING_BIG (1 << 18)
#define RING_SMALL (1 << 13)
#define PORTS_ALL (L3FWD_PORTS + 1) /* including the looping one */
#define PRIVATE_SIZE 64             /* librte_node needs it in every mbuf */
/* Small, so that many packets take little memory. */
#define DATA_ROOM (RTE_PKTMBUF_HEADROOM + 128)
#define POOL_CACHE 256
#define DRAIN_BURST 64

static struct {
	struct rte_ring *rx[PORTS_ALL][L3FWD_LANES], *tx[PORTS_ALL][L3FWD_LANES];
	uint16_t port[USERS][PORTS_ALL];
	unsigned int lanes;
	uint16_t burst;
	eth_rx_burst_t receive; /* the driver's */
} rigs;

static struct rte_ring *
ring_create(const char *what, unsigned int port, unsigned int lane)
{
	const unsigned int size = port < PORTS_BIG ? RING_BIG : RING_SMALL;
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;

	snprintf(name, sizeof(name), "l3fwd_%s_%u_%u", what, port, lane);
	ring = rte_ring_create(name, size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (ring == NULL)
		bench_cannot("no memory for a ring of %u packets", size);
	return ring;
}

static struct rte_mempool *
pool_create(const char *name, uint32_t n)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(name, n,
		n > 2 * POOL_CACHE ? POOL_CACHE : 0, PRIVATE_SIZE, DATA_ROOM, SOCKET_ID_ANY);

	if (pool == NULL)
		bench_cannot("no memory for %u packets", n);
	return pool;
}

/*
 * Creates one of the ethdevs over a port's rings. Returns its id, or -1. ethdev requires a pool,
 * which net_ring does not use.
 */
static int
port_create(unsigned int which, unsigned int port, struct rte_mempool *none)
{
	const struct rte_eth_conf conf = { 0 };
	const unsigned int lanes = rigs.lanes;
	char name[16];
	int id, rc;

	snprintf(name, sizeof(name), "l3fwd_%u_%u", which, port);
	id = rte_eth_from_rings(name, rigs.rx[port], lanes, rigs.tx[port], lanes, SOCKET_ID_ANY);
	if (id < 0)
		return bench_cannot("net_ring: %s", rte_strerror(rte_errno));
	rc = rte_eth_dev_configure((uint16_t)id, (uint16_t)lanes, (uint16_t)lanes, &conf);
	for (uint16_t q = 0; rc == 0 && q < lanes; q++) {
		rc = rte_eth_rx_queue_setup((uint16_t)id, q, 0, SOCKET_ID_ANY, NULL, none);
		if (rc == 0)
			rc = rte_eth_tx_queue_setup((uint16_t)id, q, 0, SOCKET_ID_ANY, NULL);
	}
	if (rc == 0)
		rc = rte_eth_dev_start((uint16_t)id);
	return rc < 0 ? bench_cannot("net_ring: %s", strerror(-rc)) : id;
}

/*
 * net_ring keeps the counters of a port's queues in one cache line, which lcores would contend for.
 * Makes the other lanes use those of another port over the same rings.
 */
static int
queues_separate(unsigned int port, struct rte_mempool *none)
{
	for (unsigned int l = 1; l < rigs.lanes; l++) {
		const int other = port_create(USERS + l - 1, port, none);

		if (other < 0)
			return -1;

		for (enum l3fwd_users u = 0; u < USERS; u++) {
			const struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[rigs.port[u][port]];

			ops->rxq.data[l] = rte_eth_fp_ops[other].rxq.data[l];
			ops->txq.data[l] = rte_eth_fp_ops[other].txq.data[l];
		}
	}
	return 0;
}

int
rig_ports(unsigned int lanes)
{
	struct rte_mempool *none = pool_create("l3fwd_none", 1);

	rigs.lanes = lanes;
	if (none == NULL)
		return -1;
	for (unsigned int p = 0; p < PORTS_ALL; p++) {
		for (unsigned int l = 0; l < lanes; l++) {
			rigs.rx[p][l] = ring_create("rx", p, l);
			rigs.tx[p][l] = p == RIG_LOOP ? rigs.rx[p][l] : ring_create("tx", p, l);
			if (rigs.rx[p][l] == NULL || rigs.tx[p][l] == NULL)
				return -1;
		}
		for (enum l3fwd_users u = 0; u < USERS; u++) {
			const int id = port_create(u, p, none);

			if (id < 0)
				return -1;
			rigs.port[u][p] = (uint16_t)id;
		}
		if (p < PORTS_BIG && queues_separate(p, none) < 0)
			return -1;
	}
	rigs.receive = rte_eth_fp_ops[rigs.port[0][0]].rx_pkt_burst;
	return 0;
}

uint16_t
rig_port(enum l3fwd_users users, unsigned int port)
{
	return rigs.port[users][port];
}

unsigned int
rig_lanes(void)
{
	return rigs.lanes;
}

static uint16_t
receive_few(void *queue, struct rte_mbuf **mbufs, uint16_t n)
{
	return rigs.receive(queue, mbufs, RTE_MIN(n, rigs.burst));
}

void
rig_burst(uint16_t most)
{
	rigs.burst = most;
	for (enum l3fwd_users u = 0; u < USERS; u++)
		for (unsigned int p = 0; p < PORTS_ALL; p++)
			rte_eth_fp_ops[rigs.port[u][p]].rx_pkt_burst = most > 0 ? receive_few
										: rigs.receive;
}

int
rig_open(struct l3fwd_rig *rig, unsigned int lane, unsigned int nb_ports, bool loop,
	struct l3fwd_traffic *traffic)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	*rig = (struct l3fwd_rig){
		.lane = lane, .nb_ports = nb_ports, .loop = loop, .traffic = traffic
	};
	if (traffic == NULL)
		return -1;
	for (unsigned int p = 0; p < nb_ports; p++) {
		const unsigned int which = loop ? RIG_LOOP : p;

		rig->rx[p] = rigs.rx[which][lane];
		rig->tx[p] = rigs.tx[which][lane];
		for (enum l3fwd_users u = 0; u < USERS; u++)
			rig->port[u][p] = rigs.port[u][which];
		if (traffic->n > rte_ring_get_capacity(rig->tx[p]))
			return bench_cannot("%u packets do not fit in a ring", traffic->n);
	}
	snprintf(name, sizeof(name), "l3fwd_%u", lane);
	rig->pool = pool_create(name, traffic->n);
	rig->mbufs = bench_alloc(traffic->n, sizeof(struct rte_mbuf *));
	if (rig->pool == NULL || rte_pktmbuf_alloc_bulk(rig->pool, rig->mbufs, traffic->n) < 0)
		return bench_cannot("no memory for %u packets", traffic->n);
	return 0;
}

void
rig_close(struct l3fwd_rig *rig)
{
	rte_mempool_free(rig->pool);
	free(rig->mbufs);
	free(rig->traffic);
}

void
rig_fill(struct l3fwd_rig *rig)
{
	struct l3fwd_traffic *traffic = rig->traffic;
	unsigned int port = 0;

	traffic_lap(traffic);
	for (unsigned int p = 0; p < rig->nb_ports; p++) {
		rte_ring_reset(rig->rx[p]);
		rte_ring_reset(rig->tx[p]);
	}
	for (uint32_t i = 0; i < traffic->n; i++) {
		traffic_write(traffic, i, rig->mbufs[i]);
		rte_ring_enqueue(rig->rx[port], rig->mbufs[i]);
		port = port + 1 < rig->nb_ports ? port + 1 : 0;
	}
}

uint64_t
rig_received(const struct l3fwd_rig *rig, enum l3fwd_users users)
{
	uint64_t sum = 0;

	for (unsigned int p = 0; p < rig->nb_ports; p++) {
		struct rte_eth_stats stats = { 0 };

		rte_eth_stats_get(rig->port[users][p], &stats);
		sum += stats.ipackets;
	}
	return sum;
}

/* The content of the transmit rings. */
struct drained {
	uint32_t packets;
	uint64_t hops;     /* of all packets */
	const char *wrong; /* error of the last wrong packet; NULL: none */
};

static void
port_drain(struct l3fwd_rig *rig, unsigned int port, bool rewrites, struct drained *d)
{
	struct rte_mbuf *mbufs[DRAIN_BURST];
	unsigned int n;

	while ((n = rte_ring_dequeue_burst(rig->tx[port], (void **)mbufs, DRAIN_BURST, NULL)) > 0) {
		for (unsigned int i = 0; i < n; i++) {
			const unsigned int once = rewrites ? 1 : 0;
			const unsigned int hops = rewrites && rig->loop
				? traffic_hops(rig->traffic, mbufs[i])
				: once;
			const char *wrong = traffic_check(rig->traffic, mbufs[i], port, hops);

			d->hops += hops;
			if (wrong != NULL)
				d->wrong = wrong;
		}
		d->packets += n;
	}
}

/* Takes dropped packets back from the pool. */
static bool
dropped_take(struct l3fwd_rig *rig, uint32_t n)
{
	struct rte_mbuf **taken;
	bool all;

	if (n == 0)
		return rte_mempool_avail_count(rig->pool) == 0;
	taken = bench_alloc(n, sizeof(struct rte_mbuf *));
	all = rte_mempool_avail_count(rig->pool) == n &&
		rte_pktmbuf_alloc_bulk(rig->pool, taken, n) == 0;
	free(taken);
	return all;
}

bool
rig_check(struct l3fwd_rig *rig, const char *name, bool rewrites, uint64_t forwarded,
	uint64_t drops)
{
	const uint32_t n = rig->traffic->n;
	uint32_t due = rewrites ? rig->traffic->routed : n;
	struct drained d = { 0 };

	for (unsigned int p = 0; p < rig->nb_ports; p++)
		port_drain(rig, p, rewrites, &d);
	if (rig->traffic->may_drop)
		due = RTE_MIN(due, d.packets);
	if (d.wrong != NULL)
		fprintf(stderr, "hy-bench: l3fwd: %s: a packet is wrong: %s\n", name, d.wrong);
	else if (d.packets != due || drops != n - due)
		fprintf(stderr,
			"hy-bench: l3fwd: %s: of %u packets %u were sent, not %u, and %lu dropped\n",
			name, n, d.packets, due, (unsigned long)drops);
	else if (rewrites && d.hops != forwarded - drops)
		fprintf(stderr, "hy-bench: l3fwd: %s: TTLs are less by %lu, not %lu\n", name,
			(unsigned long)d.hops, (unsigned long)(forwarded - drops));
	else if (!dropped_take(rig, n - due))
		fprintf(stderr, "hy-bench: l3fwd: %s: packets that it dropped were not freed\n",
			name);
	else
		return true;
	/* The next contender starts with all packets. */
	dropped_take(rig, rte_mempool_avail_count(rig->pool));
	return false;
}
