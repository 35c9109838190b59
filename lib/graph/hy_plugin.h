/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Plugins: nodes, families and variants in a shared object that is loaded while a program runs.
 *
 * A plugin is node files as they would be in the tree, and one HY_PLUGIN() that says what they
 * were built for. The loader reads that from the file before any code of the plugin runs.
 *
 * To be called by one control thread, not from a constructor, after rte_eal_init(); while a plugin
 * is loaded or unloaded, no other thread may register nodes or create graphs. Functions return 0 or
 * a negative errno. Those that take @p error write there one sentence that names the plugin, what
 * was wrong and what is accepted, and have then changed nothing.
 */
#ifndef HY_PLUGIN_H
#define HY_PLUGIN_H

#include <assert.h>

#include <rte_version.h>

#include <hy_arc.h>
#include <hy_capture.h>
#include <hy_graph_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * Number of Halyard's binary interface: what is compiled into a node from the public headers, such
 * as the layout of structures and the bodies of inline functions. Any change there changes it.
 */
#define HY_ABI 1

#define HY_PLUGIN_ERROR_SIZE 1024 /**< Room that @p error arguments must have. */

/** @cond What HY_PLUGIN() leaves in the file: an ELF note. abi and dpdk stay where they are. */
#define HY_PLUGIN_OWNER "Halyard"
#define HY_PLUGIN_NOTE 1         /* its type; of what HY_PLUGIN_NUMBERS() leaves, */
#define HY_PLUGIN_NUMBERS_NOTE 2 /* this: an array of struct hy_plugin_number */

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

/* Something that the compiler took from our headers: "struct hy_node", 64. */
struct hy_plugin_number {
	char what[28];
	uint32_t is;
};

/* clang-format off */
#define HY_PLUGIN_SIZE(type_) { #type_, sizeof(type_) }
#define HY_PLUGIN_OFFSET(name_, member_) { #name_ "." #member_, offsetof(struct name_, member_) }
#define HY_PLUGIN_COUNT(number_) { #number_, number_ }
/* clang-format on */

/* What nodes have of the core's headers: all that the loader of a plugin compares. */
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

/* Leaves such numbers in the file, under a name that is unique in its source file. */
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
 * Loads a plugin and registers what it has. Refused, before any of its code runs:
 *
 * - a file, or a folder above it, that everyone may write, or that belongs neither to root nor to
 *   the effective user. Symbolic links are resolved first. /tmp is such a folder.
 * - what is no ELF shared object for this machine, or is cut off;
 * - what has no HY_PLUGIN(), or was built for another HY_ABI or DPDK release (year and month), or
 *   with headers by which a structure has another layout;
 * - what would have the dynamic linker search in other folders than those of the system and of
 *   LD_LIBRARY_PATH, or load what is not needed by a name alone: RPATH, RUNPATH, filters, audits;
 * - what needs a library, at any level, that is not loaded and for which one of these reasons holds,
 *   or that is nowhere. Libraries are loaded with the plugin, and unloaded with it.
 *
 * Refused after its constructors have run, upon which all that they registered is taken out and
 * the file unloaded: a plugin of which any node, family or variant was refused, or that registers
 * none.
 *
 * @param[out] plugin Until hy_plugin_unload(); may be NULL.
 * @param[out] error HY_PLUGIN_ERROR_SIZE bytes.
 * @return 0; -ENOENT and the like, the file cannot be opened; -EPERM who may write it, or whose it
 * is, or a library's; -ENOEXEC no plugin, cut off, built for something else, or a library is refused; -EEXIST loaded already, or another
 * plugin of its name is; -ELIBACC the dynamic linker refused it; -ENODATA it registers nothing;
 * -ENOMEM; or what the registration that was refused returned.
 */
int hy_plugin_load(const char *path, struct hy_plugin **plugin, char *error);

/** Environment variable whose plugins programs load: see hy_plugin_load_list(). */
#define HY_PLUGIN_ENV "HALYARD_PACKS"

/**
 * Loads several plugins: all or none.
 *
 * @param list Paths with colons between. NULL and empty paths are passed over.
 * @return 0; what hy_plugin_load() returned for the first that was refused.
 */
int hy_plugin_load_list(const char *list, char *error);

/**
 * Takes all that a plugin registered out again, and unloads it. Whatever else the plugin gave
 * pointers to must be undone by its own destructors.
 *
 * @param plugin As hy_plugin_load() gave it, and not unloaded yet.
 * @param[out] error HY_PLUGIN_ERROR_SIZE bytes.
 * @return 0; -EBUSY a graph has one of its nodes, runs its code, is walked by it or has its object
 * operations; another node would run its code (such as a clone); one of its nodes is a feature that
 * an arc has in graphs, or would have in those to come; an arc that it created exists, has one of
 * its features, or asks its code for indexes; a dispatch has its object operations, or notifies
 * workers by its code; it has families or variants and a HAL exists; or an
 * offload makes rules by a flow driver of it.
 */
int hy_plugin_unload(struct hy_plugin *plugin, char *error);

/** What a plugin says of itself. */
struct hy_plugin_info {
	const char *path;    /**< Symbolic links resolved. */
	const char *name;    /**< From HY_PLUGIN(). */
	const char *version; /**< From HY_PLUGIN(). */
	const char *text;    /**< From HY_PLUGIN(). */
	uint32_t abi;        /**< HY_ABI when it was built. */
	uint32_t dpdk;       /**< RTE_VERSION when it was built. */
};

/** @return The plugin loaded after @p plugin, or the first one for NULL; NULL: there is none. */
struct hy_plugin *hy_plugin_next(const struct hy_plugin *plugin);

/** @return What @p plugin says of itself; valid until it is unloaded. */
const struct hy_plugin_info *hy_plugin_describe(const struct hy_plugin *plugin);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
