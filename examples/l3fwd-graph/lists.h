/* SPDX-License-Identifier: BSD-3-Clause */
/* --acl-list and --acl: access lists, and the ports that they are bound to. */
#pragma once

#include <stdio.h>

#include <hy_acl.h>
#include <hy_workers.h>

#include "options.h"

struct lists {
	struct hy_acl *acl; /* NULL without --acl-list */
	/* Ways of --drop-class and --steer, of the frames that each port receives and sends. */
	struct hy_flow_way ways[HY_ACL_WAYS][RTE_MAX_ETHPORTS][2 * REPEATS_MAX];
};

/* Creates the lists, and reads their files. Returns 0, or a negative errno after saying what is wrong. */
int lists_create(const struct options *options, const struct hy_workers *workers,
	struct lists *lists);

/*
 * Gives each port a pkt_cls of its own, as the end of an arc keeps its name whatever variants are
 * selected later; unless the ports have nodes of their own.
 */
int lists_lead(struct hy_ends *ends);

/*
 * Makes the places of ports, whose frames go to the ends' next, and binds lists. With --steer, each port
 * has a node "pkt_cls-steer-PORT".
 */
int lists_place(const struct options *options, const struct hy_ends *ends, struct lists *lists);

/* What --explain says of them. */
void lists_explain(const struct options *options, const struct lists *lists, FILE *out);

/* Prints what lists did to packets, and what hardware did. */
void lists_print(const struct lists *lists, FILE *out);

/* Answers telemetry, and prints what was logged on standard error; all of it at the end. */
void lists_poll(const struct lists *lists, bool end);

/* When there are no graphs any more. */
void lists_destroy(struct lists *lists);
