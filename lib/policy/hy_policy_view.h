/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The workers' side of a policy, for nodes that classify and for the offload engine: views,
 * classification in software, hit counters, and marks of ports.
 *
 * A worker's view is valid until its graph reports to the policy's QSBR variable: until the end of
 * the process function.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include <rte_config.h>
#include <rte_ether.h>
#include <rte_memory.h>

#include <hy_policy.h>

HY_API_BEGIN

struct hy_mark_worker;

/** Most bytes of a frame that a key depends on: Ethernet, two tags, IPv6, TCP up to its flags. */
#define HY_FLOW_HEADERS (14 + 2 * 4 + 40 + HY_FLOW_EXTENSION_BYTES + 14)

/** Destination UDP port of VXLAN (RFC 7348). */
#define HY_FLOW_VXLAN_PORT 4789

/** @name Further bits of struct hy_flow_key.has, which no rule can ask for.
 * @{
 */
#define HY_FLOW_IPV4 0x40000000u      /**< The packet is IPv4: its header is sound and whole. */
#define HY_FLOW_TRUNCATED 0x80000000u /**< A header that the frame announces is cut or malformed. */
/** @} */

/** The fields of a packet that rules can match, in host byte order; missing ones are 0. */
struct hy_flow_key {
	uint32_t has;    /**< HY_FLOW_ bits of the packet's fields. */
	uint32_t tunnel; /**< With HY_FLOW_TUNNEL. */
	union {
		uint32_t src;     /**< With HY_FLOW_IPV4. */
		uint32_t src6[4]; /**< With HY_FLOW_IPV6, the highest bits first. */
	};
	union {
		uint32_t dst;     /**< With HY_FLOW_IPV4. */
		uint32_t dst6[4]; /**< With HY_FLOW_IPV6. */
	};
	uint64_t src_mac;    /**< With HY_FLOW_SRC_MAC; its first byte is the highest of 48 bits. */
	uint64_t dst_mac;    /**< With HY_FLOW_DST_MAC. */
	uint16_t ether_type; /**< With HY_FLOW_ETHER_TYPE. */
	uint16_t vlan;       /**< With HY_FLOW_VLAN; 0: a tag with only a priority. */
	uint16_t sport;      /**< With HY_FLOW_SPORT; the two ports come together. */
	uint16_t dport;      /**< With HY_FLOW_DPORT. */
	uint8_t proto;       /**< With HY_FLOW_PROTO; IPv4 packets always have it. */
	uint8_t dscp;        /**< With HY_FLOW_DSCP. */
	uint8_t fragment;    /**< With HY_FLOW_FRAGMENT: one bit of enum hy_flow_fragment. */
	uint8_t tcp_flags;   /**< With HY_FLOW_TCP_FLAGS. */
	uint8_t icmp_type;   /**< With HY_FLOW_ICMP_TYPE; type and code come together. */
	uint8_t icmp_code;   /**< With HY_FLOW_ICMP_CODE. */
	uint8_t reserved[2]; /**< 0. */
};

/**
 * Makes the key of a frame. Fields of truncated or malformed headers are missing, and
 * HY_FLOW_TRUNCATED is set:
 *
 * - the Ethernet header and each of up to two tags are whole, or nothing after them is read;
 * - an IP header has its version, its length, and all its bytes. Extension headers of IPv6
 *   (hop-by-hop options, routing, fragment, authentication, destination options) are whole, each of
 *   at least 8 bytes; else the packet is an HY_FLOW_UNKNOWN_FRAGMENT and has no protocol. With more
 *   of them than are walked it also is one, but not truncated;
 * - behind it, in packets that are no fragments, there are at least 20 bytes of TCP, 12 of SCTP, 8
 *   of UDP and ICMP, 4 of ICMPv6. If there are fewer, fields whose bytes are there are still read;
 *   the two ports together, and so type and code.
 *
 * Later fragments of IPv6 have the protocol that their fragment header names, or none if that is an
 * extension header. VXLAN is read in IPv4 only. Lengths and checksums in headers are not checked.
 *
 * @param frame Of any alignment; min(len, HY_FLOW_HEADERS) bytes in one piece.
 * @param len Of the whole frame, in bytes.
 */
void hy_flow_key(const uint8_t *frame, uint32_t len, struct hy_flow_key *key);

/** @return Whether a packet matches. */
bool hy_flow_matches(const struct hy_flow_match *match, const struct hy_flow_key *key);

/** @return Whether a packet can match both. Both must have passed hy_flow_rule_check(). */
bool hy_flow_overlap(const struct hy_flow_match *a, const struct hy_flow_match *b);

/**
 * @return Whether two have the same fields, given or implied: a tunnel implies UDP to port 4789,
 * and IPv4 fields imply ether type 0x0800. Then the same packets match both. Both must have passed
 * hy_flow_rule_check().
 */
bool hy_flow_same(const struct hy_flow_match *a, const struct hy_flow_match *b);

/** @return Whether two are the same, member by member. What is not used is 0 in both. */
static inline bool
hy_flow_match_equal(const struct hy_flow_match *a, const struct hy_flow_match *b)
{
	const void *one = a, *other = b; /* there is no padding */

	return memcmp(one, other, sizeof(*a)) == 0;
}

/** A rule of a view. */
struct hy_policy_rule {
	struct hy_flow_rule rule; /**< As it was added. */
	/**
	 * Index of its hit counter. It stays the same while the rule is in the policy with this class,
	 * and no other rule gets it while a worker may still use it.
	 */
	uint32_t index;
};

struct hy_policy_compiled;

/** All rules of one commit. Immutable, but for @ref compiled. */
struct hy_policy_view {
	uint64_t version;       /**< n for the n-th commit; 0 before the first. */
	uint32_t nb_rules;      /**< Entries of rules. */
	uint8_t default_action; /**< Of packets that no rule matches: permit or deny. */
	bool deny_truncated;    /**< Access lists drop packets with HY_FLOW_TRUNCATED. */
	const struct hy_policy_rule *rules; /**< By precedence and id: a place here is a *rank*. */
	/**
	 * The same rules as an engine has compiled them. Another form, which gives the same answers, may
	 * replace it while workers read; each stays valid as long as a view. NULL without rules.
	 */
	const struct hy_policy_compiled *compiled;
};

/** @return The rule with an id, or NULL. */
const struct hy_policy_rule *hy_policy_view_find(const struct hy_policy_view *view, uint32_t id);

#define HY_POLICY_NONE UINT32_MAX /**< No rank: no rule matches. */

/** @return The rank of the first rule that matches, or HY_POLICY_NONE. The reference. */
uint32_t hy_policy_classify(const struct hy_policy_view *view, const struct hy_flow_key *key);

/** Classifies a burst: rank[i] of key[i]. Pure. */
typedef void(hy_policy_classify_t)(const struct hy_policy_view *view,
	const struct hy_flow_key key[], uint32_t rank[], uint32_t n);

hy_policy_classify_t hy_policy_classify_linear; /**< hy_policy_classify(), one by one. */
/** By the engine that the policy has chosen for its rules (hy_policy_engine()). */
hy_policy_classify_t hy_policy_classify_compiled;

/** @name Packets of a rule that hardware must mark: bits of hy_mark_table.due.
 * @{
 */
#define HY_MARK_DUE 1        /**< Plain packets without a VLAN tag. */
#define HY_MARK_DUE_TAGGED 2 /**< Plain packets with one. */
#define HY_MARK_DROPS 4      /**< Instead of marking these packets, hardware must drop them. */
/** @} */

/** @name Checks of a rule's marked packets: hy_mark_slot.checks; 0: none.
 * @{
 */
#define HY_MARK_FRAGMENTS \
	0x8000              /**< Fragments, which hardware marks too, but software must classify. */
#define HY_MARK_RULE 0x4000 /**< Packets that do not match the rule, which hardware marks too. */
#define HY_MARK_RESIDUES 0x3fff /**< Number of earlier rules that only software has. */
/** @} */

/**
 * Instead, in the checks of a free slot: the port still sets its mark, by a rule that it did not
 * remove. The mark is hy_mark_slot.index; 0: it may be of any generation.
 */
#define HY_MARK_STAYS 1

/** The meaning of one mark of a port's hardware. */
struct hy_mark_slot {
	uint32_t mark;     /**< In full, generation included; 0: the slot is free. */
	uint32_t index;    /**< Of its rule's hit counter. */
	uint16_t class_id; /**< Its rule's class; few packets need more of the rule. */
	uint16_t checks;   /**< Such bits, and a number of rules up to HY_MARK_RESIDUES. */
	/** Where the ranks of those rules start in the table's residues; its own rank follows them. */
	uint32_t residue;
};

/**
 * The marks of one port, made by the offload engine, read by workers. Immutable once published. The
 * lower bits of a mark select its slot.
 */
struct hy_mark_table {
	const struct hy_policy_view *view; /**< The rules that the marks stand for. */
	const uint32_t *residues;          /**< Ranks that slots refer to. */
	const uint8_t *due;             /**< HY_MARK_DUE bits by rank; 0 for rules in software. */
	struct hy_mark_worker *workers; /**< One for each worker (hy_mark.h). */
	uint32_t slot_mask;             /**< Number of slots, a power of 2, less 1. */
	bool checked;                   /**< Some slot has checks. */
	bool own; /**< Only packets to @ref address reach the rules; else all packets. */
	struct rte_ether_addr address; /**< A MAC address of the port. */
	struct hy_mark_slot slots[];   /**< By mark & slot_mask. */
};

/** A policy as workers see it: the start of struct hy_policy. Node code uses the functions below. */
struct hy_policy_shown {
	/** By NUMA node + 1: SOCKET_ID_ANY is the first. Never NULL, and often one and the same. */
	const struct hy_policy_view *view[1 + RTE_MAX_NUMA_NODES];
	struct hy_policy_counts *const *hits;                /**< For each worker, by index. */
	const struct hy_mark_table *marks[RTE_MAX_ETHPORTS]; /**< NULL: none. */
};

/**
 * @return The current view, as it lies on a NUMA node (SOCKET_ID_ANY: any), if the policy has a copy
 * there. Never NULL. For readers of the policy's QSBR variable. Copies have one version.
 */
static inline const struct hy_policy_view *
hy_policy_view_on(const struct hy_policy *policy, int socket)
{
	return __atomic_load_n(&((const struct hy_policy_shown *)policy)->view[socket + 1],
		__ATOMIC_ACQUIRE);
}

/** @return hy_policy_view_on() of any node. */
static inline const struct hy_policy_view *
hy_policy_view(const struct hy_policy *policy)
{
	return hy_policy_view_on(policy, SOCKET_ID_ANY);
}

/** @return The marks of a port, valid as long as a view; NULL: none. */
static inline const struct hy_mark_table *
hy_policy_marks(const struct hy_policy *policy, uint16_t port)
{
	return __atomic_load_n(&((const struct hy_policy_shown *)policy)->marks[port],
		__ATOMIC_ACQUIRE);
}

/** @return The hit counters of a worker, which only it writes. */
static inline struct hy_policy_counts *
hy_policy_counters(const struct hy_policy *policy, unsigned int worker)
{
	return ((const struct hy_policy_shown *)policy)->hits[worker];
}

/**
 * Reads a counter over all workers, as it is, and as it was when its present rule got it or was cleared
 * last. It never decreases: two readings tell of all packets between them, whatever was cleared.
 */
void hy_policy_packets(struct hy_policy *policy, uint32_t index, uint64_t *since, uint64_t *now);

/** @return Counters of each worker: the indexes of rules are below this. */
uint32_t hy_policy_nb_counters(const struct hy_policy *policy);

/** Counts a packet that a rule classified, in a worker's counters. */
static inline void
hy_policy_hit(struct hy_policy_counts *counters, uint32_t index)
{
	uint64_t *packets = &counters[index].packets;

	__atomic_store_n(packets, *packets + 1, __ATOMIC_RELAXED);
}

/** The same with its bytes, at a time. @param now Of the burst, by rte_rdtsc(). */
static inline void
hy_policy_hit_bytes(struct hy_policy_counts *counters, uint32_t index, uint32_t bytes, uint64_t now)
{
	struct hy_policy_counts *counts = &counters[index];

	hy_policy_hit(counters, index);
	__atomic_store_n(&counts->bytes, counts->bytes + bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&counts->last, now, __ATOMIC_RELAXED);
}

/**
 * @name Control plane.
 * @{
 */
/** @return The current view, kept until hy_policy_view_release(). */
const struct hy_policy_view *hy_policy_view_hold(struct hy_policy *policy);
/** Releases a view that was held. */
void hy_policy_view_release(struct hy_policy *policy, const struct hy_policy_view *view);

/**
 * Publishes the marks of a port in place of the earlier ones, which the caller frees when workers
 * have left them. @p table may be NULL.
 */
void hy_policy_marks_set(struct hy_policy *policy, uint16_t port,
	const struct hy_mark_table *table);

/** @return Whether it is of an access list. */
bool hy_policy_is_access(const struct hy_policy *policy);

#define HY_POLICY_ALL UINT32_MAX /**< In place of an index: all counters. */

/**
 * Counts packets of a rule of an access list that a port's hardware dropped, so that no worker saw them.
 * Any thread but workers.
 *
 * @param index Of the rule's counter; the rule is in the current view.
 * @param bytes Of their frames; 0 if hardware does not count them.
 * @param now TSC clock, about when they came.
 */
void hy_policy_hardware_add(struct hy_policy *policy, uint32_t index, uint64_t packets,
	uint64_t bytes, uint64_t now);

/**
 * @param index Of a rule's counter, or HY_POLICY_ALL.
 * @return Packets that hy_policy_hardware_add() has counted there, ever. Other counts include them.
 */
uint64_t hy_policy_hardware(const struct hy_policy *policy, uint32_t index);

/** The same of one counter, with bytes and the time. Zeros of what is no access list. */
void hy_policy_hardware_counts(const struct hy_policy *policy, uint32_t index,
	struct hy_policy_counts *counts);

/** @return The QSBR variable of struct hy_policy_params; may be NULL. */
struct rte_rcu_qsbr *hy_policy_qsbr(const struct hy_policy *policy);
/** @return Workers of struct hy_policy_params. */
unsigned int hy_policy_workers(const struct hy_policy *policy);
/** Called by a node's init(): its graph reads the policy from now on. */
void hy_policy_use(struct hy_policy *policy);
/** Called by a node's fini(): undoes hy_policy_use(). */
void hy_policy_unuse(struct hy_policy *policy);

/**
 * A listener takes part in every commit. hy_policy_commit() calls the functions in this order, with
 * the policy's recursive mutex held. They must not stage or commit. Any may be NULL.
 */
struct hy_policy_listener {
	/**
	 * Prepares publish(). @p next stays valid until after() of the commit that replaces it.
	 *
	 * @return 0; a negative errno: the commit fails with it, and nothing is published.
	 */
	int (*prepare)(void *arg, const struct hy_policy_view *next);
	/** Undoes prepare(), after another listener failed. */
	void (*cancel)(void *arg);
	/** Called when the view of prepare() has been published. Cannot fail. */
	void (*publish)(void *arg);
	/** Called when workers have left the earlier view; by a later commit if they take long. */
	void (*after)(void *arg);
	void *arg; /**< Passed to the functions. */
};

/** Adds a listener, which must stay valid until hy_policy_unlisten(). @return 0; -ENOMEM. */
int hy_policy_listen(struct hy_policy *policy, const struct hy_policy_listener *listener);
/** Removes a listener; calls its pending after(), if any, if workers leave within a second. */
void hy_policy_unlisten(struct hy_policy *policy, const struct hy_policy_listener *listener);
/** @} */

HY_API_END
