/* SPDX-License-Identifier: BSD-3-Clause */
/* Upcalls, for the worker's side (flows_upcall.c) and the handler's (flows_handle.c). */
#pragma once

#include <rte_ring.h>

#include <hy_flows_upcall.h>

#include "lib/flows/flows.h"

/* Packets of one order are counted together: few flows share one, however many are on the way. */
#define FLOWS_ORDERS(room) RTE_MAX(1u << 16, 64 * (room))

/* A packet on the way to the handler. */
struct flows_miss {
	struct rte_mbuf *mbuf;
	uint32_t order, spare;
	struct hy_flows_key key;
};

/* On the way back. */
struct flows_answer {
	struct rte_mbuf *mbuf;
	struct flows_found by;
	uint32_t order, spare;
};

struct flows_upcall_worker {
	/* The worker's. */
	alignas(RTE_CACHE_LINE_SIZE) struct rte_ring *misses, *answers;
	uint16_t *on_the_way; /* packets, by order */
	struct hy_flows_upcall_stats sent;
	/* The handler's. */
	alignas(RTE_CACHE_LINE_SIZE) struct hy_flows_upcall_stats handled;
};

struct hy_flows_upcalls {
	struct hy_flows *flows;
	struct hy_flows_upcall_params params;
	pthread_mutex_t lock; /* held while rules are asked and their answer is installed */
	struct flows_upcall_worker workers[];
};
