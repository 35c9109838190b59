/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Reload: files that a running program reads again, as one transaction. All files are read and
 * checked before anything changes; if one is refused, or its content cannot be applied, all stays
 * as it was.
 */
#pragma once

#include <stdio.h>

#include <hy_policy.h>

HY_API_BEGIN

#define HY_RELOAD_ERROR_SIZE 4096 /**< Bytes of a reason, with its NUL. */

/**
 * A part of a reload: one file and what it fills. Functions return 0 or a negative errno, those
 * that fail with the reason in @p error, HY_RELOAD_ERROR_SIZE bytes. They run on the thread that
 * reloads.
 */
struct hy_reload_part {
	const char *what; /**< In messages: "routes". */
	const char *path; /**< Of the file. */
	/** Reads and checks the file; changes nothing that workers see. */
	int (*read)(void *arg, const char *path, char *error);
	/** Applies what was read, or nothing of it. */
	int (*apply)(void *arg, char *error);
	/** Takes apply() back. NULL: the part is the last one. */
	void (*undo)(void *arg);
	/** Frees what read() and apply() hold; called once read() was, whatever that returned. */
	void (*end)(void *arg);
	/** Puts the change in words: "routes: 3 added". Called before end(). */
	void (*say)(void *arg, FILE *out);
	void *arg; /**< For these functions. */
};

/**
 * Reads files again and applies them: all or none. When all parts have ended, says of each on @p out what
 * has changed, and how long the reload took; or on standard error that it is unchanged, and why. Control
 * thread.
 *
 * @param parts In the order in which they are read and applied.
 * @return 0; what the function returned that failed.
 */
int hy_reload(const struct hy_reload_part *parts, unsigned int nb_parts, FILE *out);

/**
 * Reads and applies one part without a word, when a program starts.
 *
 * @param[out] error Why not; HY_RELOAD_ERROR_SIZE bytes.
 * @return 0; what the function returned that failed.
 */
int hy_reload_start(const struct hy_reload_part *part, char *error);

/**
 * A policy as a part: its rules become those of a file that hy_policy_load() reads. It has no undo(),
 * so that it is the last part.
 *
 * @param path Outlives the part.
 */
struct hy_reload_part hy_reload_policy(struct hy_policy *policy, const char *path);

#define HY_RELOAD_TOGETHER 128 /**< Most policies that are reloaded together. */

/** A policy that is reloaded together with others. Strings outlive the parts. */
struct hy_reload_rules {
	const char *what;            /**< In messages: "policy", "acl edge". */
	struct hy_policy *policy;    /**< Its rules become those */
	const char *path;            /**< of this file. */
	struct hy_reload_rules *all; /**< All of them; set by hy_reload_together(). */
	unsigned int nb_all;         /**< Entries of all; likewise. */
};

/**
 * Makes parts of several policies, which are applied by hy_policy_commit_together(). They are the last
 * ones of a reload, in this order.
 *
 * @param rules Outlive the parts.
 * @param n At most HY_RELOAD_TOGETHER.
 * @param[out] parts Room for @p n.
 */
void hy_reload_together(struct hy_reload_rules rules[], unsigned int n,
	struct hy_reload_part parts[]);

/** @return What an error of hy_policy_commit() means. Valid until the thread's next call. */
const char *hy_reload_commit_error(int rc);

HY_API_END
