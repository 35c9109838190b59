/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several policies that change together. The commit of each one but the last waits, as one of its own
 * listeners, for the commit of the next: so all are compiled before the last one is published, and after
 * that nothing can fail. Then the views before are freed.
 */

#include "policy.h"

struct chain {
	struct hy_policy *const *policies;
	struct hy_policy_listener listener;
	unsigned int n, next;
	unsigned int failed;
};

/* Commits the policies from chain->next on. */
static int
commit_rest(struct chain *chain)
{
	int rc = 0;

	while (chain->next < chain->n && rc == 0) {
		const unsigned int at = chain->next++;

		rc = policy_commit(chain->policies[at]);
		if (rc < 0 && chain->failed == chain->n)
			chain->failed = at;
	}
	return rc;
}

static int
on_prepare(void *arg, const struct hy_policy_view *next __rte_unused)
{
	return commit_rest(arg);
}

/* A worker that has not left the view of one in a second is not waited for again. */
static void
reclaim_all(struct hy_policy *const policies[], unsigned int n)
{
	bool wait = true;

	for (unsigned int i = 0; i < n; i++) {
		pthread_mutex_lock(&policies[i]->lock);
		wait = policy_reclaim(policies[i], wait) == 0 && wait;
		pthread_mutex_unlock(&policies[i]->lock);
	}
}

int
hy_policy_commit_together(struct hy_policy *const policies[], unsigned int n, unsigned int *failed)
{
	struct chain chain = { .policies = policies, .n = n, .failed = n };
	unsigned int listening = 0;
	int rc = 0;

	chain.listener = (struct hy_policy_listener){ .prepare = on_prepare, .arg = &chain };
	while (listening < n && rc == 0) {
		rc = hy_policy_listen(policies[listening], &chain.listener);
		listening += rc == 0;
	}
	if (rc == 0)
		rc = commit_rest(&chain);
	else
		chain.failed = listening;
	if (rc == 0)
		reclaim_all(policies, n);
	while (listening > 0)
		hy_policy_unlisten(policies[--listening], &chain.listener);
	if (rc < 0 && failed != NULL)
		*failed = chain.failed;
	return rc;
}
