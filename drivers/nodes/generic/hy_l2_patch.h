/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contract of the node family l2_patch, for programs and for variants: a wire from one port to another.
 *
 * A program clones l2_patch for each port that receives, leads edge 0 of the clone to the ethdev_tx of
 * the port that sends, and configures the clone with hy_node_config(). The node looks up nothing. It
 * writes the MAC addresses of its configuration into each frame, or none at all.
 *
 * The process function is for the worker. Headers may span segments; the node writes to a frame's
 * buffers, so no node in front of it may share them. A variant without init and ctx_size inherits the
 * family's: the context is the configuration.
 */
#pragma once

#include <stdbool.h>

#include <rte_ether.h>

#include <hy_api.h>
#include <hy_plugin.h>

HY_API_BEGIN

/** Edges of l2_patch: "ethdev_tx". */
enum hy_l2_patch_next { HY_L2_PATCH_NEXT_FRAME };
/** Drop reasons of l2_patch: "truncated". */
enum hy_l2_patch_drop {
	HY_L2_PATCH_TRUNCATED, /**< Shorter than an Ethernet header: 14 bytes. */
};

/** Configuration and context of l2_patch. */
struct hy_l2_patch_config {
	bool update; /**< Frames get the addresses below; otherwise they are not changed. */
	struct rte_ether_addr dst; /**< Destination of each frame. */
	struct rte_ether_addr src; /**< Source of each frame. */
};

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_L2_PATCH_NUMBERS HY_PLUGIN_SIZE(struct hy_l2_patch_config)

HY_PLUGIN_NUMBERS(l2_patch, HY_L2_PATCH_NUMBERS);
/** @endcond */

HY_API_END
