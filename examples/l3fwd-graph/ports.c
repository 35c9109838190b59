/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line's ports in terms of hy_ports.h. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <hy_event.h>
#include <hy_offload.h>

#include "feed.h"
#include "ports.h"

struct hy_ends
ports_ends(const struct options *options, unsigned int nb_workers, uint16_t ports[RTE_MAX_ETHPORTS])
{
	struct hy_ends ends = { .ports = ports,
		.queues = options->queues,
		.nb_queues = options->nb_queues,
		.nb_workers = nb_workers };
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port)
		if (port_enabled(options, port))
			ports[ends.nb_ports++] = port;
	return ends;
}

int
ports_start(const struct options *options, struct hy_hal *hal, unsigned int nb_workers)
{
	const bool templates = options->offload.params.provider == &hy_flow_rte;
	const struct hy_port_params each = {
		.max_len = options->max_pkt_len,
		.flow_rules = templates ? options->max_rules : 0,
		.promiscuous = options->promiscuous,
		.own_pool = options->per_port_pool,
		.rx_interrupts = options->idle == HY_IDLE_SLEEP && !options->event.on,
	};
	uint16_t numbers[RTE_MAX_ETHPORTS];
	const struct hy_ends ends = ports_ends(options, nb_workers, numbers);
	struct hy_port_params ports[RTE_MAX_ETHPORTS];
	const struct hy_ports_params params = {
		.ports = ports,
		.nb_ports = ends.nb_ports,
		.nb_workers = nb_workers,
		.nb_held = (options->event.on ? HY_EVENT_MOST : 0) +
			(options->dispatch.on ? hy_workers_held(nb_workers, graph_burst(options))
					      : 0),
		.numa = options->numa,
	};
	char error[HY_HAL_ERROR_SIZE];
	int rc;

	hy_ends_ports(&ends, &each, ports);
	rc = hy_ports_start(hal, &params, error);
	if (rc == 0)
		return 0;
	fprintf(stderr, "l3fwd-graph: %s", error);
	if (rc == -ENOSPC)
		fprintf(stderr, "; %s",
			options->event.on ? "give EAL fewer lcores, all of which take events"
					  : "name fewer lcores or queues in --config and --pin");
	fprintf(stderr, "\n");
	return -1;
}

void
ports_poll(const struct options *options, struct hy_graph *const *graphs, unsigned int n,
	FILE *people)
{
	static char said[HY_HAL_ERROR_SIZE]; /* of order: not said a thousand times a second */
	char error[HY_HAL_ERROR_SIZE];
	int rc = hy_ports_poll(graphs, n, people, error);

	if (rc < 0) {
		fprintf(stderr, "l3fwd-graph: %s%s\n", error,
			rc == -EIO && options->user.uid != 0
				? "; it was set up without the rights that --user gave up"
				: "");
		return;
	}
	/* A port that came back may have got a variant that does not keep order. */
	if (feed_check(options, error, sizeof(error)) == 0)
		error[0] = '\0';
	else if (strcmp(error, said) != 0)
		fprintf(stderr, "l3fwd-graph: %s\n", error);
	strcpy(said, error);
}
