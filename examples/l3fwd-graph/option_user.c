/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --user: NAME or UID:GID. */

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "option.h"
#include "options.h"

#define NUMBER_MAX (UINT32_MAX - 1) /* the last is "no user" */

static bool
read_numbers(const char *text, struct user_options *user)
{
	const char *colon = strchr(text, ':');
	unsigned int uid, gid;
	char copy[16] = "";

	if (colon == NULL || colon - text >= (int)sizeof(copy))
		return false;
	memcpy(copy, text, (size_t)(colon - text));
	if (!option_parse_uint(copy, 0, NUMBER_MAX, &uid) ||
		!option_parse_uint(colon + 1, 0, NUMBER_MAX, &gid))
		return false;
	*user = (struct user_options){ .uid = uid, .gid = gid };
	return true;
}

static bool
read_name(const char *text, struct user_options *user)
{
	const struct passwd *found = getpwnam(text);

	if (found == NULL)
		return false;
	*user = (struct user_options){ .uid = found->pw_uid, .gid = found->pw_gid };
	return true;
}

int
option_read_user(const char *text, struct options *options)
{
	struct user_options *user = &options->user;

	if (!read_numbers(text, user) && !read_name(text, user))
		return option_refuse("--user", "'%s' is neither the name of a user nor UID:GID",
			text);
	if (user->uid == 0 || user->gid == 0)
		return option_refuse("--user",
			"'%s' is user %u, group %u; neither may be root's, which is 0", text,
			user->uid, user->gid);
	if (geteuid() != 0)
		return option_refuse("--user", "'%s': only root can become another user", text);
	user->set = true;
	return 0;
}
