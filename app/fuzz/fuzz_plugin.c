/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reader of plugin files, which runs before any code of a plugin. */

#include <link.h>
#include <string.h>

#include <rte_version.h>

#include "fuzz.h"
#include "lib/graph/plugin/plugin.h"

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static void
check_text(const char *text, size_t size)
{
	FUZZ_CHECK(strnlen(text, size) < size);
	fuzz_check_message(text);
}

/* Every text of a tag is terminated and lies in the file: a sanitizer detects reads beyond it. */
static void
check_tags(int fd)
{
	char reason[HY_PLUGIN_REASON_SIZE] = "";
	struct hy_plugin_dynamic dynamic;
	struct hy_plugin_tag tag;

	if (hy_plugin_dynamic_open(fd, &dynamic, reason) < 0) {
		FUZZ_CHECK(reason[0] != '\0');
		check_text(reason, sizeof(reason));
	} else {
		for (size_t i = 0; hy_plugin_tag(&dynamic, i, &tag); i++)
			fuzz_check_message(tag.text);
	}
	hy_plugin_dynamic_close(&dynamic);
}

static bool
plugin_one(const uint8_t *bytes, size_t size)
{
	char reason[HY_PLUGIN_REASON_SIZE] = "";
	struct hy_plugin_desc desc;

	memset(&desc, 0xa5, sizeof(desc));
	fuzz_file(bytes, size);
	check_tags(fuzz_file_fd());
	if (hy_plugin_file_read(fuzz_file_fd(), &desc, reason) < 0) {
		FUZZ_CHECK(reason[0] != '\0');
		check_text(reason, sizeof(reason));
		return false;
	}
	FUZZ_CHECK(size >= sizeof(desc) && desc.abi == HY_ABI);
	FUZZ_CHECK(hy_name_valid(desc.name));
	check_text(desc.version, sizeof(desc.version));
	check_text(desc.text, sizeof(desc.text));
	return true;
}

HY_PLUGIN_NUMBERS(seed, HY_PLUGIN_CORE);

/* The dynamic section of a plugin: tags, followed by their strings. */
static const char strings[] = "\0libc.so.6\0fuzz.so";
#define TAGS 5
#define TAGS_SIZE (TAGS * sizeof(ElfW(Dyn)) + sizeof(strings))

static void
tags_write(uint64_t at, FILE *out)
{
	ElfW(Dyn) tags[TAGS] = { { .d_tag = DT_STRTAB }, { .d_tag = DT_STRSZ },
		{ .d_tag = DT_NEEDED }, { .d_tag = DT_SONAME }, { .d_tag = DT_NULL } };

	tags[0].d_un.d_ptr = at + sizeof(tags);
	tags[1].d_un.d_val = sizeof(strings);
	tags[2].d_un.d_val = 1;
	tags[3].d_un.d_val = sizeof("\0libc.so.6");
	fwrite(tags, sizeof(tags), 1, out);
	fwrite(strings, sizeof(strings), 1, out);
}

/*
 * A minimal plugin: a header, segments, notes, tags. Seed i has i unused segments, and i notes
 * before Halyard's.
 */
static bool
plugin_seed(unsigned int i, FILE *out)
{
	const struct hy_plugin_note note = { .owner_size = sizeof(HY_PLUGIN_OWNER),
		.desc_size = sizeof(struct hy_plugin_desc),
		.type = HY_PLUGIN_NOTE,
		.owner = HY_PLUGIN_OWNER,
		.desc = { HY_ABI, RTE_VERSION, "fuzz", "1", "A seed." } };
	static const uint32_t other[] = { 4, 4, 1, 0x554e47, 7 };
	ElfW(Phdr) load = { .p_type = PT_LOAD, .p_align = 4 };
	ElfW(Phdr) notes = { .p_type = PT_NOTE, .p_align = 4 };
	ElfW(Phdr) dynamic = { .p_type = PT_DYNAMIC, .p_align = 4 };
	ElfW(Ehdr) header = __ehdr_start;

	if (i > 3)
		return false;
	header.e_type = ET_DYN;
	header.e_phoff = sizeof(header);
	header.e_phnum = (uint16_t)(i + 3);
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	notes.p_offset = sizeof(header) + header.e_phnum * sizeof(load);
	notes.p_filesz = sizeof(note) + i * sizeof(other) + sizeof(hy_plugin_numbers_seed);
	dynamic.p_offset = dynamic.p_vaddr = notes.p_offset + notes.p_filesz;
	dynamic.p_filesz = TAGS * sizeof(ElfW(Dyn));
	load.p_filesz = dynamic.p_offset + TAGS_SIZE;
	fwrite(&header, sizeof(header), 1, out);
	for (unsigned int s = 0; s <= i; s++)
		fwrite(&load, sizeof(load), 1, out);
	fwrite(&notes, sizeof(notes), 1, out);
	fwrite(&dynamic, sizeof(dynamic), 1, out);
	for (unsigned int n = 0; n < i; n++)
		fwrite(other, sizeof(other), 1, out);
	fwrite(&hy_plugin_numbers_seed, sizeof(hy_plugin_numbers_seed), 1, out);
	fwrite(&note, sizeof(note), 1, out);
	tags_write(dynamic.p_offset, out);
	return true;
}

const struct fuzz_target fuzz_plugin = { "plugin", NULL, plugin_one, plugin_seed };
