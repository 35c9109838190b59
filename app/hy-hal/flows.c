/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out which rules the ports' flow engines take. Most answer only while their port runs, so
 * each port is started and stopped again.
 */

#include <inttypes.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_ethdev.h>

#include <hy_flow.h>

#include "command.h"

#define DESCRIPTORS 128
#define PACKETS 1023 /* for a queue, whose driver may round the descriptors up */
#define RULES 64     /* in a table; probing has only a few at a time */
#define RSS (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP)

/* The results, by port. */
static struct tried {
	const struct hy_flow_driver *driver; /* NULL: not tried */
	struct hy_flow_limits limits;
} tried[RTE_MAX_ETHPORTS];

int
port_start(uint16_t port, uint16_t nb_queues, struct rte_mempool *pool)
{
	const unsigned int socket = (unsigned int)rte_eth_dev_socket_id(port);
	uint16_t nb_rxd = DESCRIPTORS, nb_txd = DESCRIPTORS;
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port, &info);

	if (rc == 0 && nb_queues > 1) {
		conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads & RSS;
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	}
	if (rc == 0)
		rc = rte_eth_dev_configure(port, nb_queues, nb_queues, &conf);
	if (rc == 0)
		hy_flow_rte_prepare(port, RULES); /* if it fails, rules are tried one by one */
	if (rc == 0)
		rc = rte_eth_dev_adjust_nb_rx_tx_desc(port, &nb_rxd, &nb_txd);
	for (uint16_t q = 0; q < nb_queues && rc == 0; q++) {
		rc = rte_eth_rx_queue_setup(port, q, nb_rxd, socket, NULL, pool);
		if (rc == 0)
			rc = rte_eth_tx_queue_setup(port, q, nb_txd, socket, NULL);
	}
	return rc == 0 ? rte_eth_dev_start(port) : rc;
}

/* EAL frees the pool at exit, when drivers have returned their packets. */
struct rte_mempool *
ports_pool(const char *name, uint16_t nb_queues)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(name,
		PACKETS * nb_queues * rte_eth_dev_count_avail(), 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);

	if (pool == NULL)
		fprintf(stderr, "hy-hal: no memory for packets: %s\n", rte_strerror(rte_errno));
	return pool;
}

static void
tell(struct hy_hal *hal, uint16_t port, enum hy_cap cap, enum hy_level level, uint64_t value,
	const char *reason)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port };

	hy_hal_capability_set(hal, target, cap, level, HY_ORIGIN_PROBED, value, reason);
}

static void
port_try(struct hy_hal *hal, uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_dev_info info = { 0 };
	struct hy_flow_limits *const limits = &tried[port].limits;
	char reason[128];
	int rc = rte_eth_dev_info_get(port, &info);

	if (rc == 0)
		rc = port_start(port, 1, pool);
	if (rc < 0) {
		snprintf(reason, sizeof(reason), "the port cannot be started: %s",
			rte_strerror(-rc));
		tell(hal, port, HY_CAP_FLOW_MARK, HY_LEVEL_UNKNOWN, 0, reason);
		tell(hal, port, HY_CAP_FLOW_PRIORITY, HY_LEVEL_UNKNOWN, 0, reason);
		return;
	}
	tried[port].driver = hy_flow_driver_of(info.driver_name == NULL ? "" : info.driver_name);
	hy_flow_probe(port, hy_flow_rte_of(port), tried[port].driver, limits);
	tell(hal, port, HY_CAP_FLOW_MARK, limits->mark_max > 0 ? HY_LEVEL_YES : HY_LEVEL_NO,
		limits->mark_max, limits->reason);
	tell(hal, port, HY_CAP_FLOW_PRIORITY, limits->priorities > 1 ? HY_LEVEL_YES : HY_LEVEL_NO,
		limits->priorities, limits->reason);
	rte_eth_dev_stop(port);
}

int
flows_try(struct hy_hal *hal)
{
	struct rte_mempool *pool;
	uint16_t port;

	if (rte_eth_dev_count_avail() == 0)
		return 0;
	pool = ports_pool("hy_hal_flows", 1);
	if (pool == NULL)
		return -1;
	RTE_ETH_FOREACH_DEV(port) {
		port_try(hal, port, pool);
	}
	return 0;
}

void
flows_print(FILE *out)
{
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
		if (tried[port].driver == NULL || tried[port].limits.mark_max == 0)
			continue;
		fprintf(out, "flow rules of port %u\n", port);
		hy_flow_kinds_print(tried[port].driver, &tried[port].limits, out);
	}
}
