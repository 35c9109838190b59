/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line behind EAL's "--". */
#pragma once

#include <hy_hal_options.h>
#include <hy_mode_options.h>
#include <hy_run.h>

#define OPTION_GROUPS 5

struct options {
	struct hy_port_options ports;
	struct hy_mode_options mode;
	struct hy_hal_options hal;
	struct hy_run_options run;          /* stats_s: of -T, too */
	unsigned int ports_per_lcore;       /* of -q; 0: any */
	uint16_t pair[RTE_MAX_ETHPORTS][2]; /* of --portmap */
	unsigned int nb_pairs;
	uint16_t peer[RTE_MAX_ETHPORTS]; /* by port of -p, the port that its frames leave by */
	bool mac_updating;
	const char *bridge; /* a file; NULL: pairs of ports */
};

/* The groups of all options, which write defaults and values there. */
void options_groups(struct options *options, struct hy_option_group groups[OPTION_GROUPS]);
