/* SPDX-License-Identifier: BSD-3-Clause */
/* What the simulated event devices have in common. */
#ifndef EVENT_COMMON_H
#define EVENT_COMMON_H

#include <stdbool.h>

#include <eventdev_pmd.h>
#include <eventdev_pmd_vdev.h>

/*
 * Begins what a device says of itself: schedule types of every kind, and all else zero. Only
 * programs get a structure from DPDK that is zero before; its own checks pass one as it lies on the
 * stack.
 */
void event_info_begin(struct rte_event_dev_info *to);

/* Empties a queue, if it is set up: the program's function gets the events, if it has one. */
void event_flush(const struct rte_eventdev *dev, struct rte_ring *ring);

/* Takes queues away from a port. Returns how many. */
int event_unlink(bool linked[], const uint8_t queues[], uint16_t n);

/* Operations of all devices. What queues and ports have is freed with the device. */
void event_queue_release(struct rte_eventdev *dev, uint8_t queue);
void event_port_release(void *port);
int event_timeout_ticks(struct rte_eventdev *dev, uint64_t ns, uint64_t *ticks);
int event_remove(struct rte_vdev_device *vdev);

#endif
