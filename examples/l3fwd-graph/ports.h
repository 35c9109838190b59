/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line's ports in terms of hy_ports.h. */
#ifndef L3FWD_PORTS_H
#define L3FWD_PORTS_H

#include <hy_assembly.h>

#include "options.h"

/* The enabled ports and their queues; ports gets the numbers. */
struct hy_ends ports_ends(const struct options *options, unsigned int nb_workers,
	uint16_t ports[RTE_MAX_ETHPORTS]);

/*
 * Configures and starts the enabled ports, with a transmit queue for each worker. Returns 0, or -1
 * after saying what is wrong. hy_ports_stop() closes them.
 */
int ports_start(const struct options *options, struct hy_hal *hal, unsigned int nb_workers);

/* Sees to what has happened to ports, and says what went wrong; to be called now and then. */
void ports_poll(const struct options *options, struct hy_graph *const *graphs, unsigned int n,
	FILE *people);

/* Longest frame that is forwarded, without CRC. */
static inline uint32_t
ports_max_frame(const struct options *options)
{
	return options->max_pkt_len - RTE_ETHER_CRC_LEN;
}

#endif
