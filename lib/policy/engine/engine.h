/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines: ways to find the first of many rules that matches. All give hy_policy_classify()'s
 * answer. An engine states its cost before it builds anything, so that the choice is cheap.
 */
#pragma once

#include <hy_policy_view.h>

#include "lib/policy/rule.h"

#define POLICY_CHUNK 64u /* keys that engines work on at a time, with arrays on the stack */

/* What is to be built. */
struct policy_build {
	/* By rank. They must stay as they are until the tables are freed. */
	const struct hy_policy_rule *rules;
	uint32_t n;         /* at least 1 */
	int socket;         /* NUMA node, or SOCKET_ID_ANY */
	const bool *cancel; /* another thread sets it to stop the build; may be NULL */
};

/* The cost of tables, as far as it is known before they are built. */
struct policy_estimate {
	uint64_t bytes, build_us;
	double clocks; /* of the core, a packet that some rule matches */
};

struct policy_engine {
	const char *name;
	const char *text; /* how it works, in one clause */
	double least;     /* clocks that it takes for a packet in any case; not estimated beyond */
	uint32_t estimate_us; /* of a CPU, that an estimate takes at most */
	/* Returns 0, -ENOMEM or -EINTR; -E2BIG: it cannot take these rules. */
	int (*estimate)(const struct policy_build *build, struct policy_estimate *estimate);
	/*
	 * Returns 0 and the bytes that the tables take; -ENOMEM; -E2BIG it cannot take these rules;
	 * -EINTR policy_build_stops().
	 */
	int (*build)(const struct policy_build *build, void **tables, uint64_t *bytes);
	void (*free)(void *tables);
	/* Pure, for any number of threads at once. rank[i]: of key[i], or HY_POLICY_NONE. */
	void (*classify)(const void *tables, const struct hy_flow_key key[], uint32_t rank[],
		uint32_t n);
};

extern const struct policy_engine policy_engine_linear; /* linear.c */
extern const struct policy_engine policy_engine_acl;    /* acl.c */
extern const struct policy_engine policy_engine_tuple;  /* tuple.c */

/* All of them. */
#define POLICY_ENGINES 3
extern const struct policy_engine *const policy_engines[POLICY_ENGINES];

/* Whether a build is to be given up: the program ends, or another thread has cancelled it. */
bool policy_build_stops(const struct policy_build *build);

/* Microseconds of a CPU that the calling thread has had: other programs do not disturb estimates. */
uint64_t policy_cpu_us(void);

/* The bits of hy_flow_key.has that a packet needs to match. */
static inline uint32_t
policy_needs(const struct hy_flow_match *match)
{
	const bool is_ip4 = policy_is_ip(match) && (match->fields & HY_FLOW_IPV6) == 0;

	return match->fields | (is_ip4 ? HY_FLOW_IPV4 : 0);
}

/* Limits of a choice. */
struct policy_budget {
	uint64_t max_memory;   /* 0: none */
	uint32_t max_build_ms; /* with the time of the estimates; 0: none */
	const char *only;      /* the one engine to take, for tests and benchmarks; NULL: any */
};

/* Tables that an engine has built, and why it did. */
struct policy_tables {
	const struct policy_engine *engine;
	void *tables;
	uint64_t bytes, build_us; /* of all that was estimated and tried before it, too */
	char why[128];
};

/*
 * Builds tables by the fastest engine that fits into a budget; choice.c. Returns 0; -E2BIG none
 * fits, and a log line says why; -ENOMEM; -EINTR.
 */
int policy_tables_build(const char *policy, const struct policy_build *build,
	const struct policy_budget *budget, struct policy_tables *tables);
void policy_tables_free(struct policy_tables *tables);
