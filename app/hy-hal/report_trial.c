/* SPDX-License-Identifier: BSD-3-Clause */
/* What a port refuses of what its driver offers: queue counts, offloads and RSS types. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "report.h"

static const struct {
	uint64_t bit;
	const char *name;
} rss_types[] = {
	{ RTE_ETH_RSS_IPV4, "ipv4" },
	{ RTE_ETH_RSS_FRAG_IPV4, "ipv4-frag" },
	{ RTE_ETH_RSS_NONFRAG_IPV4_TCP, "ipv4-tcp" },
	{ RTE_ETH_RSS_NONFRAG_IPV4_UDP, "ipv4-udp" },
	{ RTE_ETH_RSS_NONFRAG_IPV4_SCTP, "ipv4-sctp" },
	{ RTE_ETH_RSS_NONFRAG_IPV4_OTHER, "ipv4-other" },
	{ RTE_ETH_RSS_IPV6, "ipv6" },
	{ RTE_ETH_RSS_FRAG_IPV6, "ipv6-frag" },
	{ RTE_ETH_RSS_NONFRAG_IPV6_TCP, "ipv6-tcp" },
	{ RTE_ETH_RSS_NONFRAG_IPV6_UDP, "ipv6-udp" },
	{ RTE_ETH_RSS_NONFRAG_IPV6_SCTP, "ipv6-sctp" },
	{ RTE_ETH_RSS_NONFRAG_IPV6_OTHER, "ipv6-other" },
	{ RTE_ETH_RSS_L2_PAYLOAD, "l2-payload" },
	{ RTE_ETH_RSS_IPV6_EX, "ipv6-ex" },
	{ RTE_ETH_RSS_IPV6_TCP_EX, "ipv6-tcp-ex" },
	{ RTE_ETH_RSS_IPV6_UDP_EX, "ipv6-udp-ex" },
	{ RTE_ETH_RSS_PORT, "port" },
	{ RTE_ETH_RSS_VXLAN, "vxlan" },
	{ RTE_ETH_RSS_GENEVE, "geneve" },
	{ RTE_ETH_RSS_NVGRE, "nvgre" },
	{ RTE_ETH_RSS_GTPU, "gtpu" },
	{ RTE_ETH_RSS_ETH, "eth" },
	{ RTE_ETH_RSS_S_VLAN, "s-vlan" },
	{ RTE_ETH_RSS_C_VLAN, "c-vlan" },
	{ RTE_ETH_RSS_ESP, "esp" },
	{ RTE_ETH_RSS_AH, "ah" },
	{ RTE_ETH_RSS_L2TPV3, "l2tpv3" },
	{ RTE_ETH_RSS_PFCP, "pfcp" },
	{ RTE_ETH_RSS_PPPOE, "pppoe" },
	{ RTE_ETH_RSS_ECPRI, "ecpri" },
	{ RTE_ETH_RSS_MPLS, "mpls" },
	{ RTE_ETH_RSS_IPV4_CHKSUM, "ipv4-chksum" },
	{ RTE_ETH_RSS_L4_CHKSUM, "l4-chksum" },
	{ RTE_ETH_RSS_L2TPV2, "l2tpv2" },
};

static int
configure(uint16_t port, uint16_t nb_rx, uint16_t nb_tx, uint64_t rx, uint64_t tx, uint64_t rss)
{
	const struct rte_eth_conf conf = {
		.rxmode = { .offloads = rx,
			.mq_mode = rss != 0 ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE },
		.txmode.offloads = tx,
		.rx_adv_conf.rss_conf.rss_hf = rss,
	};

	return rte_eth_dev_configure(port, nb_rx, nb_tx, &conf);
}

static void
refusal_write(struct outline *o, const char *what, const char *why)
{
	outline_row(o);
	outline_text(o, "what", "%s", what);
	outline_text(o, "why", "%s", why);
	outline_row_close(o);
}

/* Tries 1, 2, 4 and so on queues of both directions; a direction at its limit stays there. */
static void
queues_try(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info)
{
	const uint32_t rx = RTE_MIN(info->max_rx_queues, (uint32_t)RTE_MAX_QUEUES_PER_PORT);
	const uint32_t tx = RTE_MIN(info->max_tx_queues, (uint32_t)RTE_MAX_QUEUES_PER_PORT);
	const uint32_t most = RTE_MAX(rx, tx);
	uint32_t taken = 0;
	int rc = 0;

	outline_open(o, "queues");
	for (uint32_t n = 1; n <= most && rc == 0; n = n < most ? RTE_MIN(2 * n, most) : n + 1) {
		rc = configure(port, (uint16_t)RTE_MIN(n, rx), (uint16_t)RTE_MIN(n, tx), 0, 0, 0);
		if (rc == 0)
			taken = n;
		else
			outline_text(o, "refused", "%u rx and %u tx: %s", RTE_MIN(n, rx),
				RTE_MIN(n, tx), report_errno(rc));
	}
	outline_number(o, "rx_taken", RTE_MIN(taken, rx));
	outline_number(o, "tx_taken", RTE_MIN(taken, tx));
	outline_close(o);
}

/* Tries each offload by itself, but RSS_HASH with RSS, since drivers require that. */
static void
offloads_try(struct outline *o, uint16_t port, bool rx, const struct rte_eth_dev_info *info)
{
	const uint64_t offered = rx ? info->rx_offload_capa : info->tx_offload_capa;

	outline_list(o, rx ? "rx_offloads_refused" : "tx_offloads_refused");
	for (unsigned int b = 0; b < 64; b++) {
		const uint64_t bit = offered & RTE_BIT64(b);
		int rc;

		if (bit == 0)
			continue;
		rc = configure(port, 1, 1, rx ? bit : 0, rx ? 0 : bit,
			rx && bit == RTE_ETH_RX_OFFLOAD_RSS_HASH ? info->flow_type_rss_offloads
								 : 0);
		if (rc != 0)
			refusal_write(o,
				rx ? rte_eth_dev_rx_offload_name(bit)
				   : rte_eth_dev_tx_offload_name(bit),
				report_errno(rc));
	}
	outline_list_close(o);
}

void
report_trial_stopped(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info)
{
	const uint16_t queues = report_queues(info);

	queues_try(o, port, info);
	offloads_try(o, port, true, info);
	offloads_try(o, port, false, info);
	outline_words(o, "rss_types");
	for (size_t i = 0; i < RTE_DIM(rss_types); i++)
		if ((info->flow_type_rss_offloads & rss_types[i].bit) != 0)
			outline_word(o, rss_types[i].name);
	outline_words_close(o);
	outline_list(o, "rss_types_refused");
	for (size_t i = 0; i < RTE_DIM(rss_types); i++) {
		int rc;

		if ((info->flow_type_rss_offloads & rss_types[i].bit) == 0)
			continue;
		rc = configure(port, queues, queues, 0, 0, rss_types[i].bit);
		if (rc != 0)
			refusal_write(o, rss_types[i].name, report_errno(rc));
	}
	outline_list_close(o);
}

/* Many drivers accept any type at configuration, and refuse it only when it reaches the device. */
void
report_trial_running(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info)
{
	struct rte_eth_rss_conf before = { 0 };
	int rc = rte_eth_dev_rss_hash_conf_get(port, &before);

	outline_list(o, "rss_changes_refused");
	for (size_t i = 0; i < RTE_DIM(rss_types); i++) {
		struct rte_eth_rss_conf now = { .rss_hf = rss_types[i].bit };

		if (rc != 0 || (info->flow_type_rss_offloads & now.rss_hf) == 0)
			continue;
		rc = rte_eth_dev_rss_hash_update(port, &now);
		if (rc == -ENOTSUP)
			break;
		if (rc != 0)
			refusal_write(o, rss_types[i].name, report_errno(rc));
		else if (rte_eth_dev_rss_hash_conf_get(port, &now) == 0 &&
			(now.rss_hf & rss_types[i].bit) == 0)
			refusal_write(o, rss_types[i].name, "accepted, but not set afterwards");
		rc = 0;
	}
	outline_list_close(o);
	if (rc == 0)
		rte_eth_dev_rss_hash_update(port, &before);
	else
		outline_text(o, "rss_changes", "cannot be tried: %s", report_errno(rc));
}
