/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Plugins: nodes, families and variants in a shared object that is loaded while a program runs.
 *
 * A plugin consists of node files, written as in the tree, and one HY_PLUGIN() that records what
 * they were built for. The loader reads that record from the file before any code of the plugin
 * runs.
 *
 * Called by one control thread, after rte_eal_init(), and not from a constructor. While a plugin is
 * loaded or unloaded, no other thread may register nodes or create graphs. Functions return 0 or a
 * negative errno. On an error, those that take @p error write one sentence there that names the
 * plugin, what was wrong and what is accepted, and have changed nothing.
 */
#pragma once

#include <assert.h>

#include <rte_version.h>

#include <hy_arc.h>
#include <hy_capture.h>
#include <hy_graph_worker.h>

HY_API_BEGIN

/**
 * Number of Halyard's binary interface: the parts of the public headers that are compiled into a
 * node, such as structure layouts and inline functions. Any change there changes the number.
 */
#define HY_ABI 1

#define HY_PLUGIN_ERROR_SIZE 1024 /**< Room that @p error arguments must have. */

/** @cond The ELF note that HY_PLUGIN() writes to the file. abi and dpdk keep their offsets. */
#define HY_PLUGIN_OWNER "Halyard"
#define HY_PLUGIN_NOTE 1         /* type of that note */
#define HY_PLUGIN_NUMBERS_NOTE 2 /* type of HY_PLUGIN_NUMBERS()'s: struct hy_plugin_number[] */

struct hy_plugin_desc {
	uint32_t abi;  /* HY_ABI */
	uint32_t dpdk; /* RTE_VERSION */
	char name[HY_NAME_SIZE];
	char version[HY_NAME_SIZE];
	char text[HY_TEXT_SIZE];
};

struct hy_plugin_note {
	uint32_t owner_size;
	uint32_t desc_size;
	uint32_t type;
	char owner[sizeof(HY_PLUGIN_OWNER)];
	struct hy_plugin_desc desc;
};

/* A number that the compiler took from our headers: "struct hy_node", 64. */
struct hy_plugin_number {
	char what[28];
	uint32_t is;
};

/* clang-format off */
#define HY_PLUGIN_SIZE(type_) { #type_, sizeof(type_) }
#define HY_PLUGIN_OFFSET(name_, member_) { #name_ "." #member_, offsetof(struct name_, member_) }
#define HY_PLUGIN_COUNT(number_) { #number_, number_ }
/* clang-format on */

/* The numbers of the core's headers that the loader of a plugin compares. */
#define HY_PLUGIN_CORE \
	HY_PLUGIN_SIZE(struct hy_graph), HY_PLUGIN_SIZE(struct hy_plan), \
		HY_PLUGIN_SIZE(struct hy_node), HY_PLUGIN_SIZE(struct hy_edge), \
		HY_PLUGIN_SIZE(struct hy_node_desc), HY_PLUGIN_SIZE(struct hy_node_impl), \
		HY_PLUGIN_SIZE(struct hy_drop), HY_PLUGIN_SIZE(struct hy_counter), \
		HY_PLUGIN_SIZE(struct hy_node_trace), HY_PLUGIN_SIZE(struct hy_trace_record), \
		HY_PLUGIN_SIZE(struct hy_capture_record), HY_PLUGIN_SIZE(struct hy_object_ops), \
		HY_PLUGIN_SIZE(struct hy_graph_params), HY_PLUGIN_SIZE(struct hy_arc_feature), \
		HY_PLUGIN_SIZE(struct hy_arc_params), HY_PLUGIN_SIZE(struct hy_arc_view), \
		HY_PLUGIN_SIZE(struct hy_arc_place), HY_PLUGIN_OFFSET(hy_graph, cursor), \
		HY_PLUGIN_OFFSET(hy_graph, attention), HY_PLUGIN_OFFSET(hy_plan, pending), \
		HY_PLUGIN_OFFSET(hy_plan, ops), HY_PLUGIN_OFFSET(hy_plan, stream_cap), \
		HY_PLUGIN_OFFSET(hy_plan, lane_offset), HY_PLUGIN_OFFSET(hy_node, ctx), \
		HY_PLUGIN_OFFSET(hy_node, stream), HY_PLUGIN_OFFSET(hy_node, edges), \
		HY_PLUGIN_OFFSET(hy_node, waiting), HY_PLUGIN_OFFSET(hy_node, lane), \
		HY_PLUGIN_OFFSET(hy_edge, objs), HY_PLUGIN_COUNT(HY_BURST_MAX), \
		HY_PLUGIN_COUNT(HY_CORE_DROPS), HY_PLUGIN_COUNT(HY_DESC_DROPS), \
		HY_PLUGIN_COUNT(HY_ARC_EDGE_SHIFT)

/* Writes such numbers to the file, under a name that is unique in its source file. */
#define HY_PLUGIN_NUMBERS(name_, ...) \
	__attribute__((used, section(".note.halyard"), aligned(4))) static const struct { \
		uint32_t owner_size; \
		uint32_t desc_size; \
		uint32_t type; \
		char owner[sizeof(HY_PLUGIN_OWNER)]; \
		struct hy_plugin_number \
			numbers[sizeof((const struct hy_plugin_number[]){ __VA_ARGS__ }) / \
				sizeof(struct hy_plugin_number)]; \
	} hy_plugin_numbers_##name_ = { sizeof(HY_PLUGIN_OWNER), \
		sizeof((const struct hy_plugin_number[]){ __VA_ARGS__ }), HY_PLUGIN_NUMBERS_NOTE, \
		HY_PLUGIN_OWNER, { __VA_ARGS__ } }
/** @endcond */

/**
 * Makes a shared object a plugin: HY_PLUGIN("acme", "1.2", "Nodes for Acme's NIC") at file scope,
 * in one file of it. All three are string literals.
 *
 * @param name_ [A-Za-z0-9_.-]{1,63}, unique among the plugins of a process.
 * @param version_ The plugin's own, of fewer than HY_NAME_SIZE bytes.
 * @param text_ A sentence, of fewer than HY_TEXT_SIZE bytes.
 */
#define HY_PLUGIN(name_, version_, text_) \
	static_assert(sizeof(name_) <= HY_NAME_SIZE, "the plugin's name is too long"); \
	static_assert(sizeof(version_) <= HY_NAME_SIZE, "the plugin's version is too long"); \
	static_assert(sizeof(text_) <= HY_TEXT_SIZE, "the plugin's text is too long"); \
	HY_PLUGIN_NUMBERS(core, HY_PLUGIN_CORE); \
	extern const struct hy_plugin_note hy_plugin_note; \
	__attribute__((visibility("hidden"), used, section(".note.halyard"), aligned(4))) \
	const struct hy_plugin_note hy_plugin_note = { \
		.owner_size = sizeof(HY_PLUGIN_OWNER), \
		.desc_size = sizeof(struct hy_plugin_desc), \
		.type = HY_PLUGIN_NOTE, \
		.owner = HY_PLUGIN_OWNER, \
		.desc = { HY_ABI, RTE_VERSION, name_, version_, text_ }, \
	}

struct hy_plugin;

/**
 * Loads a plugin and registers its nodes, families and variants. Before any of its code runs, this
 * refuses:
 *
 * - a file, or a folder above it, that everyone may write, or that belongs neither to root nor to
 *   the effective user. Symbolic links are resolved first. /tmp is such a folder;
 * - a file that is not an ELF shared object for this machine, or is truncated;
 * - a file without HY_PLUGIN(), or built for another HY_ABI or DPDK release (year and month), or
 *   with headers that give a structure another layout;
 * - a file that makes the dynamic linker search outside the folders of the system and of
 *   LD_LIBRARY_PATH, or load libraries other than by plain name: RPATH, RUNPATH, filters, audits;
 * - a file that needs a library, at any level, that is missing, or that is not loaded yet and would
 *   be refused for one of these reasons. Libraries are loaded and unloaded with the plugin.
 *
 * After its constructors have run, this refuses a plugin that registers nothing, or of which a
 * node, family or variant was refused. All its registrations are then undone, and the file is
 * unloaded.
 *
 * @param[out] plugin Until hy_plugin_unload(); may be NULL.
 * @param[out] error HY_PLUGIN_ERROR_SIZE bytes.
 * @return 0; -ENOENT and the like: the file cannot be opened; -EPERM owner or permissions of the
 * file or of a library; -ENOEXEC no plugin, truncated, built for something else, or a library is
 * refused; -EEXIST it, or another plugin of its name, is already loaded; -ELIBACC the dynamic
 * linker refused it; -ENODATA it registers nothing; -EDEADLK called by code of a graph, or with the
 * registry's lock held (hy_graph.h); -ENOMEM; or what the refused registration returned.
 */
int hy_plugin_load(const char *path, struct hy_plugin **plugin, char *error);

/** Environment variable with the plugins that programs load: see hy_plugin_load_list(). */
#define HY_PLUGIN_ENV "HALYARD_PACKS"

/**
 * Loads several plugins: all or none.
 *
 * @param list Paths separated by colons. NULL and empty paths are skipped.
 * @return 0; what hy_plugin_load() returned for the first refused plugin.
 */
int hy_plugin_load_list(const char *list, char *error);

/**
 * Undoes all registrations of a plugin, and unloads it. The plugin's own destructors must undo
 * everything else that has pointers into it.
 *
 * @param plugin From hy_plugin_load(), and not unloaded yet.
 * @param[out] error HY_PLUGIN_ERROR_SIZE bytes.
 * @return 0; -EBUSY a graph has one of its nodes, runs its code, is walked by it, has its object
 * operations, or has a trace or a capture that matches by it; another node, such as a clone, would
 * run its code; one of its nodes is a live feature of an arc; an arc that it created exists, or an
 * arc has one of its features or reads indexes by its code; a dispatch has its object operations,
 * or notifies workers by its code; it has families or variants and a HAL exists; or an offload
 * makes rules by its flow driver. -EDEADLK called by code of a graph, or with the registry's lock
 * held (hy_graph.h).
 */
int hy_plugin_unload(struct hy_plugin *plugin, char *error);

/** Description of a plugin. */
struct hy_plugin_info {
	const char *path;    /**< Symbolic links resolved. */
	const char *name;    /**< From HY_PLUGIN(). */
	const char *version; /**< From HY_PLUGIN(). */
	const char *text;    /**< From HY_PLUGIN(). */
	uint32_t abi;        /**< HY_ABI when it was built. */
	uint32_t dpdk;       /**< RTE_VERSION when it was built. */
};

/** @return The plugin loaded after @p plugin, or the first one for NULL; NULL: no more plugins. */
struct hy_plugin *hy_plugin_next(const struct hy_plugin *plugin);

/** @return The description of @p plugin, valid until it is unloaded. */
const struct hy_plugin_info *hy_plugin_describe(const struct hy_plugin *plugin);

HY_API_END
