/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * While a thread loads a plugin, each function that registers something notes how to undo it. A
 * failed load and an unload process these notes in reverse.
 */
#pragma once

#include <hy_plugin.h>

/* A kind of thing that can be registered. */
struct hy_plugin_kind {
	/* Whether it is in use; if so, writes by what to error, of HY_PLUGIN_ERROR_SIZE. */
	bool (*busy)(uintptr_t what, char *error);
	/* Undoes it. It may be gone already. */
	void (*undo)(uintptr_t what);
};

/* Notes that something was registered; does nothing unless this thread loads a plugin. */
void hy_plugin_registered(const struct hy_plugin_kind *kind, uintptr_t what);
/* Likewise, of a node. With the registry's lock held. */
void hy_plugin_registered_node(hy_node_id id);

/* If this thread loads a plugin, makes that fail and returns true. */
bool hy_plugin_load_fails(const char *what, int rc);

/*
 * Adds numbers that another layer's headers compile into plugins by HY_PLUGIN_NUMBERS(). A plugin
 * with different numbers is refused, and so is one with numbers that nobody added. Called once,
 * when the program is loaded.
 */
void hy_plugin_numbers_add(const struct hy_plugin_number *numbers, unsigned int n);

/* plugin_user.c: users of a plugin's code that are no graph, node or arc. */
struct hy_plugin_user {
	struct hy_plugin_user *next;
	const char *what, *name; /* "dispatch", "d" */
	uintptr_t code[4];       /* addresses of functions and tables; some may be 0 */
};

/* In between, no plugin with any of that code is unloaded. Any thread. */
void hy_plugin_user_add(struct hy_plugin_user *user);
void hy_plugin_user_remove(struct hy_plugin_user *user); /* nothing if it was not added */
/* With the registry's lock held. */
const struct hy_plugin_user *hy_plugin_user_first(void);
