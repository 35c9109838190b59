/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contracts of the node families of VLAN interfaces, which have frames with and without a tag share a
 * port (IEEE 802.1Q): vlan_input sorts the frames of a port by tag, vlan_pop removes a tag, and
 * vlan_push adds one. Between vlan_pop and vlan_push, a packet is like one of a port without tags.
 *
 * vlan_input has an edge to the node that takes the port's frames, and one to a vlan_pop for each
 * VLAN, which leads to that node as well. An interface thus has nodes of its own, and their statistics
 * are its counters. A port needs no vlan_input unless it has a VLAN interface.
 *
 * All process functions are for the worker. They read and write the first 18 bytes of a frame, which
 * may span segments. A variant without init and ctx_size inherits the family's: the context of
 * vlan_input is its configuration, that of vlan_push a struct hy_vlan_push_ctx.
 */
#pragma once

#include <stdint.h>

#include <hy_api.h>
#include <hy_plugin.h>

HY_API_BEGIN

#define HY_VLAN_TAG 4        /**< Bytes of a tag: the ether type 0x8100, and the TCI. */
#define HY_VLAN_VIDS 4096    /**< Numbers that a tag can have. */
#define HY_VLAN_VID_MAX 4094 /**< The highest VLAN; 4,095 is reserved (IEEE 802.1Q 9.6). */

/** A VLAN interface: the frames of a port that have the tag of a VLAN. */
struct hy_vlan {
	uint16_t port; /**< ethdev port id. */
	uint16_t vid;  /**< 1 to HY_VLAN_VID_MAX. */
};

/** Edges of vlan_input; those of VLANs follow. */
enum hy_vlan_input_next {
	/**
	 * Untagged frames; priority-tagged frames (VID 0, IEEE 802.1Q 9.6), whose tag the node removes;
	 * and frames with the tag of a VLAN that the port has no interface for, unchanged.
	 */
	HY_VLAN_INPUT_NEXT_FRAME,
};
/** Drop reasons of vlan_input: "vlan_stacked". */
enum hy_vlan_input_drop {
	/** A second tag follows the first; either is of ether type 0x8100, 0x88a8 or 0x9100. */
	HY_VLAN_INPUT_STACKED,
};

/** Configuration of vlan_input, for hy_node_config(). */
struct hy_vlan_input_config {
	/**
	 * By VID, the edge to the VLAN's vlan_pop, or HY_VLAN_INPUT_NEXT_FRAME: there is no such VLAN.
	 * VIDs 0 and 4095 are none.
	 */
	uint16_t edge[HY_VLAN_VIDS];
};

/**
 * Edges of vlan_pop: "pkt_cls". Every frame has a tag, as vlan_input has seen; vlan_pop removes it, and
 * drops none. It has no configuration.
 */
enum hy_vlan_pop_next { HY_VLAN_POP_NEXT_FRAME };

/** Edges of vlan_push: "ethdev_tx". */
enum hy_vlan_push_next { HY_VLAN_PUSH_NEXT_FRAME };
/** Drop reasons of vlan_push: "no_room". */
enum hy_vlan_push_drop {
	/** The frame's first buffer has no 4 bytes left, neither in front of the data nor behind. */
	HY_VLAN_PUSH_NO_ROOM,
};

/** Configuration of vlan_push, for hy_node_config(). Tags have priority 0. */
struct hy_vlan_push_config {
	uint16_t vid; /**< 1 to HY_VLAN_VID_MAX. */
};

/** Context of vlan_push. */
struct hy_vlan_push_ctx {
	uint8_t tag[HY_VLAN_TAG]; /**< As in frames. */
};

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_VLAN_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_vlan_input_config), HY_PLUGIN_SIZE(struct hy_vlan_push_ctx)

HY_PLUGIN_NUMBERS(vlan, HY_VLAN_NUMBERS);
/** @endcond */

HY_API_END
