/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plugins as the rest of the library sees them. While a thread loads one, whoever registers
 * something there leaves a note of how to take it back: a failed load and an unload go through
 * these notes backwards.
 */
#ifndef HY_GRAPH_PLUGIN_H
#define HY_GRAPH_PLUGIN_H

#include <hy_plugin.h>

/* A kind of thing that can be registered. */
struct hy_plugin_kind {
	/* Whether it is in use; if so, says by what. Memory of HY_PLUGIN_ERROR_SIZE. */
	bool (*busy)(uintptr_t what, char *error);
	/* Takes it back. It may be gone already. */
	void (*undo)(uintptr_t what);
};

/* Notes that something was registered; does nothing unless this thread loads a plugin. */
void hy_plugin_registered(const struct hy_plugin_kind *kind, uintptr_t what);
/* Likewise, of a node. With the registry's lock held. */
void hy_plugin_registered_node(hy_node_id id);

/* If this thread loads a plugin, makes that fail and returns true. */
bool hy_plugin_load_fails(const char *what, int rc);

/*
 * plugin_file.c: a plugin's file, before it is loaded. The error is the part behind the path, in
 * HY_PLUGIN_REASON_SIZE bytes.
 */
#define HY_PLUGIN_REASON_SIZE 512

/* Whether nobody but root and the effective user can change a file, by its resolved path. */
int hy_plugin_path_check(const char *path, char *reason);
/* Reads and checks what HY_PLUGIN() left in a file. */
int hy_plugin_file_read(int fd, struct hy_plugin_desc *desc, char *reason);

#endif
