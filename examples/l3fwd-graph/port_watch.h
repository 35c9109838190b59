/* SPDX-License-Identifier: BSD-3-Clause */
/* What ports say of themselves while they run: their links, and what their drivers lost. */
#ifndef L3FWD_PORT_WATCH_H
#define L3FWD_PORT_WATCH_H

#include <stdio.h>

#include <hy_hal_live.h>

#include "options.h"

struct port_view {
	bool link_known; /* the driver has told */
	bool link_up;
	uint32_t link_mbps; /* 0: the driver does not know */
	bool link_half_duplex;
	unsigned int link_changes; /* since the workers started */
	/* Frames since the port was started first, over all of its resets. */
	uint64_t missed;    /* the workers took none in time */
	uint64_t no_mbuf;   /* the pool had no buffer */
	uint64_t rx_errors; /* the driver refused them */
	uint64_t tx_errors; /* the driver could not send them */
};

/* Whether a port's link is to be told by interrupts. */
bool port_watch_interrupts(const struct options *options, const struct rte_eth_dev_info *info);

/*
 * Looks at the ports that workers use, and tells people of links that have changed. To be called
 * now and then, by the control thread: links that interrupt are seen at once, others within a
 * second.
 */
void port_watch_poll(const struct options *options, const struct hy_hal *hal, FILE *people);
/* Counts what a port has lost so far. */
void port_watch_count(uint16_t port);
/* Likewise; its link is unknown from then on, until it is up again and looked at. */
void port_watch_leave(uint16_t port);

/* "up", "down", or "unknown". */
const char *port_watch_link(const struct port_view *view);

/* What was seen last. Any thread. */
void port_watch_view(uint16_t port, struct port_view *view);

#endif
