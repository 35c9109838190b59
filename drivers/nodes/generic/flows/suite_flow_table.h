/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of flows for the suites of its nodes. */
#pragma once

#include <hy_conform.h>
#include <hy_flow_lookup.h>

#define SUITE_FLOWS_EDGES 2 /* of the nodes; actions name others, too */
#define SUITE_FLOWS_PORTS 4
#define SUITE_FLOWS_WAITS 300 /* the idle time of megaflows */

struct suite_named;

struct suite_flows {
	struct hy_flow_table *table;
	struct suite_named *named; /* marks; NULL: none */
	bool sampled;              /* of which all are compared */
	struct hy_flows_caches caches;
	uint32_t version; /* of the rules */
	uint64_t actions; /* a sum of those of answers */
};

/* Creates the table of a side; its name has that of the family in it. */
int suite_flows_make(const struct hy_suite_side *side, const char *family,
	const struct hy_flows_caches *caches, uint32_t room, void **state);
/* Adds the megaflows of typical packets. */
int suite_flows_add(const struct suite_flows *s);
/* Deletes the megaflow of a packet, or replaces it by one with another action, or leaves it as it is. */
void suite_flows_delete(const struct suite_flows *s, struct rte_mbuf *packet);

/* As suites' functions. */
void suite_flows_teardown(void *state);
int suite_flows_configure(void *state, hy_node_id id);
void suite_flows_shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet);
