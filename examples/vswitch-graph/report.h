/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program reports beyond hy_report.h, for struct hy_run: arg is a struct pipeline. */
#pragma once

#include <stdio.h>

/* Which lcore polls which port, and which ports are tunnels. */
void report_picks(const void *pipeline, FILE *out);
/* What the switch and the bridge know and count. */
void report_table(const void *pipeline, FILE *out);
void report_json(const void *pipeline, FILE *out);
/* The rules with their counts. Returns 0, or a negative errno. */
int report_rules(const void *pipeline, FILE *out);
