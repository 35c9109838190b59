/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Files of rules, in Halyard's own format and in two that other programs use.
 *
 * - Halyard's: a rule or a setting a line, as hy_policy_load() (hy_policy.h) describes.
 * - l3fwd-acl's, of DPDK's sample application: "@SRC/LEN DST/LEN LOW : HIGH LOW : HIGH PROTO/MASK",
 *   with source ports before destination ports, denies; the same after "R" instead of "@", and with
 *   a port's number behind, permits. A number behind a line that denies is ignored, as there. The
 *   port is not used, since Halyard's routes say where packets go; packets that no line matches go
 *   there too.
 * - ClassBench's: the lines with "@", mostly with tabs between the columns, and possibly a sixth
 *   column with TCP's flags and their mask. They have no action. Bits of the mask beyond the eight
 *   flags are ignored, and counted.
 *
 * In the last two, a rule's id is its number in the file, from 1. All addresses of a line are IPv4 or
 * all are IPv6; a line with no other condition matches all packets of that version. A mask of a
 * protocol that leaves bits open makes a rule for each protocol that has what the line asks for:
 * with a range of ports, TCP, UDP or SCTP. Packets without ports, such as fragments, do not match a
 * range of ports.
 *
 * Lines end with LF or CRLF; the last one may lack its end. '#' starts a comment. Functions may be
 * called from any thread, before and after rte_eal_init().
 */
#pragma once

#include <hy_policy.h>

HY_API_BEGIN

/** Formats of files. */
enum hy_policy_format {
	/**
	 * The format of the first line that is neither empty nor a comment: ClassBench's, if it starts
	 * with '@' and has flags; l3fwd-acl's, if it starts with 'R', or with '@' and has no tab. With
	 * '@' and tabs, but no flags, it may be either, and is refused: l3fwd-acl would deny what
	 * ClassBench's rules permit.
	 */
	HY_POLICY_ANY,
	HY_POLICY_HALYARD,
	HY_POLICY_L3FWD_ACL,
	HY_POLICY_CLASSBENCH,
};

/** A setting of an access list. */
struct hy_policy_setting {
	enum hy_rule_action
		action;    /**< HY_RULE_PERMIT, also if it is not given, or HY_RULE_DENY. */
	unsigned int line; /**< 0: not given. */
};

/** What a file says. */
struct hy_policy_file {
	enum hy_policy_format format; /**< The format that it has. */
	uint32_t nb_rules;            /**< Entries of rules and lines. */
	struct hy_flow_rule *rules;   /**< In the order of the file. Each is sound by itself. */
	unsigned int *lines;          /**< The line of each. */
	struct hy_policy_setting default_action; /**< hy_policy_default_set(). */
	struct hy_policy_setting truncated;      /**< hy_policy_truncated_set(). */
	uint32_t nb_routes;                      /**< Lines of l3fwd-acl's that start with 'R'. */
	uint32_t nb_flags; /**< Lines of ClassBench's with flags that were ignored. */
};

/**
 * Reads a file. Rules of ClassBench's files permit.
 *
 * @param max Most rules, such as struct hy_policy_params' max_rules.
 * @param[out] file To be freed by hy_policy_file_free(); empty after an error.
 * @param error Names the file, and the line and the field if there is one. NULL is allowed.
 * @return 0; what hy_file_read() and hy_file_line() (hy_file.h) return; -EINVAL a line is not of
 * the format; -EEXIST two lines have one id; -ENOSPC more than @p max rules; -ENOMEM.
 */
int hy_policy_read(const char *path, enum hy_policy_format format, uint32_t max,
	struct hy_policy_file *file, char *error);

/** Frees what hy_policy_read() allocated. */
void hy_policy_file_free(struct hy_policy_file *file);

/** @return "halyard", "l3fwd-acl" or "classbench"; "any". Static. */
const char *hy_policy_format_name(enum hy_policy_format format);

HY_API_END
