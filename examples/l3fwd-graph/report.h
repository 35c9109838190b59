/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program reports of itself: a table for people, JSON for programs. */
#ifndef L3FWD_REPORT_H
#define L3FWD_REPORT_H

#include <hy_report.h>

#include "pipeline.h"

struct report {
	struct hy_report base;
	const struct options *options;
	struct hy_policy_class *classes; /* that packets got */
	uint32_t nb_classes;
	char *offloads, *offloads_json; /* how they stand, for people and for programs; or NULL */
	uint64_t events_freed;          /* packets that were in the event device at the end */
};

/* Adds ports, once they run; base and options are set. */
void report_begin(struct report *report);
/* Notes which classes packets got so far, and how offloads stand; while there are any. */
void report_read(struct report *report, const struct pipeline *pipeline);
void report_free(struct report *report);

/* What runs where: a line a node. */
void report_picks(const struct report *report, FILE *out);
/* The nodes, the drops by reason, classes, offloads, and the workers if they may rest. */
void report_table(const struct report *report, FILE *out);
/* Ports and totals. Returns whether every packet and buffer is accounted for. */
bool report_result(const struct report *report, FILE *out);
void report_json(const struct report *report, FILE *out);

#endif
