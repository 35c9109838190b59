/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports whose hardware has megaflows: begun, reported and ended. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datapath_offload.h"
#include "lib/graph/internal/log.h"

#define CLASSES (UINT16_MAX + 1)

/* Makes what a port needs; what is made is freed by port_end() either way. */
static int
port_begin(struct datapath_offload *o, struct datapath_port *port, const struct hy_workers *workers,
	const struct hy_offload_params *params)
{
	const struct hy_policy_params policy = { .max_rules = port->most,
		.workers = workers->nb,
		.socket = workers->worker[0].socket,
		.qsbr = workers->qsbr,
		.access = true };
	char name[32];
	int rc;

	snprintf(name, sizeof(name), "flows-%u", port->port);
	port->qsbr = workers->qsbr;
	port->of_class = calloc(CLASSES, sizeof(*port->of_class));
	port->rules = calloc(port->classes + 1, sizeof(*port->rules));
	if (port->of_class == NULL || port->rules == NULL)
		return -ENOMEM;
	rc = hy_policy_create(name, &policy, &port->policy);
	return rc < 0
		? rc
		: hy_offloads_create(o->hal, port->policy, &port->port, 1, params, &port->offloads);
}

static void
port_end(struct datapath_port *port)
{
	hy_offloads_destroy(port->offloads);
	hy_policy_destroy(port->policy);
	free(port->rules);
	free(port->of_class);
}

int
hy_datapath_offload(struct hy_datapath *datapath, struct hy_hal *hal,
	const struct hy_workers *workers, const struct hy_offload_params *params)
{
	struct hy_offload_params own = *params;
	struct datapath_offload *o;
	int rc = 0;

	if (datapath->offload != NULL)
		return -EEXIST;
	o = calloc(1, sizeof(*o));
	if (o == NULL)
		return -ENOMEM;
	datapath->offload = o;
	o->hal = hal;
	o->tunnels = (hy_vswitch_parse(datapath->rules) & HY_FLOWS_PARSE_TUNNEL) != 0;
	o->cursor = HY_FLOWS_END;
	own.classes = true;
	if (own.max_rules == 0)
		own.max_rules = HY_DATAPATH_OFFLOAD_RULES;
	own.max_rules = RTE_MIN(own.max_rules, (uint32_t)UINT16_MAX);
	for (unsigned int i = 0; i < datapath->nb_edges && rc == 0; i++) {
		struct datapath_port *port = &o->ports[o->nb_ports++];

		port->port = datapath->edge_port[i];
		port->most = own.max_rules;
		port->classes = RTE_MIN(2 * port->most, (uint32_t)UINT16_MAX);
		rc = port_begin(o, port, workers, &own);
		if (rc < 0 || hy_offload_of(port->port) == NULL) /* it takes no rules */
			continue;
		o->port[port->port] = port;
		o->marks[port->port] = (struct hy_flow_marks){ .policy = port->policy,
			.of_class = port->of_class };
	}
	return rc;
}

void
datapath_offload_end(struct datapath_offload *o)
{
	if (o == NULL)
		return;
	for (unsigned int i = 0; i < o->nb_ports; i++)
		port_end(&o->ports[i]);
	free(o->by_slot);
	free(o);
}

void
datapath_offload_read(struct hy_datapath *datapath)
{
	struct datapath_offload *o = datapath->offload;

	for (unsigned int i = 0; o != NULL && i < o->nb_ports; i++)
		if (hy_offload_of(o->ports[i].port) != NULL)
			hy_offload_read(hy_offload_of(o->ports[i].port));
	datapath_offload_count(datapath);
}

void
hy_datapath_offload_print(const struct hy_datapath *datapath, FILE *out)
{
	const struct datapath_offload *o = datapath->offload;

	for (unsigned int i = 0; o != NULL && i < o->nb_ports; i++)
		hy_offloads_print(o->ports[i].offloads, out);
}

void
hy_datapath_offload_json(const struct hy_datapath *datapath, FILE *out)
{
	const struct datapath_offload *o = datapath->offload;

	fprintf(out, "\"offloads\": [");
	for (unsigned int i = 0; o != NULL && i < o->nb_ports; i++) {
		fputs(i == 0 ? "" : ", ", out);
		hy_offloads_json(o->ports[i].offloads, out);
	}
	fprintf(out, "],\n");
}
