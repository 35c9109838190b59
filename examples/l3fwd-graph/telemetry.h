/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's commands of DPDK's telemetry socket. */
#pragma once

#include <hy_arc.h>
#include <hy_telemetry.h>

#define TELEMETRY_COMMANDS 2

extern const struct hy_telemetry_command telemetry_commands[TELEMETRY_COMMANDS];

/* Answers /l3fwd/feature out of an arc from now on; NULL: no more, as none uses it when this returns. */
void telemetry_show(struct hy_arc *arc);
