/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Tables of flows for graphs: a flow cache (hy_flows.h) with its caches and upcalls under a name, to which
 * the nodes flow_lookup and flow_reinject (hy_flow_lookup.h) attach. A process may have several.
 *
 * @code
 * hy_flow_table_create(&params, &table);
 * hy_flow_table_run(table);                  ... or a thread that calls hy_flow_table_handle() ...
 * ... graphs, configured with the table, are created, walked and destroyed ...
 * hy_flow_table_destroy(table);
 * @endcode
 *
 * Flows are added, read and deleted by the functions of hy_flows.h, and caches switched by those of
 * hy_flows_cache.h, on hy_flow_table_flows(), while workers run.
 *
 * Any thread except workers may call the functions below, but see struct hy_flow_table_params. They return 0 or a negative errno.
 */
#pragma once

#include <hy_flows_cache.h>
#include <hy_flows_upcall.h>
#include <hy_lane.h>

HY_API_BEGIN

struct hy_flow_table;

#define HY_FLOW_TABLE_SWEEP 100 /**< Milliseconds between two sweeps of hy_flow_table_run(). */

/** Parameters of a table. */
struct hy_flow_table_params {
	const char *name; /**< Copied: a name (hy_lane.h) that no other table has. */
	/**
	 * The graphs must report to its QSBR variable. Without one, the worker's thread is the only one
	 * that may use the table. workers_begin is set.
	 */
	struct hy_flows_params flows;
	struct hy_flows_caches caches;         /**< At first. */
	struct hy_flows_upcall_params upcalls; /**< The rules, and the room of each worker. */
};

/**
 * Creates a table without megaflows.
 *
 * @return 0; -EINVAL (logged); -EEXIST (logged) the name is taken; -ENOMEM.
 */
int hy_flow_table_create(const struct hy_flow_table_params *params, struct hy_flow_table **table);

/**
 * Stops the thread of a table and frees the table, with the packets that are on the way to the rules and
 * back: their pools must still be there. NULL is allowed.
 *
 * @return 0; -EBUSY (logged) a graph has a node that is attached to it.
 */
int hy_flow_table_destroy(struct hy_flow_table *table);

/** @return The table of a name, valid until it is destroyed; NULL: there is none. */
struct hy_flow_table *hy_flow_table_find(const char *name);

/**
 * Called by a node's init(): the table cannot be destroyed before hy_flow_table_unuse(). The first node
 * of a worker gives it its caches, whose memory the last one frees.
 *
 * @param worker Of the graph.
 * @param qsbr To which the graph reports.
 * @return 0; -EINVAL the table has no such worker, or another variable; -ENOMEM.
 */
int hy_flow_table_use(struct hy_flow_table *table, unsigned int worker,
	const struct rte_rcu_qsbr *qsbr);

/** Called by a node's fini(): undoes hy_flow_table_use(). */
void hy_flow_table_unuse(struct hy_flow_table *table, unsigned int worker);

/** @return The number of workers of a table. */
unsigned int hy_flow_table_workers(const struct hy_flow_table *table);

/** @return The name of a table, valid as long as the table. */
const char *hy_flow_table_name(const struct hy_flow_table *table);

/** @return The megaflows of a table, valid as long as the table. */
struct hy_flows *hy_flow_table_flows(const struct hy_flow_table *table);

/** @return The upcalls of a table, for hy_flows_revalidate(). Valid as long as the table. */
struct hy_flows_upcalls *hy_flow_table_upcalls(const struct hy_flow_table *table);

/**
 * Answers up to @p most packets of each worker. Called by one thread at a time, and not beside
 * hy_flow_table_run(); if the table has no QSBR variable, by the worker's thread, between walks: what
 * the answers replace is freed at once. The caller tells the time besides, with hy_flows_poll().
 *
 * @return How many were answered.
 */
uint32_t hy_flow_table_handle(struct hy_flow_table *table, uint32_t most);

/**
 * Starts a thread that answers packets, tells the time, and has each megaflow looked at once a second. When
 * there is nothing to do, it sleeps for 20 us, then for longer up to 1 ms.
 *
 * @return 0; -EINVAL (logged) the table has no QSBR variable, so that the thread could not know what
 * workers still use; -EALREADY it runs; -EAGAIN there are too many threads.
 */
int hy_flow_table_run(struct hy_flow_table *table);

HY_API_END
