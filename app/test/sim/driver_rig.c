/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of simulated vendors' NICs with offloads; see driver_rig.h. */

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_policy.h>

#include "driver_rig.h"

#define RULES_MAX 1024
#define WORKERS 2

struct driver_rig driver_rig;
static uint64_t rig_rss;

void
driver_start(void)
{
	const struct rte_eth_conf conf = { .rxmode.mq_mode = rig_rss != 0 ? RTE_ETH_MQ_RX_RSS
									  : RTE_ETH_MQ_RX_NONE,
		.rx_adv_conf.rss_conf.rss_hf = rig_rss };

	assert_int_equal(rte_eth_dev_configure(D->port, D->nb_queues, 1, &conf), 0);
	hy_flow_rte_prepare(D->port, RULES_MAX); /* most NICs want no preparation */
	for (uint16_t q = 0; q < D->nb_queues; q++)
		assert_int_equal(rte_eth_rx_queue_setup(D->port, q, 64, SOCKET_ID_ANY, NULL,
					 sim_pool),
			0);
	assert_int_equal(rte_eth_tx_queue_setup(D->port, 0, 64, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(rte_eth_dev_start(D->port), 0);
}

void
driver_open(const char *name, const char *args, uint16_t nb_queues, uint64_t rss_hf)
{
	const struct hy_policy_params params = {
		.max_rules = RULES_MAX, .workers = WORKERS, .socket = SOCKET_ID_ANY, .qsbr = D->qsbr
	};
	uint64_t features = RTE_ETH_RX_METADATA_USER_MARK;

	/* Newer drivers reset some ports by themselves, which then get no rules. */
	D->port = nic_probe(name, args != NULL ? args : "auto_reset=0");
	D->nb_queues = nb_queues;
	rig_rss = rss_hf;
	rte_eth_rx_metadata_negotiate(D->port, &features);
	driver_start();
	assert_int_equal(hy_policy_create("driver", &params, &D->policy), 0);
}

int
driver_offload(const struct hy_flow_provider *provider)
{
	const struct hy_offload_params params = {
		.provider = provider, .settle_us = 100, .age_us = 1, .max_rules = RULES_MAX
	};
	char reason[256];

	return hy_offload_create(D->policy, D->port, &params, &D->offload, reason, sizeof(reason));
}

struct sim_packet
driver_packet(uint32_t i)
{
	return (struct sim_packet){ .src = 0x0a000001,
		.dst = 0xc6120000 + i,
		.proto = IPPROTO_UDP,
		.sport = 7,
		.dport = 9 };
}

void
driver_rules(uint32_t n)
{
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		const struct sim_packet p = driver_packet(i);
		const struct hy_flow_rule rule = { .id = i,
			.precedence = i,
			.class_id = (uint16_t)(i + 1),
			.match = {
				.fields = HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_PORTS,
				.src = p.src,
				.dst = p.dst,
				.src_len = 32,
				.dst_len = 32,
				.proto = p.proto,
				.sport = { p.sport, p.sport },
				.dport = { p.dport, p.dport } } };

		assert_int_equal(hy_policy_add(D->policy, &rule), 0);
	}
	do { /* a worker may be without a CPU for longer than a commit waits for it */
		rc = hy_policy_commit(D->policy);
	} while (rc == -ETIMEDOUT);
	assert_int_equal(rc, 0);
}

void
driver_settle(void)
{
	for (int idle = 0; idle < 3;) {
		usleep(200);
		idle = hy_offload_poll(D->offload) == 0 ? idle + 1 : 0;
	}
}

void
driver_demote(void)
{
	__atomic_store_n(&D->offload->worker[0].mismatches, UINT32_MAX, __ATOMIC_RELAXED);
}

struct hy_flow_sim_stats
driver_sim(void)
{
	struct hy_flow_sim_stats stats;

	hy_flow_sim_stats(simnic_engine(D->port), &stats);
	return stats;
}

struct hy_offload_stats
driver_stats(void)
{
	struct hy_offload_stats stats;

	hy_offload_stats(D->offload, &stats);
	return stats;
}

int
driver_setup(void **state)
{
	memset(D, 0, sizeof(*D));
	D->qsbr = rte_zmalloc("driver", rte_rcu_qsbr_get_memsize(WORKERS), RTE_CACHE_LINE_SIZE);
	if (D->qsbr == NULL || rte_rcu_qsbr_init(D->qsbr, WORKERS) != 0)
		return -1;
	return simnic_setup(state);
}

int
driver_teardown(void **state)
{
	hy_offload_destroy(D->offload);
	hy_policy_destroy(D->policy);
	hy_flow_rte_forget(D->port);
	rte_free(D->qsbr);
	return simnic_teardown(state);
}
