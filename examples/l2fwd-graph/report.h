/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program reports beyond hy_report.h, for struct hy_run: arg is a struct pipeline. */
#pragma once

#include <stdio.h>

/* Where frames go, and which lcore polls which port. */
void report_picks(const void *pipeline, FILE *out);
/* What the bridge knows and counts. */
void report_table(const void *pipeline, FILE *out);
void report_json(const void *pipeline, FILE *out);
