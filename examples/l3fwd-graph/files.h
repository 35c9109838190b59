/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of --routes, --policy and --acl-list: read at the start, and again at SIGHUP. */
#pragma once

#include <hy_flow_cls.h>
#include <hy_routes.h>

#include "options.h"

/* NUMA nodes that the workers' graphs lie on, as bits. */
uint32_t nodes_of(const struct hy_workers *workers);

struct classes {
	struct hy_policy *policy;                 /* NULL without --policy */
	struct hy_flow_way ways[2 * REPEATS_MAX]; /* of --drop-class and --steer */
	unsigned int nb_ways;
};

/*
 * Both return 0, or a negative errno after saying what is wrong. Without their option, there are the
 * default routes, and no classes.
 */
int routes_create(const struct options *options, struct hy_routes **routes);
int classes_create(const struct options *options, const struct hy_workers *workers,
	struct classes *classes);
void classes_destroy(struct classes *classes);

/* Reads the files again and applies them, or says on standard error why all stays as it is. */
void files_reload(const struct options *options, struct hy_routes *routes,
	const struct classes *classes, const struct hy_acl *acl, FILE *out);
