/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin's file, before any of its code runs: who can change it, whether it is whole, and what
 * it was built for. libelf reads it, so that a damaged file is an error and never a crash.
 */

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>

#include "plugin.h"

/* Our own ELF header, as the linker places it: says which machine this is. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static int __rte_format_printf(2, 3) refuse(char *reason, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(reason, HY_PLUGIN_REASON_SIZE, format, ap);
	va_end(ap);
	return -ENOEXEC;
}

static int
owner_check(const char *path, const struct stat *st, char *reason)
{
	if (st->st_mode & S_IWOTH) {
		refuse(reason,
			"'%.200s' can be written by everyone; neither the file nor a folder above "
			"it may be",
			path);
		return -EPERM;
	}
	if (st->st_uid != 0 && st->st_uid != geteuid()) {
		refuse(reason,
			"'%.200s' belongs to user %u; accepted: root and user %u, who runs this",
			path, st->st_uid, geteuid());
		return -EPERM;
	}
	return 0;
}

int
hy_plugin_path_check(const char *path, char *reason)
{
	char at[PATH_MAX];
	struct stat st;
	bool is_file = true;
	char *slash;

	snprintf(at, sizeof(at), "%s", path);
	for (;;) {
		int rc;

		if (stat(at, &st) < 0) {
			rc = -errno;
			refuse(reason, "%s", strerror(-rc));
			return rc;
		}
		if (is_file && !S_ISREG(st.st_mode))
			return refuse(reason, "it is no regular file");
		is_file = false;
		rc = owner_check(at, &st, reason);
		if (rc < 0)
			return rc;
		slash = strrchr(at, '/');
		if (slash == NULL || strcmp(at, "/") == 0)
			return 0;
		slash[slash == at ? 1 : 0] = '\0';
	}
}

/* The file is a shared object that this process could run. */
static int
header_check(Elf *elf, char *reason)
{
	GElf_Ehdr ehdr;

	if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &ehdr) == NULL)
		return refuse(reason, "it is no ELF file, or is cut off in its header");
	if (ehdr.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
		ehdr.e_ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA] ||
		ehdr.e_machine != __ehdr_start.e_machine)
		return refuse(reason,
			"it is for another machine: ELF class %u, data %u, machine %u; accepted: "
			"%u, %u, %u",
			ehdr.e_ident[EI_CLASS], ehdr.e_ident[EI_DATA], ehdr.e_machine,
			__ehdr_start.e_ident[EI_CLASS], __ehdr_start.e_ident[EI_DATA],
			__ehdr_start.e_machine);
	if (ehdr.e_type != ET_DYN)
		return refuse(reason, "it is no shared object; build it with -shared -fPIC");
	return 0;
}

/* Finds our note in a segment of notes; returns its size, or 0. */
static size_t
note_find(Elf *elf, const GElf_Phdr *phdr, struct hy_plugin_desc *desc)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)phdr->p_offset, phdr->p_filesz,
		phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t offset = 0, name, found;
	GElf_Nhdr note;

	while (data != NULL && (offset = gelf_getnote(data, offset, &note, &name, &found)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type != HY_PLUGIN_NOTE || note.n_namesz != sizeof(HY_PLUGIN_OWNER) ||
			memcmp(bytes + name, HY_PLUGIN_OWNER, sizeof(HY_PLUGIN_OWNER)) != 0)
			continue;
		memcpy(desc, bytes + found, RTE_MIN(note.n_descsz, sizeof(*desc)));
		return note.n_descsz;
	}
	return 0;
}

/*
 * All that the dynamic linker would map is in the file: it does not look, and reading beyond the
 * end is a SIGBUS. On the way, finds the note.
 */
static int
segments_read(Elf *elf, uint64_t file_size, struct hy_plugin_desc *desc, size_t *desc_size,
	char *reason)
{
	GElf_Ehdr ehdr;

	*desc_size = 0;
	/* As many as the header says; elf_getphdrnum() says how many there are. */
	for (int i = 0; gelf_getehdr(elf, &ehdr) != NULL && i < ehdr.e_phnum; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf, i, &phdr) == NULL)
			return refuse(reason, "it is cut off in its program headers");
		if (phdr.p_filesz > file_size || phdr.p_offset > file_size - phdr.p_filesz)
			return refuse(reason,
				"it is cut off: segment %d has %ju bytes from byte %ju on, the "
				"file ends at byte %ju",
				i, (uintmax_t)phdr.p_filesz, (uintmax_t)phdr.p_offset,
				(uintmax_t)file_size);
		if (phdr.p_type == PT_NOTE && *desc_size == 0)
			*desc_size = note_find(elf, &phdr, desc);
	}
	return 0;
}

static bool
is_text(const char *text, size_t size)
{
	const size_t len = strnlen(text, size);

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return len < size;
}

/* What the plugin was built for, in the order in which that can be known. */
static int
desc_check(const struct hy_plugin_desc *desc, size_t size, char *reason)
{
	if (size == 0)
		return refuse(reason, "it is no plugin: it has no HY_PLUGIN()");
	if (size < offsetof(struct hy_plugin_desc, name))
		return refuse(reason, "what its HY_PLUGIN() left is damaged");
	if (desc->abi != HY_ABI)
		return refuse(reason, "it was built for ABI %u of Halyard; accepted: %u", desc->abi,
			HY_ABI);
	if (desc->dpdk >> 16 !=
		RTE_VERSION_NUM(rte_version_year(), rte_version_month(), 0, 0) >> 16)
		return refuse(reason, "it was built for DPDK %02u.%02u; accepted: %02u.%02u",
			desc->dpdk >> 24, desc->dpdk >> 16 & 0xff, rte_version_year(),
			rte_version_month());
	if (size != sizeof(*desc) || !is_text(desc->name, sizeof(desc->name)) ||
		!is_text(desc->version, sizeof(desc->version)) ||
		!is_text(desc->text, sizeof(desc->text)))
		return refuse(reason, "what its HY_PLUGIN() left is damaged");
	if (!hy_name_valid(desc->name))
		return refuse(reason,
			"its HY_PLUGIN() has the name '%s'; accepted: 1 to %d of "
			"A-Z a-z 0-9 _ . -",
			desc->name, HY_NAME_SIZE - 1);
	return 0;
}

int
hy_plugin_file_read(int fd, struct hy_plugin_desc *desc, char *reason)
{
	size_t desc_size = 0;
	struct stat st;
	Elf *elf;
	int rc;

	if (elf_version(EV_CURRENT) == EV_NONE || fstat(fd, &st) < 0)
		return refuse(reason, "it cannot be read");
	/* No mapping: a file that shrinks meanwhile is then an error, too. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	rc = header_check(elf, reason);
	if (rc == 0)
		rc = segments_read(elf, (uint64_t)st.st_size, desc, &desc_size, reason);
	elf_end(elf);
	return rc < 0 ? rc : desc_check(desc, desc_size, reason);
}
