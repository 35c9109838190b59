/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of ports, or the bridge, in reports. */

#include "pipeline.h"
#include "report.h"

void
report_picks(const void *arg, FILE *out)
{
	const struct pipeline *pipeline = arg;
	const struct options *o = pipeline->options;
	const unsigned int nb_queues = o->mode.mode == HY_MODE_EVENTDEV ? 0 : o->ports.nb_queues;

	if (o->bridge == NULL)
		fprintf(out, "MAC addresses are %s.\n", o->mac_updating ? "updated" : "kept");
	for (unsigned int i = 0; i < o->ports.nb_ports; i++) {
		const uint16_t port = o->ports.ports[i];

		fprintf(out, "port %u to ", port);
		if (o->bridge == NULL)
			fprintf(out, "port %u", o->peer[port]);
		else
			fprintf(out, "the bridge");
		for (const struct hy_rx_queue *q = o->ports.queues; q < o->ports.queues + nb_queues;
			q++)
			if (q->port == port)
				fprintf(out, ", queue %u on lcore %u", q->queue, q->lcore);
		fprintf(out, "\n");
	}
}

void
report_table(const void *arg, FILE *out)
{
	const struct pipeline *pipeline = arg;

	if (pipeline->bridge == NULL)
		return;
	fprintf(out, "\n");
	hy_bridge_print(pipeline->bridge, out);
}

void
report_json(const void *arg, FILE *out)
{
	const struct pipeline *pipeline = arg;
	const struct options *o = pipeline->options;

	if (pipeline->bridge != NULL) {
		fprintf(out, "  ");
		hy_bridge_json(pipeline->bridge, out);
		return;
	}
	fprintf(out, "  \"mac_updating\": %s,\n  \"peers\": {", o->mac_updating ? "true" : "false");
	for (unsigned int i = 0; i < o->ports.nb_ports; i++)
		fprintf(out, "%s\"%u\": %u", i == 0 ? "" : ", ", o->ports.ports[i],
			o->peer[o->ports.ports[i]]);
	fprintf(out, "},\n");
}
