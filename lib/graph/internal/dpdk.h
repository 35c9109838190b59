/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of DPDK's API since 22.11 that affect Halyard. Code is written for the newest DPDK, and
 * only this file compares versions. quirk.c handles differences at run time.
 */
#pragma once

#include <pthread.h>

#include <rte_lcore.h>
#include <rte_version.h>

#define HY_DPDK_SINCE(year, month) (RTE_VERSION >= RTE_VERSION_NUM(year, month, 0, 0))

/* Renamed, and wider: the value that rte_tel_data_add_dict_int() takes. */
#if !HY_DPDK_SINCE(23, 3)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#define HY_DPDK_TELEMETRY_INT int
#else
#define HY_DPDK_TELEMETRY_INT int64_t
#endif

/* What a control thread returns, and how it is started. Returns 0 or a negative errno. */
#if HY_DPDK_SINCE(23, 11)
typedef uint32_t hy_dpdk_thread_result;
#else
typedef void *hy_dpdk_thread_result;
#endif

static inline int
hy_dpdk_control_thread(pthread_t *thread, const char *name, hy_dpdk_thread_result (*run)(void *),
	void *arg)
{
#if HY_DPDK_SINCE(23, 11)
	rte_thread_t made = { 0 };
	const int rc = rte_thread_create_control(&made, name, run, arg);

	*thread = (pthread_t)made.opaque_id;
	return rc;
#else
	return rte_ctrl_thread_create(thread, name, NULL, run, arg);
#endif
}

/* Event ports have link profiles, whose number drivers report. */
#define HY_DPDK_EVENT_PROFILES HY_DPDK_SINCE(23, 11)

/* Event devices report their schedule types. */
#define HY_DPDK_EVENT_TYPES HY_DPDK_SINCE(24, 3)

/* librte_graph has a model that dispatches bursts to other lcores; its first walk was renamed. */
#define HY_DPDK_GRAPH_DISPATCH HY_DPDK_SINCE(23, 7)
#if !HY_DPDK_GRAPH_DISPATCH
#define rte_graph_walk_rtc rte_graph_walk
#endif

/* librte_node has nodes for IPv6. */
#define HY_DPDK_NODES_IP6 HY_DPDK_SINCE(23, 7)

/* Ethdev drivers have a separate structure of flow functions for the fast path. */
#define HY_DPDK_FLOW_FAST HY_DPDK_SINCE(24, 3)

/* Event drivers have functions for a single event in addition to those for bursts. */
#define HY_DPDK_EVENT_BY_ONE (!HY_DPDK_SINCE(24, 11))

/* Ethdev drivers return the statistics of queues in a separate structure. */
#define HY_DPDK_QUEUE_STATS HY_DPDK_SINCE(25, 11)

/* i40e refuses rules on part of a VLAN tag. Before, it matched the whole tag. */
#define HY_DPDK_I40E_WHOLE_TAGS HY_DPDK_SINCE(26, 7)

/* ice matches fragment offsets. Before, it ignored them. */
#define HY_DPDK_ICE_FRAGMENTS HY_DPDK_SINCE(25, 3)

/* ice refuses ranges of all items. Before, it ignored some of these errors. */
#define HY_DPDK_ICE_NO_RANGES HY_DPDK_SINCE(26, 7)

/* Intel's drivers share code for actions, which checks queues and key of RSS. */
#define HY_DPDK_INTEL_RSS HY_DPDK_SINCE(26, 7)
