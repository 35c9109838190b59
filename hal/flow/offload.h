/* SPDX-License-Identifier: BSD-3-Clause */
/* The offload engine, inside. Tests may look here; programs use hy_offload.h. */
#ifndef HY_FLOW_OFFLOAD_H
#define HY_FLOW_OFFLOAD_H

#include <pthread.h>

#include <rte_rcu_qsbr.h>

#include <hy_offload.h>
#include <hy_policy_view.h>

#define NO_SLOT UINT32_MAX

/* Slot i of the mark table, and the rule in hardware that has its marks. */
enum flow_state {
	FLOW_FREE,    /* Has no rule; in quarantine until settle_us after `since`, and `token`. */
	FLOW_LIVE,    /* In hardware. */
	FLOW_LEAVING, /* In hardware still, in no table any more; workers may be in one before. */
	FLOW_STUCK,   /* The port refused to remove it: its marks are given to no other rule. */
};

struct flow {
	enum flow_state state;
	bool planned;        /* Found in the plan, while that is gone through. */
	bool settled;        /* Packets that came before it was created have all been classified. */
	bool fragments;      /* Its packets are to be checked for being fragments. */
	uint32_t generation; /* Of the mark, 1 at least. */
	uint32_t priority;   /* In hardware; 0 is looked at first. */
	uint64_t since;      /* When it was created, or freed. */
	uint64_t token;      /* Until workers have left the last table that had it. */
	void *handle;        /* The provider's. */
	struct hy_flow_match match;
};

/* Why a rule is in software. Those that drivers and ports give come behind, as they are met. */
enum reason {
	REASON_NONE, /* It is in hardware. */
	REASON_UNTRIED,
	REASON_FULL,
	REASON_COLD,
	REASON_OVERLAP,
	REASON_RESIDUE,
	REASON_TWIN,
	REASON_OTHER, /* One too many. */
	REASON_GIVEN, /* The first that was given. */
	REASONS = 32,
};

/* What the engine knows of a rule of the policy. */
struct rule_state {
	uint32_t slot; /* NO_SLOT: in software. */
	uint8_t reason;
	uint32_t twin; /* With REASON_TWIN: the slot of the rule that has its pattern. */
	uint32_t rate; /* Hits of late, older ones count less. */
	uint64_t hits; /* When last looked at. */
};

/* What belongs to one view of the policy. */
struct plan {
	struct plan *next;
	uint64_t token; /* Of an old one: until workers have left it. */
	const struct hy_policy_view *view;
	bool held;                /* The view is to be given back. */
	struct rule_state *rules; /* By rank. */
	uint32_t *by_id;          /* Ranks, in the order of their rules' ids. */
};

/* A table that workers see, or may still see. */
struct marks {
	struct marks *next;
	uint64_t token;
	struct hy_mark_table table;
};

/* Rules that are handed to the port together, to be created or to be destroyed. */
#define BATCH 64

struct batch {
	uint32_t n;
	struct hy_flow_request requests[BATCH];
	struct staged {
		uint32_t rank, slot;
		struct hy_flow_lowered lowered; /* to be created */
	} rules[BATCH];
};

/* Switches that only tests turn off, to see the harm; that of sampling is hy_mark_worker's. */
struct offload_safety {
	bool residue, generation, fragments;
};

/* What the workers of a port have counted. */
struct mark_counts {
	uint64_t marked, unmarked, stale, fragments, residue, sampled, mismatches;
	uint64_t looked, missing, garbled; /* hy_mark.h */
	uint64_t foreign;                  /* bursts with packets that name another port */
};

/* What the control thread compares them with, to see whether marks arrive. */
struct watch {
	struct mark_counts begin; /* when the window began: */
	uint64_t since;           /* then */
	uint64_t judged;          /* when it last looked */
	uint64_t left;            /* when a rule last began to leave hardware */
};

/* Why a port's marks are distrusted. */
enum demotion { DEMOTED_WRONG, DEMOTED_MISSING, DEMOTED_FOREIGN };

struct hy_offload {
	struct hy_offload *next;
	pthread_mutex_t mutex; /* Between the control thread and those who read statistics. */
	struct hy_policy *policy;
	struct rte_rcu_qsbr *qsbr;
	struct hy_policy_listener listener;
	struct hy_hal *hal; /* That it follows; NULL: none. */
	struct hy_offload_params params;
	bool any_provider; /* The caller leaves it to the port which one, */
	bool any_driver;   /* and which one of these. */
	uint16_t port;
	struct hy_flow_spread spread;
	enum hy_offload_state state;
	struct offload_safety safety;
	struct hy_flow_limits limits;
	void *jump, *fallback, *sentinel; /* Rules that the port needs: see offload_port.c. */
	bool jump_stays; /* The port may have the jump still; so it keeps what it leads to. */

	uint32_t nb_slots;    /* A power of 2; */
	uint32_t slot_bits;   /* this one. */
	uint32_t generations; /* 1 to this. */
	struct flow *flows;
	struct batch *batch;           /* Empty between polls. */
	uint32_t live, leaving, stuck; /* Rules, by their slots' state. */
	uint32_t room;                 /* Most of both: max_rules, or what the port can spread. */

	struct plan *plan, *next_plan;    /* Of the view of now, and of the one being committed. */
	struct marks *marks, *next_marks; /* Likewise. */
	struct marks *garbage;
	struct plan *old_plans;
	bool dirty;    /* The table no longer says what it should. */
	bool full;     /* The port has no room. */
	bool retry;    /* What was refused for its neighbours may be tried again. */
	uint64_t aged; /* When hits were last compared. */

	unsigned int workers;
	struct hy_mark_worker *worker;
	char reasons[REASONS][80];
	uint64_t installed, evicted, lost, failed;

	struct watch watch;
	enum demotion demotion; /* In state HY_OFFLOAD_DEMOTED: why, */
	char demoted[128];      /* and in words. */
};

static inline uint32_t
flow_mark(const struct hy_offload *o, uint32_t slot)
{
	return o->flows[slot].generation << o->slot_bits | slot;
}

/* All offloads. Their mutexes come after this one. */
extern pthread_mutex_t hy_offload_list_mutex;
extern struct hy_offload *hy_offload_list;

uint64_t hy_offload_now(void); /* Microseconds. */

/* Plans. */
struct plan *hy_offload_plan_make(struct hy_offload *o, const struct hy_policy_view *view);
void hy_offload_plan_free(struct hy_offload *o, struct plan *plan);
uint32_t hy_offload_plan_find(const struct plan *plan, uint32_t id);  /* Rank, or NO_SLOT. */
uint64_t hy_offload_hits(const struct hy_offload *o, uint32_t index); /* Of all workers. */
uint8_t hy_offload_reason_of(struct hy_offload *o, const char *text);

/* Tables. Residue: how many rules before `rank` overlap it and are not left to hardware. */
uint32_t hy_offload_residue(const struct hy_offload *o, const struct plan *plan, uint32_t rank,
	uint32_t priority, uint32_t *ranks, uint32_t max);
struct marks *hy_offload_marks_make(struct hy_offload *o, struct plan *plan);
/* Shows workers marks, or none, and goes on with a plan, which may be the one before. */
void hy_offload_marks_publish(struct hy_offload *o, struct marks *marks, struct plan *plan);
void hy_offload_marks_free(struct marks *marks);
void hy_offload_collect(struct hy_offload *o);

/* Hardware. */
uint32_t hy_offload_destroy_left(struct hy_offload *o, bool now); /* Whatever workers do. */
uint32_t hy_offload_install(struct hy_offload *o);
uint32_t hy_offload_age(struct hy_offload *o);
void hy_offload_forget(struct hy_offload *o, bool answers);

/* Rules that the port needs. Those of which a call fails are for hy_offload_port_rules_remove(). */
int hy_offload_port_rules_make(struct hy_offload *o, const char **why);
/* No packet is led to the policy's rules any more. */
void hy_offload_jump_remove(struct hy_offload *o);
void hy_offload_port_rules_remove(struct hy_offload *o);
void hy_offload_port_rules_forget(struct hy_offload *o); /* The port has none any more. */

/* Whether the port's marks can be believed: counts of all workers, and what they say. */
void hy_offload_counts(const struct hy_offload *o, struct mark_counts *counts);
void hy_offload_watch_begin(struct hy_offload *o); /* The port runs, and has no rule yet. */
void hy_offload_watch_port(uint16_t port, bool asked);
bool hy_offload_distrust(struct hy_offload *o); /* true: demotion and demoted say why. */

/*
 * Rules that the port would not remove, beyond the life of an offload: noted when it goes, slots that
 * are not to be used when another begins, and forgotten when the port was reset or went.
 */
void hy_offload_kept_note(const struct hy_offload *o, uint32_t slot);
void hy_offload_kept_avoid(struct hy_offload *o);
void hy_offload_kept_forget(uint16_t port);

/* The HAL: nobody is followed any more, and there are no marks. */
void hy_offload_unfollow(struct hy_offload *o);

#endif
