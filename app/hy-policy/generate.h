/* SPDX-License-Identifier: BSD-3-Clause */
/* Rule sets for tests and benchmarks, with the statistics of access lists in use. */
#pragma once

#include <hy_policy.h>

enum generate_kind {
	GENERATE_ACL, /* a router's access list: hosts and small networks, few wildcards */
	GENERATE_FW,  /* a firewall's: one address is often a wildcard, ports are ranges */
	GENERATE_IPC, /* a host's packet filter: all sorts of prefixes, in many combinations */
	GENERATE_KINDS
};

/* "acl", "fw" and "ipc". */
extern const char *const generate_names[GENERATE_KINDS];

/*
 * Makes n rules of 5-tuples, IPv4's or IPv6's, with ids from 1 and precedence 0. No two match the
 * same packets; specific ones mostly come before general ones. About half permit, the others deny.
 * The same arguments give the same rules on every machine.
 *
 * Returns 0; -ENOMEM; -ENOSPC: there are not so many different rules of the kind (2^20 are found).
 */
int policy_generate(enum generate_kind kind, bool ip6, uint64_t seed, uint32_t n,
	struct hy_flow_rule *rules);
