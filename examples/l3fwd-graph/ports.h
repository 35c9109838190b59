/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: packet pools, configuration, start and stop. */
#ifndef L3FWD_PORTS_H
#define L3FWD_PORTS_H

#include <hy_hal_live.h>

#include "options.h"

/*
 * Configures and starts the enabled ports, with a transmit queue for each worker. Returns 0, or -1
 * after saying what is wrong.
 */
int ports_start(const struct options *options, struct hy_hal *hal, unsigned int nb_workers);

/* Does with one port, which no worker uses, what its driver asks for. Returns 0, or -1 likewise. */
int ports_reset(const struct options *options, struct hy_hal *hal, unsigned int nb_workers,
	uint16_t port);

/* Closes a port whose device was removed. */
void ports_gone(uint16_t port);

/* Stops and closes what was started. */
void ports_stop(const struct options *options);

/* Packet buffers that are in no pool, and in all; to be asked when ports are stopped. */
void ports_mbufs(unsigned int *in_use, unsigned int *total);

/* Longest frame that is forwarded, without CRC. */
static inline uint32_t
ports_max_frame(const struct options *options)
{
	return options->max_pkt_len - RTE_ETHER_CRC_LEN;
}

#endif
