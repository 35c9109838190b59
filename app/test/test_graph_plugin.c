/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins: loaded whole or not at all, unloaded when nothing uses them, whatever the file holds. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hy_arc.h>
#include <hy_node.h>
#include <hy_walk.h>

#include "graph_fixture.h"
#include "plugin.h"
#include "registry.h"
#include "unit_plugin.h"

#define STEP 37 /* bytes between the lengths that a plugin is cut to, behind its headers */

static char error[HY_PLUGIN_ERROR_SIZE];

/* A copy of a plugin. */
struct file {
	char path[PATH_MAX];
};

static struct file
file_copy(const char *name, const char *as)
{
	struct file file;

	snprintf(file.path, sizeof(file.path), "%s", unit_plugin(name, as));
	return file;
}

static struct hy_plugin *
load(const char *path)
{
	struct hy_plugin *plugin = NULL;

	if (hy_plugin_load(path, &plugin, error) != 0)
		fail_msg("%s", error);
	return plugin;
}

static void
unload(struct hy_plugin *plugin)
{
	if (hy_plugin_unload(plugin, error) != 0)
		fail_msg("%s", error);
}

/* Asserts that a load fails with this sentence behind the path, and left nothing behind. */
static void
assert_refused(const char *path, int expected, const char *format, ...)
{
	char words[HY_PLUGIN_ERROR_SIZE], sentence[HY_PLUGIN_ERROR_SIZE];
	struct hy_plugin *plugin = NULL;
	va_list ap;

	va_start(ap, format);
	vsnprintf(words, sizeof(words), format, ap);
	va_end(ap);
	snprintf(sentence, sizeof(sentence), "'%s': %.600s", path, words);
	assert_int_equal(hy_plugin_load(path, &plugin, error), expected);
	assert_string_equal(error, sentence);
	assert_null(plugin);
	assert_null(hy_plugin_next(NULL));
	assert_int_equal(hy_node_lookup("plugin_pass", NULL), -ENOENT);
	assert_int_equal(hy_node_lookup("plugin_family", NULL), -ENOENT);
	assert_int_equal(hy_node_lookup("good_node", NULL), -ENOENT);
}

static void
a_plugin_says_what_it_is_and_its_nodes_carry_objects(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = load(file.path);
	const struct hy_plugin_info *info = hy_plugin_describe(plugin);
	struct probe source = { .budget = 1000 }, sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	assert_string_equal(info->path, file.path);
	assert_string_equal(info->name, "test");
	assert_string_equal(info->version, "2.5-rc1");
	assert_string_equal(info->text, "Passes objects on");
	assert_int_equal(info->abi, HY_ABI);
	assert_int_equal(info->dpdk, RTE_VERSION);
	assert_ptr_equal(hy_plugin_next(NULL), plugin);
	assert_null(hy_plugin_next(plugin));

	source_add(&source, "src", "plugin_pass");
	sink_add(&sink, "sink");
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1);
	while (sink.objs < 1000)
		hy_graph_walk(graph);
	assert_int_equal(graph_node(graph, "plugin_pass")->objs, 1000);
	hy_graph_destroy(graph);
	unload(plugin);
	assert_null(hy_plugin_next(NULL));
	assert_int_equal(hy_node_lookup("plugin_pass", NULL), -ENOENT);
}

/* Not -ENOEXEC for ever after, as when a program or a plain dlopen() brings a bad node. */
static void
a_registration_that_fails_fails_the_load_and_nothing_else(void **state)
{
	const struct file bad = file_copy("hy-test-plugin-bad.so", "bad.so");
	const struct file good = file_copy("hy-test-plugin.so", "good.so");
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	assert_refused(bad.path, -EINVAL,
		"registration of 'bad node' failed: its declaration is malformed; nothing of the "
		"plugin was kept");
	assert_null(hy_registry_failed());
	graph = GRAPH("after", .burst = 1);
	unload(load(good.path));
	hy_graph_destroy(graph);
}

static void
a_node_whose_name_is_taken_fails_the_load(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	hy_node_id id;

	RTE_SET_USED(state);
	id = sink_add(NULL, "plugin_family");
	assert_int_equal(hy_plugin_load(file.path, NULL, error), -EEXIST);
	assert_non_null(strstr(error,
		": registration of 'plugin_family' failed: the name is taken;"));
	assert_int_equal(hy_node_lookup("plugin_pass", NULL), -ENOENT);
	assert_int_equal(hy_node_unregister(id), 0); /* the one that was there first stayed */
	unload(load(file.path));
}

static void
a_plugin_that_registers_nothing_is_refused(void **state)
{
	const struct file file = file_copy("hy-test-plugin-empty.so", "empty.so");

	RTE_SET_USED(state);
	assert_refused(file.path, -ENODATA, "it registers no node, family or variant");
}

static void
a_plugin_is_loaded_once_and_so_is_its_name(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	const struct file other = file_copy("hy-test-plugin.so", "other.so");
	struct hy_plugin *plugin = load(file.path);
	char sentence[HY_PLUGIN_ERROR_SIZE];

	RTE_SET_USED(state);
	assert_int_equal(hy_plugin_load(file.path, NULL, error), -EEXIST);
	snprintf(sentence, sizeof(sentence), "'%.300s': it is loaded already", file.path);
	assert_string_equal(error, sentence);
	assert_int_equal(hy_plugin_load(other.path, NULL, error), -EEXIST);
	snprintf(sentence, sizeof(sentence),
		"'%.300s': a plugin 'test' is loaded already, from '%.300s'", other.path,
		file.path);
	assert_string_equal(error, sentence);
	assert_int_equal(hy_node_lookup("plugin_pass", NULL), 0);
	unload(plugin);
	unload(load(other.path));
}

static void
assert_busy(struct hy_plugin *plugin, const char *why)
{
	assert_int_equal(hy_plugin_unload(plugin, error), -EBUSY);
	if (strstr(error, why) == NULL)
		fail_msg("'%s' instead of '%s'", error, why);
	assert_ptr_equal(hy_plugin_next(NULL), plugin);
	assert_int_equal(hy_node_lookup("plugin_pass", NULL), 0);
}

static void
what_is_in_use_is_not_unloaded(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = load(file.path);
	const struct hy_node_impl own = { NULL, probe_pass };
	struct hy_hal *hal = NULL;
	struct hy_graph *graph;
	hy_node_id id, clone;

	RTE_SET_USED(state);
	source_add(NULL, "src", "plugin_pass");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1);
	assert_busy(plugin,
		": its node 'plugin_pass' is in a graph, or in one that waits to be "
		"taken up");
	hy_graph_destroy(graph);

	assert_int_equal(hy_node_lookup("plugin_pass", &id), 0);
	assert_int_equal(hy_node_clone(id, "1", &clone), 0);
	assert_busy(plugin, ": node 'plugin_pass-1' is traced by its code; unregister it");
	assert_int_equal(hy_node_impl_set(clone, &own), 0);
	assert_busy(plugin, ": node 'plugin_pass-1' is traced by its code; unregister it");
	assert_int_equal(hy_node_unregister(clone), 0);
	assert_int_equal(hy_node_lookup("plugin_family", &id), 0);
	assert_int_equal(hy_node_clone(id, "1", &clone), 0);
	assert_busy(plugin, ": node 'plugin_family-1' runs its code; ");
	assert_int_equal(hy_node_unregister(clone), 0);

	assert_int_equal(hy_hal_create(&hal), 0);
	assert_busy(plugin, ": it has families or variants, and a HAL exists; ");
	hy_hal_destroy(hal);
	unload(plugin);
}

/* The registry had another implementation already, but the graph had not. */
static void
a_graph_that_still_runs_its_code_is_in_use(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = load(file.path);
	struct hy_node_impl own = { NULL, probe_sink };
	const struct hy_reg_node *reg;
	struct hy_graph *graph;
	hy_node_id id, sink;

	RTE_SET_USED(state);
	source_add(NULL, "src", "end");
	sink = sink_add(NULL, "end");
	assert_int_equal(hy_node_lookup("plugin_pass", &id), 0);
	reg = hy_registry_get(id);
	assert_int_equal(hy_node_impl_set(sink, &reg->impl), 0);
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1);
	assert_int_equal(hy_node_impl_set(sink, &own), 0);
	assert_busy(plugin,
		": node 'end' of graph 'g' runs its code; update the graph, or destroy it");
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_busy(plugin,
		": node 'end' of graph 'g' runs its code; update the graph, or destroy it");
	hy_graph_walk(graph);
	unload(plugin);
}

static hy_arc_index_t *an_index;
static hy_walk_model_t *a_walk;

/* The plugin's code under the type of another function; nobody calls it. */
static void
code_borrow(void)
{
	hy_node_id id;

	assert_int_equal(hy_node_lookup("plugin_pass", &id), 0);
	an_index = (hy_arc_index_t *)(void *)(uintptr_t)hy_registry_get(id)->impl.process;
	a_walk = (hy_walk_model_t *)(void *)(uintptr_t)hy_registry_get(id)->impl.process;
}

/* Chains tell objects of edges that the node would not have when the plugin is loaded again. */
static void
a_live_feature_keeps_its_plugin(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	const struct hy_arc_feature feature = { .arc = "arc", .node = "plugin_pass" };
	const struct hy_arc_params params = { .end = "end", .index_lane = "index" };
	struct hy_plugin *plugin = load(file.path);
	struct hy_graph *graph;
	struct hy_arc *arc;

	RTE_SET_USED(state);
	source_add(NULL, "src", "end");
	sink_add(NULL, "end");
	sink_add(NULL, "sink");
	assert_int_equal(hy_arc_feature_register(&feature), 0);
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1,
		.lanes = { "index", HY_ARC_LANE });
	assert_int_equal(hy_arc_enable(arc, "plugin_pass", 0, 1), 0);
	assert_busy(plugin,
		": its node 'plugin_pass' is in a graph, or in one that waits to be "
		"taken up");
	hy_graph_destroy(graph);
	assert_busy(plugin,
		": its node 'plugin_pass' is a feature of arc 'arc'; disable all "
		"features of that first");
	assert_int_equal(hy_arc_disable(arc, "plugin_pass", 0), 0);
	unload(plugin);
	plugin = load(file.path);
	assert_int_equal(hy_arc_enable(arc, "plugin_pass", 0, 1), 0);
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1,
		.lanes = { "index", HY_ARC_LANE });
	hy_graph_walk(graph);
	hy_graph_destroy(graph);
	assert_int_equal(hy_arc_destroy(arc), 0);
	unload(plugin);
	assert_int_equal(hy_arc_feature_unregister("plugin_pass"), 0);
}

/* A load that fails takes it back; a plugin that is loaded has it destroyed first. */
static void
an_arc_that_a_plugin_creates_goes_before_it(void **state)
{
	const struct file good = file_copy("hy-test-plugin-arc.so", "arc.so");
	const struct file bad = file_copy("hy-test-plugin-arc-bad.so", "bad.so");
	struct hy_plugin *plugin;
	struct hy_arc *arc;

	RTE_SET_USED(state);
	assert_refused(bad.path, -EINVAL,
		"registration of 'bad node' failed: its declaration is malformed; nothing of the "
		"plugin was kept");
	assert_int_equal(hy_arc_lookup("plugin_arc", &arc), -ENOENT);
	assert_int_equal(hy_node_lookup("plugin_arc", NULL), -ENOENT);
	plugin = load(good.path);
	assert_int_equal(hy_plugin_unload(plugin, error), -EBUSY);
	assert_non_null(strstr(error, "'plugin_arc'"));
	assert_int_equal(hy_arc_lookup("plugin_arc", &arc), 0);
	assert_int_equal(hy_arc_destroy(arc), 0);
	unload(plugin);
}

static void
an_arc_that_asks_its_code_for_indexes_keeps_a_plugin(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = load(file.path);
	struct hy_arc_params params = { .end = "end" };
	struct hy_arc *arc;

	RTE_SET_USED(state);
	code_borrow();
	params.index = an_index;
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
	assert_busy(plugin, ": arc 'arc' asks its code for indexes; destroy that first");
	assert_int_equal(hy_arc_destroy(arc), 0);
	unload(plugin);
}

static int
no_arm(struct hy_graph *graph, bool on)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(on);
	return -ENOTSUP;
}

static int
no_wait(struct hy_graph *graph, unsigned int usec)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(usec);
	return 0;
}

static void
a_graph_that_it_walks_or_whose_objects_it_handles_keeps_a_plugin(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	const char *const src[] = { "src" };
	struct hy_plugin *plugin = load(file.path);
	struct hy_object_ops ops[7];
	struct hy_graph_params params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	code_borrow();
	source_add(NULL, "src", "end");
	sink_add(NULL, "end");
	graph = GRAPH("g", .patterns = src, .nb_patterns = 1, .walk = a_walk);
	assert_busy(plugin, ": it walks graph 'g'; update the graph, or destroy it");
	hy_graph_params_get(graph, &params);
	params.walk = NULL;
	assert_int_equal(hy_graph_update(graph, &params), 0);
	assert_busy(plugin, ": it walks graph 'g'; "); /* until the worker comes to it */
	hy_graph_destroy(graph);
	for (unsigned int f = 0; f < RTE_DIM(ops); f++) {
		void **function = (void **)&ops[f] + f;

		ops[f] = (struct hy_object_ops){
			.release = obj_release, .arm = no_arm, .wait = no_wait
		};
		*function = *(void **)&a_walk;
		graph = GRAPH("g", .patterns = src, .nb_patterns = 1, .ops = &ops[f]);
		assert_busy(plugin, ": it handles the objects of graph 'g'; destroy that first");
		hy_graph_destroy(graph);
	}
	static_assert(sizeof(ops[0]) == RTE_DIM(ops) * sizeof(void *), "an operation more");
	unload(plugin);
}

static void
a_node_that_left_by_itself_is_no_obstacle(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = load(file.path);
	hy_node_id id;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_lookup("plugin_pass", &id), 0);
	assert_int_equal(hy_node_unregister(id), 0);
	unload(plugin);
	assert_string_equal(unit_log(), "");
}

static void
loading_fails_clean_at_every_allocation(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = NULL;
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	do {
		const int64_t live = unit_alloc_live();

		unit_alloc_fail(failed + 1);
		rc = hy_plugin_load(file.path, &plugin, error);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		failed++;
		assert_int_equal(rc, -ENOMEM);
		assert_null(plugin);
		assert_int_equal(unit_alloc_live(), live);
		assert_int_equal(hy_node_lookup("plugin_pass", NULL), -ENOENT);
		assert_int_equal(hy_node_lookup("plugin_family", NULL), -ENOENT);
	} while (failed < 100);
	/* The plugin; two nodes with an edge; five notes of what was registered; three lists. */
	assert_in_range(failed, 12, 20);
	unload(plugin);
}

static void
a_cut_off_file_is_refused_at_every_length(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	unsigned int refused = 0, loaded = 0;
	uint64_t needed = 0;
	ElfW(Ehdr) ehdr;
	struct stat st;
	const int fd = open(file.path, O_RDWR | O_CLOEXEC);
	off_t size;

	RTE_SET_USED(state);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pread(fd, &ehdr, sizeof(ehdr), 0), sizeof(ehdr));
	for (unsigned int i = 0; i < ehdr.e_phnum; i++) {
		ElfW(Phdr) phdr;

		assert_int_equal(pread(fd, &phdr, sizeof(phdr),
					 (off_t)(ehdr.e_phoff + i * sizeof(phdr))),
			sizeof(phdr));
		needed = RTE_MAX(needed, phdr.p_offset + phdr.p_filesz);
	}
	for (size = st.st_size; size >= 0; size -= size > 2048 ? STEP : 1) {
		struct hy_plugin *plugin = NULL;

		assert_int_equal(ftruncate(fd, size), 0);
		if (hy_plugin_load(file.path, &plugin, error) == 0) {
			loaded++;
			assert_in_range(size, needed,
				st.st_size); /* lacks only what is not mapped */
			unload(plugin);
			continue;
		}
		refused++;
		if ((uint64_t)size >= needed)
			fail_msg("%jd of %ju bytes: %s", (intmax_t)size, (uintmax_t)needed, error);
		if (strstr(error, "cut off") == NULL)
			fail_msg("%jd bytes: %s", (intmax_t)size, error);
	}
	close(fd);
	assert_in_range(refused, 2048, 1 << 20);
	assert_in_range(loaded, 1, 1 << 20);
}

/* Whatever a byte of the headers and notes says, reading them ends, in bounds. */
static void
damaged_headers_are_read_without_harm(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	const int fd = open(file.path, O_RDWR | O_CLOEXEC);
	char reason[HY_PLUGIN_REASON_SIZE];
	struct hy_plugin_desc desc;
	unsigned int read = 0, refused = 0;

	RTE_SET_USED(state);
	for (off_t at = 0; at < 1536; at++) {
		uint8_t was;

		assert_int_equal(pread(fd, &was, 1, at), 1);
		for (size_t v = 0; v < RTE_DIM(values); v++) {
			assert_int_equal(pwrite(fd, &values[v], 1, at), 1);
			read++;
			reason[0] = '\0';
			if (hy_plugin_file_read(fd, &desc, reason) == 0)
				continue;
			refused++;
			assert_true(strlen(reason) > 10);
		}
		assert_int_equal(pwrite(fd, &was, 1, at), 1);
	}
	assert_int_equal(hy_plugin_file_read(fd, &desc, reason), 0);
	assert_string_equal(desc.name, "test");
	close(fd);
	assert_int_equal(read, 1536 * RTE_DIM(values));
	assert_in_range(refused, 200, read);
}

/* Where bytes stand in a file, or -1. */
static long
file_find(const char *path, const void *bytes, size_t size)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	const size_t n = fread(text, 1, sizeof(text), file);
	const char *at = memmem(text, n, bytes, size);

	fclose(file);
	return at == NULL ? -1 : at - text;
}

static void
file_patch(const char *path, long at, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "r+");

	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Likewise what stands there for the dynamic linker. */
static void
damaged_tags_are_read_without_harm(void **state)
{
	const struct file file = file_copy("hy-test-plugin-bad.so", "plugin.so");
	const int fd = open(file.path, O_RDWR | O_CLOEXEC);
	unsigned int read = 0, refused = 0, needs = 0;
	char reason[HY_PLUGIN_REASON_SIZE];
	struct hy_plugin_dynamic dynamic;
	struct stat st;

	RTE_SET_USED(state);
	assert_int_equal(fstat(fd, &st), 0);
	for (off_t at = -1; at < st.st_size; at += at < 1024 ? 1 : 3) {
		const uint8_t value = 0xff;
		struct hy_plugin_tag tag;
		uint8_t was = 0;

		if (at >= 0) {
			assert_int_equal(pread(fd, &was, 1, at), 1);
			assert_int_equal(pwrite(fd, &value, 1, at), 1);
		}
		read++;
		if (hy_plugin_dynamic_open(fd, &dynamic, reason) == 0)
			for (size_t i = 0; hy_plugin_tag(&dynamic, i, &tag); i++)
				needs += tag.tag == DT_NEEDED && strlen(tag.text) > 3;
		else
			refused++;
		hy_plugin_dynamic_close(&dynamic);
		if (at >= 0)
			assert_int_equal(pwrite(fd, &was, 1, at), 1);
	}
	close(fd);
	assert_in_range(refused, 20, read / 2);
	assert_in_range(needs, read / 2, read * 2);
}

/* The type of a note of ours and what comes behind: where notes of that type begin. */
struct note_key {
	uint32_t type;
	char owner[sizeof(HY_PLUGIN_OWNER)];
};

/* Overwrites a part of the plugin's descriptor. */
static void
desc_patch(const char *path, size_t offset, const void *bytes, size_t size)
{
	const struct note_key key = { HY_PLUGIN_NOTE, HY_PLUGIN_OWNER };
	const long at = file_find(path, &key, sizeof(key));

	assert_true(at > 0);
	file_patch(path, at + (long)(sizeof(key) + offset), bytes, size);
}
#define DESC_PATCH(path, field, ...) \
	desc_patch(path, offsetof(struct hy_plugin_desc, field), \
		&(const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }))

static void
what_was_built_for_something_else_is_refused(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");

	RTE_SET_USED(state);
	DESC_PATCH(file.path, abi, HY_ABI + 1);
	assert_refused(file.path, -ENOEXEC, "it was built for ABI %u of Halyard; accepted: %u",
		HY_ABI + 1, HY_ABI);
	DESC_PATCH(file.path, abi, HY_ABI, RTE_VERSION_NUM(RTE_VER_YEAR + 1, 3, 0, 99));
	assert_refused(file.path, -ENOEXEC, "it was built for DPDK %u.03; accepted: %u.%02u",
		RTE_VER_YEAR + 1, RTE_VER_YEAR, RTE_VER_MONTH);
	/* A stable update of the same release is no other one. */
	DESC_PATCH(file.path, dpdk, RTE_VERSION_NUM(RTE_VER_YEAR, RTE_VER_MONTH, 77, 99));
	unload(load(file.path));
	DESC_PATCH(file.path, name, 0x0a21);
	assert_refused(file.path, -ENOEXEC, "what its HY_PLUGIN() left is damaged");
	DESC_PATCH(file.path, name, 0);
	assert_refused(file.path, -ENOEXEC,
		"its HY_PLUGIN() has the name ''; accepted: 1 to 63 of A-Z a-z 0-9 _ . -");
}

/* Every number of its notes, those of the HAL's headers included. */
static void
what_was_built_with_other_headers_is_refused(void **state)
{
	static const struct hy_plugin_number numbers[] = { HY_PLUGIN_CORE, HY_HAL_NUMBERS };
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	unsigned int refused = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(numbers); i++) {
		struct hy_plugin_number other = numbers[i];
		long at = file_find(file.path, &numbers[i], sizeof(numbers[i]));

		assert_true(at > 0);
		other.is += 8;
		file_patch(file.path, at, &other, sizeof(other));
		assert_refused(file.path, -ENOEXEC,
			"it was built with other headers of Halyard: %s is %u there; accepted: %u",
			other.what, other.is, numbers[i].is);
		memcpy(other.what, "other", 5);
		file_patch(file.path, at, &other, sizeof(other));
		assert_refused(file.path, -ENOEXEC,
			"it was built with other headers of Halyard: %s is unknown here",
			other.what);
		memset(other.what, '\033', sizeof(other.what));
		file_patch(file.path, at, &other, sizeof(other));
		assert_refused(file.path, -ENOEXEC, "what its headers of Halyard left is damaged");
		file_patch(file.path, at, &numbers[i], sizeof(numbers[i]));
		refused++;
	}
	assert_true(refused > 35);
	unload(load(file.path));
}

/* As before there were such notes. */
static void
a_plugin_that_does_not_say_its_layouts_is_refused(void **state)
{
	const struct note_key key = { HY_PLUGIN_NUMBERS_NOTE, HY_PLUGIN_OWNER };
	const uint32_t other = HY_PLUGIN_NUMBERS_NOTE + 7;
	const struct file file = file_copy("hy-test-plugin-empty.so", "plugin.so");
	long at;

	RTE_SET_USED(state);
	at = file_find(file.path, &key, sizeof(key));
	assert_true(at > 0);
	file_patch(file.path, at, &other, sizeof(other));
	assert_int_equal(file_find(file.path, &key, sizeof(key)), -1);
	assert_refused(file.path, -ENOEXEC,
		"it was built with other headers of Halyard: these left 0 sizes and offsets; "
		"accepted: %zu",
		RTE_DIM(((const struct hy_plugin_number[]){ HY_PLUGIN_CORE })));
}

#ifdef RTE_ARCH_64
/*
 * What a plugin has compiled in. If this fails, the binary interface is another one: give this test
 * the new sizes and, if there was a release since its last number, HY_ABI its next one.
 */
static void
layouts_are_those_of_this_abi(void **state)
{
	static const struct {
		const char *what;
		size_t is, was;
	} sizes[] = {
		{ "struct hy_node", sizeof(struct hy_node), RTE_CACHE_LINE_SIZE },
		{ "struct hy_edge", sizeof(struct hy_edge), 16 },
		{ "struct hy_graph", sizeof(struct hy_graph), 128 + RTE_CACHE_LINE_SIZE },
		{ "struct hy_node_desc", sizeof(struct hy_node_desc), 1128 },
		{ "struct hy_family", sizeof(struct hy_family), 1176 },
		{ "struct hy_variant", sizeof(struct hy_variant), 408 },
		{ "struct hy_capability", sizeof(struct hy_capability), 144 },
		{ "capabilities", HY_CAPS, 52 },
	};

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(sizes); i++)
		if (sizes[i].is != sizes[i].was)
			fail_msg("HY_ABI %d: %s was %zu, is %zu", HY_ABI, sizes[i].what,
				sizes[i].was, sizes[i].is);
}
#endif

static void
a_list_of_plugins_is_loaded_whole_or_not_at_all(void **state)
{
	const struct file file = file_copy("hy-test-plugin.so", "plugin.so");
	char list[2 * PATH_MAX];

	RTE_SET_USED(state);
	assert_int_equal(hy_plugin_load_list(NULL, error), 0);
	assert_int_equal(hy_plugin_load_list("::", error), 0);
	assert_null(hy_plugin_next(NULL));
	snprintf(list, sizeof(list), "%s:/nonexistent.so", file.path);
	assert_int_equal(hy_plugin_load_list(list, error), -ENOENT);
	assert_string_equal(error, "'/nonexistent.so': No such file or directory");
	assert_null(hy_plugin_next(NULL));
	snprintf(list, sizeof(list), ":%s:", file.path);
	assert_int_equal(hy_plugin_load_list(list, error), 0);
	assert_non_null(hy_plugin_next(NULL));
	unload(hy_plugin_next(NULL));
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_plugin_says_what_it_is_and_its_nodes_carry_objects),
	GRAPH_TEST(a_registration_that_fails_fails_the_load_and_nothing_else),
	GRAPH_TEST(a_node_whose_name_is_taken_fails_the_load),
	GRAPH_TEST(a_list_of_plugins_is_loaded_whole_or_not_at_all),
	GRAPH_TEST(a_plugin_that_registers_nothing_is_refused),
	GRAPH_TEST(a_plugin_is_loaded_once_and_so_is_its_name),
	GRAPH_TEST(what_is_in_use_is_not_unloaded),
	GRAPH_TEST(a_graph_that_still_runs_its_code_is_in_use),
	GRAPH_TEST(a_live_feature_keeps_its_plugin),
	GRAPH_TEST(an_arc_that_a_plugin_creates_goes_before_it),
	GRAPH_TEST(an_arc_that_asks_its_code_for_indexes_keeps_a_plugin),
	GRAPH_TEST(a_graph_that_it_walks_or_whose_objects_it_handles_keeps_a_plugin),
	GRAPH_TEST(a_node_that_left_by_itself_is_no_obstacle),
	GRAPH_TEST(loading_fails_clean_at_every_allocation),
	GRAPH_TEST(a_cut_off_file_is_refused_at_every_length),
	GRAPH_TEST(damaged_headers_are_read_without_harm),
	GRAPH_TEST(damaged_tags_are_read_without_harm),
	GRAPH_TEST(what_was_built_for_something_else_is_refused),
	GRAPH_TEST(what_was_built_with_other_headers_is_refused),
	GRAPH_TEST(a_plugin_that_does_not_say_its_layouts_is_refused),
#ifdef RTE_ARCH_64
	GRAPH_TEST(layouts_are_those_of_this_abi),
#endif
};

UNIT_SUITE(tests)
