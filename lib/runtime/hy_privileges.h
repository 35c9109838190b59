/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rights that a program started by root gives up once its devices are open.
 *
 * Messages name the option --user, by which programs take the user to become.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hy_api.h>

HY_API_BEGIN

/** The user that a program changes to. Both members are 0 if it does not change. */
struct hy_user {
	uint32_t uid; /**< User. */
	uint32_t gid; /**< Group, its only one. */
};

/**
 * Reads a user: the name of one, or UID:GID. Main thread: it asks the system's user database.
 *
 * @param[out] user Set only if 0 is returned.
 * @return 0; -EINVAL neither a user's name nor UID:GID; or user or group is root's; or this process
 * is not root's. Reported by hy_option_refuse().
 */
int hy_user_read(const char *option, const char *text, struct hy_user *user);

/**
 * Denies all programs that this one or its libraries may execute any right beyond its own
 * (no_new_privs). To be called on the main thread before there are others, as threads inherit it.
 *
 * @return 0; what prctl() failed with (reported on standard error).
 */
int hy_privileges_begin(void);

/**
 * Makes all threads of the process, EAL's included, those of @p user, without other groups and
 * without capabilities, and then reads back, thread by thread, that they are. Does nothing if
 * user->uid is 0. Main thread, after hy_privileges_begin(), once.
 *
 * @return 0; -EINTR the program is told to stop, and nothing was given up; -EPERM (reported on
 * standard error): the process may be left with some of its rights and must exit.
 */
int hy_privileges_drop(const struct hy_user *user);

/** Whether hy_privileges_drop() has given up rights. Any thread. */
bool hy_privileges_dropped(void);

/**
 * What to add to a message on a file that could not be opened. Any thread.
 *
 * @param access R_OK or W_OK, as for access(2).
 * @return " (as user UID of --user)" if hy_privileges_drop() gave up the rights that it takes; else
 * "". Lives as long as the process.
 */
const char *hy_privileges_note(const char *path, int access);

HY_API_END
