/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --user: NAME or UID:GID. */

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include <hy_option.h>
#include <hy_privileges.h>

#define NUMBER_MAX (UINT32_MAX - 1) /* the last is "no user" */

static bool
read_numbers(const char *text, struct hy_user *user)
{
	const char *colon = strchr(text, ':');
	char uid[16] = "";

	if (colon == NULL || colon - text >= (int)sizeof(uid))
		return false;
	memcpy(uid, text, (size_t)(colon - text));
	return hy_option_is_number(uid, 0, NUMBER_MAX, &user->uid) &&
		hy_option_is_number(colon + 1, 0, NUMBER_MAX, &user->gid);
}

static bool
read_name(const char *text, struct hy_user *user)
{
	const struct passwd *found = getpwnam(text);

	if (found != NULL)
		*user = (struct hy_user){ .uid = found->pw_uid, .gid = found->pw_gid };
	return found != NULL;
}

int
hy_user_read(const char *option, const char *text, struct hy_user *user)
{
	struct hy_user read;

	if (!read_numbers(text, &read) && !read_name(text, &read))
		return hy_option_refuse(option, "'%s' is neither the name of a user nor UID:GID",
			text);
	if (read.uid == 0 || read.gid == 0)
		return hy_option_refuse(option,
			"'%s' is user %u, group %u; neither may be root's, which is 0", text,
			read.uid, read.gid);
	if (geteuid() != 0)
		return hy_option_refuse(option, "'%s': only root can become another user", text);
	*user = read;
	return 0;
}
