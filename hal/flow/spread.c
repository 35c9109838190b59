/* SPDX-License-Identifier: BSD-3-Clause */
/* How a port spreads packets over its queues: rules must do the same. */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_flow.h>

int
hy_flow_spread_get(uint16_t port, struct hy_flow_spread *spread)
{
	struct rte_eth_rss_conf rss = { .rss_key = spread->key, .rss_key_len = HY_FLOW_RSS_KEY };
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;

	memset(spread, 0, sizeof(*spread));
	if (rte_eth_dev_info_get(port, &info) != 0 || rte_eth_dev_conf_get(port, &conf) != 0)
		return -ENODEV;
	spread->nb_queues = info.nb_rx_queues;
	if ((conf.rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) == 0)
		return 0;
	if (info.hash_key_size <= HY_FLOW_RSS_KEY &&
		rte_eth_dev_rss_hash_conf_get(port, &rss) == 0) {
		spread->types = rss.rss_hf;
		if (info.hash_key_size > 0 && rss.rss_key_len <= HY_FLOW_RSS_KEY)
			spread->key_len = rss.rss_key_len;
	} else {
		spread->types = conf.rx_adv_conf.rss_conf.rss_hf & info.flow_type_rss_offloads;
	}
	return 0;
}
