/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of hy_workers.h share. */
#pragma once

#include <hy_workers.h>

#define HY_WORKERS_NAME "worker" /* of a graph that is spread, as HY_WORKERS_GRAPHS wants it */

/* Whether other workers hand packets to the worker of a graph. */
bool hy_worker_takes(struct hy_graph *graph);
/* Whether it takes packets from an event device. */
bool hy_worker_has_events(struct hy_graph *graph);
