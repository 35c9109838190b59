/* SPDX-License-Identifier: BSD-3-Clause */
/* Policies for benchmarks. */

#include <string.h>

#include <rte_memory.h>

#include <hy_policy.h>

#include "bench.h"

struct hy_policy *
bench_policy(uint32_t n, struct hy_flow_rule (*rule)(uint32_t i), struct rte_rcu_qsbr *qsbr)
{
	const struct hy_policy_params params = {
		.max_rules = n, .workers = 1, .socket = SOCKET_ID_ANY, .qsbr = qsbr
	};
	struct hy_policy *policy = NULL;
	int rc = hy_policy_create("bench", &params, &policy);

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		const struct hy_flow_rule one = rule(i);

		rc = hy_policy_add(policy, &one);
	}
	if (rc == 0)
		rc = hy_policy_commit(policy);
	if (rc == 0)
		return policy;
	bench_cannot("a policy of %u rules: %s", n, strerror(-rc));
	hy_policy_destroy(policy);
	return NULL;
}
