/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin that raises events of ports in the program that loads it, as drivers do: it reads lines
 * "PORT EVENT", the event a number, from the file that HY_TEST_EVENTS names.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <hy_graph_worker.h>
#include <hy_plugin.h>

#include "port_event.h"

HY_PLUGIN("events", "0", "Raises events of ports");

/* A plugin has to register something. */
static uint16_t
events_sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	hy_release(graph, objs, n);
	return n;
}

static const struct hy_node_desc events_node = {
	.name = "events_sink",
	.impl.process = events_sink,
};
HY_NODE_REGISTER(events_node)

static void *
raise_all(void *arg)
{
	unsigned int port, event;
	FILE *commands = fopen(arg, "r"); /* waits for the writer: a FIFO */

	while (commands != NULL && fscanf(commands, "%u %u", &port, &event) == 2)
		if (port_event_raise((uint16_t)port, event) < 0)
			fprintf(stderr, "events: port %u cannot have event %u\n", port, event);
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
