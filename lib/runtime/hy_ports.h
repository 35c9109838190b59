/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The ports of a program: described by data, started with their packet pools, watched, reset,
 * removed, stopped.
 *
 * Use, in this order: hy_hal_create(); hy_hal_watch(); hy_port_find() for ports that the user names;
 * hy_hal_plan(); hy_ports_start(); hy_hal_probe(); hy_hal_select(). While packets flow,
 * hy_ports_poll() now and then.
 * When no worker runs and all graphs are destroyed, hy_ports_stop(), then hy_hal_destroy().
 *
 * Ports are numbered by DPDK, and belong to the process: so does what this header keeps of them.
 * One control thread calls these functions, the one that uses the HAL; hy_port_status_read() may be
 * called by any thread. Functions return 0 or a negative errno. Those that take @p error write one
 * sentence there, in HY_HAL_ERROR_SIZE bytes, which names the port and what it accepts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <hy_hal_live.h>

HY_API_BEGIN

#define HY_PORT_DESCRIPTORS 1024 /**< Descriptors of a queue, unless params say otherwise. */

/** How a port is to be set up. Zeros are defaults: only port and the queues have to be given. */
struct hy_port_params {
	uint16_t port; /**< ethdev port id. */
	/**
	 * Receive queues that workers poll, 0 or more. A port without any gets one where it can: what
	 * its driver holds is only given back through a queue.
	 */
	uint16_t nb_rx_queues;
	uint16_t nb_tx_queues; /**< Transmit queues: one for each worker that sends. */
	uint16_t nb_rxd;       /**< Descriptors of a receive queue; 0: HY_PORT_DESCRIPTORS. */
	uint16_t nb_txd;       /**< Descriptors of a transmit queue; 0: HY_PORT_DESCRIPTORS. */
	uint32_t max_len;      /**< Longest frame in bytes, with CRC; 0: 1518. */
	/** RTE_ETH_RSS_ bits for several queues, as far as the device has them; 0: IP, TCP, UDP. */
	uint64_t rss;
	/** Rules that hy_flow_rte_prepare() readies the port for; 0: none. Without, it goes on. */
	uint32_t flow_rules;
	bool promiscuous;   /**< Receives frames for any address. */
	bool own_pool;      /**< Packets from a pool of its own. */
	bool rx_interrupts; /**< Workers may sleep until its receive queues interrupt. */
};

/** What several ports share. */
struct hy_ports_params {
	const struct hy_port_params *ports; /**< Copied. */
	unsigned int nb_ports;              /**< Entries of ports. */
	unsigned int nb_workers;            /**< Threads that take packets from pools. */
	uint32_t nb_held; /**< Packets that rings and event devices hold, at most. */
	bool numa;        /**< A pool for each NUMA node that a port is on; else one for all. */
};

/**
 * Configures and starts ports as they, and the HAL's plan, ask for: queues, pools, RSS. May be called
 * again for further ports, which get pools of their own. Pools are large enough for all descriptors
 * of the call's ports.
 *
 * @param hal Must outlive the ports, until hy_ports_stop().
 * @return 0; -ENODEV no such port; -EEXIST it was started already; -ENOSPC it has fewer queues than
 * are wanted; -ERANGE frames of max_len are too long for it; -EBUSY packets of a device that had its
 * number before are in use, and their pool is too small or of another kind; -ENOMEM; or what the
 * driver returned. Ports that were started before the one that failed run, and hy_ports_stop()
 * closes all of the call.
 */
int hy_ports_start(struct hy_hal *hal, const struct hy_ports_params *params, char *error);

/**
 * Handles events of the ports, a step at a time, without waiting: resets those that ask
 * for it, unless a guard refuses that (hy_hal_port_guard()), closes those that were removed
 * (hy_hal_poll()), and looks at links and what drivers lost.
 * Links that interrupt are seen at once, others within a second. Without ports, nothing happens.
 *
 * @param graphs All graphs with nodes of the HAL, as for hy_hal_poll().
 * @param out Where to say that a port is down, up or gone, or that a link changed; NULL: nowhere.
 * @return 0, also if nothing but the error of the call before is left to say; -EIO a port that was
 * to be reset stays down; what hy_hal_poll() returns.
 */
int hy_ports_poll(struct hy_graph *const *graphs, unsigned int n, FILE *out, char *error);

/** How a port is doing. */
struct hy_port_status {
	bool link_known;           /**< The driver has said so since the port is up. */
	bool link_up;              /**< The last that was seen. */
	bool link_half_duplex;     /**< Likewise. */
	uint32_t link_mbps;        /**< Mbit/s; 0: unknown. */
	unsigned int link_changes; /**< Times that the link went up or down. */
	unsigned int resets;       /**< Times that the port was reset successfully. */
	/** @name Frames since the port was started first, over all of its resets. Those that the
	 * driver counted within a second before a reset, a recovery or a removal may be missing: from
	 * then on it is not asked.
	 * @{ */
	uint64_t missed;    /**< No worker took them in time. */
	uint64_t no_mbuf;   /**< The pool was empty. */
	uint64_t rx_errors; /**< The driver refused them. */
	uint64_t tx_errors; /**< The driver could not send them. */
			    /** @} */
};

/** Reads what hy_ports_poll() saw last. Any thread, any time; zeros for ports never started. */
void hy_port_status_read(uint16_t port, struct hy_port_status *status);

/** @return "up", "down", or "unknown". */
const char *hy_port_link(const struct hy_port_status *status);

/** Brings the frames of all statuses up to date, for a report: those of ports whose drivers answer. */
void hy_ports_count(void);

/**
 * Stops and closes all ports that were handed to hy_ports_start(), and frees their pools. Frames that
 * have arrived and that nobody took are freed. Without ports, nothing happens.
 *
 * @param[out] in_use Packet buffers that are in no pool once the ports are closed: leaked, or held
 * by the caller. Their pools are kept. May be NULL.
 * @param[out] total Packet buffers of all pools. May be NULL.
 */
void hy_ports_stop(unsigned int *in_use, unsigned int *total);

/**
 * Finds a port.
 *
 * @param name Its number ("0"), its PCI address ("0000:3b:00.0" or "3b:00.0"), or its device's name
 * ("net_tap0").
 * @return 0; -ENODEV there is no such port.
 */
int hy_port_find(const char *name, uint16_t *port);

/**
 * Finds several ports, and has the HAL ignore all others.
 *
 * @param names As for hy_port_find(), @p n of them.
 * @param[out] ports Room for @p n of them.
 * @return 0; -ENODEV one of them is not there; -EEXIST one is there twice.
 */
int hy_ports_find(struct hy_hal *hal, char *const *names, unsigned int n, uint16_t *ports,
	char *error);

HY_API_END
