/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of l2_loop.c by the other compiler, where there is none: lists without functions. */

#include "l2_loop.h"

l2_loop_run_t *const L2_LOOPS_O2[L2_STEPS];
l2_loop_run_t *const L2_LOOPS_O3[L2_STEPS];
