/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What became of DPDK's API from 22.11 on, as far as Halyard meets it. Code is written for the newest
 * DPDK; only this file compares versions. What differs at run time only is the quirks' (quirk.c).
 */
#ifndef HY_DPDK_H
#define HY_DPDK_H

#include <rte_version.h>

#define HY_DPDK_SINCE(year, month) (RTE_VERSION >= RTE_VERSION_NUM(year, month, 0, 0))

/* Was renamed. */
#if !HY_DPDK_SINCE(23, 3)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

/* Event ports have profiles of links, and DPDK asks drivers how many. */
#define HY_DPDK_EVENT_PROFILES HY_DPDK_SINCE(23, 11)

/* Event devices say which schedule types they have. */
#define HY_DPDK_EVENT_TYPES HY_DPDK_SINCE(24, 3)

/* librte_graph has a model that hands bursts over to other lcores; its walk got a name by that. */
#define HY_DPDK_GRAPH_DISPATCH HY_DPDK_SINCE(23, 7)
#if !HY_DPDK_GRAPH_DISPATCH
#define rte_graph_walk_rtc rte_graph_walk
#endif

/* Drivers of ports have flow functions for the fast path in a structure of their own. */
#define HY_DPDK_FLOW_FAST HY_DPDK_SINCE(24, 3)

/* Event devices have functions for one event, besides those for bursts. */
#define HY_DPDK_EVENT_BY_ONE (!HY_DPDK_SINCE(24, 11))

/* Drivers of ports give the statistics of queues in a structure of its own. */
#define HY_DPDK_QUEUE_STATS HY_DPDK_SINCE(25, 11)

/* i40e refuses rules on part of a VLAN tag, which it took for the whole tag. */
#define HY_DPDK_I40E_WHOLE_TAGS HY_DPDK_SINCE(26, 7)

/* ice matches on fragment offsets, which it left out of a rule. */
#define HY_DPDK_ICE_FRAGMENTS HY_DPDK_SINCE(25, 3)

/* ice refuses ranges of every item, where it went on behind the error of some. */
#define HY_DPDK_ICE_NO_RANGES HY_DPDK_SINCE(26, 7)

/* Intel's drivers look at actions in common code, which wants queues and key of RSS in order. */
#define HY_DPDK_INTEL_RSS HY_DPDK_SINCE(26, 7)

#endif
