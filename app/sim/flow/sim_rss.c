/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive queue of a packet: by the port's RSS, or by a rule's. */

#include <stdalign.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_thash.h>

#include "sim.h"

#define RETA 512 /* entries of the redirection table, which lists the queues in turn */

/* The types that ask for a hash of addresses: mlx5_flow.h, MLX5_IPV4_LAYER_TYPES. */
#define IP4_TYPES \
	(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP | \
		RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_OTHER)

/* The key of drivers, where none is given. Aligned, since rte_softrss() reads words. */
static alignas(uint32_t) const uint8_t default_key[HY_SIM_RSS_KEY] = { 0x6d, 0xc8, 0x23, 0x7e, 0xd9,
	0x34, 0x8f, 0xea, 0x45, 0xa0, 0xfb, 0x56, 0xb1, 0x0c, 0x67, 0xc2, 0x1d, 0x78, 0xd3, 0x2e,
	0x89, 0xe4, 0x3f, 0x9a, 0xf5, 0x50, 0xab, 0x06, 0x61, 0xbc, 0x17, 0x72, 0xcd, 0x28, 0x83,
	0xde, 0x39, 0x94, 0xef, 0x4a };

void
hy_sim_rss_of_port(struct hy_sim_rss *rss, uint16_t nb_queues, const struct rte_eth_rss_conf *conf)
{
	memset(rss, 0, sizeof(*rss));
	rss->nb_queues = RTE_MIN(nb_queues, HY_SIM_QUEUES);
	for (uint16_t q = 0; q < rss->nb_queues; q++)
		rss->queues[q] = q;
	memcpy(rss->key, default_key, sizeof(default_key));
	if (conf == NULL)
		return;
	rss->types = conf->rss_hf;
	if (conf->rss_key != NULL)
		memcpy(rss->key, conf->rss_key, RTE_MIN(conf->rss_key_len, HY_SIM_RSS_KEY));
}

void
hy_sim_rss_of_rule(struct hy_sim_rss *rss, const struct rte_flow_action *action)
{
	const struct rte_flow_action_queue *queue = action->conf;
	const struct rte_flow_action_rss *asked = action->conf;

	memset(rss, 0, sizeof(*rss));
	if (action->type == RTE_FLOW_ACTION_TYPE_QUEUE) {
		rss->nb_queues = 1;
		rss->queues[0] = queue->index;
		return;
	}
	rss->nb_queues = (uint16_t)RTE_MIN(asked->queue_num, HY_SIM_QUEUES);
	memcpy(rss->queues, asked->queue, rss->nb_queues * sizeof(rss->queues[0]));
	rss->types = asked->types;
	rss->key_len = asked->key != NULL ? (uint8_t)RTE_MIN(asked->key_len, HY_SIM_RSS_KEY) : 0;
	if (rss->key_len > 0)
		memcpy(rss->key, asked->key, rss->key_len);
}

/* Whether ports are hashed too. Those of fragments never are. */
static bool
by_ports(const struct hy_sim_profile *profile, bool rule, uint64_t types,
	const struct hy_sim_key *key)
{
	const bool udp = (types & RTE_ETH_RSS_UDP) != 0;
	/*
	 * mlx5_flow_hw.c, flow_hw_hashfields_set(): with hardware steering, a rule hashes UDP's
	 * ports or, without UDP, TCP's. Otherwise mlx5_flow_expand_rss() makes a rule for each.
	 */
	const bool tcp = (types & RTE_ETH_RSS_TCP) != 0 && !(rule && profile->one_hash && udp);

	if ((key->layers & HY_SIM_FRAG) != 0)
		return false;
	return ((key->layers & HY_SIM_UDP) != 0 && udp) || ((key->layers & HY_SIM_TCP) != 0 && tcp);
}

uint16_t
hy_sim_rss_queue(const struct hy_sim_profile *profile, const struct hy_sim_rss *port,
	const struct hy_sim_rss *rule, const struct hy_sim_key *key)
{
	const struct hy_sim_rss *rss = rule != NULL ? rule : port;
	const uint8_t *hash_key = rule == NULL || rule->key_len > 0 ? rss->key : port->key;
	uint64_t types = rss->types;
	uint32_t tuple[] = { rte_be_to_cpu_32(key->src), rte_be_to_cpu_32(key->dst),
		(uint32_t)rte_be_to_cpu_16(key->sport) << 16 | rte_be_to_cpu_16(key->dport) };
	uint32_t hash;

	if (rule != NULL && profile->own_defaults && rule->key_len == 0)
		hash_key = default_key;
	if (rule != NULL && types == 0)
		types = profile->own_defaults ? RTE_ETH_RSS_IP : port->types;
	if (rss->nb_queues <= 1 || (key->layers & HY_SIM_IP4) == 0 || (types & IP4_TYPES) == 0)
		return rss->queues[0]; /* mlx5_flow_dv.c, flow_dv_hrxq_prepare() */
	hash = rte_softrss(tuple, by_ports(profile, rule != NULL, types, key) ? 3 : 2, hash_key);
	return rss->queues[hash % RETA % rss->nb_queues];
}
