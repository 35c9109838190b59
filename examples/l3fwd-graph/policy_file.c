/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy file: all of it is read and compiled before workers see any of it. */

#include <errno.h>
#include <string.h>

#include "policy_file.h"

/* Publishes the rules that were read. */
static int
rules_commit(struct hy_policy *policy, char *error)
{
	const int rc = hy_policy_commit(policy);

	if (rc == -E2BIG)
		snprintf(error, HY_POLICY_ERROR_SIZE,
			"rte_acl cannot compile so many rules that overlap in so many fields, or has "
			"no memory for it (EAL's -m)");
	else if (rc == -ETIMEDOUT)
		snprintf(error, HY_POLICY_ERROR_SIZE,
			"a worker has not finished its walk within a second");
	else if (rc < 0)
		snprintf(error, HY_POLICY_ERROR_SIZE, "%s", strerror(-rc));
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
		rc = hy_policy_load(classes->policy, options->policy, error);
	if (rc == 0)
		rc = rules_commit(classes->policy, error);
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

static int
on_read(void *arg, char *error)
{
	const struct classes_reload *reload = arg;

	return hy_policy_load(reload->policy, reload->path, error);
}

static int
on_apply(void *arg, char *error)
{
	const struct classes_reload *reload = arg;

	return rules_commit(reload->policy, error);
}

/* Forgets what was read and not published. */
static void
on_end(void *arg)
{
	const struct classes_reload *reload = arg;

	hy_policy_abort(reload->policy);
}

static void
on_say(const void *arg, FILE *out)
{
	const struct classes_reload *reload = arg;

	fprintf(out, "policy: %u rules", hy_policy_rules_get(reload->policy, NULL, 0));
}

struct hy_reload_part
classes_reload_part(struct classes_reload *reload)
{
	return (struct hy_reload_part){
		.what = "policy",
		.path = reload->path,
		.read = on_read,
		.apply = on_apply,
		.end = on_end,
		.say = on_say,
		.arg = reload,
	};
}
