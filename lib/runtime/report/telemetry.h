/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of the parts of the runtime library. */
#pragma once

#include <hy_telemetry.h>

#define HY_TELEMETRY_RECORDER 3
#define HY_TELEMETRY_TRACER 4
#define HY_TELEMETRY_REPORT 5

extern const struct hy_telemetry_command hy_telemetry_recorder[HY_TELEMETRY_RECORDER];
extern const struct hy_telemetry_command hy_telemetry_tracer[HY_TELEMETRY_TRACER];
extern const struct hy_telemetry_command hy_telemetry_report[HY_TELEMETRY_REPORT];

/*
 * Entries of an answer: DPDK's arrays hold no dictionaries, so they are keyed "0", "1", ... As many
 * as this fit, of at most 400 bytes each; DPDK leaves out silently what does not.
 */
#define HY_TELEMETRY_ENTRIES 40

struct hy_telemetry_list {
	struct rte_tel_data *data; /* a dictionary */
	unsigned int n, left_out;
};

/* Begins the next entry, a dictionary. Returns NULL if there is no room for it. */
struct rte_tel_data *hy_telemetry_entry(struct hy_telemetry_list *list);
