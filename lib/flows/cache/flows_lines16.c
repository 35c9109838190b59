/* SPDX-License-Identifier: BSD-3-Clause */
/* The index of cache lines with 14 numbers of 16 bits. */

#include <stdint.h>

#define LANES_WAYS LINES_WAYS16
#define NUMBER uint16_t
#define NUMBER_MOST 65536u
#define LINES_LOG 17
#define OPS flows_lines16
#define NAME "lines of 14"

#include "flows_lines_index.h"
