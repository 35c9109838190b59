/* SPDX-License-Identifier: BSD-3-Clause */
/* What answers to telemetry hold, as far as tests look at them. */
#pragma once

#include <hy_graph.h>

/* The strings that this thread last added to any dictionary under "text" and "error". */
extern __thread char telemetry_text[HY_TEXT_SIZE], telemetry_error[HY_TEXT_SIZE];
