/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What is done to the packets of flows: lists of operations under numbers. The rules of a table of flows
 * (hy_flow_table.h) name a list by its number in the upper 16 bits of their action, and the node flow_apply
 * (hy_flow_apply.h) does to each packet what the list says.
 *
 * One thread at a time may add and delete lists. Any thread may call hy_flow_ops_count() and, for other
 * sets, anything; hy_flow_ops_use() and hy_flow_ops_unuse() are for nodes. Workers read lists meanwhile.
 * Functions return 0 or a negative errno, and on an error have changed nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <rte_byteorder.h>

#include <hy_api.h>

HY_API_BEGIN

struct hy_flow_ops;
struct rte_rcu_qsbr;

#define HY_FLOW_OPS_MOST (1u << 16)                    /**< Most lists. */
#define HY_FLOW_OPS_LIST 64u                           /**< Most operations of a list. */
#define HY_FLOW_OPS_TEXT_SIZE (HY_FLOW_OPS_LIST * 256) /**< Bytes of a list's text, with its NUL. */
#define HY_FLOW_OPS_HEADERS 256 /**< Bytes of a packet in which its headers are changed. */

/**
 * What an operation does. They are done in the order of the list, up to its last OUTPUT.
 *
 * The packet must have the header that an operation changes, whole and within its first
 * HY_FLOW_OPS_HEADERS bytes; any number of VLAN tags may precede IP. Otherwise the packet is dropped as
 * "no_header", even if the list sent copies of it before. An operation on ports leaves fragments without
 * ports (all but the first) as they are.
 *
 * Checksums of IPv4, TCP, UDP and ICMPv6 are updated incrementally (RFC 1624), so that one that was wrong
 * stays wrong. A UDP checksum of 0 stays 0. Up to 8 extension headers of IPv6 in 128 bytes are walked; behind
 * more, addresses are not changed ("no_header"), since the checksum cannot be found. Where the frame
 * ends before TCP's, UDP's or ICMPv6's header does, addresses change and no checksum but IPv4's. While a
 * routing header has segments left, the IPv6 destination is not in the checksum (RFC 8200, 8.1).
 */
enum hy_flow_op_type {
	/** Sends the packet as it is now along edge @ref hy_flow_op.edge of flow_apply. */
	HY_FLOW_OP_OUTPUT,
	HY_FLOW_OP_DST_MAC, /**< Writes @ref hy_flow_op.mac. */
	HY_FLOW_OP_SRC_MAC, /**< Likewise. */
	/**
	 * Puts a tag of type @ref hy_flow_op.type16 (0x8100, 0x88a8, 0x9100) and content @ref hy_flow_op.tci
	 * before the others.
	 */
	HY_FLOW_OP_PUSH_VLAN,
	HY_FLOW_OP_POP_VLAN, /**< Removes the outer tag, of one of these types. */
	HY_FLOW_OP_VLAN_TCI, /**< Writes the bits of @ref hy_flow_op.mask16 of the outer tag. */
	HY_FLOW_OP_IP4_SRC,  /**< Writes @ref hy_flow_op.ip4. */
	HY_FLOW_OP_IP4_DST,  /**< Likewise. */
	HY_FLOW_OP_IP6_SRC,  /**< Writes @ref hy_flow_op.ip6. */
	HY_FLOW_OP_IP6_DST,  /**< Likewise. */
	HY_FLOW_OP_TOS, /**< Writes the bits of @ref hy_flow_op.mask8 of TOS or traffic class. */
	HY_FLOW_OP_TTL, /**< Writes @ref hy_flow_op.value8 as TTL or hop limit. */
	HY_FLOW_OP_DEC_TTL, /**< Takes 1 off it; 0 and 1 are dropped as "ttl_expired". */
	HY_FLOW_OP_L4_SRC,  /**< Writes @ref hy_flow_op.l4 as port of TCP or UDP. */
	HY_FLOW_OP_L4_DST,  /**< Likewise. */
	HY_FLOW_OP_MARK,    /**< Marks the packet with @ref hy_flow_op.mark, as a NIC does. */
	/**
	 * Removes all before the frame inside VXLAN (RFC 7348), as HY_FLOWS_PARSE_TUNNEL finds it. What the
	 * NIC said of the packet (hash, checksums, type) is forgotten. Bytes behind the UDP datagram stay.
	 */
	HY_FLOW_OP_DECAP,
	HY_FLOW_OP_ENCAP, /**< Puts the frame inside @ref hy_flow_op.vxlan. */
	/**
	 * Gives the packet its first HY_FLOW_OPS_HEADERS bytes in a buffer of its own, if a copy shares
	 * them: before an output to a node that writes to packets, and before the next one after it.
	 */
	HY_FLOW_OP_OWN,
};

/**
 * A tunnel to put frames in. UDP's source port is a hash of the frame's flow, 49152 to 65535 (RFC 7348,
 * 5). UDP's checksum is 0: allowed over IPv4, and over IPv6 for tunnels whose ends agree on it (RFC 6935,
 * RFC 6936). IPv4 has id 0 and DF (RFC 6864). ECN goes outside as @ref hy_flow_vxlan.tos says: rules
 * that follow RFC 6040 have a list for each value. A frame that makes IP longer than 65,535 bytes is
 * dropped as "too_long".
 */
struct hy_flow_vxlan {
	uint8_t dst_mac[6]; /**< Outer Ethernet destination. */
	uint8_t src_mac[6]; /**< Outer Ethernet source. */
	uint8_t is_ip6;  /**< The addresses are of IPv6; otherwise of IPv4, in the first 4 bytes. */
	uint8_t tos;     /**< TOS or traffic class. */
	uint8_t ttl;     /**< TTL or hop limit; 0 is refused. */
	uint8_t vni[3];  /**< VXLAN network identifier. */
	uint8_t src[16]; /**< Outer IP source. */
	uint8_t dst[16]; /**< Outer IP destination. */
	rte_be16_t port; /**< UDP destination, such as 4789; 0 is refused. */
};

/** An operation; what its type does not name is ignored. */
struct hy_flow_op {
	uint8_t type; /**< Of enum hy_flow_op_type. */
	union {
		uint16_t edge;  /**< Of flow_apply. */
		uint8_t mac[6]; /**< Ethernet address. */
		struct {
			rte_be16_t type16; /**< Ether type of a tag. */
			rte_be16_t tci;    /**< Priority, DEI and VLAN id. */
			rte_be16_t mask16; /**< Bits of these. */
		};
		rte_be32_t ip4;  /**< IPv4 address. */
		uint8_t ip6[16]; /**< IPv6 address. */
		struct {
			uint8_t value8; /**< TOS, or TTL. */
			uint8_t mask8;  /**< Bits of TOS. */
		};
		rte_be16_t l4;              /**< Port. */
		uint32_t mark;              /**< In host byte order: mbuf.hash.fdir.hi. */
		struct hy_flow_vxlan vxlan; /**< Tunnel. */
	};
};

/** Parameters of a set of lists. */
struct hy_flow_ops_params {
	const char *name;     /**< Copied; for logs. */
	uint32_t most;        /**< Lists, 1 to HY_FLOW_OPS_MOST. */
	unsigned int workers; /**< Workers have lower numbers; at least 1. */
	/** To which all workers report. Must outlive the set. NULL: workers and changes are on one thread. */
	struct rte_rcu_qsbr *qsbr;
	int socket; /**< NUMA node, or SOCKET_ID_ANY. */
};

/**
 * Creates a set without lists. It takes 16 bytes a list and worker, and 16 a list, besides lists.
 *
 * @return 0; -EINVAL (logged); -ENOMEM.
 */
int hy_flow_ops_create(const struct hy_flow_ops_params *params, struct hy_flow_ops **ops);

/**
 * Frees a set with its lists. NULL is allowed.
 *
 * @return 0; -EBUSY (logged) a graph has a node that is attached to it.
 */
int hy_flow_ops_destroy(struct hy_flow_ops *ops);

/**
 * Adds a list. Packets for which it has no OUTPUT are dropped as "no_output".
 *
 * @param list Copied.
 * @param n Operations, 0 to HY_FLOW_OPS_LIST.
 * @param[out] number Of the list; its counts are 0.
 * @return 0; -EINVAL (logged) an unknown operation, too many, or a field out of range; -ENOSPC there are
 * @ref hy_flow_ops_params.most; -EAGAIN workers have not yet left deleted ones; -ENOMEM.
 */
int hy_flow_ops_add(struct hy_flow_ops *ops, const struct hy_flow_op list[], uint32_t n,
	uint16_t *number);

/**
 * Writes a list as text, its operations separated by commas: their names as of enum hy_flow_op_type, in
 * lower case, and their values behind a colon, such as "dec_ttl,dst_mac:02:00:00:00:00:01,output:2". A
 * value of which bits are written has its mask behind a slash. Any thread may call it.
 *
 * @param n Operations, 0 to HY_FLOW_OPS_LIST; 0: "drop".
 * @param[out] text HY_FLOW_OPS_TEXT_SIZE bytes.
 * @return Its length.
 */
size_t hy_flow_ops_format(const struct hy_flow_op list[], uint32_t n, char *text);

/**
 * Deletes a list, which no megaflow names any more, nor an answer that is on its way; packets that still
 * name it are dropped as "no_list". Its number is given to another list only when workers have reported.
 *
 * @return 0; -ENOENT.
 */
int hy_flow_ops_delete(struct hy_flow_ops *ops, uint16_t number);

/**
 * Reads what all workers have counted of a list: packets, and their bytes as they came.
 *
 * @return 0; -ENOENT.
 */
int hy_flow_ops_count(const struct hy_flow_ops *ops, uint16_t number, uint64_t *packets,
	uint64_t *bytes);

/**
 * Called by a node's init(): the set cannot be destroyed before hy_flow_ops_unuse().
 *
 * @param worker Of the graph.
 * @param qsbr To which the graph reports.
 * @return 0; -EINVAL the set has no such worker, or another variable.
 */
int hy_flow_ops_use(struct hy_flow_ops *ops, unsigned int worker, const struct rte_rcu_qsbr *qsbr);

/** Called by a node's fini(): undoes hy_flow_ops_use(). */
void hy_flow_ops_unuse(struct hy_flow_ops *ops);

/** @return The name of a set, valid as long as the set. */
const char *hy_flow_ops_name(const struct hy_flow_ops *ops);

/** @return The number of workers of a set. */
unsigned int hy_flow_ops_workers(const struct hy_flow_ops *ops);

HY_API_END
