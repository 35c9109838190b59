/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>

#include <hy_node.h>

#include "app/test/unit_plugin.h"
#include "graph_fixture.h"
#include "plugin_fixture.h"

char plugin_error[HY_PLUGIN_ERROR_SIZE];

struct plugin_file
plugin_copy(const char *name, const char *as)
{
	struct plugin_file file;

	snprintf(file.path, sizeof(file.path), "%s", unit_plugin(name, as));
	return file;
}

struct hy_plugin *
plugin_load(const char *path)
{
	struct hy_plugin *plugin = NULL;

	if (hy_plugin_load(path, &plugin, plugin_error) != 0)
		fail_msg("%s", plugin_error);
	return plugin;
}

void
plugin_unload(struct hy_plugin *plugin)
{
	if (hy_plugin_unload(plugin, plugin_error) != 0)
		fail_msg("%s", plugin_error);
}

void
assert_plugin_refused(const char *path, int expected, const char *format, ...)
{
	char words[HY_PLUGIN_ERROR_SIZE], sentence[HY_PLUGIN_ERROR_SIZE];
	struct hy_plugin *plugin = NULL;
	va_list ap;

	va_start(ap, format);
	vsnprintf(words, sizeof(words), format, ap);
	va_end(ap);
	snprintf(sentence, sizeof(sentence), "'%s': %.600s", path, words);
	assert_int_equal(hy_plugin_load(path, &plugin, plugin_error), expected);
	assert_string_equal(plugin_error, sentence);
	assert_null(plugin);
	assert_null(hy_plugin_next(NULL));
	assert_int_equal(hy_node_lookup("plugin_pass", NULL), -ENOENT);
	assert_int_equal(hy_node_lookup("plugin_family", NULL), -ENOENT);
	assert_int_equal(hy_node_lookup("good_node", NULL), -ENOENT);
}
