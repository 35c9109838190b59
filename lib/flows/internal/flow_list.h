/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of operations as hy_flow_ops_add() compiles them, for the node that does them. */
#pragma once

#include <stdbool.h>

#include <rte_common.h>

#include <hy_flow_ops.h>

#define FLOW_STEP_MACS (HY_FLOW_OP_OWN + 1) /* both addresses, in one step */

#define FLOW_OUTER_MAX (14 + 40 + 8 + 8)

/* Headers of a tunnel. Lengths, IPv4's checksum and UDP's source port are 0. */
struct flow_outer {
	uint16_t size;    /* of all */
	uint16_t counted; /* of what IP's length counts */
	uint16_t udp;     /* where UDP starts */
	uint32_t sum;     /* of IPv4's words in memory order, so far; 0 for IPv6 */
	uint8_t bytes[FLOW_OUTER_MAX];
};

struct flow_step {
	uint8_t type; /* enum hy_flow_op_type or FLOW_STEP_MACS */
	union {
		uint16_t edge;
		uint8_t mac[12]; /* the first 6 bytes, unless of FLOW_STEP_MACS */
		struct {
			rte_be16_t type16, tci, mask16;
		};
		uint8_t address[16];
		struct {
			uint8_t value8, mask8;
		};
		rte_be16_t l4;
		uint32_t mark;
		const struct flow_outer *outer; /* in the same block of memory */
	};
};

/* A list up to its last OUTPUT. */
struct flow_list {
	struct flow_list *next; /* of deleted ones; workers do not read this */
	uint64_t token;         /* likewise */
	uint16_t number;        /* likewise */
	uint16_t n;             /* steps */
	uint16_t outputs;       /* of these */
	uint16_t edge;          /* of the last step, if there is one */
	const uint8_t *route;   /* both addresses, if it only writes them and decrements the TTL */
	struct flow_step step[];
};

/* By one worker. */
struct flow_count {
	uint64_t packets, bytes;
};

/* What a worker reads and counts. */
struct flow_ops_view {
	struct flow_list *const *lists;
	struct flow_count *counts;
	uint32_t most; /* of both */
};

/* Of a worker that the set has. */
struct flow_ops_view flow_ops_view(const struct hy_flow_ops *ops, unsigned int worker);

/* The list of a number, or NULL. The worker may use it until it reports. */
static inline const struct flow_list *
flow_list(const struct flow_ops_view *view, uint16_t number)
{
	return likely(number < view->most) ? __atomic_load_n(&view->lists[number], __ATOMIC_ACQUIRE)
					   : NULL;
}

static inline void
flow_list_count(const struct flow_ops_view *view, uint16_t number, uint64_t packets, uint64_t bytes)
{
	struct flow_count *c = &view->counts[number];

	__atomic_store_n(&c->packets, c->packets + packets, __ATOMIC_RELAXED);
	__atomic_store_n(&c->bytes, c->bytes + bytes, __ATOMIC_RELAXED);
}

/* The list is freed with rte_free(). Returns 0; -EINVAL (logged); -ENOMEM. */
int flow_list_compile(const struct hy_flow_op ops[], uint32_t n, const char *name, int socket,
	struct flow_list **list);
