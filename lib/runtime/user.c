/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --user: NAME or UID:GID. */

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <hy_file.h>
#include <hy_privileges.h>

/* Reads a number that ends at a character; the last number is "no user". */
static bool
read_number(const char *text, char last, uint32_t *number, const char **rest)
{
	unsigned long wide;
	char *end;

	errno = 0;
	wide = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != last || errno != 0 || wide >= UINT32_MAX)
		return false;
	*number = (uint32_t)wide;
	*rest = end + 1;
	return true;
}

static bool
read_user(const char *text, struct hy_user *user)
{
	const struct passwd *found;
	const char *rest;

	if (read_number(text, ':', &user->uid, &rest) && read_number(rest, '\0', &user->gid, &rest))
		return true;
	found = getpwnam(text);
	if (found != NULL)
		*user = (struct hy_user){ .uid = found->pw_uid, .gid = found->pw_gid };
	return found != NULL;
}

int
hy_user_read(const char *text, struct hy_user *user, char *error)
{
	struct hy_user read;
	int rc = 0;

	if (!read_user(text, &read)) {
		snprintf(error, HY_USER_ERROR_SIZE,
			"'%.128s' is neither the name of a user nor UID:GID", text);
		rc = -ENOENT;
	} else if (read.uid == 0 || read.gid == 0) {
		snprintf(error, HY_USER_ERROR_SIZE,
			"'%.128s' is user %u, group %u; neither may be root's, which is 0", text,
			read.uid, read.gid);
		rc = -EINVAL;
	} else if (geteuid() != 0) {
		snprintf(error, HY_USER_ERROR_SIZE, "'%.128s': only root can become another user",
			text);
		rc = -EPERM;
	}
	if (rc == 0)
		*user = read;
	else
		hy_printable(error);
	return rc;
}
