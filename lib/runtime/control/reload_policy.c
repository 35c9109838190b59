/* SPDX-License-Identifier: BSD-3-Clause */
/* A policy as a part of a reload: all rules are read and compiled before workers see any of them. */

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include <hy_reload.h>

static_assert(HY_RELOAD_ERROR_SIZE >= HY_POLICY_ERROR_SIZE, "any reason fits");

static int
on_read(void *policy, const char *path, char *error)
{
	return hy_policy_load(policy, path, error);
}

const char *
hy_reload_commit_error(int rc)
{
	switch (rc) {
	case -E2BIG:
		return "no engine takes so many rules that overlap in so many fields within their "
		       "limits of memory and build time";
	case -EINTR:
		return "stopped while rules were compiled";
	case -ETIMEDOUT:
		return "a worker has not finished its walk within a second";
	default:
		return strerror(-rc);
	}
}

static int
on_apply(void *policy, char *error)
{
	const int rc = hy_policy_commit(policy);

	snprintf(error, HY_RELOAD_ERROR_SIZE, "%s", hy_reload_commit_error(rc));
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

static int
on_read_rules(void *arg, const char *path, char *error)
{
	const struct hy_reload_rules *rules = arg;

	return hy_policy_load(rules->policy, path, error);
}

/* The last part applies all. */
static int
on_apply_rules(void *arg, char *error)
{
	const struct hy_reload_rules *rules = arg, *all = rules->all;
	struct hy_policy *policies[HY_RELOAD_TOGETHER];
	unsigned int failed = 0;
	int rc;

	if (rules != &all[rules->nb_all - 1])
		return 0;
	for (unsigned int i = 0; i < rules->nb_all; i++)
		policies[i] = all[i].policy;
	rc = hy_policy_commit_together(policies, rules->nb_all, &failed);
	if (rc < 0)
		snprintf(error, HY_RELOAD_ERROR_SIZE, "%s%s%s",
			failed == rules->nb_all - 1 ? "" : all[failed].what,
			failed == rules->nb_all - 1 ? "" : ": ", hy_reload_commit_error(rc));
	return rc;
}

/* Of a part before the last one: nothing was applied. */
static void
on_undo_rules(void *arg)
{
	RTE_SET_USED(arg);
}

static void
on_end_rules(void *arg)
{
	const struct hy_reload_rules *rules = arg;

	hy_policy_abort(rules->policy);
}

static void
on_say_rules(void *arg, FILE *out)
{
	const struct hy_reload_rules *rules = arg;

	fprintf(out, "%s: %u rules", rules->what, hy_policy_rules_get(rules->policy, NULL, 0));
}

void
hy_reload_together(struct hy_reload_rules rules[], unsigned int n, struct hy_reload_part parts[])
{
	for (unsigned int i = 0; i < n; i++) {
		rules[i].all = rules;
		rules[i].nb_all = n;
		parts[i] = (struct hy_reload_part){
			.what = rules[i].what,
			.path = rules[i].path,
			.read = on_read_rules,
			.apply = on_apply_rules,
			.undo = on_undo_rules,
			.end = on_end_rules,
			.say = on_say_rules,
			.arg = &rules[i],
		};
	}
}
