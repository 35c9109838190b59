/* SPDX-License-Identifier: BSD-3-Clause */
/* --mode=eventdev: receive queues lead into an event device, from which all workers take. */
#ifndef L3FWD_FEED_H
#define L3FWD_FEED_H

#include <stdio.h>

#include <hy_hal_live.h>

#include "options.h"

/*
 * Configures the event device, when ports run and before variants are selected. Returns 0, also in
 * the other mode, or -1 after saying what is wrong.
 */
int feed_create(const struct options *options, unsigned int nb_workers);

/* Lets packets come, once variants are selected. Likewise. */
int feed_start(const struct options *options, struct hy_hal *hal);

/*
 * Whether order is kept as --eventq-sched promises, with the variants selected last. Returns 0, also
 * in the other mode, or a negative errno with the reason.
 */
int feed_check(const struct options *options, char *reason, size_t size);

/* The classifier of a port, which event_rx leads its packets to. */
void feed_classifier(const struct options *options, uint16_t port, char name[HY_NAME_SIZE]);

/* Says how packets come, once variants are selected; nothing in the other mode. */
void feed_print(const struct options *options, FILE *out);

/*
 * Stops it, before the ports are stopped; also if there is none. Returns how many packets were
 * under way that no worker took.
 */
uint64_t feed_destroy(const struct options *options);

#endif
