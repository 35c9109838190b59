/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Names, and the lanes that travel beside objects: what descriptors of nodes and graphs share.
 * hy_graph.h includes this.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hy_api.h>

HY_API_BEGIN

#define HY_NAME_SIZE 64  /**< Room for a name, its final NUL included. */
#define HY_TEXT_SIZE 128 /**< Room for a sentence of explanation, likewise. */
#define HY_LANES_MAX 4   /**< Most side-data lanes of 32 bits of a graph. */
#define HY_WIDE_MAX 4    /**< Most wide lanes of a graph; see struct hy_wide_lane. */
#define HY_WIDE_BYTES 64 /**< Most bytes that a wide lane has for an object. */

/** Whether @p name, which may be NULL, is a valid name: [A-Za-z0-9_.-]{1,63}. */
bool hy_name_valid(const char *name);

/**
 * A lane of more than 32 bits an object, such as an IPv6 address or a flow key. It is declared,
 * written, read and sent on like the lanes of 32 bits; hy_lane_wide() gives its values. Only graphs
 * that declare wide lanes spend memory and instructions on them: there, every enqueue is a function
 * call, and a node behind which a node uses a wide lane sends mixed bursts run by run.
 */
struct hy_wide_lane {
	char name[HY_NAME_SIZE]; /**< A name that no other lane of the node or graph has. */
	uint16_t bytes; /**< Bytes an object, 8, 16, 32 or 64; the same wherever the name is. */
};

HY_API_END
