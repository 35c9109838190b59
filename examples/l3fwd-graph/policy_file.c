/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy file: all of it is read and compiled before workers see any of it. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include <hy_privileges.h>

#include "policy_file.h"

/* Reads the file and publishes its rules. */
static int
read_rules(const struct options *options, struct hy_policy *policy, char *error)
{
	int rc = hy_policy_load(policy, options->policy, error);

	if (rc < 0)
		return rc;
	rc = hy_policy_commit(policy);
	if (rc == -E2BIG)
		snprintf(error, HY_POLICY_ERROR_SIZE,
			"rte_acl cannot compile so many rules that overlap in so many fields, or has "
			"no memory for it (EAL's -m)");
	else if (rc < 0)
		snprintf(error, HY_POLICY_ERROR_SIZE, "%s", strerror(-rc));
	if (rc < 0)
		hy_policy_abort(policy);
	return rc;
}

int
classes_create(const struct options *options, unsigned int nb_workers, struct rte_rcu_qsbr *qsbr,
	struct classes *classes)
{
	const struct hy_policy_params params = {
		.max_rules = options->max_rules,
		.workers = nb_workers,
		.socket = SOCKET_ID_ANY,
		.qsbr = qsbr,
	};
	char error[HY_POLICY_ERROR_SIZE] = "out of memory";
	int rc;

	if (options->policy == NULL)
		return 0;
	rc = hy_policy_create("l3fwd", &params, &classes->policy);
	if (rc == 0)
		rc = read_rules(options, classes->policy, error);
	if (rc < 0) {
		fprintf(stderr, "l3fwd-graph: --policy: %s\n", error);
		return rc;
	}
	for (unsigned int i = 0; i < options->nb_drop_class; i++)
		classes->ways[classes->nb_ways++] = (struct hy_flow_way){
			.class_id = options->drop_class[i], .edge = HY_FLOW_DENY
		};
	return 0;
}

void
classes_destroy(struct classes *classes)
{
	hy_policy_destroy(classes->policy);
	*classes = (struct classes){ 0 };
}

void
classes_reload(const struct options *options, const struct classes *classes, FILE *out)
{
	const uint64_t start = rte_get_timer_cycles();
	char error[HY_POLICY_ERROR_SIZE] = "";

	if (read_rules(options, classes->policy, error) < 0)
		fprintf(stderr, "l3fwd-graph: policy unchanged: %s%s\n", error,
			hy_privileges_note(options->policy, R_OK));
	else
		fprintf(out, "policy: %u rules, in %" PRIu64 " ms\n",
			hy_policy_rules_get(classes->policy, NULL, 0),
			(rte_get_timer_cycles() - start) * 1000 / rte_get_timer_hz());
	fflush(out);
}
