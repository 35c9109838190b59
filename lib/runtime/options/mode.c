/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a start that depend on how packets reach workers: see hy_mode_options.h. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_eventdev.h>
#include <rte_lcore.h>

#include <hy_event.h>
#include <hy_mode_options.h>

/* Whether the command line has something for a worker lcore to do. */
static bool
lcore_wanted(const struct hy_mode_options *o, unsigned int lcore)
{
	if (o->mode == HY_MODE_EVENTDEV) /* any worker takes from the device */
		return true;
	for (unsigned int q = 0; q < o->ports->nb_queues; q++)
		if (o->ports->queues[q].lcore == lcore)
			return true;
	for (unsigned int i = 0; i < o->nb_pins; i++)
		for (unsigned int l = 0; l < o->pins[i].nb_lcores; l++)
			if (o->pins[i].lcores[l] == lcore)
				return true;
	return false;
}

int
hy_mode_workers(const struct hy_mode_options *o, struct hy_workers *workers)
{
	unsigned int lcores[RTE_MAX_LCORE], n = 0, lcore;

	RTE_LCORE_FOREACH_WORKER(lcore)
		if (lcore_wanted(o, lcore))
			lcores[n++] = lcore;
	return hy_terminal_report("workers", hy_workers_init(workers, lcores, n, o->ports->numa));
}

/* Configures the event device as the source of all queues. */
static int
feed_create(const struct hy_mode_options *o, unsigned int nb_workers)
{
	struct hy_ethdev_rx_config queues[HY_QUEUES_MAX];
	const struct hy_event_params params = {
		.device = (uint8_t)o->device,
		.sched_type = o->sched,
		.nb_workers = (uint16_t)nb_workers,
		.queues = queues,
		.nb_queues = o->ports->nb_queues,
		.vector_size = (uint16_t)o->vector_size,
		.vector_timeout_ns = o->vector_tmo_ns,
		.socket = o->ports->numa ? rte_event_dev_socket_id((uint8_t)o->device)
					 : SOCKET_ID_ANY,
	};
	char reason[HY_REASON_SIZE] = "";
	int rc;

	for (unsigned int q = 0; q < params.nb_queues; q++)
		queues[q] = (struct hy_ethdev_rx_config){ .port = o->ports->queues[q].port,
			.queue = o->ports->queues[q].queue };
	rc = hy_event_create(&params, reason, sizeof(reason));
	return rc < 0 ? hy_terminal_refuse(rc, "--mode=eventdev: %s", reason) : 0;
}

int
hy_mode_check(const struct hy_mode_options *o, char *reason, size_t size)
{
	return o->mode == HY_MODE_EVENTDEV ? hy_event_check((uint8_t)o->device, reason, size) : 0;
}

int
hy_mode_follow(const struct hy_mode_options *o, struct hy_hal *hal)
{
	char reason[HY_REASON_SIZE] = "";
	int rc = hy_mode_check(o, reason, sizeof(reason));

	if (rc == 0 && o->mode == HY_MODE_EVENTDEV)
		rc = hy_event_follow((uint8_t)o->device, hal, false);
	return rc < 0 ? hy_terminal_refuse(rc, "--mode=eventdev: %s",
				reason[0] != '\0' ? reason : strerror(-rc))
		      : 0;
}

void
hy_mode_print(const struct hy_mode_options *o, FILE *out)
{
	const struct hy_event_params *feed;

	if (o->mode != HY_MODE_EVENTDEV)
		return;
	feed = hy_event_of((uint8_t)o->device);
	fprintf(out, "Packets come by event device %u, %s", o->device, hy_mode_sched_name(o));
	if (feed->vector_timeout_ns > 0)
		fprintf(out, ", in vectors of at most %u that wait for %" PRIu64 " ns",
			feed->vector_size, feed->vector_timeout_ns);
	fprintf(out, ".\n");
	if (o->vector && feed->vector_timeout_ns == 0)
		fprintf(out, "There are no event vectors here (--explain says why).\n");
}

uint64_t
hy_mode_end(const struct hy_mode_options *o)
{
	return o->mode == HY_MODE_EVENTDEV ? hy_event_destroy((uint8_t)o->device) : 0;
}

static uint32_t
held(const struct hy_mode_options *o, unsigned int nb_workers)
{
	if (o->mode == HY_MODE_DISPATCH)
		return hy_workers_held(nb_workers, hy_port_graph_burst(o->ports));
	return o->mode == HY_MODE_EVENTDEV ? HY_EVENT_MOST : 0;
}

int
hy_mode_ports(const struct hy_mode_options *o, struct hy_hal *hal, unsigned int nb_workers,
	uint32_t flow_rules)
{
	const bool events = o->mode == HY_MODE_EVENTDEV;
	const struct hy_port_params each = {
		.max_len = o->ports->max_len,
		.flow_rules = flow_rules,
		.promiscuous = o->ports->promiscuous,
		.own_pool = o->ports->own_pools,
		.rx_interrupts = o->ports->idle == HY_IDLE_SLEEP && !events,
	};
	const struct hy_ends ends = hy_port_ends(o->ports, nb_workers);
	struct hy_port_params ports[RTE_MAX_ETHPORTS];
	const struct hy_ports_params params = {
		.ports = ports,
		.nb_ports = ends.nb_ports,
		.nb_workers = nb_workers,
		.nb_held = held(o, nb_workers),
		.numa = o->ports->numa,
	};
	char error[HY_HAL_ERROR_SIZE];
	int rc;

	hy_ends_ports(&ends, &each, ports);
	rc = hy_ports_start(hal, &params, error);
	if (rc == -ENOSPC)
		hy_terminal_error("%s; %s", error,
			events ? "give EAL fewer lcores, all of which take events"
			       : "name fewer lcores or queues in --config and --pin");
	else if (rc < 0)
		hy_terminal_error("%s", error);
	return rc == 0 && events ? feed_create(o, nb_workers) : rc;
}

int
hy_mode_rx_nodes(const struct hy_mode_options *o, const struct hy_ends *ends)
{
	return o->mode == HY_MODE_EVENTDEV ? hy_event_nodes(ends, (uint8_t)o->device)
					   : hy_rx_nodes(ends);
}

int
hy_mode_graphs(const struct hy_mode_options *o, struct hy_workers *workers,
	struct hy_graph_params graph)
{
	static const char *const event_rx[] = { "event_rx" };
	const bool events = o->mode == HY_MODE_EVENTDEV;
	const struct hy_graphs graphs = { .graph = &graph,
		.queues = o->ports->queues,
		.nb_queues = events ? 0 : o->ports->nb_queues,
		.spread = o->mode == HY_MODE_DISPATCH,
		.pins = o->pins,
		.nb_pins = o->nb_pins,
		.idle = o->ports->idle,
		.wait_us = o->ports->wait_us };
	int rc;

	if (events) {
		graph.patterns = event_rx;
		graph.nb_patterns = RTE_DIM(event_rx);
	}
	graph.burst = hy_port_graph_burst(o->ports);
	graph.source_budget = (uint16_t)o->ports->burst;
	rc = hy_terminal_report(graphs.spread ? "--mode=dispatch" : "graphs",
		hy_workers_graphs(workers, &graphs));
	for (unsigned int w = 0; w < workers->nb && rc == 0; w++)
		if (workers->worker[w].awake != NULL)
			hy_terminal_error(
				"--idle: the worker on lcore %u pauses instead of sleeping: %s",
				workers->worker[w].lcore, workers->worker[w].awake);
	return rc;
}
