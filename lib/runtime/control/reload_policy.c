/* SPDX-License-Identifier: BSD-3-Clause */
/* A policy as a part of a reload: all rules are read and compiled before workers see any of them. */

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <hy_reload.h>

static_assert(HY_RELOAD_ERROR_SIZE >= HY_POLICY_ERROR_SIZE, "any reason fits");

static int
on_read(void *policy, const char *path, char *error)
{
	return hy_policy_load(policy, path, error);
}

static int
on_apply(void *policy, char *error)
{
	const int rc = hy_policy_commit(policy);
	const char *why = strerror(-rc);

	if (rc == -E2BIG)
		why = "rte_acl cannot compile so many rules that overlap in so many fields, or has "
		      "no memory for it (EAL's -m)";
	else if (rc == -EINTR)
		why = "stopped while rules were compiled";
	else if (rc == -ETIMEDOUT)
		why = "a worker has not finished its walk within a second";
	snprintf(error, HY_RELOAD_ERROR_SIZE, "%s", why);
	return rc;
}

/* Forgets rules that were read and not published. */
static void
on_end(void *policy)
{
	hy_policy_abort(policy);
}

static void
on_say(void *policy, FILE *out)
{
	fprintf(out, "policy: %u rules", hy_policy_rules_get(policy, NULL, 0));
}

struct hy_reload_part
hy_reload_policy(struct hy_policy *policy, const char *path)
{
	return (struct hy_reload_part){
		.what = "policy",
		.path = path,
		.read = on_read,
		.apply = on_apply,
		.end = on_end,
		.say = on_say,
		.arg = policy,
	};
}
