/* SPDX-License-Identifier: BSD-3-Clause */
/* What a driver's fixture gives to the laws: a port of the driver, with no hardware behind it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What a fixture answers in place of a device: one kind of device, or of its configuration. */
struct oracle_profile {
	const char *name;      /* "cn10k-default" */
	const char *source;    /* where it is written that devices are like this */
	const char *driver;    /* overrides struct oracle's, or NULL */
	const char *simulator; /* overrides struct oracle's, or NULL */
	const void *data;      /* the fixture's */
};

struct oracle {
	const char *driver;                    /* as rte_eth_dev_info.driver_name */
	const char *simulator;                 /* profile of struct hy_flow_sim_params */
	const struct oracle_profile *profiles; /* ends with a NULL name; the default first */
	/*
	 * Opens a port as after a start with so many receive queues and RSS over them. The driver's
	 * rte_flow_ops must be reached by the port's own dev_ops. Called once a process, after EAL.
	 * 0 or a negative errno.
	 */
	int (*open)(const struct oracle_profile *profile, uint16_t nb_queues, uint16_t *port);
	/* Rules that the fixture's device has room for; 0: nobody counts. */
	uint32_t room;
	bool creates; /* what create() asks of hardware is answered too */
	/*
	 * Whether an entry that the driver programmed matches a frame, as its device compares them.
	 * NULL: the fixture does not look at what is programmed.
	 */
	bool (*matches)(const uint8_t *frame, uint32_t len);
	/* The mark that the device gives a frame, of the entry that wins; 0: none. Or NULL. */
	uint32_t (*mark)(const uint8_t *frame, uint32_t len);
	/*
	 * The RTE_ETH_RSS_ types that the device was told to hash since the last call. NULL: the
	 * fixture has no more than the driver's flow code, and its port cannot be configured.
	 */
	uint64_t (*hashed)(void);
};

/* Each fixture defines it; a program has one. */
extern const struct oracle oracle;
