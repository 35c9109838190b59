/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's own options. Every refusal names the option and what is accepted. */

#include <stddef.h>

#include <hy_datapath.h>

#include "options.h"

#define PERIOD_DEFAULT 10
#define FLOWS_DEFAULT 65536

static int
read_caches(const char *text, void *to)
{
	struct options *o = to;

	return hy_datapath_caches_read(text, &o->caches) == 0
		? 0
		: hy_option_refuse("--cache", "'%s' is none of " HY_DATAPATH_CACHES, text);
}

static int
read_offload(const char *text, void *to)
{
	return hy_flow_engines_read("--offload", text, &((struct options *)to)->offload);
}

static int
read_no_flood(const char *text, void *to)
{
	struct options *o = to;
	unsigned int number;
	int rc;

	if (o->nb_no_flood == RTE_DIM(o->no_flood))
		return hy_option_refuse("--no-flood", "more than %zu ports", RTE_DIM(o->no_flood));
	rc = hy_option_number("--no-flood", text, 1, HY_VSWITCH_PORTS_END - 1, &number);
	if (rc == 0)
		o->no_flood[o->nb_no_flood++] = (uint16_t)number;
	return rc;
}

/* A switch gets frames to all addresses. */
static int
check(void *to)
{
	struct options *o = to;

	o->ports.promiscuous = true;
	return o->mode.mode == HY_MODE_POLL
		? 0
		: hy_option_refuse("--mode",
			  "only poll is possible: flows belong to the worker that receives them");
}

#define AT(field) offsetof(struct options, field)

static const struct hy_option own[] = {
	{ "flows", HY_OPTION_TEXT, AT(flows), "FILE",
		"rules, in the syntax of ovs-ofctl; read again on SIGHUP. Port N of EAL is OpenFlow port "
		"N + 1, dpdkN. Without rules, packets are dropped" },
	{ "dump-flows", HY_OPTION_TEXT, AT(dump_flows), "FILE",
		"write the rules with their counts there, at the end and on SIGUSR1 (-: standard output)" },
	{ "cache", HY_OPTION_READ, 0, "MODE",
		"caches in front of megaflows: " HY_DATAPATH_CACHES " (default auto)",
		.read = read_caches },
	{ "max-flows", HY_OPTION_NUMBER, AT(max_flows), "N", "most megaflows (default 65536)",
		.min = 1, .max = HY_FLOWS_MOST },
	{ "tunnel", HY_OPTION_READ, 0, "TUNNEL",
		"a port that is a VXLAN tunnel, by OpenFlow numbers: NAME,port=N,uplink=N,local=IP,"
		"remote=IP,dst-mac=MAC[,src-mac=MAC]. remote=flow: as the rules write tun_dst. dst-mac: "
		"of the next hop. May be repeated",
		.read = read_tunnel },
	{ "no-flood", HY_OPTION_READ, 0, "N",
		"FLOOD leaves out the port of that OpenFlow number. May be repeated",
		.read = read_no_flood },
	{ "offload", HY_OPTION_READ, 0, "HOW",
		"have hardware (rte_flow) or a simulator (sim:PROFILE, of generic, cnxk, mlx5, ice, i40e "
		"or iavf) mark or drop packets of the megaflows that are used most; settings may "
		"follow, as in sim:ice,table_size=64",
		.read = read_offload },
	{ "bridge", HY_OPTION_TEXT, AT(bridge), "FILE",
		"the bridge that NORMAL leads to, as of l2fwd-graph; read again on SIGHUP. Without one, "
		"such packets are dropped as no_edge" },
};

void
options_groups(struct options *o, struct hy_option_group groups[OPTION_GROUPS])
{
	*o = (struct options){ .max_flows = FLOWS_DEFAULT };
	hy_datapath_caches_read("auto", &o->caches);
	groups[0] = (struct hy_option_group){ "Switching", own, RTE_DIM(own), o, check };
	groups[1] = hy_port_options(&o->ports);
	groups[2] = hy_mode_options(&o->mode, &o->ports);
	groups[3] = hy_hal_options(&o->hal);
	groups[4] = hy_run_options(&o->run);
	o->run.stats_s = PERIOD_DEFAULT;
}
