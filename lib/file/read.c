/* SPDX-License-Identifier: BSD-3-Clause */
/* Files are read in a thread: a disk or a server that does not answer holds up only that. */

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "lib/file/internal/job.h"
#include "read.h"
#include "refuse.h"

struct reading {
	char path[PATH_MAX];
	size_t max;
	struct hy_file file;
};

static int
run(void *arg, atomic_uint *steps, char *error)
{
	struct reading *r = arg;

	return hy_file_read_here(r->path, r->max, &r->file, steps, error);
}

static void
drop(void *arg)
{
	struct reading *r = arg;

	hy_file_free(&r->file);
}

int
hy_file_read(const char *path, size_t max, struct hy_file *file, char *error)
{
	static const struct hy_file_job job = { "hy-file-read", "read", run, drop, false };
	struct reading r = { .max = max };
	int rc;

	*file = (struct hy_file){ 0 };
	if (strlen(path) >= sizeof(r.path))
		return hy_file_fail(-ENAMETOOLONG, error);
	strcpy(r.path, path);
	rc = hy_file_job(&job, &r, sizeof(r), error);
	*file = r.file;
	return rc;
}
