/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins of tests, loaded and refused. */
#pragma once

#include <limits.h>

#include <hy_plugin.h>

extern char plugin_error[HY_PLUGIN_ERROR_SIZE];

/* A copy of a plugin. */
struct plugin_file {
	char path[PATH_MAX];
};

/* Copies a plugin that was built beside the test program, under another name. */
struct plugin_file plugin_copy(const char *name, const char *as);

/* Both fail the test if they fail. */
struct hy_plugin *plugin_load(const char *path);
void plugin_unload(struct hy_plugin *plugin);

/* Asserts that a load fails with this sentence behind the path, and left nothing behind. */
void assert_plugin_refused(const char *path, int expected, const char *format, ...);
