/* SPDX-License-Identifier: BSD-3-Clause */
/* How functions that take @p error say why they fail. Both return rc. */
#ifndef HY_FILE_REFUSE_H
#define HY_FILE_REFUSE_H

#include <string.h>

#include <hy_file.h>

static inline int
hy_file_refuse(int rc, const char *why, char *error)
{
	snprintf(error, HY_FILE_ERROR_SIZE, "%s", why);
	return rc;
}

/* What the first write to the stdout of hy_file_prepare() failed with; 0 for any other stream. */
int hy_file_output_error(const FILE *stream);

static inline int
hy_file_fail(int rc, char *error)
{
	return hy_file_refuse(rc, strerror(-rc), error);
}

#endif
