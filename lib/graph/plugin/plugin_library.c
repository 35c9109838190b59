/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the dynamic linker goes by: the tags of a shared object, and the folders in which a library
 * is searched for by its name.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin.h"

/* Where in the file an address is that a segment is loaded to; false: nowhere. */
static bool
offset_of(const struct hy_plugin_dynamic *dynamic, uint64_t address, uint64_t size,
	uint64_t *offset)
{
	GElf_Ehdr ehdr;

	for (int i = 0; gelf_getehdr(dynamic->elf, &ehdr) != NULL && i < ehdr.e_phnum; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(dynamic->elf, i, &phdr) == NULL || phdr.p_type != PT_LOAD ||
			address < phdr.p_vaddr || address - phdr.p_vaddr >= phdr.p_filesz ||
			size > phdr.p_filesz - (address - phdr.p_vaddr))
			continue;
		*offset = phdr.p_offset + (address - phdr.p_vaddr);
		return true;
	}
	return false;
}

#define DATA_MAX (64ul << 20) /* bytes of tags, or of their strings */

/* What is loaded to an address, or NULL. Not by the offset that a header gives besides. */
static Elf_Data *
data_at(const struct hy_plugin_dynamic *dynamic, uint64_t address, uint64_t size, Elf_Type type)
{
	uint64_t offset;

	return size <= DATA_MAX && offset_of(dynamic, address, size, &offset)
		? elf_getdata_rawchunk(dynamic->elf, (int64_t)offset, size, type)
		: NULL;
}

/* Finds the tags and, by them, the strings. */
static bool
tags_find(struct hy_plugin_dynamic *dynamic)
{
	uint64_t strings = 0, size = 0;
	unsigned int found = 0;
	GElf_Ehdr ehdr;
	GElf_Dyn dyn;

	for (int i = 0; gelf_getehdr(dynamic->elf, &ehdr) != NULL && i < ehdr.e_phnum; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(dynamic->elf, i, &phdr) == NULL || phdr.p_type != PT_DYNAMIC)
			continue;
		found++;
		dynamic->tags = data_at(dynamic, phdr.p_vaddr, phdr.p_filesz, ELF_T_DYN);
	}
	if (found != 1 || dynamic->tags == NULL)
		return false;
	for (int i = 0; gelf_getdyn(dynamic->tags, i, &dyn) != NULL && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag == DT_STRTAB)
			strings = dyn.d_un.d_ptr;
		if (dyn.d_tag == DT_STRSZ)
			size = dyn.d_un.d_val;
	}
	dynamic->strings = data_at(dynamic, strings, size, ELF_T_BYTE);
	return dynamic->strings != NULL;
}

/* Whether a tag's value is a string. */
static bool
has_text(int64_t tag)
{
	return tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH ||
		tag == DT_AUXILIARY || tag == DT_FILTER || tag == DT_AUDIT || tag == DT_DEPAUDIT ||
		tag == DT_CONFIG;
}

bool
hy_plugin_tag(const struct hy_plugin_dynamic *dynamic, size_t i, struct hy_plugin_tag *tag)
{
	GElf_Dyn dyn;

	if (gelf_getdyn(dynamic->tags, (int)i, &dyn) == NULL || dyn.d_tag == DT_NULL)
		return false;
	tag->tag = dyn.d_tag;
	tag->text = "";
	if (has_text(dyn.d_tag))
		tag->text = (const char *)dynamic->strings->d_buf + dyn.d_un.d_val;
	return true;
}

/* Whether a string ends within its table, and can be shown. */
static bool
text_valid(const char *strings, size_t size, uint64_t at)
{
	while (at < size && (unsigned char)strings[at] >= ' ' && strings[at] != 0x7f)
		at++;
	return at < size && strings[at] == '\0';
}

static bool
texts_valid(const struct hy_plugin_dynamic *dynamic)
{
	GElf_Dyn dyn;

	for (int i = 0; gelf_getdyn(dynamic->tags, i, &dyn) != NULL && dyn.d_tag != DT_NULL; i++)
		if (has_text(dyn.d_tag) &&
			!text_valid(dynamic->strings->d_buf, dynamic->strings->d_size,
				dyn.d_un.d_val))
			return false;
	return true;
}

int
hy_plugin_dynamic_open(int fd, struct hy_plugin_dynamic *dynamic, char *reason)
{
	*dynamic = (struct hy_plugin_dynamic){ .elf = elf_begin(fd, ELF_C_READ, NULL) };
	if (dynamic->elf != NULL && tags_find(dynamic) && texts_valid(dynamic))
		return 0;
	return hy_plugin_refuse(reason,
		"what it or a library of it has for the dynamic linker is damaged");
}

void
hy_plugin_dynamic_close(struct hy_plugin_dynamic *dynamic)
{
	elf_end(dynamic->elf);
	*dynamic = (struct hy_plugin_dynamic){ .elf = NULL };
}

/* Whether a path leads to a file for this machine, which is then resolved. */
static bool
is_candidate(const char *folder, const char *name, char path[PATH_MAX])
{
	char whole[PATH_MAX];
	int fd;
	bool is;

	if (snprintf(whole, sizeof(whole), "%s%s%s", folder, folder[0] == '\0' ? "" : "/", name) >=
			(int)sizeof(whole) ||
		realpath(whole, path) == NULL)
		return false;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	is = fd >= 0 && hy_plugin_is_ours(fd);
	if (fd >= 0)
		close(fd);
	return is;
}

/* Looks in the folders that the dynamic linker names: LD_LIBRARY_PATH's, and the system's. */
static bool
folders_search(const char *name, bool defaults, char path[PATH_MAX])
{
	void *self = dlopen(NULL, RTLD_LAZY);
	Dl_serinfo size, *info = NULL;
	bool found = false;

	if (self != NULL && dlinfo(self, RTLD_DI_SERINFOSIZE, &size) == 0)
		info = malloc(size.dls_size);
	if (info != NULL && dlinfo(self, RTLD_DI_SERINFOSIZE, info) == 0 &&
		dlinfo(self, RTLD_DI_SERINFO, info) == 0)
		for (unsigned int i = 0; i < info->dls_cnt && !found; i++) {
			const char *folder = info->dls_serpath[i].dls_name;
			const bool is_default = strncmp(folder, "/lib", 4) == 0 ||
				strncmp(folder, "/usr/lib", 8) == 0; /* which is searched last */

			found = is_default == defaults && is_candidate(folder, name, path);
		}
	free(info);
	if (self != NULL)
		dlclose(self);
	return found;
}

/* ld.so.cache(5), as glibc has written it since 2.2: a header, entries, strings. */
struct cache_header {
	char magic[20];
	uint32_t nb_entries;
	uint32_t rest[6];
};

struct cache_entry {
	int32_t flags;
	uint32_t name; /* where it is in the file */
	uint32_t path; /* likewise */
	uint32_t os;
	uint64_t hwcap; /* 0: for any CPU */
};

static const char *
cache_text(const char *cache, size_t size, uint32_t at)
{
	return at < size && memchr(cache + at, '\0', size - at) != NULL ? cache + at : "";
}

static bool
cache_search(const char *cache, size_t size, const char *name, char path[PATH_MAX])
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	const char *start = memmem(cache, size, magic, strlen(magic));
	struct cache_header header;

	if (start == NULL)
		return false;
	size -= (size_t)(start - cache);
	if (size < sizeof(header))
		return false;
	memcpy(&header, start, sizeof(header));
	for (size_t i = 0; i < header.nb_entries; i++) {
		const size_t at = sizeof(header) + i * sizeof(struct cache_entry);
		struct cache_entry entry;

		if (size - sizeof(entry) < at || size < sizeof(entry))
			return false;
		memcpy(&entry, start + at, sizeof(entry));
		if (entry.hwcap == 0 && strcmp(cache_text(start, size, entry.name), name) == 0 &&
			is_candidate("", cache_text(start, size, entry.path), path))
			return true;
	}
	return false;
}

/* Looks in the system's list of libraries, which has folders of the administrator's, too. */
static bool
list_search(const char *name, char path[PATH_MAX])
{
	const int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
	char *cache = NULL;
	bool found = false;
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0)
		cache = malloc((size_t)st.st_size + 1);
	if (cache != NULL && read(fd, cache, (size_t)st.st_size) == st.st_size)
		found = cache_search(cache, (size_t)st.st_size, name, path);
	free(cache);
	close(fd);
	return found;
}

bool
hy_plugin_library_find(const char *name, char path[PATH_MAX])
{
	return folders_search(name, false, path) || list_search(name, path) ||
		folders_search(name, true, path);
}
