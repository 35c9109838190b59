/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes what is read of a plugin's file before any of its code runs. */

#include <ctype.h>
#include <link.h>
#include <string.h>

#include <rte_version.h>

#include "fuzz.h"
#include "plugin.h"

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static void
check_text(const char *text, size_t size)
{
	FUZZ_CHECK(strnlen(text, size) < size);
	for (; *text != '\0'; text++)
		FUZZ_CHECK(!iscntrl((unsigned char)*text));
}

static bool
plugin_one(const uint8_t *bytes, size_t size)
{
	char reason[HY_PLUGIN_REASON_SIZE] = "";
	struct hy_plugin_desc desc;

	memset(&desc, 0xa5, sizeof(desc));
	fuzz_file(bytes, size);
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

/*
 * The least that is a plugin: a header of ours, segments, notes. The i-th seed has i segments before
 * that of the notes, and as many notes before ours.
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
	ElfW(Phdr) segment = { .p_type = PT_LOAD, .p_align = 4 };
	ElfW(Ehdr) header = __ehdr_start;

	if (i > 3)
		return false;
	header.e_type = ET_DYN;
	header.e_phoff = sizeof(header);
	header.e_phnum = (uint16_t)(i + 1);
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	segment.p_filesz = sizeof(header) + (i + 1) * sizeof(segment);
	fwrite(&header, sizeof(header), 1, out);
	for (unsigned int s = 0; s < i; s++)
		fwrite(&segment, sizeof(segment), 1, out);
	segment.p_type = PT_NOTE;
	segment.p_offset = segment.p_filesz;
	segment.p_filesz = sizeof(note) + i * sizeof(other) + sizeof(hy_plugin_numbers_seed);
	fwrite(&segment, sizeof(segment), 1, out);
	for (unsigned int n = 0; n < i; n++)
		fwrite(other, sizeof(other), 1, out);
	fwrite(&hy_plugin_numbers_seed, sizeof(hy_plugin_numbers_seed), 1, out);
	fwrite(&note, sizeof(note), 1, out);
	return true;
}

const struct fuzz_target fuzz_plugin = { "plugin", NULL, plugin_one, plugin_seed };
