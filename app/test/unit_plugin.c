/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins for tests, in a folder that they can be loaded from; see unit_plugin.h. */

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/graph/plugin/plugin.h"
#include "unit.h"
#include "unit_plugin.h"

static char folder[PATH_MAX - NAME_MAX - 1]; /* "": not made yet */

static void
copy(const char *from, const char *to)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	char bytes[4096];
	size_t n;

	if (in == NULL || out == NULL)
		fail_msg("%s to %s: %s", from, to, strerror(errno));
	while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
		assert_int_equal(fwrite(bytes, 1, n, out), n);
	assert_int_equal(fclose(in) | fclose(out) | chmod(to, 0755), 0);
}

/* Whether plugins may come from a new folder in this one: the build folder may be below /tmp. */
static bool
folder_in(const char *parent)
{
	char reason[HY_PLUGIN_REASON_SIZE], probe[PATH_MAX], at[PATH_MAX];
	int rc;

	if (parent == NULL || realpath(parent, at) == NULL)
		return false;
	snprintf(folder, sizeof(folder), "%.3000s/hy-test-XXXXXX", at);
	if (mkdtemp(folder) == NULL) {
		folder[0] = '\0';
		return false;
	}
	snprintf(probe, sizeof(probe), "%s/probe", folder);
	copy("/dev/null", probe);
	rc = hy_plugin_path_check(probe, reason);
	unlink(probe);
	if (rc < 0) {
		rmdir(folder);
		folder[0] = '\0';
	}
	return rc == 0;
}

/* A test that fails leaves at once: what it copied goes with the program. */
static void
folder_remove(void)
{
	char path[PATH_MAX];
	DIR *dir = opendir(folder);

	for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	closedir(dir);
	rmdir(folder);
}

const char *
unit_plugin(const char *file, const char *as)
{
	static char path[PATH_MAX];

	if (folder[0] == '\0') {
		if (!folder_in(unit_beside(".")) && !folder_in(".") && !folder_in(getenv("HOME")) &&
			!folder_in("/var/lib"))
			fail_msg("found no folder that plugins may be loaded from");
		atexit(folder_remove);
	}
	snprintf(path, sizeof(path), "%s/%s", folder, as);
	unlink(path); /* a new file, not the old one with other bytes */
	copy(unit_beside(file), path);
	return path;
}
