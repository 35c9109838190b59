/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of rules of a simulated flow engine. */
#pragma once

#include "sim.h"

/* A mask of rules in a group; with profile->chains, also of rules at a priority. */
struct mask {
	struct hy_sim_key key;
	uint32_t group, priority;
	uint32_t rules; /* with this mask; 0: free */
};

struct rule {
	struct rule *next; /* of its bucket */
	uint64_t id;       /* its handle; ascending, never reused */
	uint32_t bucket, mask;
	struct hy_sim_wish wish;
	uint64_t hits, bytes;           /* counted by any worker, under the read lock */
	uint64_t read_hits, read_bytes; /* those when they were last read: faults.counts_every_us */
};

struct hy_flow_sim {
	const struct hy_sim_profile *profile;
	uint32_t table_size, mark_max, counters; /* counters 0: as many as rules */
	bool forgets, started, deliver, has_rss;
	uint16_t nb_queues;
	struct hy_sim_rss rss;
	bool filters; /* accepts packets to this address only, and to groups of addresses */
	struct rte_ether_addr mac;

	rte_rwlock_t lock;
	struct rule **rules;          /* table_size, dense */
	uint32_t nb_rules, nb_spread; /* rules, and those with RSS, */
	uint32_t nb_counters;         /* and with COUNT */
	struct rule **buckets;
	uint32_t nb_buckets; /* a power of two */
	struct mask *masks;
	uint32_t nb_masks; /* entries, some free */
	struct {
		struct hy_sim_key mask; /* of all its rules */
		uint32_t rules;
	} types[HY_SIM_TYPES];
	uint64_t next_id;

	struct hy_flow_sim_faults faults;
	uint64_t marks;     /* since the faults were set, counted by any worker */
	uint64_t read_next; /* when counters are read, in TSC cycles */
	uint32_t fail_in;
	int fail_with;
	struct hy_flow_sim_stats stats; /* packets are counted under the read lock */
};

/* Reads the counters from the device if it is time. Under the lock, also that of readers. */
void hy_sim_counters_read(struct hy_flow_sim *sim);

/* The rule of a group that matches a packet; NULL: none. Under the lock. */
struct rule *hy_sim_match(const struct hy_flow_sim *sim, const struct hy_sim_key *key,
	uint32_t group);
