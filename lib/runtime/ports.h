/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of hy_ports.h share. */
#pragma once

#include <rte_ethdev.h>

#include <hy_ports.h>

#define HY_POOL_CACHE 256 /* packets that each thread keeps of a pool */

struct hy_port {
	bool known; /* was handed to hy_ports_start() */
	bool started;
	struct hy_port_params params; /* defaults filled in */
	struct rte_mempool *pool;
	uint16_t nb_rx; /* queues that were set up */
	bool has_mac;
	struct rte_ether_addr mac; /* as it was started with first */
};

extern struct hy_port hy_ports[RTE_MAX_ETHPORTS];

/* Writes "port N (NAME): ..." and returns rc. */
int hy_port_refuse(uint16_t port, int rc, char *error, const char *format, ...)
	__rte_format_printf(4, 5);

/* Receive queues to set up. */
uint16_t hy_port_rx_queues(const struct hy_hal *hal, const struct hy_port_params *params);

/* Gives each port of a call its pool. Returns 0 or a negative errno. */
int hy_port_pools(const struct hy_hal *hal, const struct hy_ports_params *params, char *error);
/* Counts packet buffers, and frees the pools that have all of theirs. */
void hy_port_pools_free(unsigned int *in_use, unsigned int *total);

/* Looks at links, and once a second at what was lost. */
void hy_port_watch(const struct hy_hal *hal, FILE *out);
/* Forgets the device that had the number before. */
void hy_port_watch_new(uint16_t port);
/* Brings what ports have lost up to date, where drivers may be asked. */
void hy_port_watch_count(const struct hy_hal *hal);
/*
 * Counts what a port loses from here on, once it is started: drivers keep their counters over a reset, or
 * begin again with it or with the start, and some have none while a port is stopped.
 */
void hy_port_watch_base(uint16_t port);
/* The link of a port is unknown until it is looked at again. */
void hy_port_leave(uint16_t port);
/* Counts a reset. */
void hy_port_was_reset(uint16_t port);
