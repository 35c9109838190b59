/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of this folder: a plugin's file, its libraries, and its dependencies. */
#pragma once

#include <limits.h>

#include <gelf.h>

#include "lib/graph/internal/plugin_notes.h"

/*
 * plugin_file.c: a plugin's file, before it is loaded. The error is the part behind the path, in
 * HY_PLUGIN_REASON_SIZE bytes.
 */
#define HY_PLUGIN_REASON_SIZE 512

/* Write the reason of an error, which is their value. */
#define hy_plugin_fail(rc, reason, ...) (snprintf(reason, HY_PLUGIN_REASON_SIZE, __VA_ARGS__), (rc))
#define hy_plugin_refuse(reason, ...) hy_plugin_fail(-ENOEXEC, reason, __VA_ARGS__)

/* Whether nobody but root and the effective user can change a file, by its resolved path. */
int hy_plugin_path_check(const char *path, char *reason);
/* Reads and checks the notes of HY_PLUGIN() in a file. */
int hy_plugin_file_read(int fd, struct hy_plugin_desc *desc, char *reason);
/* Whether a file is an ELF file for this machine. */
bool hy_plugin_is_ours(int fd);

/* plugin_library.c: the dynamic tags of a shared object. */
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

/* plugin_needs.c: the libraries to load before a plugin, in order of their dependencies. */
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
