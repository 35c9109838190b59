/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Upcalls, for the worker's side (flows_upcall.c), the handler's (flows_handle.c), and changes of rules
 * (flows_revalidate.c).
 */
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

/*
 * Held while rules are asked and their answer is installed. Threads get it in the order in which they ask for
 * it: one that gives it back to ask for it again lets others have it first, as with a mutex it would not.
 */
struct flows_turn {
	pthread_mutex_t lock;
	pthread_cond_t next;
	uint64_t asked, served;
};

struct hy_flows_upcalls {
	struct hy_flows *flows;
	struct hy_flows_upcall_params params;
	struct flows_turn turn;
	struct flows_upcall_worker workers[];
};

#define FLOWS_TURN \
	8 /* packets or megaflows about which rules are asked, until others have their turn */

/* flows_handle.c */
void flows_turn_take(struct flows_turn *turn);
void flows_turn_give(struct flows_turn *turn);
