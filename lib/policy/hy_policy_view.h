/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What workers see of a policy, for nodes that classify and for the engine that offloads: views,
 * classification in software, hit counters, and marks of ports.
 *
 * A view that a worker takes is valid until its graph reports to the policy's QSBR variable: to the
 * end of the process function.
 */
#ifndef HY_POLICY_VIEW_H
#define HY_POLICY_VIEW_H

#include <stdbool.h>

#include <rte_config.h>

#include <hy_policy.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct hy_mark_worker;
struct rte_acl_ctx;

/** Bytes of a frame that a key is made of, at most: Ethernet, two tags, IPv4, UDP, VXLAN. */
#define HY_FLOW_HEADERS (14 + 2 * 4 + 60 + 8 + 8)

/** UDP port that VXLAN is sent to (RFC 7348). */
#define HY_FLOW_VXLAN_PORT 4789

/** What rules can ask of one packet, in host byte order; what it does not have is 0. */
struct hy_flow_key {
	uint32_t has;        /**< HY_FLOW_ bits of what the packet has. */
	uint32_t src;        /**< With HY_FLOW_SRC; all IPv4 fields come together. */
	uint32_t dst;        /**< With HY_FLOW_DST. */
	uint32_t tunnel;     /**< With HY_FLOW_TUNNEL. */
	uint16_t ether_type; /**< With HY_FLOW_ETHER_TYPE. */
	uint16_t vlan;       /**< With HY_FLOW_VLAN; 0 of a tag that gives only a priority. */
	uint16_t sport;      /**< With HY_FLOW_SPORT; the two ports come together. */
	uint16_t dport;      /**< With HY_FLOW_DPORT. */
	uint8_t proto;       /**< With HY_FLOW_PROTO. */
	uint8_t dscp;        /**< With HY_FLOW_DSCP. */
};

/**
 * Makes the key of a frame. Whatever is cut off or malformed, the packet does not have: an IPv4
 * header needs version, length and all its bytes, ports need a packet that is no fragment. Lengths
 * and checksums in headers are not looked at.
 *
 * @param frame Of any alignment; min(len, HY_FLOW_HEADERS) bytes in one piece.
 * @param len Of the whole frame, in bytes.
 */
void hy_flow_key(const uint8_t *frame, uint32_t len, struct hy_flow_key *key);

/** @return Whether a packet is what a rule asks for. */
bool hy_flow_matches(const struct hy_flow_match *match, const struct hy_flow_key *key);

/** @return Whether there can be a packet that matches both. Both have passed hy_flow_rule_check(). */
bool hy_flow_overlap(const struct hy_flow_match *a, const struct hy_flow_match *b);

/**
 * @return Whether two ask for the same, be it named or implied by what is: a tunnel is in UDP to port
 * 4789, and what only IPv4 has is in ether type 0x0800. The same packets match both then. Both have
 * passed hy_flow_rule_check().
 */
bool hy_flow_same(const struct hy_flow_match *a, const struct hy_flow_match *b);

/** A rule of a view. */
struct hy_policy_rule {
	struct hy_flow_rule rule; /**< As it was added. */
	/**
	 * Of its hit counter. It stays while the rule is in the policy with this class, and is not
	 * given to another rule while a worker can have it in hand.
	 */
	uint32_t index;
};

#define HY_POLICY_ACLS_MAX 8 /**< Most parts that rules are compiled in. */

/** All rules, as compiled by one commit. Immutable. */
struct hy_policy_view {
	uint64_t version;                   /**< Of the n-th commit: n; 0 before the first. */
	uint32_t nb_rules;                  /**< Entries of rules. */
	const struct hy_policy_rule *rules; /**< By precedence and id: a place here is a *rank*. */
	/** The same rules compiled, in parts of consecutive ranks; none without rules. */
	struct rte_acl_ctx *acls[HY_POLICY_ACLS_MAX];
	uint32_t nb_acls; /**< Entries of acls; one does for all but rules that overlap much. */
};

#define HY_POLICY_NONE UINT32_MAX /**< The rank of no rule. */

/** @return The rank of the first rule that matches, or HY_POLICY_NONE. The oracle. */
uint32_t hy_policy_classify(const struct hy_policy_view *view, const struct hy_flow_key *key);

/** Classifies a burst: rank[i] of key[i]. Pure. */
typedef void(hy_policy_classify_t)(const struct hy_policy_view *view,
	const struct hy_flow_key key[], uint32_t rank[], uint32_t n);

hy_policy_classify_t hy_policy_classify_linear; /**< hy_policy_classify(), one by one. */
hy_policy_classify_t hy_policy_classify_acl;    /**< rte_acl, as wide as EAL's vectors may be. */

/** @name Which packets of a rule hardware is sure to mark: bits of hy_mark_table.due.
 * @{
 */
#define HY_MARK_DUE 1        /**< Plain packets without a VLAN tag. */
#define HY_MARK_DUE_TAGGED 2 /**< Plain packets with one. */
/** @} */

/** @name What marked packets of a rule are checked for: hy_mark_slot.checks; 0: nothing.
 * @{
 */
#define HY_MARK_FRAGMENTS \
	0x8000 /**< Being fragments, which hardware marks too: software has those. */
#define HY_MARK_RESIDUES 0x7fff /**< So many rules before it that only software has. */
/** @} */

/** What a mark of a port's hardware stands for. */
struct hy_mark_slot {
	uint32_t mark;     /**< In full, generation included; 0: the slot is free. */
	uint32_t index;    /**< Of the hit counter of its rule, */
	uint16_t class_id; /**< whose class is here, too: few packets need more of it. */
	uint16_t checks; /**< HY_MARK_FRAGMENTS, and a number of rules, HY_MARK_RESIDUES at most: */
	/** where their ranks begin in the table's residues; the rule's own rank is behind them. */
	uint32_t residue;
};

/**
 * The marks of one port, made by the engine that offloads, read by workers. Immutable once
 * published. A mark's slot is its lower bits.
 */
struct hy_mark_table {
	const struct hy_policy_view *view; /**< The rules that the marks stand for. */
	const uint32_t *residues;          /**< Ranks that slots refer to. */
	const uint8_t *due;                /**< HY_MARK_DUE bits by rank: 0 of rules in software. */
	struct hy_mark_worker *workers;    /**< Of each worker (hy_mark.h). */
	uint32_t slot_mask;                /**< Number of slots, a power of 2, less 1. */
	bool checked;                      /**< Some slot has checks. */
	/** HY_MARK_FRAGMENTS: ports may be those inside a tunnel, so the whole rule is compared. */
	bool inner_ports;
	struct hy_mark_slot slots[]; /**< By mark & slot_mask. */
};

/** A policy as workers see it: the start of struct hy_policy. Node code uses what is below. */
struct hy_policy_shown {
	const struct hy_policy_view *view;                   /**< Never NULL. */
	uint64_t *const *hits;                               /**< Of each worker, by index. */
	const struct hy_mark_table *marks[RTE_MAX_ETHPORTS]; /**< NULL: none. */
};

/** @return The view of now. Never NULL. Any thread that the policy's QSBR variable waits for. */
static inline const struct hy_policy_view *
hy_policy_view(const struct hy_policy *policy)
{
	return __atomic_load_n(&((const struct hy_policy_shown *)policy)->view, __ATOMIC_ACQUIRE);
}

/** @return The marks of a port, valid as a view is, with the view that they are for; NULL: none. */
static inline const struct hy_mark_table *
hy_policy_marks(const struct hy_policy *policy, uint16_t port)
{
	return __atomic_load_n(&((const struct hy_policy_shown *)policy)->marks[port],
		__ATOMIC_ACQUIRE);
}

/** @return The hit counters of a worker, which it alone writes. */
static inline uint64_t *
hy_policy_counters(const struct hy_policy *policy, unsigned int worker)
{
	return ((const struct hy_policy_shown *)policy)->hits[worker];
}

/** Counts a packet that a rule has classified, in a worker's counters. */
static inline void
hy_policy_hit(uint64_t *counters, uint32_t index)
{
	__atomic_store_n(&counters[index], counters[index] + 1, __ATOMIC_RELAXED);
}

/**
 * @name Control plane.
 * @{
 */
/** @return The view of now, kept until it is given back. */
const struct hy_policy_view *hy_policy_view_hold(struct hy_policy *policy);
/** Gives a view back that was held. */
void hy_policy_view_release(struct hy_policy *policy, const struct hy_policy_view *view);

/**
 * Shows workers the marks of a port in place of those before, which the caller frees when workers
 * have left them. @p table may be NULL.
 */
void hy_policy_marks_set(struct hy_policy *policy, uint16_t port,
	const struct hy_mark_table *table);

/** @return The QSBR variable of struct hy_policy_params; may be NULL. */
struct rte_rcu_qsbr *hy_policy_qsbr(const struct hy_policy *policy);
/** @return Workers of struct hy_policy_params. */
unsigned int hy_policy_workers(const struct hy_policy *policy);
/** A node's init() says that its graph reads the policy from now on. */
void hy_policy_use(struct hy_policy *policy);
/** A node's fini() takes that back. */
void hy_policy_unuse(struct hy_policy *policy);

/**
 * Somebody who takes part in every commit. The functions are called by hy_policy_commit(), in this
 * order, with the policy's mutex held, which its thread may take again; they must not stage or
 * commit. Any may be NULL.
 */
struct hy_policy_listener {
	/**
	 * Makes all that publish() needs. @p next stays until after() of the commit that replaces it.
	 *
	 * @return 0; a negative errno: the commit fails with it, and nothing is published.
	 */
	int (*prepare)(void *arg, const struct hy_policy_view *next);
	/** Undoes prepare(): somebody else could not. */
	void (*cancel)(void *arg);
	/** The view of prepare() has just been shown to workers. Cannot fail. */
	void (*publish)(void *arg);
	/** Workers have left what was shown before; called by a later commit if they took long. */
	void (*after)(void *arg);
	void *arg; /**< Handed to them. */
};

/** Adds a listener, which must stay valid until hy_policy_unlisten(). @return 0; -ENOMEM. */
int hy_policy_listen(struct hy_policy *policy, const struct hy_policy_listener *listener);
/** Takes a listener away; an after() that it is owed is called if workers leave within a second. */
void hy_policy_unlisten(struct hy_policy *policy, const struct hy_policy_listener *listener);
/** @} */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
