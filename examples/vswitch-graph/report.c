/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch, and the bridge beside it, in reports. */

#include "pipeline.h"
#include "report.h"

void
report_picks(const void *arg, FILE *out)
{
	const struct pipeline *pipeline = arg;
	const struct options *o = pipeline->options;

	for (unsigned int i = 0; i < o->ports.nb_ports; i++) {
		const uint16_t port = o->ports.ports[i];

		fprintf(out, "port %u is %u(dpdk%u)", port, port + 1u, port);
		for (unsigned int q = 0; q < o->ports.nb_queues; q++)
			if (o->ports.queues[q].port == port)
				fprintf(out, ", queue %u on lcore %u", o->ports.queues[q].queue,
					o->ports.queues[q].lcore);
		fprintf(out, "\n");
	}
	for (unsigned int t = 0; t < o->nb_tunnels; t++)
		fprintf(out, "tunnel %u(%s) by %u(dpdk%u)\n", o->tunnels[t].number,
			o->tunnels[t].name, o->tunnels[t].tunnel.uplink,
			o->tunnels[t].tunnel.uplink - 1u);
}

void
report_table(const void *arg, FILE *out)
{
	const struct pipeline *pipeline = arg;

	fprintf(out, "\n");
	hy_datapath_print(pipeline->datapath, out);
	hy_datapath_offload_print(pipeline->datapath, out);
	if (pipeline->bridge != NULL)
		hy_bridge_print(pipeline->bridge, out);
}

void
report_json(const void *arg, FILE *out)
{
	const struct pipeline *pipeline = arg;

	fprintf(out, "  ");
	hy_datapath_json(pipeline->datapath, out);
	fprintf(out, "  ");
	hy_datapath_offload_json(pipeline->datapath, out);
	if (pipeline->bridge == NULL)
		return;
	fprintf(out, "  ");
	hy_bridge_json(pipeline->bridge, out);
}

int
report_rules(const void *arg, FILE *out)
{
	const struct pipeline *pipeline = arg;

	return hy_datapath_rules_print(pipeline->datapath, NULL, out);
}
