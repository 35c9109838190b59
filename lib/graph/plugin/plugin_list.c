/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of plugins. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <hy_plugin.h>

int
hy_plugin_load_list(const char *list, char *error)
{
	char path[PATH_MAX], unloading[HY_PLUGIN_ERROR_SIZE];
	struct hy_plugin *plugin;
	size_t len;
	int rc;

	if (list != NULL)
		list += strspn(list, ":");
	if (list == NULL || *list == '\0')
		return 0;
	len = strcspn(list, ":");
	if (len >= sizeof(path)) {
		snprintf(error, HY_PLUGIN_ERROR_SIZE, "'%.200s...': %s", list,
			strerror(ENAMETOOLONG));
		return -ENAMETOOLONG;
	}
	memcpy(path, list, len);
	path[len] = '\0';
	rc = hy_plugin_load(path, &plugin, error);
	if (rc < 0)
		return rc;
	rc = hy_plugin_load_list(list + len, error);
	if (rc < 0)
		hy_plugin_unload(plugin, unloading);
	return rc;
}
