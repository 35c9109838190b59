/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's own options. Every refusal names the option and what is accepted. */

#include <errno.h>
#include <stddef.h>

#include <rte_lcore.h>

#include "options.h"

#define PORTS_PER_LCORE_MAX 15 /* as DPDK's example has it, */
#define PERIOD_DEFAULT 10      /* and these seconds */
#define PERIOD_MAX 86400

static int
read_portmap(const char *text, void *to)
{
	struct options *o = to;
	const char *at = text;

	o->nb_pairs = 0;
	do {
		if (o->nb_pairs == RTE_MAX_ETHPORTS)
			return hy_option_refuse("--portmap", "more than %d pairs",
				RTE_MAX_ETHPORTS);
		if (at != text)
			at++;
		if (hy_option_tuple(&at, o->pair[o->nb_pairs], 2) < 0)
			break;
		o->nb_pairs++;
		if (*at == '\0')
			return 0;
	} while (*at == ',');
	return hy_option_refuse("--portmap", "'%s' is not (port,port)[,...]", text);
}

/* Leaves of the ports of -p those that are in pairs, as DPDK's example does. */
static void
ports_keep(struct hy_port_options *ports, uint64_t mask)
{
	ports->mask = mask;
	ports->nb_ports = 0;
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (hy_port_chosen(ports, p))
			ports->ports[ports->nb_ports++] = p;
}

/* Ports of a pair send each other's frames. A port may be paired with itself. */
static int
pairs_given(struct options *o)
{
	uint64_t paired = 0;

	for (unsigned int i = 0; i < o->nb_pairs; i++) {
		const uint16_t *pair = o->pair[i];

		for (unsigned int end = 0; end < 2; end++) {
			const uint16_t port = pair[end];

			if (!hy_port_chosen(&o->ports, port))
				return hy_option_refuse("--portmap", "port %u is not one of -p",
					port);
			if ((paired >> port & 1) != 0)
				return hy_option_refuse("--portmap", "port %u is in two pairs",
					port);
			o->peer[port] = pair[1 - end];
		}
		paired |= UINT64_C(1) << pair[0] | UINT64_C(1) << pair[1];
	}
	for (unsigned int q = 0; q < o->ports.nb_queues; q++) {
		const uint16_t port = o->ports.queues[q].port;

		if (hy_port_chosen(&o->ports, port) && (paired >> port & 1) == 0)
			return hy_option_refuse("--config", "port %u is in no pair of --portmap",
				port);
	}
	ports_keep(&o->ports, paired);
	return 0;
}

/* The first two ports, the next two, and so on. A last one sends its own frames. */
static void
pairs_default(struct options *o)
{
	const uint16_t *ports = o->ports.ports;
	const unsigned int n = o->ports.nb_ports;

	for (unsigned int i = 0; i < n; i++)
		o->peer[ports[i]] = ports[(i ^ 1) < n ? i ^ 1 : i];
}

/* -q: the first worker polls so many ports, then the next one, and so on. */
static int
deal(struct options *o)
{
	const unsigned int each = o->ports_per_lcore, n = o->ports.nb_ports;
	unsigned int lcore = -1u;

	for (unsigned int i = 0; i < n; i++) {
		if (i % each == 0)
			lcore = rte_get_next_lcore(lcore, 1, 0);
		if (lcore >= RTE_MAX_LCORE)
			return hy_option_refuse("-q",
				"%u ports, %u on each lcore, need %u workers; EAL's --lcores or -l "
				"names %u",
				n, each, (n + each - 1) / each, rte_lcore_count() - 1);
		o->ports.queues[o->ports.nb_queues++] = (struct hy_rx_queue){
			.port = o->ports.ports[i], .lcore = lcore
		};
	}
	return 0;
}

/* Before the check of the ports' group, which gives queues to workers if none are listed. */
static int
check(void *to)
{
	struct options *o = to;
	int rc = 0;

	if (o->bridge != NULL) /* which gets frames to all addresses */
		o->ports.promiscuous = true;
	if (o->ports.mask == 0) /* which that group refuses */
		return 0;
	if (o->nb_pairs > 0)
		rc = pairs_given(o);
	else
		pairs_default(o);
	return rc == 0 && o->ports_per_lcore > 0 ? deal(o) : rc;
}

#define AT(field) offsetof(struct options, field)
#define NO_BRIDGE .excludes = "bridge", .why = "a bridge sends frames where their addresses are"

static const struct hy_option own[] = {
	{ "q", HY_OPTION_NUMBER, AT(ports_per_lcore), "NQ",
		"ports that a worker polls, 1 to 15: the first worker polls the first NQ ports, and "
		"so on (default: ports are dealt to all workers in turn)",
		1, PORTS_PER_LCORE_MAX, .excludes = "config mode=eventdev",
		.why = "it deals ports to the workers that poll them" },
	{ "T", HY_OPTION_NUMBER, AT(run.stats_s), "PERIOD",
		"print the tables of nodes and drops every PERIOD seconds (default 10; 0: never)",
		0, PERIOD_MAX, .excludes = "stats", .why = "both are the period of the tables" },
	{ "portmap", HY_OPTION_READ, .read = read_portmap, .value = "=(P,P)[,(P,P)]",
		.help = "ports that send each other's frames; others of -p are not used (default: "
			"the first two ports of -p, the next two, and so on; a last one sends its "
			"own frames)",
		NO_BRIDGE },
	{ "mac-updating", HY_OPTION_SET, AT(mac_updating),
		.help = "frames leave from the sending port's own address, to 02:00:00:00:00:PORT "
			"(the default)",
		NO_BRIDGE },
	{ "no-mac-updating", HY_OPTION_CLEAR, AT(mac_updating),
		.help = "frames keep their addresses", NO_BRIDGE },
	{ "bridge", HY_OPTION_TEXT, AT(bridge), "FILE",
		"be a bridge that learns addresses and knows VLANs: its ports, VLANs, static entries "
		"and limits; read again on SIGHUP. Ports are in promiscuous mode",
		.excludes = "mode=eventdev mode=dispatch",
		.why = "the bridge's nodes run where frames come in" },
};

void
options_groups(struct options *o, struct hy_option_group groups[OPTION_GROUPS])
{
	*o = (struct options){ .mac_updating = true };
	groups[0] = (struct hy_option_group){ "Forwarding", own, RTE_DIM(own), o, check };
	groups[1] = hy_port_options(&o->ports);
	groups[2] = hy_mode_options(&o->mode, &o->ports);
	groups[3] = hy_hal_options(&o->hal);
	groups[4] = hy_run_options(&o->run);
	o->run.stats_s = PERIOD_DEFAULT;
}
