/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line behind EAL's "--". */
#pragma once

#include <hy_flow_engines.h>
#include <hy_flows_cache.h>
#include <hy_hal_options.h>
#include <hy_mode_options.h>
#include <hy_run.h>
#include <hy_vswitch.h>

#define OPTION_GROUPS 5

struct options {
	struct hy_port_options ports;
	struct hy_mode_options mode;
	struct hy_hal_options hal;
	struct hy_run_options run;
	const char *flows;      /* a file; NULL: no rules at first */
	const char *dump_flows; /* a file, or "-"; NULL: none */
	const char *bridge;     /* a file; NULL: no bridge */
	unsigned int max_flows;
	struct hy_flows_caches caches;
	struct hy_flow_engines offload;
	uint16_t no_flood[HY_OPTION_REPEATS]; /* OpenFlow numbers of ports or tunnels */
	unsigned int nb_no_flood;
	struct hy_vswitch_port tunnels[HY_OPTION_REPEATS];
	bool has_src_mac[HY_OPTION_REPEATS]; /* else it is the uplink's */
	unsigned int nb_tunnels;
};

/* The groups of all options, which write defaults and values there. */
void options_groups(struct options *options, struct hy_option_group groups[OPTION_GROUPS]);

/* tunnel.c: reads a tunnel. */
int read_tunnel(const char *text, void *to);
