/* SPDX-License-Identifier: BSD-3-Clause */
/* A port that has nothing but flow operations, for drivers whose own dev_ops reach for hardware. */
#pragma once

#include <rte_malloc.h>

#include <ethdev_driver.h>
#include <bus_pci_driver.h>

#define FLOW_PORT_QUEUES 64

/* rte_eth_dev_info_get() fills in the rest. */
static inline int
flow_port_info(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	info->max_rx_queues = info->max_tx_queues = FLOW_PORT_QUEUES;
	info->flow_type_rss_offloads = dev->data->dev_conf.rx_adv_conf.rss_conf.rss_hf;
	return 0;
}

/* Allocates a started port of a driver, its private data zeroed; NULL: no memory. */
static inline struct rte_eth_dev *
flow_port_alloc(const char *driver, const struct eth_dev_ops *ops, size_t private_size,
	void *rx_queues[], uint16_t nb_queues)
{
	static struct rte_driver of;
	static struct rte_device device = { .name = "0000:00:00.0", .driver = &of };
	struct rte_eth_dev *dev = rte_eth_dev_allocate(device.name);

	if (dev == NULL || nb_queues > FLOW_PORT_QUEUES)
		return NULL;
	of.name = driver;
	dev->device = &device;
	dev->dev_ops = ops;
	dev->data->dev_private = rte_zmalloc(NULL, private_size, RTE_CACHE_LINE_SIZE);
	dev->data->nb_rx_queues = nb_queues;
	dev->data->rx_queues = rx_queues;
	dev->data->dev_configured = 1;
	dev->data->dev_started = 1;
	dev->data->dev_conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	dev->data->dev_conf.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP;
	return dev->data->dev_private != NULL ? dev : NULL;
}
