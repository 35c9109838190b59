/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Classification policy: ordered rules that give each packet a class. The policy in software is the
 * reference; hardware that classifies too is checked against it.
 *
 * Changes are staged and take effect together. hy_policy_commit() compiles all rules into a new
 * immutable *view*, which workers use from their next burst. Workers take no lock
 * (hy_policy_view.h). The previous view is freed when all workers have left it, as their graphs
 * report to the policy's QSBR variable.
 *
 * Any thread except workers may call the functions below, which take the policy's mutex. Staged
 * changes belong to the policy, not to a thread. Values are in host byte order. Functions return 0
 * or a negative errno, and on an error have changed nothing. Those that take @p error write one
 * sentence there on what was wrong and what is accepted, shorter than HY_POLICY_ERROR_SIZE bytes;
 * NULL is allowed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hy_api.h>

HY_API_BEGIN

struct hy_policy;
struct rte_rcu_qsbr;

#define HY_FLOW_NO_CLASS 0 /**< Class of packets that no rule matches; no rule can have it. */

#define HY_POLICY_ERROR_SIZE 384 /**< Room that @p error arguments must have. */
#define HY_FLOW_TEXT_SIZE 512    /**< Room for a rule as text. */

/** Fields that a rule can match: bits of struct hy_flow_match.fields. */
enum hy_flow_field {
	HY_FLOW_ETHER_TYPE = 0x01, /**< Ether type, after up to two VLAN tags. */
	HY_FLOW_VLAN = 0x02,       /**< VLAN id of the outer tag. */
	HY_FLOW_SRC = 0x04,        /**< IP source. */
	HY_FLOW_DST = 0x08,        /**< IP destination. */
	HY_FLOW_PROTO = 0x10,    /**< IPv4 protocol, or the one behind IPv6's extension headers. */
	HY_FLOW_SPORT = 0x20,    /**< Source port of TCP, UDP or SCTP. */
	HY_FLOW_DPORT = 0x40,    /**< Destination port, likewise. */
	HY_FLOW_DSCP = 0x80,     /**< Differentiated services code point (RFC 2474). */
	HY_FLOW_TUNNEL = 0x100,  /**< VXLAN network identifier (RFC 7348). */
	HY_FLOW_SRC_MAC = 0x200, /**< Bits of the Ethernet source address. */
	HY_FLOW_DST_MAC = 0x400, /**< Bits of the Ethernet destination address. */
	HY_FLOW_TCP_FLAGS = 0x800,    /**< Bits of TCP's flags. */
	HY_FLOW_ESTABLISHED = 0x1000, /**< TCP with ACK or RST: no first packet of a connection. */
	HY_FLOW_ICMP_TYPE = 0x2000,   /**< Type of ICMP or ICMPv6. */
	HY_FLOW_ICMP_CODE = 0x4000,   /**< Code of ICMP or ICMPv6. */
	HY_FLOW_FRAGMENT = 0x8000,    /**< Whether an IP packet is a fragment, and which. */
	HY_FLOW_IPV6 = 0x10000,       /**< The packet is IPv6, and so are the rule's addresses. */
};

/** Fields that only IP packets have: IPv6 with HY_FLOW_IPV6, otherwise IPv4. */
#define HY_FLOW_IP (HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_DSCP | HY_FLOW_FRAGMENT)
/** Of those, all but fragments. */
#define HY_FLOW_IP4 (HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_DSCP)
/** Fields that only packets with ports have. Fragments have none, not even the first one. */
#define HY_FLOW_PORTS (HY_FLOW_SPORT | HY_FLOW_DPORT)
/** Fields of TCP. Fragments have none. */
#define HY_FLOW_TCP (HY_FLOW_TCP_FLAGS | HY_FLOW_ESTABLISHED)
/** Fields of ICMP, or of ICMPv6 with HY_FLOW_IPV6. Fragments have none. */
#define HY_FLOW_ICMP (HY_FLOW_ICMP_TYPE | HY_FLOW_ICMP_CODE)
/** Addresses, protocol and ports. */
#define HY_FLOW_5_TUPLE (HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_PORTS)
/** Those, and others that NICs often match. */
#define HY_FLOW_ALL \
	(HY_FLOW_5_TUPLE | HY_FLOW_ETHER_TYPE | HY_FLOW_VLAN | HY_FLOW_DSCP | HY_FLOW_TUNNEL)
/** Addresses of Ethernet. */
#define HY_FLOW_MACS (HY_FLOW_SRC_MAC | HY_FLOW_DST_MAC)
/** All fields that rules for hardware can have (hy_flow.h), besides HY_FLOW_IPV6. */
#define HY_FLOW_HARDWARE (HY_FLOW_ALL | HY_FLOW_MACS | HY_FLOW_TCP_FLAGS | HY_FLOW_ICMP)
/** All fields. */
#define HY_FLOW_EVERY (HY_FLOW_HARDWARE | HY_FLOW_ESTABLISHED | HY_FLOW_FRAGMENT | HY_FLOW_IPV6)

/**
 * Kinds of IP packets, for HY_FLOW_FRAGMENT: bits of hy_flow_match.fragments, one of them in a key.
 * An IPv6 packet with a fragment header that is all of its packet (RFC 6946) is no fragment.
 */
enum hy_flow_fragment {
	HY_FLOW_NO_FRAGMENT = 1,    /**< Whole. */
	HY_FLOW_FIRST_FRAGMENT = 2, /**< With offset 0. */
	HY_FLOW_LATER_FRAGMENT = 4, /**< With another offset. */
	/**
	 * IPv6 with more than HY_FLOW_EXTENSIONS extension headers, or longer ones, or one that is
	 * cut: what it carries is not known.
	 */
	HY_FLOW_UNKNOWN_FRAGMENT = 8,
};

#define HY_FLOW_EXTENSIONS 8         /**< Most extension headers that are walked. */
#define HY_FLOW_EXTENSION_BYTES 128u /**< Most bytes of them in all. */

/**
 * The fields that a packet must have to match a rule. A packet that lacks one of them does not
 * match, such as a fragment, which has no ports. A match without fields matches every packet.
 *
 * Fields that are not used must be 0. Fields that no packet can have together are refused: IP
 * fields, ports, TCP or ICMP fields with another ether type than 0x0800, or 0x86dd with
 * HY_FLOW_IPV6; ports with a protocol other than TCP, UDP or SCTP, or with ICMP's fields; TCP's
 * fields with another protocol, ICMP's with another than 1 (58 with HY_FLOW_IPV6); a tunnel with a
 * protocol other than UDP, without destination port 4789, or with HY_FLOW_IPV6;
 * HY_FLOW_ESTABLISHED with flags that exclude ACK and RST; fragments with ports, TCP or ICMP fields
 * if whole packets do not match; HY_FLOW_UNKNOWN_FRAGMENT alone without HY_FLOW_IPV6 or with a
 * protocol.
 */
struct hy_flow_match {
	uint32_t fields;     /**< HY_FLOW_ bits: which of the following are used. */
	uint16_t ether_type; /**< At least 0x0600. */
	uint16_t vlan;       /**< 1 to 4094. */
	union {
		uint32_t src;     /**< IPv4. Bits beyond src_len are 0. */
		uint32_t src6[4]; /**< IPv6, the highest bits first. Likewise. */
	};
	union {
		uint32_t dst;     /**< IPv4. Bits beyond dst_len are 0. */
		uint32_t dst6[4]; /**< IPv6, the highest bits first. Likewise. */
	};
	uint8_t src_len;       /**< Prefix length, 1 to 32, or 128. */
	uint8_t dst_len;       /**< Prefix length, 1 to 32, or 128. */
	uint8_t proto;         /**< 0 to 255. */
	uint8_t dscp;          /**< 0 to 63. */
	uint16_t sport[2];     /**< First and last of a range. */
	uint16_t dport[2];     /**< First and last of a range. */
	uint32_t tunnel;       /**< Less than 2^24. */
	uint64_t src_mac;      /**< Bits that are not in src_mac_mask are 0. */
	uint64_t src_mac_mask; /**< Less than 2^48, not 0; the first byte is the highest. */
	uint64_t dst_mac;      /**< Bits that are not in dst_mac_mask are 0. */
	uint64_t dst_mac_mask; /**< Likewise. */
	uint8_t tcp_flags;     /**< Bits that are not in tcp_mask are 0. */
	uint8_t tcp_mask;      /**< Bits of TCP's byte of flags, FIN the lowest; not 0. */
	uint8_t icmp_type[2];  /**< First and last of a range. */
	uint8_t icmp_code[2];  /**< First and last of a range. */
	uint8_t fragments;     /**< HY_FLOW_..._FRAGMENT bits: the kinds that match; not 0. */
	uint8_t reserved;      /**< 0. */
};

/** What a rule does with the packets that it is the first to match. */
enum hy_rule_action {
	HY_RULE_CLASSIFY, /**< Gives them a class. In an access list, also permits them. */
	HY_RULE_PERMIT,   /**< Lets them pass. */
	HY_RULE_DENY,     /**< Drops them. */
	HY_RULE_COUNT,    /**< Counts them; the list's default action applies. */
	HY_RULE_TO_PORT,  /**< Sends them out of a port, unchanged. */
};

/** A rule. The first match, by precedence and then by id, decides. */
struct hy_flow_rule {
	uint32_t id;                /**< Unique in its policy. */
	uint32_t precedence;        /**< Lower comes first. */
	uint16_t class_id;          /**< 1 to 65535 with HY_RULE_CLASSIFY, otherwise 0. */
	uint16_t port;              /**< DPDK's port id with HY_RULE_TO_PORT, otherwise 0. */
	uint8_t action;             /**< enum hy_rule_action; others need an access policy. */
	bool log;                   /**< Its packets are logged. Only in an access policy. */
	struct hy_flow_match match; /**< The packets that it matches. */
};

/** Checks a rule as hy_policy_add() does. @return 0; -EINVAL. */
int hy_flow_rule_check(const struct hy_flow_rule *rule, char *error);

/**
 * Formats a rule as hy_policy_load() reads it, as snprintf(3) does. HY_FLOW_TEXT_SIZE bytes are
 * enough.
 */
int hy_flow_rule_format(const struct hy_flow_rule *rule, char *text, size_t size);

/**
 * Parses a rule written as a line of hy_policy_load()'s file.
 *
 * @return 0; -EINVAL, and @p error names the field.
 */
int hy_flow_rule_parse(const char *text, struct hy_flow_rule *rule, char *error);

/** Parameters of a policy. */
struct hy_policy_params {
	uint32_t max_rules;   /**< 1 to 2^20. */
	unsigned int workers; /**< Graphs that use it have lower worker numbers; at least 1. */
	int socket;           /**< NUMA node, or SOCKET_ID_ANY. */
	/**
	 * NUMA nodes of workers, as bits. With several, each gets a copy of the rules and their tables
	 * in its memory; otherwise there is one on @ref socket.
	 */
	uint32_t nodes;
	/**
	 * The QSBR variable to which all graphs that use the policy report (struct
	 * hy_graph_params). Must outlive the policy. NULL: rules cannot change while a graph uses
	 * it.
	 */
	struct rte_rcu_qsbr *qsbr;
	bool access; /**< Of an access list: rules may have every action, and log. */
	/** An access list denies what no rule matches, until a call or its file says otherwise. */
	bool deny_unmatched;
	/**
	 * Most bytes that compiled rules take, in a copy; 0: no limit. rte_acl does not tell its own:
	 * what other threads take of DPDK's heap in the same time counts as well.
	 */
	uint64_t max_memory;
	/**
	 * Longest that compiling one copy may take, as estimated, with the estimates' own time; 0: no
	 * limit.
	 */
	uint32_t max_build_ms;
};

/**
 * Creates a policy without rules.
 *
 * @param name 1 to 16 bytes, for logs and statistics.
 * @return 0; -EINVAL; -ENOMEM.
 */
int hy_policy_create(const char *name, const struct hy_policy_params *params,
	struct hy_policy **policy);

/**
 * Frees a policy and its staged changes, and ends its thread. No graph and no listener may use it
 * any more. Waits up to a second for all readers of its QSBR variable. If the thread builds tables,
 * which can take seconds, it frees the policy afterwards. NULL is allowed.
 */
void hy_policy_destroy(struct hy_policy *policy);

/**
 * Waits until all destroyed policies are freed and their threads have ended. To be called before
 * rte_eal_cleanup(); programs of hy_program.h do.
 */
void hy_policy_wait_destroyed(void);

/** @return The policy's name. */
const char *hy_policy_name(const struct hy_policy *policy);

/**
 * Stages a new rule. Copied.
 *
 * @return 0; -EINVAL, see hy_flow_rule_check(), or it is a rule for access lists; -EEXIST its id is
 *   taken; -ENOSPC max_rules; -ENOMEM.
 */
int hy_policy_add(struct hy_policy *policy, const struct hy_flow_rule *rule);

/**
 * Stages a rule that replaces the one with its id.
 *
 * @return 0; -EINVAL likewise; -ENOENT no rule has its id.
 */
int hy_policy_replace(struct hy_policy *policy, const struct hy_flow_rule *rule);

/** Stages the removal of a rule. @return 0; -ENOENT. */
int hy_policy_remove(struct hy_policy *policy, uint32_t id);

/**
 * Publishes all staged changes; on an error none, and they stay staged. Compiles the rules by the
 * fastest engine that fits into max_memory and max_build_ms. With a QSBR variable, and if the
 * policy had hundreds of rules and few were changed, and none was removed that a thousand others
 * overlap, it keeps the tables that were built before with an overlay of the changes, which takes
 * milliseconds, and a thread of the policy builds new tables afterwards, on the CPUs that DPDK
 * gives to control threads: none of an lcore, if there are others. Workers then use those; ranks
 * and the view stay as they are.
 *
 * Other threads may read the policy while rules are compiled; those that stage or commit wait.
 * Waits up to a second until workers have left the previous rules, and frees those. If a worker
 * takes longer, the next commit frees them.
 *
 * A rule keeps the counts of the earlier rule with its id if that had the same action and class.
 * Otherwise it starts at 0.
 *
 * @return 0, also if nothing is staged; -EBUSY a graph uses the policy, which has no QSBR variable;
 * -ETIMEDOUT a worker has still not left the rules before the last commit; -EINTR the condition of
 * hy_file_stop_when() (hy_file.h) holds while rules are compiled; -ENOMEM; -E2BIG (logged) no
 * engine can compile the rules within max_memory and max_build_ms; what a listener's prepare()
 * returned.
 */
int hy_policy_commit(struct hy_policy *policy);

/**
 * Stages what an access list does with packets that no rule matches, or that only rules with
 * HY_RULE_COUNT match: HY_RULE_PERMIT, as it is without this, or HY_RULE_DENY.
 *
 * @return 0; -EINVAL another action, or no access list.
 */
int hy_policy_default_set(struct hy_policy *policy, enum hy_rule_action action);

/**
 * Stages what an access list does with packets in which a header is cut or malformed:
 * HY_RULE_PERMIT classifies them by the fields that they have, as it is without this;
 * HY_RULE_DENY drops them.
 *
 * @return 0; -EINVAL another action, or no access list.
 */
int hy_policy_truncated_set(struct hy_policy *policy, enum hy_rule_action action);

/**
 * hy_policy_commit() of several policies: all or none. All are compiled before any is published.
 * Takes the mutexes of the policies in their order, and holds those of the earlier ones while the
 * later ones are compiled: readers of their counts wait. All threads that call this must name the
 * policies in one order, or they may wait for each other forever. Waits up to a second for
 * workers to leave the earlier rules of all of them.
 *
 * @param policies Each once.
 * @param[out] failed Index of the policy that could not be published, after an error; may be NULL.
 * @return What hy_policy_commit() returned for that policy; -ENOMEM.
 */
int hy_policy_commit_together(struct hy_policy *const policies[], unsigned int n,
	unsigned int *failed);

/** How the published rules are compiled. */
struct hy_policy_engine_info {
	const char *name;    /**< "linear", "rte_acl" or "tuple"; "none": there are no rules. */
	uint64_t bytes;      /**< Of its tables, in all copies. */
	unsigned int copies; /**< Of rules and tables: one for each of hy_policy_params.nodes. */
	uint64_t build_us;   /**< To choose the engine and build one copy, in microseconds. */
	uint32_t base_rules; /**< Rules in the tables. */
	uint32_t
		overlay_rules; /**< Rules that were added or replaced since, and are tried apart. */
	uint32_t removed;      /**< Rules of the tables that are no more, or were replaced. */
	char why[128];         /**< Why this engine: its expected cost and that of others. */
};

/** Tells how the published rules are compiled at present. @return 0. */
int hy_policy_engine(struct hy_policy *policy, struct hy_policy_engine_info *info);

/** Prints it as a line: "tuple, 412 KiB, built in 31 ms: 90 clocks a packet expected; ...". */
void hy_policy_engine_print(struct hy_policy *policy, FILE *out);

/** Discards staged changes. */
void hy_policy_abort(struct hy_policy *policy);

/**
 * Stages the rules and settings of a text file in place of all current ones, and discards earlier
 * staged changes.
 *
 * The file may also have a format of other programs, whose rules permit or deny: hy_policy_read()
 * (hy_policy_format.h) recognizes it. In Halyard's, a line is "rule ID ACTION" and any of the
 * following, in any order. '#' starts a comment.
 *
 * - ACTION: "class 1"; of access lists also "permit", "deny", "count" or "port 0".
 * - "log", of access lists; "precedence 7", 0 without.
 * - "type 0x0800", "vlan 7", "smac 02:00:00:00:00:01", "dmac 01:00:5e:00:00:00/ff:ff:ff:80:00:00".
 * - "src 10.0.0.0/8", "dst 2001:db8::/32".
 * - "proto tcp" (udp, sctp, icmp, icmp6, or a number), "dscp 46".
 * - "sport 1024-65535", "dport 80", "tunnel 5000".
 * - "flags S/SA" (of SYN and ACK, SYN alone is set), "established", "icmp 8", "code 0-3".
 * - "fragment none", or first, later or unknown, or several, with commas.
 * - "ip6": HY_FLOW_IPV6. An IPv6 address, "proto icmp6", and type 0x86dd with any IP field imply
 *   it.
 *
 * An access list can also have one line "default permit" or "default deny"
 * (hy_policy_default_set()), and one of "truncated permit" or "truncated deny"
 * (hy_policy_truncated_set()). Without them it permits.
 *
 * @return 0; what hy_file_read() and hy_file_line() (hy_file.h) return; -EINVAL a line is no rule;
 * -EEXIST two lines have one id; -ENOSPC more than max_rules; -ENOMEM. On an error, earlier staged
 * changes stay staged.
 */
int hy_policy_load(struct hy_policy *policy, const char *path, char *error);

/**
 * Copies the published rules in their order.
 *
 * @param rules Room for @p n; not written to if there are more.
 * @return Number of published rules.
 */
uint32_t hy_policy_rules_get(struct hy_policy *policy, struct hy_flow_rule *rules, uint32_t n);

/** What a rule has matched, over all workers. */
struct hy_policy_counts {
	uint64_t packets; /**< As the first match. */
	/** Of their frames, without the checksum. Only nodes of access lists count. */
	uint64_t bytes;
	/** TSC clock of the last burst with one (rte_rdtsc()); 0: none. Likewise. */
	uint64_t last;
};

/** Reads the counts of a published rule without stopping workers. @return 0; -ENOENT. */
int hy_policy_counts(struct hy_policy *policy, uint32_t id, struct hy_policy_counts *counts);

/** Has the counts of all published rules start at 0 again. Those of classes go on. */
void hy_policy_clear(struct hy_policy *policy);

/** @return Packets that a published rule classified; 0: no such rule. */
uint64_t hy_policy_hits(struct hy_policy *policy, uint32_t id);

/** @return Packets that got a class by current and earlier rules. Never decreases. */
uint64_t hy_policy_class_hits(struct hy_policy *policy, uint16_t class_id);

/** A class and the packets that got it. */
struct hy_policy_class {
	uint16_t class_id; /**< Of a current or earlier rule. */
	uint64_t hits;     /**< As hy_policy_class_hits() counts. */
};

/**
 * Lists the classes that packets got, in order.
 *
 * @param[out] classes Of @p n entries, to be freed with free(3); NULL if there are none.
 * @return 0; -ENOMEM.
 */
int hy_policy_classes(struct hy_policy *policy, struct hy_policy_class **classes, uint32_t *n);

/**
 * Prints the published rules as hy_policy_load() reads them, one a line, with their hits as
 * comments, after the settings of an access list.
 *
 * @return 0; a write error, such as -ENOSPC.
 */
int hy_policy_print(struct hy_policy *policy, FILE *out);

HY_API_END
