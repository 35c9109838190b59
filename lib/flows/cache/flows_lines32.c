/* SPDX-License-Identifier: BSD-3-Clause */
/* The index of cache lines with 10 numbers of 32 bits. */

#include <stdint.h>

#define LANES_WAYS LINES_WAYS32
#define NUMBER uint32_t
#define NUMBER_MOST UINT32_MAX
#define LINES_LOG 18
#define OPS flows_lines32
#define NAME "lines of 10"

#include "flows_lines_index.h"
