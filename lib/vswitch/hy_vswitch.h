/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The slow path of a virtual switch: tables of rules, and what they say of a packet, as a list of
 * operations and a mask of what was looked at, from which a megaflow is made.
 *
 * Any thread may call these functions; a lock of the switch lets one at a time go on. They return 0 or a
 * negative errno, and on an error have changed nothing. Times are milliseconds since any moment. Threads
 * may pass them out of order: those of a rule never go back.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <hy_flow_ops.h>
#include <hy_vswitch_rule.h>

HY_API_BEGIN

struct hy_vswitch;

#define HY_VSWITCH_PORTS 256u       /**< Most ports of a switch. */
#define HY_VSWITCH_RULES (1u << 24) /**< Most rules of a switch. */
#define HY_VSWITCH_DEPTH 64u        /**< Most times that a packet goes back to an earlier table. */
#define HY_VSWITCH_RESUBMITS 4096u  /**< Most times that it goes to any. */
#define HY_VSWITCH_TRAIL 4          /**< Words with a bit for each table. */
#define HY_VSWITCH_CHANGES 512u     /**< Most changes that are remembered one by one. */

/** What hy_vswitch_name_valid() accepts, for messages. */
#define HY_VSWITCH_NAMES \
	"1 to 15 letters, digits, '.', '_' and '-', a letter first, and no word of an action"

/** A VXLAN tunnel (RFC 7348). Its network identifier is that of the packet: tun_id, or set_tunnel. */
struct hy_vswitch_tunnel {
	bool is_ip6; /**< The addresses are of IPv6; otherwise of IPv4, in the first 4 bytes, and the others 0. */
	uint8_t local[16]; /**< Ours. */
	uint8_t remote
		[16]; /**< Of the other end. 0: any, and that of tun_dst for packets that leave. */
	uint8_t dst_mac[6]; /**< Of the next hop to the other end. */
	uint8_t src_mac[6]; /**< Ours. */
	uint16_t uplink;    /**< OpenFlow number of the port that packets leave by: no tunnel. */
};

/** A port of a switch. */
struct hy_vswitch_port {
	uint16_t
		number; /**< OpenFlow number: 1 to HY_VSWITCH_PORTS_END - 1, or HY_VSWITCH_LOCAL. */
	/** As hy_vswitch_name_valid() accepts it. Unique. */
	char name[HY_VSWITCH_NAME_SIZE];
	bool no_flood;  /**< FLOOD does not send to it. */
	bool is_tunnel; /**< The port is @ref hy_vswitch_port.tunnel. */
	uint16_t port;  /**< DPDK's port id; not of tunnels. Unique. */
	uint16_t edge;  /**< Edge of flow_apply that leads to it; not of tunnels. */
	struct hy_vswitch_tunnel tunnel; /**< Where it leads, of tunnels. */
};

/** How a translation ended. */
enum hy_vswitch_outcome {
	HY_VSWITCH_DONE,     /**< The rules ended. */
	HY_VSWITCH_NO_INPUT, /**< The packet came from no port of the switch. */
	HY_VSWITCH_TOO_DEEP, /**< Beyond HY_VSWITCH_DEPTH. */
	HY_VSWITCH_TOO_MANY, /**< Beyond HY_VSWITCH_RESUBMITS. */
	HY_VSWITCH_TOO_LONG, /**< Beyond HY_FLOW_OPS_LIST. */
	HY_VSWITCH_OUTCOMES, /**< Not an outcome. */
};

/**
 * Where a packet went in the tables: what rules that are added later must match, to change what becomes of
 * packets that have the same bits that were looked at.
 */
struct hy_vswitch_trail {
	uint64_t
		tables[HY_VSWITCH_TRAIL]; /**< Tables that were asked: bit t % 64 of word t / 64. */
	uint64_t missed[HY_VSWITCH_TRAIL]; /**< Of these, in which no rule matched. */
	struct hy_flows_key
		own;     /**< Bits that were the packet's own when a table was asked last. */
	uint16_t lowest; /**< Priority of any rule that was met; UINT16_MAX: none was. */
};

/** What the rules say of a packet. */
struct hy_vswitch_answer {
	uint8_t outcome; /**< Of enum hy_vswitch_outcome. All but the first drop the packet. */
	/**
	 * Bits of the packet's key that were looked at. Packets that have the same ones get the same
	 * operations by the same rules.
	 */
	struct hy_flows_key mask;
	struct hy_vswitch_trail trail;           /**< Where it went, whatever the outcome. */
	uint32_t nb_ops;                         /**< 0: the packet is dropped. */
	struct hy_flow_op ops[HY_FLOW_OPS_LIST]; /**< Bytes that an operation does not use are 0. */
	uint32_t nb_rules;                       /**< How many follow. */
	/** Rules that the packet met, in their order; one as often as it was met. */
	uint64_t rules[HY_VSWITCH_RESUBMITS + 1];
};

/** What was counted of a rule. */
struct hy_vswitch_stats {
	uint64_t packets; /**< That met it; one as often as it did. */
	uint64_t bytes;   /**< Of these. */
	uint64_t added;   /**< When. */
	uint64_t used;    /**< When it had a packet last; when it was added, if it had none. */
};

/**
 * Creates a switch without ports and rules: it drops all packets.
 *
 * @param normal_edge Edge of flow_apply that leads to the bridge, for NORMAL, and that no port has. Packets
 * have bytes of their own there (HY_FLOW_OP_OWN), so that the bridge may change them.
 * @param[out] vswitch Belongs to the caller.
 * @return 0; -ENOMEM.
 */
int hy_vswitch_create(uint16_t normal_edge, struct hy_vswitch **vswitch);

/** Frees a switch. NULL is allowed. */
void hy_vswitch_destroy(struct hy_vswitch *vswitch);

/**
 * Tells whether rules can name a port so. Any thread; needs no switch.
 *
 * @param name A string, or HY_VSWITCH_NAME_SIZE bytes without a NUL, which are too many.
 * @return Whether it is as HY_VSWITCH_NAMES says. Words of actions are in_port, normal and drop, for example.
 */
bool hy_vswitch_name_valid(const char *name);

/**
 * Adds a port. Its description is copied.
 *
 * @return 0; -EINVAL (logged) a field is out of range, or a tunnel's uplink is no port; -EEXIST (logged)
 * another port has its number, name, DPDK port, or its tunnel's addresses; -ENOSPC HY_VSWITCH_PORTS.
 */
int hy_vswitch_port_add(struct hy_vswitch *vswitch, const struct hy_vswitch_port *port);

/** Deletes a port. Rules that name its number stay. @return 0; -ENOENT; -EBUSY a tunnel's uplink. */
int hy_vswitch_port_delete(struct hy_vswitch *vswitch, uint16_t number);

/** @return Bits of enum hy_flows_parse_bit with which keys of this switch's packets are made. */
uint32_t hy_vswitch_parse(struct hy_vswitch *vswitch);

/** hy_vswitch_rule_parse() with the names of the switch's ports. */
int hy_vswitch_read(struct hy_vswitch *vswitch, const char *text, enum hy_vswitch_text what,
	struct hy_vswitch_rule *rule, char *error);

/**
 * Adds a rule. One with the same table, priority and match is replaced, and the counts begin anew.
 *
 * @return 0; -EINVAL it has no table, or too many actions; -ENOSPC HY_VSWITCH_RULES; -ENOMEM.
 */
int hy_vswitch_add(struct hy_vswitch *vswitch, const struct hy_vswitch_rule *rule, uint64_t now);

/**
 * Gives rules other actions, and another cookie. Counts and timeouts stay. If there is no such rule, it is
 * added.
 *
 * @param strict Only one with the same table, priority and match. Otherwise all of the table whose match
 * is the same or narrower, of any priority.
 * @param[out] n How many were changed; 0: it was added. NULL is allowed.
 * @return 0; -EINVAL; -ENOSPC; -ENOMEM.
 */
int hy_vswitch_modify(struct hy_vswitch *vswitch, const struct hy_vswitch_rule *rule, bool strict,
	uint64_t now, uint32_t *n);

/**
 * Deletes rules.
 *
 * @param rule Its table, match and, if strict, priority select, as of hy_vswitch_modify(). Its table may be
 * HY_VSWITCH_TABLES: any.
 * @return How many.
 */
uint32_t hy_vswitch_delete(struct hy_vswitch *vswitch, const struct hy_vswitch_rule *rule,
	bool strict);

/**
 * Replaces all rules by those of a file: a rule a line; '#' starts a comment. Rules that stay as they are
 * keep their ids, counts and times. Packets are translated while the file is read,
 * but not while its lines are parsed.
 *
 * @param error HY_VSWITCH_ERROR_SIZE bytes. A fault in the file is "FILE:LINE: FIELD: REASON".
 * @return 0; -EINVAL a line is no rule, or the same as another; -ENOSPC; what else hy_file_read() returns;
 * -ENOMEM.
 */
int hy_vswitch_load(struct hy_vswitch *vswitch, const char *path, uint64_t now, char *error);

/** @return Rules. */
uint32_t hy_vswitch_rules(struct hy_vswitch *vswitch);

/**
 * Reads a rule by its number.
 *
 * @param[out] stats NULL is allowed.
 * @return 0; -ENOENT it was deleted.
 */
int hy_vswitch_get(struct hy_vswitch *vswitch, uint64_t id, struct hy_vswitch_rule *rule,
	struct hy_vswitch_stats *stats);

/**
 * Prints rules with their counts and age in seconds, a line each, as hy_vswitch_rule_parse() reads them:
 * by table, priority from the highest, and age from the oldest.
 *
 * @param select Of any priority, as of hy_vswitch_delete(); NULL: all.
 * @return 0; -ENOMEM; what hy_output_flush() returns.
 */
int hy_vswitch_print(struct hy_vswitch *vswitch, const struct hy_vswitch_rule *select, uint64_t now,
	FILE *out);

/**
 * Asks the rules about a packet, from table 0. Of several rules of a table that match, that of the highest
 * priority counts; of these, the oldest.
 *
 * @param key Made with hy_vswitch_parse().
 */
void hy_vswitch_translate(struct hy_vswitch *vswitch, const struct hy_flows_key *key,
	struct hy_vswitch_answer *answer);

/** Counts packets of an answer's rules. Those that were deleted are left out. */
void hy_vswitch_count(struct hy_vswitch *vswitch, const uint64_t rules[], uint32_t n,
	uint64_t packets, uint64_t bytes, uint64_t now);

/** Deletes the rules whose time is over. @return How many. */
uint32_t hy_vswitch_expire(struct hy_vswitch *vswitch, uint64_t now);

/** A rule that was added, and replaced none. */
struct hy_vswitch_new {
	struct hy_flows_key key;  /**< What packets must be. */
	struct hy_flows_key mask; /**< Where. */
	uint32_t words;           /**< hy_flows_words() of the mask. */
	uint16_t peer;     /**< One before it with the same mask; HY_VSWITCH_CHANGES: none. */
	uint16_t like;     /**< One before it in its bucket, likewise. */
	uint16_t priority; /**< Its priority. */
	uint8_t table;     /**< Its table. */
};

/** What has changed. */
struct hy_vswitch_changes {
	bool all;          /**< Too much to tell one by one: anything. The rest is of no meaning. */
	uint32_t nb_gone;  /**< Rules that were deleted, replaced, or got other actions. */
	uint32_t nb_new;   /**< Rules that were added. */
	uint32_t nb_masks; /**< Masks of the latter. */
	uint16_t last[HY_VSWITCH_CHANGES];       /**< Of the latter, the last one with each mask. */
	uint16_t bucket[2 * HY_VSWITCH_CHANGES]; /**< The last one with keys of a hash. */
	uint16_t highest;                        /**< Priority of the latter. */
	uint64_t tables[HY_VSWITCH_TRAIL];       /**< Of the latter, as in a trail. */
	uint64_t gone[HY_VSWITCH_CHANGES];       /**< The ids of the former, in any order. */
	uint64_t maybe[HY_VSWITCH_CHANGES / 8];  /**< A bit for the hash of each such id. */
	struct hy_vswitch_new came[HY_VSWITCH_CHANGES]; /**< The latter. */
};

/** What changes can do to an answer that was given before them. */
enum hy_vswitch_touch {
	HY_VSWITCH_UNTOUCHED, /**< Nothing: packets with the bits that it looked at get the same. */
	HY_VSWITCH_TOUCHED,   /**< It may be another one now. */
	HY_VSWITCH_MAYBE,     /**< It depends on the packet: hy_vswitch_touches(). */
};

/**
 * Reads what has changed of rules and ports since the last call, and forgets it. Of one switch, one program
 * part calls it: what it does not use is lost.
 */
void hy_vswitch_changes(struct hy_vswitch *vswitch, struct hy_vswitch_changes *changes);

/**
 * Tells what changes can do to an answer, by the rules that the packet met and where it went. Does not use the
 * switch's lock.
 *
 * @param rules Of the answer.
 * @param n Entries of rules.
 * @param trail Of the answer, or of several with the same rules: hy_vswitch_trail_join().
 * @return A value of enum hy_vswitch_touch.
 */
enum hy_vswitch_touch hy_vswitch_touch(const struct hy_vswitch_changes *changes,
	const uint64_t rules[], uint32_t n, const struct hy_vswitch_trail *trail);

/**
 * The same for one key and mask, of HY_VSWITCH_MAYBE: whether a rule that was added may match a packet that
 * has the key's bits in the mask.
 *
 * @param mask Of the answer to that key, or one that has more bits.
 */
bool hy_vswitch_touches(struct hy_vswitch *vswitch, const struct hy_vswitch_changes *changes,
	const struct hy_vswitch_trail *trail, const struct hy_flows_key *key,
	const struct hy_flows_key *mask);

/** Makes a trail one that stands for another one, too. */
void hy_vswitch_trail_join(struct hy_vswitch_trail *trail, const struct hy_vswitch_trail *other);

HY_API_END
