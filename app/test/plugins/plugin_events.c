/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin that raises events of ports in the program that loads it, as drivers do: it reads lines
 * "PORT EVENT", the event a number, from the file that HY_TEST_EVENTS names; and one while variants
 * are bound to the port, if HY_TEST_EVENTS_EARLY has such a line. If HY_TEST_EVENTS_LATE is set, a
 * port that has had an event gets another variant of ethdev_tx.
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <hy_node.h>
#include <hy_plugin.h>

#include "app/test/hal/port_event.h"

HY_PLUGIN("events", "0", "Raises events of ports");

static bool
early_event(unsigned int *port, unsigned int *event)
{
	const char *early = getenv("HY_TEST_EVENTS_EARLY");

	return early != NULL && sscanf(early, "%u %u", port, event) == 2;
}

static bool had_event[RTE_MAX_ETHPORTS];

/* As drivers do that raise a removal only if they were asked to. */
static bool
is_wanted(unsigned int port, unsigned int event)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;

	return event != RTE_ETH_EVENT_INTR_RMV || rte_eth_dev_info_get((uint16_t)port, &info) < 0 ||
		info.dev_flags == NULL || (*info.dev_flags & RTE_ETH_DEV_INTR_RMV) == 0 ||
		(rte_eth_dev_conf_get((uint16_t)port, &conf) == 0 && conf.intr_conf.rmv);
}

static void
raise_one(unsigned int port, unsigned int event)
{
	if (!is_wanted(port, event))
		return;
	if (port < RTE_MAX_ETHPORTS)
		__atomic_store_n(&had_event[port], true, __ATOMIC_RELAXED);
	if (port_event_raise((uint16_t)port, event) < 0)
		fprintf(stderr, "events: port %u cannot have event %u\n", port, event);
}

static bool
early_fits(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	unsigned int port, event;

	RTE_SET_USED(hal);
	snprintf(reason, size, "no event is wanted early");
	return early_event(&port, &event) && port == target.id;
}

/* Once, as the port would not come up otherwise. */
static int
early_bind(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	static bool raised;
	unsigned int port, event;

	RTE_SET_USED(hal);
	RTE_SET_USED(target);
	if (!raised && early_event(&port, &event))
		raise_one(port, event);
	raised = true;
	snprintf(reason, size, "it only raises an event");
	return -ENOTSUP;
}

static uint16_t
release(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	hy_release(graph, objs, n);
	return n;
}

HY_NODE_VARIANT(ethdev_tx, early,
	.text = "Never bound: raises an event when it is tried",
	.impl.process = release,
	.fits = early_fits,
	.bind = early_bind,
	.score = 1000);

static bool
late_fits(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	RTE_SET_USED(hal);
	snprintf(reason, size, "the port has had no event");
	return getenv("HY_TEST_EVENTS_LATE") != NULL &&
		__atomic_load_n(&had_event[target.id], __ATOMIC_RELAXED);
}

HY_NODE_VARIANT(ethdev_tx, late,
	.text = "Releases the packets of ports that have had an event",
	.impl.process = release,
	.fits = late_fits,
	.score = 1000);

static void *
raise_all(void *arg)
{
	unsigned int port, event;
	FILE *commands = fopen(arg, "r"); /* waits for the writer: a FIFO */

	while (commands != NULL && fscanf(commands, "%u %u", &port, &event) == 2)
		raise_one(port, event);
	if (commands != NULL)
		fclose(commands);
	return NULL;
}

RTE_INIT(events_start)
{
	char *path = getenv("HY_TEST_EVENTS");
	pthread_t thread;

	if (path != NULL && pthread_create(&thread, NULL, raise_all, path) == 0)
		pthread_detach(thread);
}
