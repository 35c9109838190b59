/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packets that no megaflow matches: a worker sends them to a thread that asks the program's rules,
 * installs a megaflow with what the rules looked at, and sends the packets back with their action.
 *
 * Packets of a flow stay in order. A flow is all packets whose keys are equal except for tos, ttl and
 * tcp_flags. While some of them wait for an answer, later ones are sent after them, even if a megaflow
 * matches them by now. They are dropped if half of the room is taken. A worker takes back answered
 * packets before it goes on with new ones:
 *
 * @code
 * n = hy_flows_answers(upcalls, worker, mbufs, action, fate, n);
 * ... send these on first; drop those whose megaflow was deleted ...
 * hy_flows_find(flows, worker, &rss, mbufs, flow, n);
 * if (hy_flows_upcall(upcalls, worker, mbufs, flow, fate, n) > 0)
 *         ... go on with those that stay, and drop those for which there was no room ...
 * @endcode
 */
#pragma once

#include <hy_flows_worker.h>

HY_API_BEGIN

struct hy_flows_upcalls;

#define HY_FLOWS_UPCALLS_MOST (1u << 14) /**< Most packets of a worker that are on the way. */

/**
 * The program's rules.
 *
 * @param key Of a packet, made with HY_FLOWS_PARSE_ALL, and HY_FLOWS_PARSE_TUNNEL if the cache has
 * tunnels.
 * @param[in,out] answer Has that key; the rest is 0. The action, the times of the megaflow, and as its
 * mask all bits of the key that the rules looked at: the action must be a function of these alone.
 * @return 0: to be installed; otherwise only this packet gets the action.
 */
typedef int hy_flows_rules_t(void *arg, const struct hy_flows_key *key,
	struct hy_flows_flow *answer);

/** Parameters of upcalls. */
struct hy_flows_upcall_params {
	hy_flows_rules_t *rules; /**< Called by the threads of hy_flows_handle() in turn. */
	void *arg;               /**< Passed to it. */
	/** Packets of each worker that may be on the way, a power of two, 2 to HY_FLOWS_UPCALLS_MOST. */
	uint32_t room;
};

/** What was counted of a worker's upcalls. */
struct hy_flows_upcall_stats {
	uint64_t sent;   /**< Packets that wait or were answered. */
	uint64_t behind; /**< Of these, packets that a megaflow matched. */
	uint64_t full;  /**< Packets for which there was no room: to be dropped as "upcall_full". */
	uint64_t taken; /**< Packets that hy_flows_answers() returned. */
	uint64_t known; /**< Answered by a megaflow that was there by then. */
	uint64_t asked; /**< Answered by the rules: the sum of the next three. */
	uint64_t added; /**< And a megaflow was installed. */
	uint64_t refused; /**< And hy_flows_add() refused it. */
	uint64_t single;  /**< And the rules wanted none. */
};

/** What becomes of a packet. */
enum hy_flows_fate {
	HY_FLOWS_STAYS, /**< The worker goes on with it; a megaflow matches it. */
	HY_FLOWS_SENT,  /**< It is on the way, and comes back with hy_flows_answers(). */
	HY_FLOWS_FULL,  /**< There was no room; the worker drops it. */
	HY_FLOWS_GONE, /**< The megaflow that answered it was deleted, and none matches; likewise. */
};

/**
 * Creates rings for the workers of a cache.
 *
 * @return 0; -EINVAL (logged); -ENOMEM.
 */
int hy_flows_upcalls_create(struct hy_flows *flows, const struct hy_flows_upcall_params *params,
	struct hy_flows_upcalls **upcalls);

/**
 * Frees the rings, and the packets that are in them. No thread may use them any more. To be called
 * before hy_flows_destroy(). NULL is allowed.
 */
void hy_flows_upcalls_destroy(struct hy_flows_upcalls *upcalls);

/**
 * Sends packets of a burst whose flow[i] is HY_FLOWS_MISS, and those behind others of their flow. Called
 * by the worker.
 *
 * @param flow Of hy_flows_find() or hy_flows_lookup().
 * @param[out] fate A value of enum hy_flows_fate for each packet.
 * @return How many do not stay.
 */
uint32_t hy_flows_upcall(struct hy_flows_upcalls *upcalls, unsigned int worker,
	struct rte_mbuf *const mbufs[], const uint32_t flow[], uint8_t fate[], uint32_t n);

/**
 * Takes back packets that were answered, in their order. Called by the worker, until it returns less
 * than @p n, before it goes on with other packets. They are not counted for their megaflow.
 *
 * A packet that a megaflow answered, found or installed, has the action of that megaflow now. If it was
 * deleted, the packet has the action of another one that matches, or is HY_FLOWS_GONE: as of what
 * hy_flows_find() finds, workers that have reported since hy_flows_delete() get no action of it. An
 * answer without a megaflow ("refused", "single") is the rules' own, as they were when they were asked.
 *
 * @param[out] action Of each packet; 0 of those that are HY_FLOWS_GONE.
 * @param[out] fate HY_FLOWS_STAYS or HY_FLOWS_GONE, for each packet.
 * @return How many were taken.
 */
uint32_t hy_flows_answers(struct hy_flows_upcalls *upcalls, unsigned int worker,
	struct rte_mbuf *mbufs[], uint32_t action[], uint8_t fate[], uint32_t n);

/**
 * Answers up to @p most packets of a worker. Called by any thread but workers; for each worker by one
 * at a time.
 *
 * @return How many were answered.
 */
uint32_t hy_flows_handle(struct hy_flows_upcalls *upcalls, unsigned int worker, uint32_t most);

/** What a change of rules can do to a megaflow. */
enum hy_flows_touch {
	HY_FLOWS_KEEP, /**< Nothing. */
	HY_FLOWS_ASK,  /**< The rules are to be asked about it. */
	HY_FLOWS_LOOK, /**< That depends on its key and mask. */
};

/**
 * Which megaflows a change of rules can touch. The functions are called by the thread of
 * hy_flows_revalidate_some(), while the rules are not being asked: all answers that were given before the
 * first call are installed. They must not use the upcalls or the cache.
 */
struct hy_flows_touched {
	/** Returns a value of enum hy_flows_touch for all megaflows with that action. */
	enum hy_flows_touch (*by_action)(void *arg, uint32_t action);
	/** Returns whether the rules are to be asked about a megaflow, after HY_FLOWS_LOOK. */
	bool (*by_key)(void *arg, const struct hy_flows_flow *flow);
	void *arg; /**< Passed to them. */
};

/** What a revalidation has done. */
struct hy_flows_revalidated {
	uint32_t kept;    /**< Megaflows about which the rules were not asked. */
	uint32_t asked;   /**< Megaflows about which they were. */
	uint32_t changed; /**< Of these, modified or deleted. */
};

/**
 * Asks the rules about each megaflow, after they have changed: replaces its action, or deletes it if
 * they look at more than its mask has. Answers to packets are given meanwhile, in turn with these. When it
 * returns, workers that report find nothing of the
 * rules as they were before the call, except packets that were answered before without a megaflow, and
 * that hy_flows_answers() has not yet returned. Called by any thread but workers, not from the rules.
 *
 * @return How many megaflows were modified or deleted.
 */
uint32_t hy_flows_revalidate(struct hy_flows_upcalls *upcalls);

/**
 * The same, but asks only about megaflows that the change can touch. The others must stand for what the rules
 * say now.
 *
 * @param touched NULL: all are asked about.
 * @param[out] done What it did. NULL is allowed.
 */
void hy_flows_revalidate_some(struct hy_flows_upcalls *upcalls,
	const struct hy_flows_touched *touched, struct hy_flows_revalidated *done);

/** Reads what was counted of a worker. Any thread may call this. */
void hy_flows_upcall_stats(const struct hy_flows_upcalls *upcalls, unsigned int worker,
	struct hy_flows_upcall_stats *stats);

HY_API_END
