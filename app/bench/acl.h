/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of hy-bench acl share: sets of rules with packets, policies of them, rte_acl alone. */
#pragma once

#include <hy_policy_view.h>

#include "bench.h"

#define ACL_SEED 1 /* of generated rules */
#define ACL_PACKETS 16384
#define ACL_BURST 64
#define ACL_FRAME 128 /* bytes of a frame; its headers are in the first ones */

/* Sets (acl_set.c). */

enum acl_versions { ACL_IP4, ACL_IP6, ACL_MIXED, ACL_VERSIONS };

struct acl_set {
	const char *name;
	uint32_t n;
	struct hy_flow_rule *rules; /* by rank, with ids from 1 */
	bool five;                  /* they ask for no more than IPv4's 5-tuple */
	uint8_t (*frames)[ACL_FRAME];
	struct hy_flow_key *keys; /* of the frames */
	uint32_t *ranks;          /* what they match, or HY_POLICY_NONE */
	uint64_t expected;        /* sum of the ranks */
};

/*
 * Rules of a kind ("acl", "fw", "ipc"; NULL: of the file of --rules), and packets: each rule is drawn
 * equally often and matches, unless an earlier one does. miss: the packets are random instead. Exits if
 * the file cannot be read.
 */
struct acl_set *acl_set_make(const char *name, const char *kind, enum acl_versions versions,
	uint64_t seed, uint32_t n, bool miss);
void acl_set_free(struct acl_set *set);
/* The first rule that a packet matches, by search, or HY_POLICY_NONE. */
uint32_t acl_set_rank(const struct acl_set *set, const struct hy_flow_key *key);

struct rte_rcu_qsbr;

/* A policy with its rules. engine: NULL: what is chosen. Returns NULL after bench_cannot(). */
struct hy_policy *acl_policy(const struct acl_set *set, const char *engine,
	struct rte_rcu_qsbr *qsbr);

/* Changes of many rules (acl_change.c). */
void acl_changes(void);
/* The forwarding graph with a list at a port (acl_place.c). */
void acl_places(void);
/* All rules replaced under load (acl_reload.c). */
void acl_reloads(void);

/* rte_acl alone, as DPDK's l3fwd-acl uses it: the five fields of a rule, keys made beforehand. */

struct acl_raw;

/* Returns NULL after bench_cannot(). */
struct acl_raw *acl_raw_create(const struct acl_set *set, uint64_t *bytes, uint64_t *build_us);
/* Looks up the first keys. Returns the sum of the ranks. */
uint64_t acl_raw_run(const struct acl_raw *raw, uint32_t nb_keys);
void acl_raw_free(struct acl_raw *raw);
