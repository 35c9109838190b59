/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a report. Each writes what it finds out, and why it cannot find out the rest. */
#pragma once

#include <rte_ethdev.h>

#include "command.h"
#include "outline.h"

#define REPORT_QUEUES 4 /* most queues of each direction of a port that is tried while it runs */

static inline uint16_t
report_queues(const struct rte_eth_dev_info *info)
{
	return RTE_MIN(RTE_MIN(info->max_rx_queues, info->max_tx_queues), (uint16_t)REPORT_QUEUES);
}

/* Prints the current step, in case a driver crashes in it. */
void report_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "Invalid argument (-22)". Valid until the next call. */
const char *report_errno(int rc);

/* report_machine.c: CPU, memory, kernel, and the devices on the PCI bus. */
void report_machine(struct outline *o);
void report_pci(struct outline *o);

/* report_port.c: whether a device is simulated hardware, against its driver's name. */
bool report_simulated(const struct rte_device *device, const char *driver);
/* All ports, with all trials. The ports are stopped afterwards. */
void report_ports(struct outline *o, struct rte_mempool *pool);

/* report_trial.c: what a stopped port refuses of what its driver offers. */
void report_trial_stopped(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info);
/* What a running port refuses. */
void report_trial_running(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info);

/* report_flow.c: which kinds of rules a running port takes. */
void report_flow(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info);

/* report_load.c: what ports count while they receive and drop packets for some seconds. */
void report_load(struct outline *o, struct rte_mempool *pool, unsigned int seconds);
