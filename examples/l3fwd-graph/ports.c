/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports and packet pools. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include <hy_event.h>

#include "offloads.h"
#include "port_watch.h"
#include "ports.h"
#include "spread.h"

#define DESCRIPTORS 1024
#define POOL_CACHE 256
#define POOL_LEAST 8192
#define DRAIN_MOST (16 * DESCRIPTORS)

/* By socket; behind these by port, with --per-port-pool. */
static struct rte_mempool *pools[RTE_MAX_NUMA_NODES + RTE_MAX_ETHPORTS];
static uint32_t started; /* mask of ports */
static uint16_t nb_rx_queues[RTE_MAX_ETHPORTS];

static int __rte_format_printf(2, 3) refuse(uint16_t port, const char *format, ...)
{
	char name[RTE_ETH_NAME_MAX_LEN] = "?";
	va_list ap;

	rte_eth_dev_get_name_by_port(port, name);
	fprintf(stderr, "l3fwd-graph: port %u (%s): ", port, name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	return -1;
}

static unsigned int
rx_queues(const struct options *options, uint16_t port)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < options->nb_queues; i++)
		n += options->queues[i].port == port;
	return n;
}

/* Enough for every descriptor, and for what workers hold: packets of one port may wait on any. */
static unsigned int
pool_size(const struct options *options, unsigned int nb_workers)
{
	const unsigned int nb_ports = (unsigned int)__builtin_popcount(options->ports);
	const unsigned int nb_rx = options->nb_queues + nb_ports; /* one at least for each */
	const unsigned int held = DESCRIPTORS * (nb_rx + nb_ports * nb_workers) +
		(nb_workers + 1) * (POOL_CACHE + HY_BURST_MAX) +
		(options->event.on ? HY_EVENT_MOST : 0) + spread_held(options, nb_workers);

	return RTE_MAX((unsigned int)POOL_LEAST, held);
}

/* The pool for a port's packets, made when it is wanted first. */
static struct rte_mempool *
pool_for(const struct options *options, const struct hy_hal *hal, uint16_t port,
	unsigned int nb_workers)
{
	const char *wanted = hy_hal_port_plan(hal, port)->mempool_ops;
	const int socket = rte_eth_dev_socket_id(port);
	const bool local = options->numa && socket >= 0 && socket < RTE_MAX_NUMA_NODES;
	const unsigned int on = local ? (unsigned int)socket : 0;
	/* What a variant wants of its packets' pool is not for other ports. */
	const bool own = options->per_port_pool || wanted[0] != '\0';
	const unsigned int index = own ? RTE_MAX_NUMA_NODES + port : on;
	char name[RTE_MEMPOOL_NAMESIZE];

	if (pools[index] == NULL) {
		snprintf(name, sizeof(name), "l3fwd_%u", index);
		pools[index] = rte_pktmbuf_pool_create_by_ops(name, pool_size(options, nb_workers),
			POOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, local ? socket : SOCKET_ID_ANY,
			own && wanted[0] != '\0' ? wanted : NULL);
		if (pools[index] == NULL)
			refuse(port, "no memory for a pool of %u packets: %s",
				pool_size(options, nb_workers), rte_strerror(rte_errno));
	}
	return pools[index];
}

/*
 * Receive queues to set up. A port that no worker polls gets one too where it can, for what the
 * driver holds there can be had back only through a queue.
 */
static uint16_t
rx_queues_set_up(const struct options *options, const struct hy_hal *hal, uint16_t port)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port };
	const unsigned int polled = rx_queues(options, port);
	const uint64_t most = hy_hal_capability(hal, target, HY_CAP_RX_QUEUES)->value;

	return (uint16_t)(polled > 0 ? polled : RTE_MIN(most, UINT64_C(1)));
}

/* The port has the queues that the command line asks for, or says what is missing. */
static int
queues_check(const struct options *options, const struct hy_hal *hal, uint16_t port,
	unsigned int nb_workers)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port };
	const uint64_t rx = hy_hal_capability(hal, target, HY_CAP_RX_QUEUES)->value;
	const uint64_t tx = hy_hal_capability(hal, target, HY_CAP_TX_QUEUES)->value;

	if (rx_queues(options, port) > rx)
		return refuse(port, "--config wants %u receive queues, the port has %" PRIu64,
			rx_queues(options, port), rx);
	if (nb_workers > tx)
		return refuse(port,
			"%u workers need %u transmit queues, the port has %" PRIu64
			"; %s, or give the port more queues (net_pcap: one tx_pcap each)",
			nb_workers, nb_workers, tx,
			options->event.on ? "give EAL fewer lcores, all of which take events"
					  : "name fewer lcores in --config and --pin");
	return 0;
}

/*
 * Whether the port can deliver a frame that one buffer cannot hold. A network card drops what
 * exceeds the MTU; a virtual device delivers whatever its peer or its file has.
 */
static bool
frames_may_exceed_buffer(const struct rte_eth_dev_info *info, uint32_t max_frame)
{
	const struct rte_bus *bus = rte_dev_bus(info->device);

	if (bus != NULL && strcmp(rte_bus_name(bus), "vdev") == 0)
		max_frame = info->max_rx_pktlen;
	return max_frame > RTE_MBUF_DEFAULT_DATAROOM;
}

static int
configure(const struct options *options, struct hy_hal *hal, uint16_t port, uint16_t nb_rx,
	unsigned int nb_workers)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = { 0 };
	uint32_t overhead;
	int rc = rte_eth_dev_info_get(port, &info);

	if (rc < 0)
		return refuse(port, "no device information: %s", strerror(-rc));
	overhead = info.max_mtu != UINT16_MAX && info.max_rx_pktlen > info.max_mtu
		? info.max_rx_pktlen - info.max_mtu
		: RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
	conf.intr_conf.rxq = options->idle == IDLE_INTERRUPT && !options->event.on;
	conf.intr_conf.lsc = port_watch_interrupts(options, &info);
	conf.rxmode.mtu = options->max_pkt_len - overhead;
	if (conf.rxmode.mtu > info.max_mtu || options->max_pkt_len > info.max_rx_pktlen)
		return refuse(port, "--max-pkt-len %u is too long; the port takes frames of %u",
			options->max_pkt_len, RTE_MIN(info.max_rx_pktlen, info.max_mtu + overhead));
	if (frames_may_exceed_buffer(&info, conf.rxmode.mtu + overhead))
		conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	/* Frames of several segments; without them drivers have simpler ways to send. */
	if (conf.rxmode.mtu > RTE_ETHER_MTU)
		conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	if (nb_rx > 1 && info.flow_type_rss_offloads != 0) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads &
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);
	}
	rc = hy_hal_port_conf(hal, port, &conf);
	if (rc < 0)
		return refuse(port, "metadata cannot be negotiated: %s", strerror(-rc));
	rc = rte_eth_dev_configure(port, nb_rx, (uint16_t)nb_workers, &conf);
	return rc < 0 ? refuse(port, "cannot be configured: %s", strerror(-rc)) : 0;
}

static int
queues_setup(const struct options *options, const struct hy_hal *hal, uint16_t port, uint16_t nb_rx,
	unsigned int nb_workers)
{
	struct rte_mempool *pool = pool_for(options, hal, port, nb_workers);
	uint16_t nb_rxd = DESCRIPTORS, nb_txd = DESCRIPTORS;
	const int socket = rte_eth_dev_socket_id(port);
	int rc;

	if (pool == NULL)
		return -1;
	rc = rte_eth_dev_adjust_nb_rx_tx_desc(port, &nb_rxd, &nb_txd);
	for (uint16_t q = 0; q < nb_rx && rc == 0; q++)
		rc = rte_eth_rx_queue_setup(port, q, nb_rxd, (unsigned int)socket, NULL, pool);
	for (uint16_t q = 0; q < nb_workers && rc == 0; q++)
		rc = rte_eth_tx_queue_setup(port, q, nb_txd, (unsigned int)socket, NULL);
	return rc < 0 ? refuse(port, "queues cannot be set up: %s", strerror(-rc)) : 0;
}

static int
port_start(const struct options *options, uint16_t port)
{
	int rc = rte_eth_dev_start(port);

	if (rc < 0)
		return refuse(port, "cannot be started: %s", strerror(-rc));
	started |= UINT32_C(1) << port;
	if (options->promiscuous) {
		rc = rte_eth_promiscuous_enable(port);
		if (rc < 0)
			return refuse(port, "-P: %s", strerror(-rc));
	}
	return 0;
}

/* Everything from a port that is stopped to one that runs. */
static int
port_bring_up(const struct options *options, struct hy_hal *hal, unsigned int nb_workers,
	uint16_t port)
{
	const uint16_t nb_rx = rx_queues_set_up(options, hal, port);

	nb_rx_queues[port] = nb_rx;
	if (configure(options, hal, port, nb_rx, nb_workers) < 0 ||
		queues_setup(options, hal, port, nb_rx, nb_workers) < 0)
		return -1;
	offloads_prepare(options, port);
	return port_start(options, port);
}

int
ports_start(const struct options *options, struct hy_hal *hal, unsigned int nb_workers)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port)
		if (port_enabled(options, port) &&
			(queues_check(options, hal, port, nb_workers) < 0 ||
				port_bring_up(options, hal, nb_workers, port) < 0))
			return -1;
	return 0;
}

int
ports_reset(const struct options *options, struct hy_hal *hal, unsigned int nb_workers,
	uint16_t port)
{
	int rc = rte_eth_dev_reset(port);

	started &= ~(UINT32_C(1) << port);
	/* Drivers without a reset of their own are stopped and set up anew. */
	if (rc == -ENOTSUP)
		rc = rte_eth_dev_stop(port);
	if (rc < 0)
		return refuse(port, "cannot be reset%s: %s",
			options->user.set ? " without the rights that --user gave up" : "",
			strerror(-rc));
	rc = port_bring_up(options, hal, nb_workers, port);
	if (rc < 0 && options->user.set)
		refuse(port, "was set up without the rights that --user gave up");
	return rc;
}

void
ports_gone(uint16_t port)
{
	started &= ~(UINT32_C(1) << port);
	if (!rte_eth_dev_is_valid_port(port))
		return;
	rte_eth_dev_stop(port);
	hy_flow_rte_forget(port);
	rte_eth_dev_close(port);
}

/*
 * Frees what has arrived and that no worker will take any more. A driver whose queue is a ring of
 * somebody else's (net_ring) does not do that when it is closed. Bounded, for traffic may go on.
 */
static void
drain(uint16_t port)
{
	struct rte_mbuf *packets[HY_BURST_MAX];

	for (uint16_t q = 0; q < nb_rx_queues[port]; q++) {
		for (unsigned int taken = 0; taken < DRAIN_MOST;) {
			const uint16_t n = rte_eth_rx_burst(port, q, packets, RTE_DIM(packets));

			if (n == 0)
				break;
			rte_pktmbuf_free_bulk(packets, n);
			taken += n;
		}
	}
}

void
ports_stop(const struct options *options)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		if (!port_enabled(options, port))
			continue;
		if ((started >> port & 1) != 0) {
			drain(port);
			rte_eth_dev_stop(port);
		}
		hy_flow_rte_forget(port);
		rte_eth_dev_close(port);
	}
	started = 0;
}

void
ports_mbufs(unsigned int *in_use, unsigned int *total)
{
	*in_use = 0;
	*total = 0;
	for (unsigned int i = 0; i < RTE_DIM(pools); i++) {
		if (pools[i] == NULL)
			continue;
		*in_use += rte_mempool_in_use_count(pools[i]);
		*total += pools[i]->size;
	}
}
