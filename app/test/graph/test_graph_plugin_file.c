/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins whose files are cut off, damaged, or built for something else: refused, with the reason. */

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hy_node.h>

#include "graph_fixture.h"
#include "lib/graph/plugin/plugin.h"
#include "plugin_fixture.h"

#define STEP 37 /* bytes between the lengths that a plugin is cut to, behind its headers */

static void
a_cut_off_file_is_refused_at_every_length(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
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
		if (hy_plugin_load(file.path, &plugin, plugin_error) == 0) {
			loaded++;
			assert_in_range(size, needed,
				st.st_size); /* lacks only what is not mapped */
			plugin_unload(plugin);
			continue;
		}
		refused++;
		if ((uint64_t)size >= needed)
			fail_msg("%jd of %ju bytes: %s", (intmax_t)size, (uintmax_t)needed,
				plugin_error);
		if (strstr(plugin_error, "cut off") == NULL)
			fail_msg("%jd bytes: %s", (intmax_t)size, plugin_error);
	}
	close(fd);
	assert_in_range(refused, 2048, 1 << 20);
	assert_in_range(loaded, 1, 1 << 20);
}

/* Whatever a byte of the headers and notes says, reading them ends, in bounds. */
static void
damaged_headers_are_read_without_harm(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
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
	const struct plugin_file file = plugin_copy("hy-test-plugin-bad.so", "plugin.so");
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
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");

	RTE_SET_USED(state);
	DESC_PATCH(file.path, abi, HY_ABI + 1);
	assert_plugin_refused(file.path, -ENOEXEC,
		"it was built for ABI %u of Halyard; accepted: %u", HY_ABI + 1, HY_ABI);
	DESC_PATCH(file.path, abi, HY_ABI, RTE_VERSION_NUM(RTE_VER_YEAR + 1, 3, 0, 99));
	assert_plugin_refused(file.path, -ENOEXEC, "it was built for DPDK %u.03; accepted: %u.%02u",
		RTE_VER_YEAR + 1, RTE_VER_YEAR, RTE_VER_MONTH);
	/* A stable update of the same release is no other one. */
	DESC_PATCH(file.path, dpdk, RTE_VERSION_NUM(RTE_VER_YEAR, RTE_VER_MONTH, 77, 99));
	plugin_unload(plugin_load(file.path));
	DESC_PATCH(file.path, name, 0x0a21);
	assert_plugin_refused(file.path, -ENOEXEC, "what its HY_PLUGIN() left is damaged");
	DESC_PATCH(file.path, name, 0);
	assert_plugin_refused(file.path, -ENOEXEC,
		"its HY_PLUGIN() has the name ''; accepted: 1 to 63 of A-Z a-z 0-9 _ . -");
}

/* Every number of its notes, those of the HAL's headers included. */
static void
what_was_built_with_other_headers_is_refused(void **state)
{
	static const struct hy_plugin_number numbers[] = { HY_PLUGIN_CORE, HY_HAL_NUMBERS };
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	unsigned int refused = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(numbers); i++) {
		struct hy_plugin_number other = numbers[i];
		long at = file_find(file.path, &numbers[i], sizeof(numbers[i]));

		assert_true(at > 0);
		other.is += 8;
		file_patch(file.path, at, &other, sizeof(other));
		assert_plugin_refused(file.path, -ENOEXEC,
			"it was built with other headers of Halyard: %s is %u there; accepted: %u",
			other.what, other.is, numbers[i].is);
		memcpy(other.what, "other", 5);
		file_patch(file.path, at, &other, sizeof(other));
		assert_plugin_refused(file.path, -ENOEXEC,
			"it was built with other headers of Halyard: %s is unknown here",
			other.what);
		memset(other.what, '\033', sizeof(other.what));
		file_patch(file.path, at, &other, sizeof(other));
		assert_plugin_refused(file.path, -ENOEXEC,
			"what its headers of Halyard left is damaged");
		file_patch(file.path, at, &numbers[i], sizeof(numbers[i]));
		refused++;
	}
	assert_true(refused > 35);
	plugin_unload(plugin_load(file.path));
}

/* As before there were such notes. */
static void
a_plugin_that_does_not_say_its_layouts_is_refused(void **state)
{
	const struct note_key key = { HY_PLUGIN_NUMBERS_NOTE, HY_PLUGIN_OWNER };
	const uint32_t other = HY_PLUGIN_NUMBERS_NOTE + 7;
	const struct plugin_file file = plugin_copy("hy-test-plugin-empty.so", "plugin.so");
	long at;

	RTE_SET_USED(state);
	at = file_find(file.path, &key, sizeof(key));
	assert_true(at > 0);
	file_patch(file.path, at, &other, sizeof(other));
	assert_int_equal(file_find(file.path, &key, sizeof(key)), -1);
	assert_plugin_refused(file.path, -ENOEXEC,
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
		{ "struct hy_node_desc", sizeof(struct hy_node_desc), 1392 },
		{ "struct hy_family", sizeof(struct hy_family), 1440 },
		{ "struct hy_variant", sizeof(struct hy_variant), 1032 },
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

static const struct CMUnitTest tests[] = {
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
