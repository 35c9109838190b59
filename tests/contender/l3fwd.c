/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's own l3fwd as a contender of hy-bench l3fwd: its code for a burst, unmodified, included
 * from its sources; what is here is the loop around it, without its clock and without an end.
 */

#include "l3fwd_lpm.c"

#include "app/bench/l3fwd.h"

/* What l3fwd's main.c defines, and its loop uses. */
struct lcore_conf lcore_conf[RTE_MAX_LCORE];
uint64_t dest_eth_addr[RTE_MAX_ETHPORTS];
struct rte_ether_addr ports_eth_addr[RTE_MAX_ETHPORTS];
xmm_t val_eth[RTE_MAX_ETHPORTS];
uint32_t enabled_port_mask = UINT32_MAX;

/* What the rest of l3fwd_lpm.c names; none of it runs here. */
volatile bool force_quit;
int ipv6;
struct parm_cfg parm_config;
const struct ipv4_l3fwd_route ipv4_l3fwd_route_array[16];
const struct ipv6_l3fwd_route ipv6_l3fwd_route_array[16];

struct l3fwd_way l3fwd_contender(const struct l3fwd_rig *rig, const struct l3fwd_table *table);

struct loop {
	const struct l3fwd_rig *rig;
	struct lcore_conf *conf;
};

static void
loop_run(void *arg, uint64_t turns)
{
	const struct loop *l = arg;
	const struct l3fwd_rig *rig = l->rig;
	struct lcore_conf *conf = l->conf;
	struct rte_mbuf *mbufs[MAX_PKT_BURST];

	while (turns-- > 0 && rig_pending(rig)) {
		for (unsigned int p = 0; p < rig->nb_ports; p++) {
			const uint16_t port = rig->port[USERS_ALL][p];
			const int n = rte_eth_rx_burst(port, 0, mbufs, MAX_PKT_BURST);

			if (n > 0)
				l3fwd_lpm_send_packets(n, mbufs, port, conf);
		}
	}
	for (unsigned int p = 0; p < rig->nb_ports; p++) {
		const uint16_t port = rig->port[USERS_ALL][p];

		send_burst(conf, conf->tx_mbufs[port].len, port);
		conf->tx_mbufs[port].len = 0;
	}
}

static uint64_t
loop_drops(void *arg)
{
	RTE_SET_USED(arg);
	return 0;
}

static void
loop_destroy(void *arg)
{
	struct loop *l = arg;

	rte_lpm_free(l->conf->ipv4_lookup_struct);
	free(l);
}

/* A next hop is a port here: the first one behind it. */
struct l3fwd_way
l3fwd_contender(const struct l3fwd_rig *rig, const struct l3fwd_table *table)
{
	const struct rte_lpm_config config = { .max_rules = table->n,
		.number_tbl8s = RTE_MAX(table->tbl8s, 1u) };
	struct l3fwd_way way = { .name = "l3fwd",
		.users = USERS_ALL,
		.rewrites = true,
		.burst = MAX_PKT_BURST,
		.run = loop_run,
		.drops = loop_drops,
		.destroy = loop_destroy };
	struct loop *l = calloc(1, sizeof(*l));
	struct rte_lpm *lpm = rte_lpm_create("l3fwd_upstream", SOCKET_ID_ANY, &config);

	if (l == NULL || lpm == NULL)
		return way;
	*l = (struct loop){ .rig = rig, .conf = &lcore_conf[0] };
	l->conf->ipv4_lookup_struct = lpm;
	for (unsigned int p = 0; p < rig->nb_ports; p++) {
		const struct rte_ether_hdr header = l3fwd_hop_header(p * HOPS_PER_PORT);

		memcpy(&val_eth[rig->port[USERS_ALL][p]], &header, 2 * RTE_ETHER_ADDR_LEN);
	}
	for (uint32_t i = 0; i < table->n; i++) {
		const struct bench_route *r = &table->routes[i];

		rte_lpm_add(lpm, r->prefix, r->depth, rig->port[USERS_ALL][hop_port(r->hop)]);
	}
	way.arg = l;
	return way;
}
