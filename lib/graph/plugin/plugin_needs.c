/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The libraries that a plugin brings along. Those that the process has are taken as they are. For
 * each other one, at all levels, it is decided here which file is loaded, and that is held to what
 * a plugin's own file is held to: whoever can change it runs code in the program. The loader maps
 * them by their resolved paths, what others need first, so that the dynamic linker knows each name
 * before it would search for it. Nothing that a file says can lead it elsewhere.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin.h"

#define LEVELS_MAX 32

/* The names between the plugin and a library, the nearest first. */
struct level {
	const char *name; /* NULL for the plugin itself */
	const struct level *above;
	unsigned int depth;
};

/* Tags that make the dynamic linker load other files than named ones, or search elsewhere. */
static const char *
tag_refused(int64_t tag)
{
	switch (tag) {
	case DT_RPATH:
		return "an RPATH";
	case DT_RUNPATH:
		return "a RUNPATH";
	case DT_AUXILIARY:
		return "an auxiliary library";
	case DT_FILTER:
		return "a filtered library";
	case DT_AUDIT:
	case DT_DEPAUDIT:
		return "an auditing library";
	case DT_CONFIG:
		return "a configuration file";
	default:
		return NULL;
	}
}

static int
tags_check(const struct hy_plugin_dynamic *dynamic, const struct level *level, const char *path,
	char *reason)
{
	const char *soname = "";
	struct hy_plugin_tag tag;
	char owner[300] = "it";

	if (level->name != NULL)
		snprintf(owner, sizeof(owner), "its library '%.280s'", path);
	for (size_t i = 0; hy_plugin_tag(dynamic, i, &tag); i++) {
		const char *what = tag_refused(tag.tag);

		if (what != NULL)
			return hy_plugin_refuse(reason,
				"%s has %s, '%.80s'; accepted: none, so that libraries come from "
				"the system's folders or LD_LIBRARY_PATH",
				owner, what, tag.text);
		if (tag.tag == DT_NEEDED && strpbrk(tag.text, "/$") != NULL)
			return hy_plugin_refuse(reason,
				"%s needs '%.80s'; accepted: a name without a folder", owner,
				tag.text);
		if (tag.tag == DT_SONAME)
			soname = tag.text;
	}
	/* By another name, the dynamic linker would search for it, though it is loaded. */
	if (level->name != NULL && strcmp(soname, level->name) != 0)
		return hy_plugin_refuse(reason, "%s has the SONAME '%.80s'; accepted: '%.80s'",
			owner, soname, level->name);
	return 0;
}

static int
needs_add(struct hy_plugin_needs *needs, const char *name, const char *path)
{
	struct hy_plugin_need *all = realloc(needs->needs, (needs->n + 1) * sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	needs->needs = all;
	snprintf(all[needs->n].name, sizeof(all->name), "%s", name);
	snprintf(all[needs->n].path, sizeof(all->path), "%s", path);
	needs->n++;
	return 0;
}

/* Where a library is that is not there without a plugin: loaded by one already, or to be found. */
enum found { PRESENT, FOUND, NOWHERE };

static enum found
library_look(const struct hy_plugin_needs *needs, const char *name, char path[PATH_MAX])
{
	void *handle;
	bool brought;

	for (unsigned int i = 0; i < needs->n; i++)
		if (strcmp(needs->needs[i].name, name) == 0)
			return PRESENT;
	handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	if (handle == NULL)
		return hy_plugin_library_find(name, path) ? FOUND : NOWHERE;
	brought = hy_plugin_brings(handle, path);
	dlclose(handle);
	return brought ? FOUND : PRESENT;
}

static int file_find(struct hy_plugin_needs *needs, const struct level *level, const char *path,
	char *reason);

static int
need_find(struct hy_plugin_needs *needs, const char *name, const struct level *above, char *reason)
{
	const struct level level = { name, above, above->depth + 1 };
	char path[PATH_MAX], why[HY_PLUGIN_REASON_SIZE];
	enum found found;
	int rc;

	if (strlen(name) >= sizeof(needs->needs->name) || level.depth > LEVELS_MAX)
		return hy_plugin_refuse(reason,
			"it needs '%.80s...' at level %u; accepted: %d levels", name, level.depth,
			LEVELS_MAX);
	for (const struct level *l = above; l->name != NULL; l = l->above)
		if (strcmp(l->name, name) == 0)
			return hy_plugin_refuse(reason, "its library '%.80s' needs itself", name);
	found = library_look(needs, name, path);
	if (found == PRESENT)
		return 0;
	if (found == NOWHERE)
		return hy_plugin_refuse(reason,
			"it needs '%.80s', which is neither loaded nor in a folder of the dynamic "
			"linker",
			name);
	rc = hy_plugin_path_check(path, why);
	if (rc < 0)
		return hy_plugin_fail(rc, reason, "its library '%.80s': %.400s", name, why);
	rc = file_find(needs, &level, path, reason);
	/* After its own dependencies. */
	return rc < 0 ? rc : needs_add(needs, name, path);
}

/* Adds the dependencies of a file whose path was checked. */
static int
file_find(struct hy_plugin_needs *needs, const struct level *level, const char *path, char *reason)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct hy_plugin_dynamic dynamic;
	struct hy_plugin_tag tag;
	int rc;

	if (fd < 0) {
		rc = -errno;
		return hy_plugin_fail(rc, reason, "'%.200s': %s", path, strerror(-rc));
	}
	rc = hy_plugin_dynamic_open(fd, &dynamic, reason);
	if (rc == 0)
		rc = tags_check(&dynamic, level, path, reason);
	for (size_t i = 0; rc == 0 && hy_plugin_tag(&dynamic, i, &tag); i++)
		if (tag.tag == DT_NEEDED)
			rc = need_find(needs, tag.text, level, reason);
	hy_plugin_dynamic_close(&dynamic);
	close(fd);
	return rc;
}

int
hy_plugin_needs_find(const char *path, struct hy_plugin_needs *needs, char *reason)
{
	const struct level level = { NULL, NULL, 0 };
	int rc;

	*needs = (struct hy_plugin_needs){ 0, NULL };
	rc = file_find(needs, &level, path, reason);
	if (rc == -ENOMEM)
		rc = hy_plugin_fail(rc, reason, "out of memory");
	if (rc < 0)
		hy_plugin_needs_free(needs);
	return rc;
}

void
hy_plugin_needs_free(struct hy_plugin_needs *needs)
{
	free(needs->needs);
	*needs = (struct hy_plugin_needs){ 0, NULL };
}
