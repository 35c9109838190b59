/* SPDX-License-Identifier: BSD-3-Clause */
/* What the readers of formats share. */
#pragma once

#include <hy_policy_format.h>

/* A file that is being read. */
struct policy_reading {
	struct hy_policy_file *file;
	uint32_t max;
	unsigned int line; /* the current one, or that of a fault */
	char *error;       /* never NULL */
};

/* formats.c: adds a rule of the current line. Returns 0, -ENOSPC or -ENOMEM. */
int policy_reading_add(struct policy_reading *reading, const struct hy_flow_rule *rule);

/* Its value is to be returned: a fault of a field. */
#define policy_reading_refuse(reading, ...) \
	(snprintf((reading)->error, HY_POLICY_ERROR_SIZE, __VA_ARGS__), -EINVAL)

/* columns.c: reads a line of l3fwd-acl's or ClassBench's format. Changes its bytes. */
int policy_columns_read(struct policy_reading *reading, char *text);
/* columns.c: the format of a first line, without blanks before; HY_POLICY_ANY: it may be of two. */
enum hy_policy_format policy_columns_format(const char *text);
