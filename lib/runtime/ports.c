/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports from their configuration to their end. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include <hy_flow.h>

#include "lib/graph/internal/log.h"
#include "ports.h"

#define DRAIN_MOST (16 * HY_PORT_DESCRIPTORS)
#define RSS_TYPES (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP)

struct hy_port hy_ports[RTE_MAX_ETHPORTS];

static struct hy_hal *ports_hal; /* of those that were started; NULL: none were */
static char reset_error[HY_HAL_ERROR_SIZE];
static char said[HY_HAL_ERROR_SIZE]; /* the last error: not said a thousand times a second */
static FILE *ports_out;

int
hy_port_refuse(uint16_t port, int rc, char *error, const char *format, ...)
{
	char name[RTE_ETH_NAME_MAX_LEN] = "?";
	va_list ap;
	int n;

	rte_eth_dev_get_name_by_port(port, name);
	n = snprintf(error, HY_HAL_ERROR_SIZE, "port %u (%s): ", port, name);
	va_start(ap, format);
	vsnprintf(error + n, HY_HAL_ERROR_SIZE - (size_t)n, format, ap);
	va_end(ap);
	return rc;
}

static uint64_t
has(const struct hy_hal *hal, uint16_t port, enum hy_cap cap)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port };

	return hy_hal_capability(hal, target, cap)->value;
}

uint16_t
hy_port_rx_queues(const struct hy_hal *hal, const struct hy_port_params *p)
{
	if (p->nb_rx_queues > 0)
		return p->nb_rx_queues;
	return (uint16_t)RTE_MIN(has(hal, p->port, HY_CAP_RX_QUEUES), UINT64_C(1));
}

static int
check(const struct hy_hal *hal, const struct hy_port_params *p, char *error)
{
	uint64_t rx, tx;

	if (!rte_eth_dev_is_valid_port(p->port))
		return HY_REASON(-ENODEV, error, HY_HAL_ERROR_SIZE, "there is no port %u", p->port);
	if (hy_ports[p->port].known)
		return hy_port_refuse(p->port, -EEXIST, error, "was started already");
	rx = has(hal, p->port, HY_CAP_RX_QUEUES);
	tx = has(hal, p->port, HY_CAP_TX_QUEUES);
	if (p->nb_rx_queues > rx)
		return hy_port_refuse(p->port, -ENOSPC, error,
			"%u receive queues are needed, the port has %" PRIu64, p->nb_rx_queues, rx);
	if (p->nb_tx_queues > tx)
		return hy_port_refuse(p->port, -ENOSPC, error,
			"%u transmit queues are needed, one for each worker; the port has %" PRIu64
			" (net_pcap: one tx_pcap each)",
			p->nb_tx_queues, tx);
	return 0;
}

static void
note(const struct hy_port_params *given)
{
	struct hy_port_params *p = &hy_ports[given->port].params;

	*p = *given;
	hy_port_watch_new(given->port);
	hy_ports[given->port].known = true;
	p->nb_rxd = p->nb_rxd > 0 ? p->nb_rxd : HY_PORT_DESCRIPTORS;
	p->nb_txd = p->nb_txd > 0 ? p->nb_txd : HY_PORT_DESCRIPTORS;
	p->max_len = p->max_len > 0 ? p->max_len : RTE_ETHER_MAX_LEN;
	p->rss = p->rss != 0 ? p->rss : RSS_TYPES;
}

/*
 * Whether the port can deliver a frame that one buffer cannot hold. A network card drops what
 * exceeds the MTU; a virtual device delivers all frames of its peer or its file.
 */
static bool
frames_may_exceed_buffer(const struct rte_eth_dev_info *info, uint32_t max_frame)
{
	const struct rte_bus *bus = rte_dev_bus(info->device);

	if (bus != NULL && strcmp(rte_bus_name(bus), "vdev") == 0)
		max_frame = info->max_rx_pktlen;
	return max_frame > RTE_MBUF_DEFAULT_DATAROOM;
}

/* Writes what the port is to be. */
static int
conf_write(const struct hy_port_params *p, uint16_t nb_rx, const struct rte_eth_dev_info *info,
	struct rte_eth_conf *conf, char *error)
{
	const uint32_t overhead = info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu
		? info->max_rx_pktlen - info->max_mtu
		: RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

	conf->intr_conf.rxq = p->rx_interrupts;
	/* Some devices have one vector for all: then receive interrupts get it. */
	conf->intr_conf.lsc = info->dev_flags != NULL && !p->rx_interrupts &&
		(*info->dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	/* mlx5 and others tell of their removal only if asked to. */
	conf->intr_conf.rmv = info->dev_flags != NULL &&
		(*info->dev_flags & RTE_ETH_DEV_INTR_RMV) != 0;
	conf->rxmode.mtu = p->max_len - overhead;
	if (p->max_len <= overhead || conf->rxmode.mtu > info->max_mtu ||
		p->max_len > info->max_rx_pktlen)
		return hy_port_refuse(p->port, -ERANGE, error,
			"cannot be set to frames of %u bytes; it takes %u at most", p->max_len,
			RTE_MIN(info->max_rx_pktlen, info->max_mtu + overhead));
	if (frames_may_exceed_buffer(info, p->max_len))
		conf->rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	/* Frames of several segments; without them drivers have simpler ways to send. */
	if (conf->rxmode.mtu > RTE_ETHER_MTU)
		conf->txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	if (nb_rx > 1 && info->flow_type_rss_offloads != 0) {
		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf->rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads & p->rss;
	}
	return 0;
}

static int
configure(struct hy_hal *hal, const struct hy_port_params *p, uint16_t nb_rx, char *error)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = { 0 };
	int rc = rte_eth_dev_info_get(p->port, &info);

	if (rc < 0)
		return hy_port_refuse(p->port, rc, error, "no device information: %s",
			strerror(-rc));
	rc = conf_write(p, nb_rx, &info, &conf, error);
	if (rc < 0)
		return rc;
	rc = hy_hal_port_conf(hal, p->port, &conf);
	if (rc < 0)
		return hy_port_refuse(p->port, rc, error, "metadata cannot be negotiated: %s",
			strerror(-rc));
	rc = rte_eth_dev_configure(p->port, nb_rx, p->nb_tx_queues, &conf);
	return rc < 0
		? hy_port_refuse(p->port, rc, error, "cannot be configured: %s", strerror(-rc))
		: 0;
}

static int
queues_setup(const struct hy_port *port, char *error)
{
	const struct hy_port_params *p = &port->params;
	const unsigned int socket = (unsigned int)rte_eth_dev_socket_id(p->port);
	uint16_t nb_rxd = p->nb_rxd, nb_txd = p->nb_txd;
	int rc = rte_eth_dev_adjust_nb_rx_tx_desc(p->port, &nb_rxd, &nb_txd);

	for (uint16_t q = 0; q < port->nb_rx && rc == 0; q++)
		rc = rte_eth_rx_queue_setup(p->port, q, nb_rxd, socket, NULL, port->pool);
	for (uint16_t q = 0; q < p->nb_tx_queues && rc == 0; q++)
		rc = rte_eth_tx_queue_setup(p->port, q, nb_txd, socket, NULL);
	return rc < 0
		? hy_port_refuse(p->port, rc, error, "queues cannot be set up: %s", strerror(-rc))
		: 0;
}

/* Where it fails, rules are added one by one. */
static void
flow_prepare(const struct hy_port_params *p)
{
	int rc = p->flow_rules > 0 ? hy_flow_rte_prepare(p->port, p->flow_rules) : 0;

	if (rc < 0 && rc != -ENOTSUP)
		HY_LOG(WARNING, "port %u: no flow rules by templates: %s", p->port, strerror(-rc));
}

/*
 * Lets a port that was reset keep the address that routes send from. Drivers of virtual functions read it
 * anew, and make one up if the host has set none.
 */
static int
address_keep(struct hy_port *port, char *error)
{
	const uint16_t id = port->params.port;
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct rte_ether_addr now;
	int rc = rte_eth_macaddr_get(id, &now);

	if (rc == 0 && !port->has_mac) {
		port->has_mac = true;
		port->mac = now;
	}
	if (rc < 0 || memcmp(&now, &port->mac, sizeof(now)) == 0)
		return 0;
	rc = rte_eth_dev_default_mac_addr_set(id, &port->mac);
	rte_ether_format_addr(mac, sizeof(mac), &port->mac);
	return rc < 0 ? hy_port_refuse(id, rc, error,
				"has another MAC address since its reset, and refuses %s: %s", mac,
				strerror(-rc))
		      : 0;
}

/* Everything from a port that is stopped to one that runs. */
static int
bring_up(struct hy_port *port, char *error)
{
	const struct hy_port_params *p = &port->params;
	int rc;

	port->nb_rx = hy_port_rx_queues(ports_hal, p);
	rc = configure(ports_hal, p, port->nb_rx, error);
	if (rc == 0)
		rc = queues_setup(port, error);
	if (rc < 0)
		return rc;
	rc = address_keep(port, error);
	if (rc < 0)
		return rc;
	flow_prepare(p);
	rc = rte_eth_dev_start(p->port);
	if (rc < 0)
		return hy_port_refuse(p->port, rc, error, "cannot be started: %s", strerror(-rc));
	port->started = true;
	hy_port_watch_base(p->port);
	rc = p->promiscuous ? rte_eth_promiscuous_enable(p->port) : 0;
	return rc < 0 ? hy_port_refuse(p->port, rc, error, "promiscuous mode: %s", strerror(-rc))
		      : 0;
}

/* Says what becomes of a port. */
static void
tell(struct hy_hal *hal, uint16_t port, enum hy_port_state state, void *arg __rte_unused)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port };

	if (!hy_ports[port].known)
		return;
	if (state != HY_PORT_UP)
		hy_port_leave(port);
	if (ports_out == NULL)
		return;
	if (state == HY_PORT_UP)
		fprintf(ports_out, "port %u is up again\n", port);
	else
		fprintf(ports_out, "port %u is %s: %s\n", port,
			state == HY_PORT_GONE ? "gone" : "down",
			hy_hal_capability(hal, target, HY_CAP_RUNNING)->reason);
	fflush(ports_out);
}

int
hy_ports_start(struct hy_hal *hal, const struct hy_ports_params *params, char *error)
{
	int rc = ports_hal == NULL ? hy_hal_port_observe(hal, tell, NULL) : 0;

	if (rc < 0)
		snprintf(error, HY_HAL_ERROR_SIZE, "ports: %s", strerror(-rc));
	else
		ports_hal = hal;
	for (unsigned int i = 0; i < params->nb_ports && rc == 0; i++) {
		rc = check(hal, &params->ports[i], error);
		if (rc == 0)
			note(&params->ports[i]);
	}
	if (rc == 0)
		rc = hy_port_pools(hal, params, error);
	for (unsigned int i = 0; i < params->nb_ports && rc == 0; i++)
		rc = bring_up(&hy_ports[params->ports[i].port], error);
	return rc;
}

static int
on_reset(uint16_t port, void *arg __rte_unused)
{
	struct hy_port *p = &hy_ports[port];
	int rc = rte_eth_dev_reset(port);
	/* A virtual function, whose physical one is not done yet. */
	const bool later = rc == -EAGAIN;

	p->started = false;
	/* Drivers without a reset of their own are stopped and set up anew. */
	if (rc == -ENOTSUP)
		rc = rte_eth_dev_stop(port);
	if (rc < 0)
		hy_port_refuse(port, rc, reset_error, "cannot be reset: %s", strerror(-rc));
	else
		rc = bring_up(p, reset_error);
	if (rc == 0)
		hy_port_was_reset(port);
	if (later)
		return -EAGAIN;
	return rc < 0 ? -EIO : 0;
}

static void
close_port(uint16_t port)
{
	hy_ports[port].started = false;
	if (!rte_eth_dev_is_valid_port(port))
		return;
	hy_flow_rte_forget(port);
	rte_eth_dev_close(port);
}

static void
on_gone(uint16_t port, void *arg __rte_unused)
{
	if (rte_eth_dev_is_valid_port(port))
		rte_eth_dev_stop(port);
	close_port(port);
	hy_ports[port] = (struct hy_port){ 0 }; /* the number may go to another device */
}

void
hy_ports_count(void)
{
	if (ports_hal != NULL)
		hy_port_watch_count(ports_hal);
}

int
hy_ports_poll(struct hy_graph *const *graphs, unsigned int n, FILE *out, char *error)
{
	static const struct hy_port_ops ops = { .reset = on_reset, .gone = on_gone };
	char from_hal[HY_HAL_ERROR_SIZE] = "";
	int rc;

	if (ports_hal == NULL)
		return 0;
	ports_out = out;
	reset_error[0] = '\0';
	rc = hy_hal_poll(ports_hal, graphs, n, &ops, from_hal);
	hy_port_watch(ports_hal, out);
	if (rc >= 0) {
		said[0] = '\0'; /* the next error is news */
		return 0;
	}
	if (strcmp(from_hal, said) == 0)
		return 0;
	strcpy(said, from_hal);
	snprintf(error, HY_HAL_ERROR_SIZE, "%s%s%s", from_hal, reset_error[0] != '\0' ? "; " : "",
		reset_error);
	return reset_error[0] != '\0' ? -EIO : rc;
}

/*
 * Frees what has arrived and that no worker will take any more. A driver whose queue is a ring of
 * somebody else's (net_ring) does not do that when it is closed. Bounded, for traffic may go on.
 */
static void
drain(const struct hy_port *port)
{
	struct rte_mbuf *packets[HY_BURST_MAX];

	for (uint16_t q = 0; q < port->nb_rx; q++) {
		for (unsigned int taken = 0; taken < DRAIN_MOST;) {
			const uint16_t n = rte_eth_rx_burst(port->params.port, q, packets,
				RTE_DIM(packets));

			if (n == 0)
				break;
			rte_pktmbuf_free_bulk(packets, n);
			taken += n;
		}
	}
}

void
hy_ports_stop(unsigned int *in_use, unsigned int *total)
{
	unsigned int left, all;

	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		if (!hy_ports[p].known)
			continue;
		/* One that was removed since the last poll is the driver's no more. */
		if (hy_ports[p].started && rte_eth_dev_is_valid_port(p)) {
			if (hy_hal_port_answers(ports_hal, p)) /* needs no reset */
				drain(&hy_ports[p]);
			rte_eth_dev_stop(p);
		}
		close_port(p);
		hy_ports[p] = (struct hy_port){ 0 };
	}
	if (ports_hal != NULL)
		hy_hal_port_unobserve(ports_hal, tell, NULL);
	ports_hal = NULL;
	hy_port_pools_free(&left, &all);
	if (in_use != NULL)
		*in_use = left;
	if (total != NULL)
		*total = all;
}
