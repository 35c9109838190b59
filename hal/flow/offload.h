/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of the offload engine, for itself and for tests. Programs use hy_offload.h. */
#pragma once

#include <pthread.h>

#include <rte_ethdev.h>
#include <rte_rcu_qsbr.h>

#include <hy_offload.h>
#include <hy_policy_view.h>

#define NO_SLOT UINT32_MAX

/* State of a slot of the mark table, and of the rule in hardware that sets its marks. */
enum flow_state {
	FLOW_FREE,    /* No rule; in quarantine until settle_us after `since`, and until `token`. */
	FLOW_LIVE,    /* In hardware. */
	FLOW_LEAVING, /* Still in hardware, but not in the table; workers may use an old one. */
	FLOW_STUCK,   /* The port refused to remove it: no other rule may use its marks. */
};

struct flow {
	enum flow_state state;
	bool planned;        /* In the plan; only used by flows_leave(). */
	uint8_t unread;      /* Why its counter was not read, while hy_offload_drops_read() runs. */
	uint32_t next_guard; /* See hy_offload_guards_find(). */
	bool several;        /* Stuck with more than one rule, of former offloads. */
	bool settled;        /* Packets received before it was created have all been classified. */
	bool drop;           /* It drops packets, and counts them; it has no mark. */
	uint16_t checks;     /* Of its packets: HY_MARK_FRAGMENTS, HY_MARK_RULE. */
	uint32_t generation; /* Of the mark, at least 1. */
	uint32_t priority;   /* In hardware; 0 is the highest. */
	uint64_t since;      /* Time of creation or release. */
	uint64_t token;      /* Workers leave the last table that has it with this grace period. */
	void *handle;        /* The provider's. */
	uint32_t index;      /* With drop: of its rule's counter; */
	uint64_t hits, bytes; /* and what the port said last that it has dropped. */
	struct hy_flow_match match;
};

/* Why a rule is in software. Reasons of drivers and ports are added as they occur. */
enum reason {
	REASON_NONE, /* It is in hardware. */
	REASON_UNTRIED,
	REASON_FULL,
	REASON_COLD,
	REASON_OVERLAP,
	REASON_RESIDUE,
	REASON_CROWD,
	REASON_TWIN,
	/* Of rules of access lists. */
	REASON_SPARE,
	REASON_ORDER,
	REASON_SHADE,
	REASON_BLIND,
	REASON_DEPTH,
	REASON_LOG,
	REASON_CUT,
	REASON_OTHER, /* No room for another reason. */
	REASON_GIVEN, /* The first one of a driver or port. */
	REASONS = 32,
};

/* The state of a rule of the policy. */
struct rule_state {
	uint32_t slot; /* NO_SLOT: in software. */
	uint8_t reason;
	uint32_t twin;   /* With REASON_TWIN: the slot of the rule with the same pattern. */
	uint32_t needer; /* Id of a deny that needs this rule before it, or needed it once. */
	uint32_t rate;   /* Recent hits; older ones count less. */
	uint64_t hits;   /* At the last update. */
};

/* The state for one view of the policy. */
struct plan {
	const struct hy_policy_view *view;
	bool held;                /* The view must be released. */
	struct rule_state *rules; /* By rank. */
	/* Which rules overlap: see offload_before.c. */
	struct outline *outlines; /* By rank. */
	struct before **before;   /* Likewise; NULL: not known yet. */
	uint64_t compared;        /* Pairs of outlines so far, or what took as long. */
	uint64_t again; /* Pairs so far that no list has, and that are compared each time. */
};

/* A table that workers use or may still use. */
struct marks {
	struct marks *next;
	uint64_t token;
	uint64_t again; /* Pairs that were compared for it, because no list has them. */
	bool unsure;    /* It may have rules that are not needed: too much was to be compared. */
	struct hy_mark_table table;
};

#define HY_OFFLOAD_PAIRS \
	(1u << 22) /* that a poll compares before it leaves rules to the next, some 10 ms */
#define HY_OFFLOAD_TURN_US 20000 /* of calls in one poll, after which the port gets no more */

/* Rules that the port creates or destroys together. */
#define BATCH 64

struct batch {
	uint32_t n;
	struct hy_flow_request requests[BATCH];
	struct staged {
		uint32_t rank, slot;
		struct hy_flow_lowered lowered; /* to be created */
	} rules[BATCH];
};

/* Safety measures that tests switch off, to see their effect. Sampling is in hy_mark_worker. */
struct offload_safety {
	bool residue, generation, fragments;
};

/* How the control thread checks whether marks arrive. */
struct watch {
	struct hy_offload_stats begin; /* packets counted when the window began */
	uint64_t since;                /* begin of the window */
	uint64_t judged;               /* the last check */
	uint64_t left; /* when a rule last began to leave hardware, or workers' table */
	bool ended;    /* rules that drop packets have, and the table has them still */
};

/* Which packets reach the policy's rules. */
struct reach {
	bool own;                      /* Those to one MAC address; else all. */
	struct rte_ether_addr address; /* With own. */
};

/* Why a port's marks are distrusted. */
enum demotion {
	DEMOTED_WRONG,
	DEMOTED_MISSING,
	DEMOTED_FOREIGN,
	DEMOTED_LEAKS, /* Not marks: packets that the port should drop. */
	DEMOTED_KEPT, /* One of these may be left: it refused to remove it, or was reset in between. */
};

struct hy_offload {
	struct hy_offload *next;
	pthread_mutex_t mutex; /* Between the control thread and readers of statistics. */
	struct hy_policy *policy;
	struct rte_rcu_qsbr *qsbr;
	struct hy_policy_listener listener;
	struct hy_hal *hal; /* Followed by the offload; NULL: none. */
	struct hy_offload_params params;
	bool access;       /* The policy is of an access list: see offload_access.c. */
	bool mute;         /* The port takes no calls now: it is reset, or recovers. */
	bool any_provider; /* The caller left the choice to the port, */
	bool any_driver;   /* this one too. */
	uint16_t port;
	struct hy_flow_spread spread;
	enum hy_offload_state state;
	struct offload_safety safety;
	struct hy_flow_limits limits;
	int vlan; /* RTE_ETH_VLAN_ settings of the port, as it was probed. */
	void *jump, *fallback, *sentinel; /* Rules that the port needs: see offload_port.c. */
	struct reach reach;
	/* When the jump was last replaced; for how long none is tried, if the port did not take it. */
	uint64_t jump_tried, jump_wait;
	bool jump_stays; /* The port may still have the jump; so the default rule must stay, too. */

	uint32_t nb_slots;    /* 1 << slot_bits */
	uint32_t slot_bits;   /* Low bits of a mark. */
	uint32_t generations; /* From 1 on; high bits of a mark. */
	struct flow *flows;
	struct batch *batch;           /* Empty between polls. */
	uint32_t live, leaving, stuck; /* Rules, by their slots' state. */
	uint32_t room;                 /* For live and leaving: max_rules, or spread_rules. */
	uint32_t live_drops;           /* Of the live ones, while rules are installed. */
	uint32_t *in, nb_in;           /* Likewise: the ranks of rules in hardware. */
	uint32_t nb_guards, guards;    /* See hy_offload_guards_find(). */

	struct plan *plan, *next_plan;    /* Of the current view, and of the one being committed. */
	struct marks *marks, *next_marks; /* Likewise. */
	struct marks *garbage;
	uint64_t again; /* Of the table that workers have: see struct marks. */
	bool dirty;     /* The table is out of date. */
	bool full;      /* The port has no room. */
	bool retry;     /* Rules refused because of others may be tried again. */
	uint64_t aged;  /* When hits were last compared. */

	unsigned int workers;
	struct hy_mark_worker *worker;
	char reasons[REASONS][80];
	uint64_t installed, evicted, lost, failed;
	uint64_t dropped;   /* Packets, by rules that count. */
	uint32_t read_next; /* The slot whose counter is read next. */

	uint64_t left; /* Time that calls of the port may still take; UINT64_MAX: any. */
	uint32_t pace; /* Most requests at once; fewer if the port answers late. */
	bool closing;  /* The port is closed next. */

	struct watch watch;
	enum demotion demotion; /* In state HY_OFFLOAD_DEMOTED: why. */
	char demoted[128];      /* The same as text. */
};

static inline uint32_t
flow_mark(const struct hy_offload *o, uint32_t slot)
{
	return o->flows[slot].generation << o->slot_bits | slot;
}

/* All offloads. Lock this mutex before theirs. */
extern pthread_mutex_t hy_offload_list_mutex;
extern struct hy_offload *hy_offload_list;

uint64_t hy_offload_now(void); /* Microseconds. */

/*
 * Whether the port has had its time. Only calls of the port take of it: a thread that the machine
 * interrupts elsewhere must not do less for that.
 */
static inline bool
hy_offload_late(const struct hy_offload *o)
{
	return o->left == 0;
}

/* After a call of the port. Returns how long it took. */
static inline uint64_t
hy_offload_took(struct hy_offload *o, uint64_t begin)
{
	const uint64_t took = hy_offload_now() - begin;

	if (o->left != UINT64_MAX)
		o->left -= RTE_MIN(o->left, took);
	return took;
}

/* Plans. */
struct plan *hy_offload_plan_make(struct hy_offload *o, const struct hy_policy_view *view);
void hy_offload_plan_free(struct hy_offload *o, struct plan *plan);
uint32_t hy_offload_plan_find(const struct plan *plan, uint32_t id);  /* Rank, or NO_SLOT. */
uint64_t hy_offload_hits(const struct hy_offload *o, uint32_t index); /* Of all workers. */
uint8_t hy_offload_reason_of(struct hy_offload *o, const char *text);

#define HY_OFFLOAD_PAIR 16 /* pairs of outlines are compared in the time of one of whole rules */
/* Pairs of rules. Prepares them for a new plan; old: the one before, or NULL. False: no memory. */
bool hy_offload_pairs_make(struct plan *plan, const struct plan *old);
void hy_offload_pairs_free(struct plan *plan);
/* As hy_flow_overlap(), of two ranks. */
bool hy_offload_overlap(struct plan *plan, uint32_t a, uint32_t b);
/*
 * The next rank before `rank`, in ascending order, whose rule overlaps that of `rank`; NO_SLOT: no more.
 * The first time, `at` is 0.
 */
uint32_t hy_offload_before(struct plan *plan, uint32_t rank, uint32_t *at);
/* Whether there are more of them than a list has. */
bool hy_offload_is_crowded(struct plan *plan, uint32_t rank);

/*
 * Tables. Residue: the number of rules before `rank` that overlap it and that software must check.
 */
uint32_t hy_offload_residue(const struct hy_offload *o, struct plan *plan, uint32_t rank,
	uint32_t priority, uint32_t *ranks, uint32_t max);
struct marks *hy_offload_marks_make(struct hy_offload *o, struct plan *plan);
/* Publishes marks (NULL: none) to workers, and switches to a plan, which may be the current one. */
void hy_offload_marks_publish(struct hy_offload *o, struct marks *marks, struct plan *plan);
void hy_offload_marks_free(struct marks *marks);
void hy_offload_collect(struct hy_offload *o);
/* Frees an offload that workers have left. */
void hy_offload_free(struct hy_offload *o);

/* Hardware. */
/*
 * Destroys rules that leave, those that drop packets first: at least one, and more while there is time.
 * now: ignores grace periods, and reads no counters, which may be of other rules. Returns how many.
 */
uint32_t hy_offload_destroy_left(struct hy_offload *o, bool now);
uint32_t hy_offload_install(struct hy_offload *o);
uint32_t hy_offload_age(struct hy_offload *o);
void hy_offload_forget(struct hy_offload *o, bool answers);
void hy_offload_abandon(struct hy_offload *o);   /* Leaves the rules in a port that recovers. */
void hy_offload_recovered(struct hy_offload *o); /* Removes what it says it has kept of them. */
void hy_offload_flow_free(struct hy_offload *o, struct flow *flow);
/* hy_offload_took() for n requests, from which it learns how many to make at once. */
void hy_offload_pace(struct hy_offload *o, uint64_t begin, uint32_t n);
uint8_t hy_offload_refusal(struct hy_offload *o, int rc, const struct rte_flow_error *error);

/*
 * Access lists: which of their rules hardware gets, and the rules that drop packets.
 */
/* Whether a rule in hardware would drop the packets. */
bool hy_offload_is_drop(const struct hy_offload *o, const struct hy_flow_rule *rule);
/* Whether a node reads the class of a rule off its mark. */
bool hy_offload_is_read(const struct hy_offload *o, const struct hy_flow_rule *rule);
/* Why a rule of a view is not in hardware before anything was tried. */
uint8_t hy_offload_reason_first(const struct hy_offload *o, const struct hy_policy_view *view,
	const struct hy_flow_rule *rule);
/*
 * REASON_NONE: a rule may drop packets at this priority. Otherwise, the rules that it needs before it
 * become candidates, if there can be all of them.
 */
uint8_t hy_offload_drop_reason(struct hy_offload *o, uint32_t rank, uint32_t priority);
/* The ranks of denies that may need others before them, in ascending order. Returns how many. */
uint32_t hy_offload_needers(const struct hy_offload *o, const struct plan *plan, uint32_t ranks[]);
/*
 * Whether a rule that marks has a place in hardware: in access lists, only before one that drops, of
 * these needers. So it has when no pairs are left to compare; what is compared is taken off.
 */
bool hy_offload_is_needed(const struct hy_offload *o, struct plan *plan, uint32_t rank,
	const uint32_t needers[], uint32_t n, uint64_t *left);
/* Finds rules that drop packets and that are kept, or are to be removed. Returns how many. */
uint32_t hy_offload_guards_find(struct hy_offload *o);
/* Whether a rule must stay, because it precedes one of those; behind very many, each does. */
bool hy_offload_must_stay(const struct hy_offload *o, const struct flow *flow);
uint32_t hy_offload_nb_drops(const struct hy_offload *o, enum flow_state state);
/*
 * Counts what rules have dropped since the last time: a batch of them, or all; while there is time, from
 * where the last call left off.
 */
void hy_offload_drops_read(struct hy_offload *o, bool all);
/*
 * Removes the rules that drop packets and are not in a plan, after a last look at their counters. When
 * the time is over, the others stay, for flows_leave().
 */
void hy_offload_drops_end(struct hy_offload *o, const struct plan *plan);
/* Removes one of them. */
void hy_offload_drop_end(struct hy_offload *o, struct flow *flow, bool read);

/* Rules that the port needs. After an error, call hy_offload_port_rules_remove(). */
int hy_offload_port_rules_make(struct hy_offload *o, const char **why);
/* Follows the port's MAC address and promiscuous mode. */
void hy_offload_reach_follow(struct hy_offload *o);
/* Whether the port needs a rule that leads to the policy's, and did not confirm that it has one. */
bool hy_offload_is_cut(const struct hy_offload *o);
/* From now on no packet reaches the policy's rules. */
void hy_offload_jump_remove(struct hy_offload *o);
void hy_offload_port_rules_remove(struct hy_offload *o);
void hy_offload_port_rules_forget(struct hy_offload *o); /* The port has lost them. */

/* Whether the port's marks can be trusted. Counts: the packets of all workers; all else is zero. */
void hy_offload_counts(const struct hy_offload *o, struct hy_offload_stats *counts);
void hy_offload_watch_begin(struct hy_offload *o); /* The port runs, and has no rules yet. */
void hy_offload_watch_port(uint16_t port, bool asked);
bool hy_offload_distrust(struct hy_offload *o); /* true: demotion and demoted give the reason. */

/*
 * Whether the driver of a port may reset it without an event (net/iavf/iavf_vchnl.c,
 * iavf_dev_event_handle()): it then frees all rules, and handles are invalid.
 */
bool hy_offload_resets_itself(const struct hy_flow_driver *driver,
	const struct rte_eth_dev_info *info);

/*
 * Rules that the port refused to remove outlive their offload. Its destruction notes them, the next
 * offload of the port avoids their slots, and a reset or removal of the port forgets them.
 */
void hy_offload_kept_note(const struct hy_offload *o, uint32_t slot);
void hy_offload_kept_avoid(struct hy_offload *o);
void hy_offload_kept_forget(uint16_t port);

/* Stops following the HAL, and sets the port's flow capabilities to no. */
void hy_offload_unfollow(struct hy_offload *o);
