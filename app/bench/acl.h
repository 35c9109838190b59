/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_acl alone, as DPDK's l3fwd-acl uses it: the five fields of a rule, keys made beforehand. */
#pragma once

#include <hy_policy_view.h>

struct acl_raw;

/* Returns NULL after bench_cannot(). */
struct acl_raw *acl_raw_create(const struct hy_flow_rule *rules, uint32_t n,
	const struct hy_flow_key keys[], uint32_t nb_keys, uint64_t *bytes, uint64_t *build_us);
/* Looks up the first keys. Returns the sum of the ranks. */
uint64_t acl_raw_run(const struct acl_raw *raw, uint32_t nb_keys);
void acl_raw_free(struct acl_raw *raw);
