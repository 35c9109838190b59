/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the nodes of a snapshot, which the table and the JSON both show. */
#ifndef L3FWD_SUMS_H
#define L3FWD_SUMS_H

#include "report.h"

#define REASONS_MAX 64

/* A drop reason, over all nodes that have it. */
struct reason {
	const char *name;
	const char *text;
	uint64_t objs;
};

/* Returns how many reasons there are. */
unsigned int sum_drops(const struct report *report, struct reason reasons[REASONS_MAX]);

/* Packets that workers took of a port, and that they sent on it. */
uint64_t sum_rx(const struct report *report, uint16_t port);
uint64_t sum_tx(const struct report *report, uint16_t port);

#endif
