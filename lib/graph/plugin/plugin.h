/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share: a plugin's file, its libraries, what it needs. */
#ifndef HY_GRAPH_PLUGIN_H
#define HY_GRAPH_PLUGIN_H

#include <limits.h>

#include <gelf.h>

#include "lib/graph/internal/plugin_notes.h"

/*
 * plugin_file.c: a plugin's file, before it is loaded. The error is the part behind the path, in
 * HY_PLUGIN_REASON_SIZE bytes.
 */
#define HY_PLUGIN_REASON_SIZE 512

/* Whether nobody but root and the effective user can change a file, by its resolved path. */
int hy_plugin_path_check(const char *path, char *reason);
/* Reads and checks what HY_PLUGIN() left in a file. */
int hy_plugin_file_read(int fd, struct hy_plugin_desc *desc, char *reason);
/* Whether a file is an ELF file for this machine. */
bool hy_plugin_is_ours(int fd);

/* plugin_library.c: what a shared object tells the dynamic linker, by tags. */
struct hy_plugin_dynamic {
	Elf *elf;
	Elf_Data *tags;
	Elf_Data *strings;
};
struct hy_plugin_tag {
	int64_t tag;      /* DT_NEEDED and so on */
	const char *text; /* of those that have one; else "" */
};
/* To be closed after a failure, too. */
int hy_plugin_dynamic_open(int fd, struct hy_plugin_dynamic *dynamic, char *reason);
void hy_plugin_dynamic_close(struct hy_plugin_dynamic *dynamic);
/* The i-th tag, if there are so many. */
bool hy_plugin_tag(const struct hy_plugin_dynamic *dynamic, size_t i, struct hy_plugin_tag *tag);
/* Where the dynamic linker has a library that is not loaded; the path is resolved. */
bool hy_plugin_library_find(const char *name, char path[PATH_MAX]);

/* Whether a loaded plugin has brought a library along, and its path then. */
bool hy_plugin_brings(const void *handle, char path[PATH_MAX]);

/* plugin_needs.c: what is to be loaded before a plugin, what others need first. */
struct hy_plugin_need {
	char name[256];
	char path[PATH_MAX]; /* resolved, and checked as a plugin's own is */
};
struct hy_plugin_needs {
	unsigned int n;
	struct hy_plugin_need *needs;
};
/* By the resolved path of a plugin. After a failure there is nothing to free. */
int hy_plugin_needs_find(const char *path, struct hy_plugin_needs *needs, char *reason);
void hy_plugin_needs_free(struct hy_plugin_needs *needs);

#endif
