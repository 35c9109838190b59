/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of event_rx: DPDK's event_sw, into which the suite enqueues packets at the event port
 * after the worker's, in place of an adapter. Two ports have edges, a third one has none.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_dev.h>
#include <rte_eventdev.h>

#include <hy_conform.h>
#include <hy_event.h>

#define PORTS 3
#define EDGES 2
#define FROM 1 /* event port at which events are enqueued */

static void
teardown(void *state)
{
	const uint8_t *device = state;

	hy_event_destroy(*device);
	free(state);
}

/* The side's device. Runs share it, since event_sw leaves a service behind for each device. */
static int
device_of(const struct hy_suite_side *side)
{
	char name[RTE_DEV_NAME_MAX_LEN];
	int rc;

	snprintf(name, sizeof(name), "event_sw_%s", side->name);
	rc = rte_event_dev_get_dev_id(name);
	if (rc >= 0)
		return rc;
	rc = rte_eal_hotplug_add("vdev", name, "");
	return rc < 0 ? rc : rte_event_dev_get_dev_id(name);
}

static int
setup(const struct hy_suite_side *side, void **state)
{
	struct hy_event_params params = {
		.sched_type = RTE_SCHED_TYPE_ATOMIC, .nb_workers = 1, .socket = SOCKET_ID_ANY
	};
	uint8_t *device = malloc(sizeof(*device));
	char reason[HY_REASON_SIZE];
	int rc = device_of(side);

	if (device == NULL || rc < 0) {
		free(device);
		return device == NULL ? -ENOMEM : rc;
	}
	*device = params.device = (uint8_t)rc;
	rc = hy_event_create(&params, reason, sizeof(reason));
	if (rc == 0)
		rc = hy_event_attach(*device, HY_EVENT_SINGLE, reason, sizeof(reason));
	if (rc < 0)
		teardown(device);
	*state = device;
	return rc;
}

static int
configure(void *state, hy_node_id id)
{
	const uint8_t *device = state;
	struct hy_event_rx_config config = { .device = *device };

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		config.edge[p] = p < EDGES ? (uint16_t)p : HY_EVENT_NO_EDGE;
	return hy_node_config(id, &config, sizeof(config));
}

/* The port depends on the length, which is the same on both sides. */
static int
feed(void *state, struct rte_mbuf **packets, uint16_t n)
{
	const uint8_t *device = state;

	for (uint16_t i = 0; i < n; i++) {
		const struct rte_event event = { .op = RTE_EVENT_OP_NEW,
			.event_type = RTE_EVENT_TYPE_ETH_RX_ADAPTER,
			.sched_type = RTE_SCHED_TYPE_ATOMIC,
			.mbuf = packets[i] };

		packets[i]->port = packets[i]->pkt_len % PORTS;
		if (rte_event_enqueue_new_burst(*device, FROM, &event, 1) != 1)
			return -ENOBUFS;
	}
	return 0;
}

HY_SUITE(event_rx, .setup = setup, .teardown = teardown, .configure = configure, .feed = feed,
	.nb_edges = EDGES);
