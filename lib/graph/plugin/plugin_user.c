/* SPDX-License-Identifier: BSD-3-Clause */
/* Users of code that may be a plugin's: see plugin_notes.h. */

#include "plugin.h"

static struct hy_plugin_user *users; /* under the registry's lock */

void
hy_plugin_user_add(struct hy_plugin_user *user)
{
	hy_registry_lock();
	user->next = users;
	users = user;
	hy_registry_unlock();
}

void
hy_plugin_user_remove(struct hy_plugin_user *user)
{
	struct hy_plugin_user **link = &users;

	hy_registry_lock();
	while (*link != NULL && *link != user)
		link = &(*link)->next;
	if (*link != NULL)
		*link = user->next;
	hy_registry_unlock();
}

const struct hy_plugin_user *
hy_plugin_user_first(void)
{
	return users;
}
