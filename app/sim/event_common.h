/* SPDX-License-Identifier: BSD-3-Clause */
/* What the simulated event devices have in common. */
#ifndef EVENT_COMMON_H
#define EVENT_COMMON_H

#include <eventdev_pmd.h>

/*
 * Begins what a device says of itself: schedule types of every kind, and all else zero. Only
 * programs get a structure from DPDK that is zero before; its own checks pass one as it lies on the
 * stack.
 */
void event_info_begin(struct rte_event_dev_info *to);

#endif
