/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's commands of DPDK's telemetry socket. */
#pragma once

#include <hy_telemetry.h>

#include "feature.h"

#define TELEMETRY_COMMANDS 2

extern const struct hy_telemetry_command telemetry_commands[TELEMETRY_COMMANDS];

/* Answers /l3fwd/feature from now on; NULL: no more, as none uses them when this returns. */
void telemetry_show(const struct features *features);
