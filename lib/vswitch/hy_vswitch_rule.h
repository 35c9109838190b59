/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rules of a virtual switch, and their text: that which users of ovs-ofctl(8) know, as ovs-fields(7) and
 * ovs-actions(7) describe it. doc/vswitch.rst has the grammar, and what differs.
 *
 * Any thread may call the functions, which keep no state but what they are given. They return 0 or a
 * negative errno; the reason of an error is written into @p error, HY_VSWITCH_ERROR_SIZE bytes, as
 * "FIELD: REASON".
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <hy_flows_key.h>

HY_API_BEGIN

#define HY_VSWITCH_ERROR_SIZE 1536 /**< Bytes of a reason, with its NUL. */
#define HY_VSWITCH_TEXT_SIZE 8192  /**< Bytes that hold the text of any rule, with its NUL. */
#define HY_VSWITCH_NAME_SIZE 16    /**< Bytes of a port's name, with its NUL. */
#define HY_VSWITCH_TABLES 255u     /**< Tables have lower numbers. */
#define HY_VSWITCH_ACTIONS 64u     /**< Most actions of a rule. */
#define HY_VSWITCH_PRIORITY 32768  /**< Of rules whose text has none. */

/** OpenFlow numbers of ports: lower ones are those of a switch's ports, the others are reserved. */
enum hy_vswitch_port_number {
	HY_VSWITCH_PORTS_END = 0xff00, /**< The first number that no port but LOCAL can have. */
	HY_VSWITCH_IN_PORT = 0xfff8,   /**< Where the packet came from. */
	HY_VSWITCH_NORMAL = 0xfffa,    /**< What a learning bridge does. */
	HY_VSWITCH_FLOOD = 0xfffb,   /**< All but where it came from, and those marked no-flood. */
	HY_VSWITCH_ALL = 0xfffc,     /**< All but where it came from. */
	HY_VSWITCH_LOCAL = 0xfffe,   /**< The port named LOCAL. */
	HY_VSWITCH_NO_PORT = 0xffff, /**< None. */
};

/** Fields that rules match or set, in the order of their text. */
enum hy_vswitch_field {
	HY_VSWITCH_PKT_MARK,
	HY_VSWITCH_TUN_ID,
	HY_VSWITCH_TUN_SRC,
	HY_VSWITCH_TUN_DST,
	HY_VSWITCH_TUN_IPV6_SRC,
	HY_VSWITCH_TUN_IPV6_DST,
	HY_VSWITCH_INPUT,
	HY_VSWITCH_DL_VLAN,
	HY_VSWITCH_DL_VLAN_PCP,
	HY_VSWITCH_VLAN_VID,
	HY_VSWITCH_VLAN_PCP,
	HY_VSWITCH_VLAN_TCI,
	HY_VSWITCH_DL_SRC,
	HY_VSWITCH_DL_DST,
	HY_VSWITCH_DL_TYPE,
	HY_VSWITCH_ARP_SPA,
	HY_VSWITCH_ARP_TPA,
	HY_VSWITCH_NW_SRC,
	HY_VSWITCH_NW_DST,
	HY_VSWITCH_IPV6_SRC,
	HY_VSWITCH_IPV6_DST,
	HY_VSWITCH_ARP_OP,
	HY_VSWITCH_NW_PROTO,
	HY_VSWITCH_NW_TOS,
	HY_VSWITCH_IP_DSCP,
	HY_VSWITCH_NW_ECN,
	HY_VSWITCH_NW_TTL,
	HY_VSWITCH_NW_FRAG,
	HY_VSWITCH_ICMP_TYPE,
	HY_VSWITCH_ICMP_CODE,
	HY_VSWITCH_ICMPV6_TYPE,
	HY_VSWITCH_ICMPV6_CODE,
	HY_VSWITCH_TP_SRC,
	HY_VSWITCH_TP_DST,
	HY_VSWITCH_TCP_SRC,
	HY_VSWITCH_TCP_DST,
	HY_VSWITCH_UDP_SRC,
	HY_VSWITCH_UDP_DST,
	HY_VSWITCH_SCTP_SRC,
	HY_VSWITCH_SCTP_DST,
	HY_VSWITCH_TCP_FLAGS,
	HY_VSWITCH_FIELDS, /**< Not a field. */
};

/** What an action does. */
enum hy_vswitch_action_type {
	HY_VSWITCH_OUTPUT,   /**< Sends the packet as it is now to @ref hy_vswitch_action.port. */
	HY_VSWITCH_SET,      /**< Writes a field. Nothing happens to packets without it. */
	HY_VSWITCH_SET_VLAN, /**< Likewise, part of the outer tag; one is pushed if there is none. */
	HY_VSWITCH_PUSH_VLAN, /**< Pushes a tag of @ref hy_vswitch_action.ether_type, content 0. */
	HY_VSWITCH_POP_VLAN,  /**< Removes the outer tag, if there is one. */
	/** Takes 1 off the TTL or hop limit. Ends the rule's actions if it is 0 or 1. */
	HY_VSWITCH_DEC_TTL,
	/** Does what table @ref hy_vswitch_action.table says of a packet from @ref hy_vswitch_action.port. */
	HY_VSWITCH_RESUBMIT,
	HY_VSWITCH_GOTO, /**< Likewise, from the same port, of a later table; the last action. */
};

/** An action; what its type does not name is 0. */
struct hy_vswitch_action {
	uint8_t type;          /**< Of enum hy_vswitch_action_type. */
	uint8_t field;         /**< Of enum hy_vswitch_field. */
	uint8_t table;         /**< Below HY_VSWITCH_TABLES. */
	uint16_t port;         /**< OpenFlow number; of RESUBMIT, HY_VSWITCH_IN_PORT: as it is. */
	rte_be16_t ether_type; /**< 0x8100 or 0x88a8. */
	uint8_t value[16];     /**< As it is in the key (in packets, in network byte order). */
	uint8_t mask[16];      /**< Bits of it that are written; the value has no others. */
};

/**
 * A rule. Its key is that of a packet (hy_flows_key.h) but for two fields: @ref hy_flows_key.port is an
 * OpenFlow number, and @ref hy_flows_key.kind has HY_FLOWS_FIRST_FRAGMENT for every fragment, and
 * HY_FLOWS_LATER_FRAGMENT besides for those with an offset. Bits outside the mask are 0.
 */
struct hy_vswitch_rule {
	uint8_t table;     /**< Below HY_VSWITCH_TABLES. */
	uint16_t priority; /**< Higher ones are first. */
	uint16_t
		idle_timeout; /**< Seconds without a packet, after which it is deleted. 0: never. */
	uint16_t hard_timeout;    /**< Seconds after which it is deleted. 0: never. */
	uint64_t cookie;          /**< A number of the user's. */
	struct hy_flows_key key;  /**< What packets must be. */
	struct hy_flows_key mask; /**< Where. */
	uint32_t nb_actions;      /**< Most HY_VSWITCH_ACTIONS. 0: packets are dropped. */
	struct hy_vswitch_action actions[HY_VSWITCH_ACTIONS]; /**< In their order. */
};

/** A port's name. */
struct hy_vswitch_name {
	char name[HY_VSWITCH_NAME_SIZE]; /**< NUL-terminated. */
	uint16_t number;                 /**< OpenFlow number. */
};

/** What a text is for. */
enum hy_vswitch_text {
	HY_VSWITCH_ADD,    /**< A rule, with actions. */
	HY_VSWITCH_SELECT, /**< Rules to delete or dump: without actions and timeouts. */
};

/**
 * Reads a rule.
 *
 * @param text One line, without a comment.
 * @param what Value of enum hy_vswitch_text. Without a table, the former are for table 0.
 * @param names Of ports, in any order; NULL if there are none.
 * @param[out] rule Unchanged after an error. Of a text without a table that is HY_VSWITCH_SELECT, its table
 * is HY_VSWITCH_TABLES.
 * @return 0; -EINVAL.
 */
int hy_vswitch_rule_parse(const char *text, enum hy_vswitch_text what,
	const struct hy_vswitch_name names[], uint32_t nb_names, struct hy_vswitch_rule *rule,
	char *error);

/**
 * Writes the text of a rule that was read: in a fixed order, from which the same rule is read.
 *
 * @param[out] text HY_VSWITCH_TEXT_SIZE bytes.
 * @return Its length.
 */
size_t hy_vswitch_rule_format(const struct hy_vswitch_rule *rule, char *text);

/** Likewise, of a key and its mask alone: what ovs-ofctl calls a match. Empty for one that all match. */
size_t hy_vswitch_match_format(const struct hy_flows_key *key, const struct hy_flows_key *mask,
	char *text);

HY_API_END
