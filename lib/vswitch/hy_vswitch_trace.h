/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The way of one packet through a switch's tables, in words. doc/vswitch.rst has an example.
 *
 * Any thread may call these functions. They count no packet, and change nothing.
 */
#pragma once

#include <stdio.h>

#include <hy_vswitch.h>

HY_API_BEGIN

/** Most lines of a trace between its first and its last four: the others are left out, and one says so. */
#define HY_VSWITCH_TRACE_LINES 16384u

/**
 * Reads the text of a packet: a match of exact values, such as
 * "in_port=1,udp,nw_src=10.0.0.1,tp_dst=53". Fields that it does not give are 0.
 *
 * @param text One line. in_port is a port of the switch; of a tunnel, addresses outside that the text
 * does not give are those of the tunnel. Without in_port, such addresses select the tunnel.
 * @param[out] key As hy_vswitch_translate() takes it. Unchanged after an error.
 * @param error HY_VSWITCH_ERROR_SIZE bytes; the reason of an error, as "FIELD: REASON".
 * @return 0; -EINVAL it is no packet, or comes from no port of the switch.
 */
int hy_vswitch_packet(struct hy_vswitch *vswitch, const char *text, struct hy_flows_key *key,
	char *error);

/**
 * Prints what hy_vswitch_translate() does with a packet: the packet, each rule that it meets and each of its
 * actions with its outcome, and, as the last three lines, the fields as changed, the mask of the megaflow
 * and the operations (hy_flow_ops_format()).
 *
 * @param key Made with hy_vswitch_parse(), or by hy_vswitch_packet().
 * @param out Nothing is written to it while the switch is locked.
 * @return 0; -ENOMEM; what hy_output_flush() returns.
 */
int hy_vswitch_trace(struct hy_vswitch *vswitch, const struct hy_flows_key *key, FILE *out);

HY_API_END
