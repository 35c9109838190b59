/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contracts of the node families of a bridge that knows VLANs (IEEE 802.1Q): l2_input finds the VLAN of
 * a frame and refuses what must not enter; l2_learn has source addresses learned; l2_lookup finds where
 * a frame goes; l2_flood makes it as many frames as it has destinations; l2_output gives it the tag that
 * its port sends, and passes it to the port.
 *
 * A frame keeps the tag that it came with until l2_flood or l2_output, so one that leaves as it came is
 * not written to, and one for the router itself reaches vlan_input or pkt_cls as if there was no bridge.
 * What the nodes find out is in one lane, HY_L2_LANE (hy_l2_lane.h). l2_flood is a node, and no family: it has one implementation.
 *
 * Ports of a bridge have numbers of their own, below HY_L2_BRIDGE_PORTS, so that sets of them are
 * words. Numbers in the forwarding table (hy_l2_table.h) are these.
 *
 * Nodes read the bridge's set-up by a pointer that the control plane exchanges, once in each call: the
 * frames of a call are judged by one set-up. The old one is freed after a grace period of the variable
 * that graphs report to.
 *
 * All process functions are for the worker. They read the first 18 bytes of a frame, which may span
 * segments, and l2_flood and l2_output write to them: no node in front of them may share a frame's
 * buffers. A variant without init and ctx_size inherits the family's: the context is a struct
 * hy_l2_ctx.
 */
#pragma once

#include <stdint.h>

#include <rte_config.h>
#include <rte_meter.h>

#include <hy_api.h>
#include <hy_l2_view.h>

HY_API_BEGIN

struct rte_rcu_qsbr;
struct rte_ring;

#define HY_L2_BRIDGE_PORTS 64               /**< Most ports of a bridge. */
#define HY_L2_LOCAL HY_L2_BRIDGE_PORTS      /**< In the table: the router itself. */
#define HY_L2_TABLE_PORTS (HY_L2_LOCAL + 1) /**< Ports of a bridge's table. */
#define HY_L2_NO_PORT UINT8_MAX             /**< An ethdev that is no port of the bridge. */

/** What a port does with frames (IEEE 802.1Q 8.4). There is no spanning tree: commands set it. */
enum hy_l2_state {
	HY_L2_BLOCKING,   /**< Drops what it receives, sends nothing. */
	HY_L2_LEARNING,   /**< Likewise, but sources are learned. */
	HY_L2_FORWARDING, /**< Receives and sends. */
};

/** Which frames a port admits (IEEE 802.1Q 6.9), besides having a VLAN for them. */
enum hy_l2_admit {
	HY_L2_ADMIT_ALL,      /**< All. */
	HY_L2_ADMIT_TAGGED,   /**< Those that name a VLAN. */
	HY_L2_ADMIT_UNTAGGED, /**< Those without a tag, or with VID 0. */
};

/** What traffic is limited by port. A frame is of one kind. */
enum hy_l2_storm {
	HY_L2_STORM_BROADCAST, /**< To ff:ff:ff:ff:ff:ff. */
	HY_L2_STORM_MULTICAST, /**< To another group address that the table does not have. */
	HY_L2_STORM_UNKNOWN,   /**< To a unicast address that the table does not have. */
	HY_L2_STORMS,          /**< Their number. */
};

/** A port as l2_input reads it. */
struct hy_l2_port {
	uint16_t pvid; /**< VLAN of frames that name none; 0: they are dropped. */
	uint8_t state; /**< enum hy_l2_state. */
	uint8_t admit; /**< enum hy_l2_admit. */
	bool learn;    /**< Sources are learned. */
	bool filter;   /**< Frames of VLANs that the port is no member of are dropped (8.6.2). */
};

/** A VLAN: sets of ports, a bit each. */
struct hy_l2_vlan {
	uint64_t members;  /**< Ports that its frames may leave by. */
	uint64_t untagged; /**< Of these: ports that send them without a tag. */
};

/** A bridge's set-up, as nodes read it. Never written to after it was published. */
struct hy_l2_setup {
	uint16_t tag_type;                /**< Of tags that name VLANs: 0x8100 or 0x88a8. */
	uint8_t number[RTE_MAX_ETHPORTS]; /**< By ethdev, the port or HY_L2_NO_PORT. */
	struct hy_l2_port port[HY_L2_BRIDGE_PORTS]; /**< By number; others are zeros. */
	/**
	 * By port that receives, the ports that its frames may leave by: those that forward, without
	 * itself and those of its split-horizon group.
	 */
	uint64_t reach[HY_L2_BRIDGE_PORTS];
	uint64_t forwarding;                /**< Ports that forward. */
	struct hy_l2_vlan vlan[HY_L2_VIDS]; /**< VIDs 0 and 4095 have no members. */
	uint64_t limited[HY_L2_STORMS];     /**< Ports with a limit of the kind. */
	/** Limits, where there are any, in frames: a frame counts as one byte. */
	struct rte_meter_srtcm_profile storm[HY_L2_BRIDGE_PORTS][HY_L2_STORMS];
};

/** What one worker writes to. */
struct hy_l2_worker {
	/** Sources to be learned: elements of struct hy_l2_source, one producer, one consumer. */
	struct rte_ring *learn;
	struct rte_meter_srtcm storm[HY_L2_BRIDGE_PORTS][HY_L2_STORMS]; /**< Zeroed at first. */
	uint64_t flooded_by_port[HY_L2_BRIDGE_PORTS]; /**< Frames, by port that received them. */
	uint64_t flooded_by_vlan[HY_L2_VIDS];         /**< Frames, by VLAN. */
};

/** Configuration of all of these nodes, for hy_node_config(). */
struct hy_l2_config {
	const struct hy_l2_view *table;         /**< The forwarding table's. */
	const struct hy_l2_setup *const *setup; /**< Where the set-up is published. */
	struct hy_l2_worker *const *workers;    /**< By number of the graph's worker. */
	uint16_t nb_workers;                    /**< Entries of workers. */
	struct rte_rcu_qsbr *qsbr; /**< That graphs must report to; NULL: nothing changes. */
	/** Of l2_output: the edge to each port, or HY_L2_NO_EDGE. */
	uint16_t edge[HY_L2_BRIDGE_PORTS];
};

#define HY_L2_NO_EDGE UINT16_MAX /**< The bridge has no such port. */

/** Context of these nodes. */
struct hy_l2_ctx {
	const struct hy_l2_view *table;         /**< As in the configuration. */
	const struct hy_l2_setup *const *setup; /**< Likewise; read with hy_l2_setup_load(). */
	struct hy_l2_worker *worker;            /**< The graph's. */
	uint16_t edge[HY_L2_BRIDGE_PORTS];      /**< As in the configuration. */
};

/** @return The set-up for one call of a node. */
static inline const struct hy_l2_setup *
hy_l2_setup_load(const struct hy_l2_ctx *ctx)
{
	return __atomic_load_n(ctx->setup, __ATOMIC_ACQUIRE);
}

/** Edges of l2_input: "l2_learn". */
enum hy_l2_input_next { HY_L2_INPUT_NEXT_LEARN };
/** Drop reasons of l2_input. The first one that applies counts. */
enum hy_l2_input_drop {
	HY_L2_INPUT_NOT_A_PORT,    /**< "not_a_port": the ethdev is no port of the bridge. */
	HY_L2_INPUT_TRUNCATED,     /**< "truncated": shorter than its Ethernet header and tag. */
	HY_L2_INPUT_RESERVED,      /**< "reserved_dst": to 01:80:C2:00:00:00 to 0F (8.6.3). */
	HY_L2_INPUT_BLOCKED,       /**< "port_blocked": the port is in state HY_L2_BLOCKING. */
	HY_L2_INPUT_BAD_SRC,       /**< "bad_src": from a group address, or from address 0. */
	HY_L2_INPUT_VLAN_INVALID,  /**< "vlan_invalid": VID 4095. */
	HY_L2_INPUT_NOT_ADMITTED,  /**< "not_admitted": by enum hy_l2_admit, or there is no pvid. */
	HY_L2_INPUT_VLAN_FILTERED, /**< "vlan_filtered": the port is no member of the VLAN. */
};

/** Edges of l2_learn: "l2_lookup". */
enum hy_l2_learn_next { HY_L2_LEARN_NEXT_LOOKUP };
/** Drop reasons of l2_learn. */
enum hy_l2_learn_drop {
	HY_L2_LEARN_ONLY, /**< "port_learning": the port is in state HY_L2_LEARNING. */
};
/** Counters of l2_learn. unknown = handed over to the control plane + ring_full. */
enum hy_l2_learn_counter {
	HY_L2_LEARN_UNKNOWN,   /**< "unknown": sources without an entry of the port. */
	HY_L2_LEARN_RING_FULL, /**< "ring_full": of these, those that the ring had no room for. */
	HY_L2_LEARN_FIXED,     /**< "fixed": sources with a static entry of another port. */
};

/** Edges of l2_lookup: "l2_output", "l2_flood", "pkt_cls". */
enum hy_l2_lookup_next {
	HY_L2_LOOKUP_NEXT_OUTPUT, /**< There is an entry. */
	HY_L2_LOOKUP_NEXT_FLOOD,  /**< There is none. */
	HY_L2_LOOKUP_NEXT_LOCAL,  /**< The entry's port is HY_L2_LOCAL. */
};
/** Drop reasons of l2_lookup: a limit was reached, by enum hy_l2_storm. */
enum hy_l2_lookup_drop {
	HY_L2_LOOKUP_STORM_BROADCAST, /**< "storm_broadcast" */
	HY_L2_LOOKUP_STORM_MULTICAST, /**< "storm_multicast" */
	HY_L2_LOOKUP_STORM_UNKNOWN,   /**< "storm_unknown" */
};

/** Edges of l2_flood: "l2_output". */
enum hy_l2_flood_next { HY_L2_FLOOD_NEXT_OUTPUT };
/** Drop reasons of l2_flood. */
enum hy_l2_flood_drop {
	HY_L2_FLOOD_NOWHERE, /**< "nowhere": no other port that forwards is a member. */
	HY_L2_FLOOD_NO_ROOM, /**< "no_room": a buffer has no room for a tag, or there is none for a copy. */
};
/** Counters of l2_flood. Objects out = objects in - drops + copies. */
enum hy_l2_flood_counter {
	HY_L2_FLOOD_COPIES, /**< "copies": frames sent beyond the first. */
	HY_L2_FLOOD_LOST,   /**< "lost": ports that got none because there was no buffer. */
};

/** Drop reasons of l2_output, whose edges a program adds. The first one that applies counts. */
enum hy_l2_output_drop {
	HY_L2_OUTPUT_SAME_PORT, /**< "same_port": the port is the one that received the frame. */
	HY_L2_OUTPUT_BLOCKED,   /**< "port_blocked": the port does not forward, or is gone. */
	HY_L2_OUTPUT_SPLIT,     /**< "split_horizon": the ports are of one group. */
	HY_L2_OUTPUT_NO_MEMBER, /**< "no_member": the port is no member of the VLAN. */
	HY_L2_OUTPUT_OUTDATED,  /**< "outdated": flooded, and the set-up wants another tag since. */
	HY_L2_OUTPUT_NO_ROOM,   /**< "no_room": the first buffer has no room for a tag. */
};

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_L2_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_l2_config), HY_PLUGIN_SIZE(struct hy_l2_ctx), \
		HY_PLUGIN_SIZE(struct hy_l2_setup), HY_PLUGIN_SIZE(struct hy_l2_worker)

HY_PLUGIN_NUMBERS(l2, HY_L2_NUMBERS);
/** @endcond */

HY_API_END
