/* SPDX-License-Identifier: BSD-3-Clause */
/* Write the reason of a failure to @p error. Both return rc. */
#pragma once

#include <string.h>

#include <hy_file.h>

static inline int
hy_file_refuse(int rc, const char *why, char *error)
{
	snprintf(error, HY_FILE_ERROR_SIZE, "%s", why);
	return rc;
}

/* The first write error of the stdout of hy_file_prepare(); 0 for any other stream. */
int hy_file_output_error(const FILE *stream);

static inline int
hy_file_fail(int rc, char *error)
{
	return hy_file_refuse(rc, strerror(-rc), error);
}
