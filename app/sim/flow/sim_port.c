/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated flow engines behind ports of any driver, by receive callbacks; a provider of rules. */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>

#include <hy_flow.h>
#include "sim.h"

struct attachment {
	struct hy_flow_sim *sim;
	uint16_t nb_callbacks;
	const struct rte_eth_rxtx_callback *callbacks[RTE_MAX_QUEUES_PER_PORT];
};

/* By port; only control threads change it. Without an engine: not attached. */
static struct attachment attachments[RTE_MAX_ETHPORTS];

static uint16_t
rx(uint16_t port __rte_unused, uint16_t queue __rte_unused, struct rte_mbuf **pkts, uint16_t n,
	uint16_t room __rte_unused, void *sim)
{
	return hy_flow_sim_rx(sim, pkts, n);
}

int
hy_flow_sim_attach(uint16_t port, const struct hy_flow_sim_params *params)
{
	struct rte_eth_dev_info info = { 0 };
	struct rte_eth_conf conf;
	struct attachment *a;
	int rc;

	if (rte_eth_dev_info_get(port, &info) != 0 || info.nb_rx_queues == 0 ||
		rte_eth_dev_conf_get(port, &conf) != 0)
		return -ENODEV;
	a = &attachments[port];
	if (a->sim != NULL)
		return -EEXIST;
	rc = hy_flow_sim_create(params, &a->sim);
	if (rc != 0)
		return rc;
	hy_flow_sim_configure(a->sim, info.nb_rx_queues,
		conf.rxmode.mq_mode == RTE_ETH_MQ_RX_RSS ? &conf.rx_adv_conf.rss_conf : NULL);
	hy_flow_sim_start(a->sim);
	while (a->nb_callbacks < info.nb_rx_queues) {
		const uint16_t q = a->nb_callbacks;

		a->callbacks[q] = rte_eth_add_rx_callback(port, q, rx, a->sim);
		if (a->callbacks[q] == NULL) {
			rc = -rte_errno;
			hy_flow_sim_detach(port);
			return rc;
		}
		a->nb_callbacks++;
	}
	return 0;
}

void
hy_flow_sim_detach(uint16_t port)
{
	struct attachment *a;

	if (hy_flow_sim_of(port) == NULL)
		return;
	a = &attachments[port];
	for (uint16_t q = 0; q < a->nb_callbacks; q++) {
		rte_eth_remove_rx_callback(port, q, a->callbacks[q]);
		/*
		 * DPDK leaves freeing to the caller, which knows that no worker is in the callback.
		 */
		rte_free((void *)(uintptr_t)a->callbacks[q]);
	}
	hy_flow_sim_destroy(a->sim);
	memset(a, 0, sizeof(*a));
}

struct hy_flow_sim *
hy_flow_sim_of(uint16_t port)
{
	return port < RTE_MAX_ETHPORTS ? attachments[port].sim : NULL;
}

static int
no_engine(struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENODEV, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		"no simulator is attached to this port");
}

static int
validate(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	struct hy_flow_sim *sim = hy_flow_sim_of(port);

	return sim != NULL ? hy_flow_sim_check(sim, attr, items, actions, error) : no_engine(error);
}

static int
create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	struct hy_flow_sim *sim = hy_flow_sim_of(port);

	return sim != NULL ? hy_flow_sim_add(sim, attr, items, actions, flow, error)
			   : no_engine(error);
}

static int
destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	struct hy_flow_sim *sim = hy_flow_sim_of(port);

	return sim != NULL ? hy_flow_sim_remove(sim, flow, error) : no_engine(error);
}

static int
query(uint16_t port, void *flow, struct rte_flow_query_count *count, struct rte_flow_error *error)
{
	struct hy_flow_sim *sim = hy_flow_sim_of(port);

	*count = (struct rte_flow_query_count){ .reset = 0 };
	return sim != NULL ? hy_flow_sim_count(sim, flow, count, error) : no_engine(error);
}

const struct hy_flow_provider hy_flow_simulator = {
	.name = "simulator",
	.validate = validate,
	.create = create,
	.destroy = destroy,
	.query = query,
};
