/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads and unloads plugins, completely or not at all. */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include <hy_fuse.h>

#include "lib/graph/arc/arc.h"
#include "lib/graph/observe/capture.h"
#include "lib/graph/observe/trace.h"
#include "lib/graph/registry/reg_node.h"
#include "lib/graph/update/control.h"
#include "plugin.h"

/* Something that a plugin registered. */
struct registered {
	const struct hy_plugin_kind *kind;
	uintptr_t what;
};

/* A library that a plugin needs, and the program does not. */
struct library {
	void *handle;
	const void *base;
};

struct hy_plugin {
	TAILQ_ENTRY(hy_plugin) next;
	struct hy_plugin_info info;
	struct hy_plugin_desc desc; /* that info points into */
	char path[PATH_MAX];
	void *handle;              /* dlopen(3)'s */
	const void *base;          /* where it is mapped */
	struct library *libraries; /* that it brought along, or shares with others that did */
	unsigned int nb_libraries;
	struct registered *registered; /* in order */
	unsigned int nb_registered;
	char failed[HY_NAME_SIZE]; /* name of the first refused registration */
	int rc;                    /* its error */
};

static TAILQ_HEAD(plugins, hy_plugin) plugins = TAILQ_HEAD_INITIALIZER(plugins);

/* The plugin that this thread is loading. Constructors run on the thread that calls dlopen(). */
static _Thread_local struct hy_plugin *loading;

void
hy_plugin_registered(const struct hy_plugin_kind *kind, uintptr_t what)
{
	struct registered *all;

	if (loading == NULL)
		return;
	all = realloc(loading->registered, (loading->nb_registered + 1) * sizeof(*all));
	if (all == NULL) { /* the load fails: it cannot be recorded, so undo it now */
		kind->undo(what);
		hy_plugin_load_fails("memory", -ENOMEM);
		return;
	}
	loading->registered = all;
	all[loading->nb_registered++] = (struct registered){ kind, what };
}

bool
hy_plugin_load_fails(const char *what, int rc)
{
	if (loading == NULL)
		return false;
	if (loading->rc == 0) {
		loading->rc = rc;
		snprintf(loading->failed, sizeof(loading->failed), "%s",
			what == NULL ? "(null)" : what);
	}
	return true;
}

static void
node_undo(uintptr_t what)
{
	struct hy_reg_node *node;

	hy_registry_lock();
	node = hy_registry_get((hy_node_id)what);
	if (node != NULL) {
		hy_registry_remove(node);
		hy_reg_node_free(node);
	}
	hy_registry_unlock();
}

static bool
node_busy(uintptr_t what, char *error)
{
	const struct hy_reg_node *node;
	char why[HY_TEXT_SIZE];
	bool busy;

	hy_registry_lock();
	node = hy_registry_get((hy_node_id)what);
	busy = node != NULL && hy_registry_held(node, why) < 0;
	if (busy)
		snprintf(error, HY_PLUGIN_ERROR_SIZE, "its node '%s' %s", node->name, why);
	hy_registry_unlock();
	return busy;
}

static const struct hy_plugin_kind node_kind = { node_busy, node_undo };

void
hy_plugin_registered_node(hy_node_id id)
{
	hy_plugin_registered(&node_kind, id);
}

static bool
is_own(const struct hy_plugin *plugin, hy_node_id id)
{
	for (unsigned int i = 0; i < plugin->nb_registered; i++)
		if (plugin->registered[i].kind == &node_kind && plugin->registered[i].what == id)
			return true;
	return false;
}

/* Where the object that an address belongs to is mapped, or NULL. */
static const void *
base_of(const void *address)
{
	Dl_info info;

	return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* Whether an address is in code that is unloaded with a plugin. */
static bool
is_of(const struct hy_plugin *plugin, const void *address)
{
	const void *base = base_of(address);
	bool is = base == plugin->base;

	for (unsigned int i = 0; i < plugin->nb_libraries; i++)
		is |= base == plugin->libraries[i].base;
	return is && base != NULL;
}

/* Whether any of these functions, of which some may be NULL, is the plugin's. */
static bool
has_one_of(const struct hy_plugin *plugin, const uintptr_t functions[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_of(plugin, (const void *)functions[i]))
			return true;
	return false;
}
#define HAS_ONE_OF(plugin, ...) \
	has_one_of(plugin, (const uintptr_t[]){ __VA_ARGS__ }, \
		RTE_DIM(((const uintptr_t[]){ __VA_ARGS__ })))

static bool
is_code_of(const struct hy_plugin *plugin, const struct hy_node_impl *impl)
{
	return HAS_ONE_OF(plugin, (uintptr_t)impl->process, (uintptr_t)impl->init,
		(uintptr_t)impl->fini);
}

/* The operations themselves, or any function of a copy of them. */
static bool
handles(const struct hy_plugin *plugin, const struct hy_object_ops *ops)
{
	return HAS_ONE_OF(plugin, (uintptr_t)ops, (uintptr_t)ops->release, (uintptr_t)ops->arm,
		(uintptr_t)ops->wait, (uintptr_t)ops->snapshot, (uintptr_t)ops->format,
		(uintptr_t)ops->flow_hash, (uintptr_t)ops->copy);
}

static bool
walks(const struct hy_plugin *plugin, const struct hy_image *image)
{
	return image != NULL && HAS_ONE_OF(plugin, (uintptr_t)image->walk);
}

/* Whether a node that is not the plugin's own would run its code: a clone, or by hy_node_impl_set(). */
static bool
other_node_busy(const struct hy_plugin *plugin, char *error)
{
	const struct hy_reg_node *node;

	for (hy_node_id id = 0; (node = hy_registry_next(id)) != NULL; id = node->id + 1) {
		if (is_own(plugin, node->id))
			continue;
		/* A clone is traced by its original's functions, even with other code. */
		if (HAS_ONE_OF(plugin, (uintptr_t)node->trace.snapshot,
			    (uintptr_t)node->trace.format))
			snprintf(error, HY_PLUGIN_ERROR_SIZE,
				"node '%s' is traced by its code; unregister it", node->name);
		else if (is_code_of(plugin, &node->impl))
			snprintf(error, HY_PLUGIN_ERROR_SIZE,
				"node '%s' runs its code; unregister it, or give it another "
				"implementation",
				node->name);
		else
			continue;
		return true;
	}
	return false;
}

/* Whether a chain that a node begins is run by its code. */
static bool
fuses(const struct hy_plugin *plugin, const struct hy_fuse *fuse)
{
	return fuse != NULL &&
		HAS_ONE_OF(plugin, (uintptr_t)fuse, (uintptr_t)fuse->run, (uintptr_t)fuse->pick);
}

/* Whether an image runs its code on a node that is not the plugin's own. */
static const struct hy_reg_node *
node_of_image(const struct hy_plugin *plugin, const struct hy_image *image)
{
	for (unsigned int r = 0; image != NULL && r < image->plan.nb_nodes; r++) {
		const struct hy_image_node *node = &image->nodes[r];

		if (!is_own(plugin, node->reg->id) &&
			(is_code_of(plugin, &node->impl) || fuses(plugin, node->fuse[0]) ||
				fuses(plugin, node->fuse[1])))
			return node->reg;
	}
	return NULL;
}

/* What of a graph calls its code as match() until it is stopped; NULL: nothing. */
static const char *
matches(const struct hy_plugin *plugin, const struct hy_control *control)
{
	const struct hy_capture *capture = control->capture;
	const struct hy_trace *trace = control->trace;

	if (trace != NULL && !trace->stopped && HAS_ONE_OF(plugin, (uintptr_t)trace->match))
		return "trace";
	if (capture != NULL && !capture->stopped && HAS_ONE_OF(plugin, (uintptr_t)capture->match))
		return "capture";
	return NULL;
}

/*
 * Whether a graph still runs its code: graphs keep the implementations that they were made with. All
 * were read before: reading one now could run a fini() that uses the code where nobody looks again.
 */
static bool
graph_busy(const struct hy_plugin *plugin, char *error)
{
	for (struct hy_graph *g = hy_graph_next(NULL); g != NULL; g = hy_graph_next(g)) {
		const struct hy_image *image = g->control->current;
		const struct hy_reg_node *node = NULL;
		const char *graph = g->control->name, *matched = matches(plugin, g->control);
		bool walked = false;

		for (; image != NULL && node == NULL; image = image->successor) {
			node = node_of_image(plugin, image);
			walked |= walks(plugin, image);
		}
		if (node != NULL)
			snprintf(error, HY_PLUGIN_ERROR_SIZE,
				"node '%s' of graph '%s' runs its code; update the graph, or "
				"destroy it",
				node->name, graph);
		else if (walked)
			snprintf(error, HY_PLUGIN_ERROR_SIZE,
				"it walks graph '%s'; update the graph, or destroy it", graph);
		else if (handles(plugin, g->control->params.ops))
			snprintf(error, HY_PLUGIN_ERROR_SIZE,
				"it handles the objects of graph '%s'; destroy that first", graph);
		else if (matched != NULL)
			snprintf(error, HY_PLUGIN_ERROR_SIZE,
				"a %s of graph '%s' matches by its code; stop that first", matched,
				graph);
		else
			continue;
		return true;
	}
	return false;
}

static bool
arc_busy(const struct hy_plugin *plugin, char *error)
{
	for (const struct hy_arc *a = hy_arc_next_of(NULL); a != NULL; a = hy_arc_next_of(a)) {
		if (!HAS_ONE_OF(plugin, (uintptr_t)a->params.index))
			continue;
		snprintf(error, HY_PLUGIN_ERROR_SIZE,
			"arc '%s' asks its code for indexes; destroy that first", a->name);
		return true;
	}
	return false;
}

static bool
user_busy(const struct hy_plugin *plugin, char *error)
{
	const struct hy_plugin_user *user;

	hy_registry_lock();
	user = hy_plugin_user_first();
	while (user != NULL && !has_one_of(plugin, user->code, RTE_DIM(user->code)))
		user = user->next;
	if (user != NULL)
		snprintf(error, HY_PLUGIN_ERROR_SIZE, "%s '%s' uses its code; destroy that first",
			user->what, user->name);
	hy_registry_unlock();
	return user != NULL;
}

/* Its value is rc, to be returned. */
#define refuse(error, path, rc, ...) \
	(snprintf(error, HY_PLUGIN_ERROR_SIZE, \
		 RTE_FMT("'%.300s': " RTE_FMT_HEAD(__VA_ARGS__, ), path, \
			 RTE_FMT_TAIL(__VA_ARGS__, ))), \
		(rc))

/* The file and its descriptor; path is resolved. */
static int
file_check(struct hy_plugin *plugin, char *error)
{
	char reason[HY_PLUGIN_REASON_SIZE];
	int rc = hy_plugin_path_check(plugin->path, reason);
	int fd;

	if (rc < 0)
		return refuse(error, plugin->path, rc, "%s", reason);
	fd = open(plugin->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		rc = -errno;
		return refuse(error, plugin->path, rc, "%s", strerror(-rc));
	}
	rc = hy_plugin_file_read(fd, &plugin->desc, reason);
	close(fd);
	if (rc < 0)
		return refuse(error, plugin->path, rc, "%s", reason);
	return 0;
}

/* Refuses a file or name that is already loaded in any way. */
static int
twice_check(const struct hy_plugin *plugin, char *error)
{
	const struct hy_plugin *other;
	void *handle = dlopen(plugin->path, RTLD_LAZY | RTLD_NOLOAD);

	if (handle != NULL) {
		dlclose(handle);
		return refuse(error, plugin->path, -EEXIST, "it is loaded already");
	}
	TAILQ_FOREACH(other, &plugins, next)
		if (strcmp(other->desc.name, plugin->desc.name) == 0)
			return refuse(error, plugin->path, -EEXIST,
				"a plugin '%s' is loaded already, from '%.300s'", plugin->desc.name,
				other->path);
	return 0;
}

/* Undoes registrations, last first, and unmaps the code. */
static void
unmap(struct hy_plugin *plugin)
{
	while (plugin->nb_registered > 0) {
		const struct registered *last = &plugin->registered[--plugin->nb_registered];

		last->kind->undo(last->what);
	}
	if (plugin->handle != NULL)
		dlclose(plugin->handle);
	while (plugin->nb_libraries > 0)
		dlclose(plugin->libraries[--plugin->nb_libraries].handle);
	free(plugin->libraries);
	free(plugin->registered);
	free(plugin);
}

/* The dynamic linker's error without the path that it begins with. */
static const char *
dl_reason(const struct hy_plugin *plugin)
{
	const char *said = dlerror();
	const size_t n = strlen(plugin->path);

	if (said == NULL)
		return "the dynamic linker refuses it";
	return strncmp(said, plugin->path, n) == 0 && strncmp(said + n, ": ", 2) == 0 ? said + n + 2
										      : said;
}

static const char *
registration_reason(int rc)
{
	switch (-rc) {
	case EEXIST:
		return "the name is taken";
	case EINVAL:
		return "its declaration is malformed";
	default:
		return strerror(-rc);
	}
}

/* Opens an object; NULL, or where it is mapped. */
static void *
object_open(const char *path, const void **base)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;

	if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) < 0)
		return NULL;
	*base = base_of(map->l_ld);
	return handle;
}

/* Maps a library, or keeps one that another plugin has brought along. */
static int
library_open(struct hy_plugin *plugin, const char *path)
{
	struct library *all = realloc(plugin->libraries, (plugin->nb_libraries + 1) * sizeof(*all));
	struct library *library;

	if (all == NULL)
		return -ENOMEM;
	plugin->libraries = all;
	library = &all[plugin->nb_libraries];
	library->handle = object_open(path, &library->base);
	plugin->nb_libraries += library->handle != NULL;
	return library->handle == NULL ? -ELIBACC : 0;
}

bool
hy_plugin_brings(const void *handle, char path[PATH_MAX])
{
	const struct hy_plugin *plugin;

	TAILQ_FOREACH(plugin, &plugins, next)
		for (unsigned int i = 0; i < plugin->nb_libraries; i++) {
			struct link_map *map;

			if (plugin->libraries[i].handle != handle ||
				dlinfo(plugin->libraries[i].handle, RTLD_DI_LINKMAP, &map) < 0)
				continue;
			snprintf(path, PATH_MAX, "%s", map->l_name);
			return true;
		}
	return false;
}

/* Maps the code, which runs its constructors: those of libraries first. */
static int
objects_open(struct hy_plugin *plugin, const struct hy_plugin_needs *needs)
{
	int rc = 0;

	for (unsigned int i = 0; i < needs->n && rc == 0; i++)
		rc = library_open(plugin, needs->needs[i].path);
	if (rc == 0)
		plugin->handle = object_open(plugin->path, &plugin->base);
	return rc == 0 && plugin->handle == NULL ? -ELIBACC : rc;
}

static int
map(struct hy_plugin *plugin, const struct hy_plugin_needs *needs, char *error)
{
	int rc;

	loading = plugin;
	rc = objects_open(plugin, needs);
	loading = NULL;
	if (rc < 0)
		return refuse(error, plugin->path, rc, "%s",
			rc == -ENOMEM ? "out of memory" : dl_reason(plugin));
	if (plugin->rc < 0)
		return refuse(error, plugin->path, plugin->rc,
			"registration of '%s' failed: %s; nothing of the plugin was kept",
			plugin->failed, registration_reason(plugin->rc));
	if (plugin->nb_registered == 0)
		return refuse(error, plugin->path, -ENODATA,
			"it registers no node, family or variant");
	return 0;
}

int
hy_plugin_load(const char *path, struct hy_plugin **out, char *error)
{
	struct hy_plugin_needs needs = { 0, NULL };
	char reason[HY_PLUGIN_REASON_SIZE];
	struct hy_plugin *plugin;
	int rc;

	if (hy_graph_wait_check("hy_plugin_load()") < 0) /* a failure could not be undone */
		return refuse(error, path, -EDEADLK, "called by code of a graph");
	if (loading != NULL)
		return refuse(error, path, -EBUSY, "a plugin cannot load another one");
	plugin = calloc(1, sizeof(*plugin));
	if (plugin == NULL)
		return refuse(error, path, -ENOMEM, "out of memory");
	if (realpath(path, plugin->path) == NULL) {
		rc = -errno;
		free(plugin);
		return refuse(error, path, rc, "%s", strerror(-rc));
	}
	rc = file_check(plugin, error);
	if (rc == 0)
		rc = twice_check(plugin, error);
	if (rc == 0) {
		rc = hy_plugin_needs_find(plugin->path, &needs, reason);
		if (rc < 0)
			rc = refuse(error, plugin->path, rc, "%s", reason);
	}
	if (rc == 0)
		rc = map(plugin, &needs, error);
	hy_plugin_needs_free(&needs);
	if (rc < 0) {
		unmap(plugin);
		return rc;
	}
	plugin->info = (struct hy_plugin_info){
		.path = plugin->path,
		.name = plugin->desc.name,
		.version = plugin->desc.version,
		.text = plugin->desc.text,
		.abi = plugin->desc.abi,
		.dpdk = plugin->desc.dpdk,
	};
	TAILQ_INSERT_TAIL(&plugins, plugin, next);
	if (out != NULL)
		*out = plugin;
	return 0;
}

int
hy_plugin_unload(struct hy_plugin *plugin, char *error)
{
	char reason[HY_PLUGIN_ERROR_SIZE];
	bool busy;

	if (hy_graph_wait_check("hy_plugin_unload()") < 0) /* the graph may be about to run it */
		return refuse(error, plugin->path, -EDEADLK, "called by code of a graph");
	hy_registry_lock();
	hy_graph_read_all();
	busy = other_node_busy(plugin, reason) || graph_busy(plugin, reason) ||
		arc_busy(plugin, reason);
	hy_registry_unlock();
	for (unsigned int i = 0; !busy && i < plugin->nb_registered; i++)
		busy = plugin->registered[i].kind->busy(plugin->registered[i].what, reason);
	/* Last: a HAL offers fusions of the plugin, and is what can be destroyed. */
	busy = busy || user_busy(plugin, reason);
	if (busy)
		return refuse(error, plugin->path, -EBUSY, "%.500s", reason);
	TAILQ_REMOVE(&plugins, plugin, next);
	unmap(plugin);
	return 0;
}

struct hy_plugin *
hy_plugin_next(const struct hy_plugin *plugin)
{
	return plugin == NULL ? TAILQ_FIRST(&plugins) : TAILQ_NEXT(plugin, next);
}

const struct hy_plugin_info *
hy_plugin_describe(const struct hy_plugin *plugin)
{
	return &plugin->info;
}
