/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated flow engine: its table of rules. */
#ifndef HY_SIM_ENGINE_H
#define HY_SIM_ENGINE_H

#include "sim.h"

/* A mask that rules of a group have; of a profile that chains, at a priority. */
struct mask {
	struct hy_sim_key key;
	uint32_t group, priority;
	uint32_t rules; /* that have it; 0: free */
};

struct rule {
	struct rule *next; /* of its bucket */
	uint64_t id;       /* its handle; in the order of creation, never given twice */
	uint32_t bucket, mask;
	struct hy_sim_wish wish;
	uint64_t hits, bytes; /* counted under the read lock, by any worker */
};

struct hy_flow_sim {
	const struct hy_sim_profile *profile;
	uint32_t table_size, mark_max;
	bool forgets, started, deliver, has_rss;
	uint16_t nb_queues;
	struct hy_sim_rss rss;

	rte_rwlock_t lock;
	struct rule **rules;          /* table_size, dense */
	uint32_t nb_rules, nb_spread; /* of those, with RSS */
	struct rule **buckets;
	uint32_t nb_buckets; /* a power of two */
	struct mask *masks;
	uint32_t nb_masks, masks_room; /* used or free; there is room for */
	struct {
		struct hy_sim_key mask; /* of all its rules */
		uint32_t rules;
	} types[HY_SIM_TYPES];
	uint64_t next_id;

	struct hy_sim_faults faults;
	uint32_t fail_in;
	int fail_with;
	struct hy_flow_sim_stats stats;
};

/* The rule that a packet meets in a group; NULL: none. Under the lock. */
struct rule *hy_sim_match(const struct hy_flow_sim *sim, const struct hy_sim_key *key,
	uint32_t group);

#endif
