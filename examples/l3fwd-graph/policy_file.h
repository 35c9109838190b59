/* SPDX-License-Identifier: BSD-3-Clause */
/* --policy: the rules that give packets a class, read at the start and at SIGHUP. */
#ifndef L3FWD_POLICY_FILE_H
#define L3FWD_POLICY_FILE_H

#include <hy_flow_cls.h>
#include <hy_policy.h>
#include <hy_reload.h>

#include "options.h"

struct classes {
	struct hy_policy *policy;                 /* NULL without --policy */
	struct hy_flow_way ways[2 * REPEATS_MAX]; /* of --drop-class and --steer */
	unsigned int nb_ways;
};

/*
 * Reads the rules for so many workers, which report to qsbr. Returns 0, or -1 after saying what is
 * wrong. Without --policy there is nothing to read.
 */
int classes_create(const struct options *options, unsigned int nb_workers,
	struct rte_rcu_qsbr *qsbr, struct classes *classes);
void classes_destroy(struct classes *classes);

/* The rules, read again. */
struct classes_reload {
	struct hy_policy *policy;
	const char *path;
};

/* The part of a reload, the last one, that is of --policy. */
struct hy_reload_part classes_reload_part(struct classes_reload *reload);

#endif
