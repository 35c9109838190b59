/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners, which take part in commits. */

#include <errno.h>
#include <stdlib.h>

#include "policy.h"

int
policy_listeners_prepare(struct hy_policy *policy, const struct policy_view *next)
{
	int rc = 0;
	unsigned int n;

	for (n = 0; n < policy->nb_listeners; n++) {
		const struct hy_policy_listener *l = policy->listeners[n].listener;

		if (l->prepare != NULL)
			rc = l->prepare(l->arg, &next->shown);
		if (rc < 0)
			break;
	}
	while (rc < 0 && n-- > 0) {
		const struct hy_policy_listener *l = policy->listeners[n].listener;

		if (l->cancel != NULL)
			l->cancel(l->arg);
	}
	return rc;
}

void
policy_listeners_publish(struct hy_policy *policy)
{
	for (unsigned int i = 0; i < policy->nb_listeners; i++) {
		const struct hy_policy_listener *l = policy->listeners[i].listener;

		if (l->publish != NULL)
			l->publish(l->arg);
		policy->listeners[i].owed = true;
	}
}

void
policy_listeners_after(struct hy_policy *policy)
{
	for (unsigned int i = 0; i < policy->nb_listeners; i++) {
		const struct hy_policy_listener *l = policy->listeners[i].listener;

		if (policy->listeners[i].owed && l->after != NULL)
			l->after(l->arg);
		policy->listeners[i].owed = false;
	}
}

int
hy_policy_listen(struct hy_policy *policy, const struct hy_policy_listener *listener)
{
	struct policy_listener *grown;
	int rc = -ENOMEM;

	pthread_mutex_lock(&policy->lock);
	grown = realloc(policy->listeners, (policy->nb_listeners + 1) * sizeof(*grown));
	if (grown != NULL) {
		policy->listeners = grown;
		grown[policy->nb_listeners++] = (struct policy_listener){ .listener = listener };
		rc = 0;
	}
	pthread_mutex_unlock(&policy->lock);
	return rc;
}

void
hy_policy_unlisten(struct hy_policy *policy, const struct hy_policy_listener *listener)
{
	unsigned int i = 0;

	pthread_mutex_lock(&policy->lock);
	while (i < policy->nb_listeners && policy->listeners[i].listener != listener)
		i++;
	if (i < policy->nb_listeners) {
		policy_reclaim(policy, policy->listeners[i].owed && listener->after != NULL);
		policy->nb_listeners--;
		for (; i < policy->nb_listeners; i++)
			policy->listeners[i] = policy->listeners[i + 1];
	}
	pthread_mutex_unlock(&policy->lock);
}
