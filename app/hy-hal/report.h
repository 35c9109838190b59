/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a report. Each writes what it could find out, and why it could not find out the rest. */
#ifndef HY_HAL_REPORT_H
#define HY_HAL_REPORT_H

#include <rte_ethdev.h>

#include "command.h"
#include "outline.h"

#define REPORT_QUEUES 4 /* of each direction, of a port that is tried while it runs: at most */

static inline uint16_t
report_queues(const struct rte_eth_dev_info *info)
{
	return RTE_MIN(RTE_MIN(info->max_rx_queues, info->max_tx_queues), (uint16_t)REPORT_QUEUES);
}

/* Tells the user what is being done, in case it is the last that a driver does. */
void report_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "Invalid argument (-22)". Valid until the next call. */
const char *report_errno(int rc);

/* report_machine.c: CPU, memory, kernel, and the devices on the PCI bus. */
void report_machine(struct outline *o);
void report_pci(struct outline *o);

/* report_port.c: whether a device is not the hardware that its driver's name says. */
bool report_simulated(const struct rte_device *device, const char *driver);
/* All ports, each with all that is tried on it. They are stopped afterwards. */
void report_ports(struct outline *o, struct rte_mempool *pool);

/* report_trial.c: what a port refuses of what its driver offers, */
void report_trial_stopped(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info);
/* and while it runs. */
void report_trial_running(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info);

/* report_flow.c: which kinds of rules a running port takes. */
void report_flow(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info);

/* report_load.c: what ports count while they receive for some seconds, and drop what they receive. */
void report_load(struct outline *o, struct rte_mempool *pool, unsigned int seconds);

#endif
