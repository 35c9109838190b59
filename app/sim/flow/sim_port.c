/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated flow engines behind ports of any driver, by receive callbacks; a provider of rules. */

#include <errno.h>
#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>

#include <hy_flow.h>
#include "sim.h"

struct attachment {
	struct hy_flow_sim *sim;
	uint16_t nb_callbacks;
	const struct rte_eth_rxtx_callback *callbacks[RTE_MAX_QUEUES_PER_PORT];
};

/* Of each port; changed by control threads only. */
static struct attachment *attachments[RTE_MAX_ETHPORTS];

static uint16_t
rx(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t room, void *sim)
{
	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	RTE_SET_USED(room);
	return hy_flow_sim_rx(sim, pkts, n);
}

static void
detach(uint16_t port, struct attachment *attachment)
{
	for (uint16_t q = 0; q < attachment->nb_callbacks; q++) {
		rte_eth_remove_rx_callback(port, q, attachment->callbacks[q]);
		/* DPDK leaves that to whoever knows that no worker is within. */
		rte_free((void *)(uintptr_t)attachment->callbacks[q]);
	}
	hy_flow_sim_destroy(attachment->sim);
	free(attachment);
}

int
hy_flow_sim_attach(uint16_t port, const struct hy_flow_sim_params *params)
{
	struct rte_eth_dev_info info = { 0 };
	struct rte_eth_conf conf;
	struct attachment *attachment;
	int rc;

	if (rte_eth_dev_info_get(port, &info) != 0 || info.nb_rx_queues == 0 ||
		rte_eth_dev_conf_get(port, &conf) != 0)
		return -ENODEV;
	if (attachments[port] != NULL)
		return -EEXIST;
	attachment = calloc(1, sizeof(*attachment));
	if (attachment == NULL)
		return -ENOMEM;
	rc = hy_flow_sim_create(params, &attachment->sim);
	if (rc != 0) {
		free(attachment);
		return rc;
	}
	hy_flow_sim_configure(attachment->sim, info.nb_rx_queues,
		conf.rxmode.mq_mode == RTE_ETH_MQ_RX_RSS ? &conf.rx_adv_conf.rss_conf : NULL);
	hy_flow_sim_start(attachment->sim);
	for (uint16_t q = 0; q < info.nb_rx_queues; q++) {
		attachment->callbacks[q] = rte_eth_add_rx_callback(port, q, rx, attachment->sim);
		if (attachment->callbacks[q] == NULL) {
			rc = -rte_errno;
			detach(port, attachment);
			return rc;
		}
		attachment->nb_callbacks++;
	}
	attachments[port] = attachment;
	return 0;
}

void
hy_flow_sim_detach(uint16_t port)
{
	if (hy_flow_sim_of(port) == NULL)
		return;
	detach(port, attachments[port]);
	attachments[port] = NULL;
}

struct hy_flow_sim *
hy_flow_sim_of(uint16_t port)
{
	return port < RTE_MAX_ETHPORTS && attachments[port] != NULL ? attachments[port]->sim : NULL;
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

const struct hy_flow_provider hy_flow_simulator = {
	.name = "simulator",
	.validate = validate,
	.create = create,
	.destroy = destroy,
};
