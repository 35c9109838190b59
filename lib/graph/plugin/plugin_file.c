/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin's file, before any of its code runs: who can change it, whether it is whole, and what
 * it was built for. libelf reads it, so that a damaged file is an error and never a crash.
 */

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>

#include "plugin.h"

/* Our own ELF header, as the linker places it: says which machine this is. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static int
owner_check(const char *path, const struct stat *st, char *reason)
{
	if (st->st_mode & S_IWOTH)
		return hy_plugin_fail(-EPERM, reason,
			"'%.200s' can be written by everyone; neither the file nor a folder above "
			"it may be",
			path);
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return hy_plugin_fail(-EPERM, reason,
			"'%.200s' belongs to user %u; accepted: root and user %u, who runs this",
			path, st->st_uid, geteuid());
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
			return hy_plugin_fail(rc, reason, "%s", strerror(-rc));
		}
		if (is_file && !S_ISREG(st.st_mode))
			return hy_plugin_refuse(reason, "it is no regular file");
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

static bool
is_text(const char *text, size_t size)
{
	const size_t len = strnlen(text, size);

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return len < size;
}

static bool
is_ours(const GElf_Ehdr *ehdr)
{
	return ehdr->e_ident[EI_CLASS] == __ehdr_start.e_ident[EI_CLASS] &&
		ehdr->e_ident[EI_DATA] == __ehdr_start.e_ident[EI_DATA] &&
		ehdr->e_machine == __ehdr_start.e_machine;
}

bool
hy_plugin_is_ours(int fd)
{
	GElf_Ehdr ehdr;
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	const bool is = elf != NULL && elf_kind(elf) == ELF_K_ELF &&
		gelf_getehdr(elf, &ehdr) != NULL && is_ours(&ehdr);

	elf_end(elf);
	return is;
}

/* The file is a shared object that this process could run. */
static int
header_check(Elf *elf, char *reason)
{
	GElf_Ehdr ehdr;

	if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &ehdr) == NULL)
		return hy_plugin_refuse(reason, "it is no ELF file, or is cut off in its header");
	if (!is_ours(&ehdr))
		return hy_plugin_refuse(reason,
			"it is for another machine: ELF class %u, data %u, machine %u; accepted: "
			"%u, %u, %u",
			ehdr.e_ident[EI_CLASS], ehdr.e_ident[EI_DATA], ehdr.e_machine,
			__ehdr_start.e_ident[EI_CLASS], __ehdr_start.e_ident[EI_DATA],
			__ehdr_start.e_machine);
	if (ehdr.e_type != ET_DYN)
		return hy_plugin_refuse(reason,
			"it is no shared object; build it with -shared -fPIC");
	return 0;
}

/* Numbers that our headers compile into a plugin: the core's, then those of other layers. */
static const struct hy_plugin_number core_numbers[] = { HY_PLUGIN_CORE };
static_assert(RTE_DIM(core_numbers) <= 64, "a bit for each");

#define LAYERS_MAX 4
static struct {
	const struct hy_plugin_number *numbers;
	unsigned int n;
} layers[LAYERS_MAX] = { { core_numbers, RTE_DIM(core_numbers) } };
static unsigned int nb_layers = 1;

void
hy_plugin_numbers_add(const struct hy_plugin_number *numbers, unsigned int n)
{
	RTE_VERIFY(nb_layers < LAYERS_MAX);
	layers[nb_layers].numbers = numbers;
	layers[nb_layers++].n = n;
}

#define NOTES_MAX (1u << 20) /* bytes of all notes; ours take some thousand */

/* The contents of our notes in a file. */
struct notes {
	uint64_t size; /* of all notes */
	struct hy_plugin_desc desc;
	size_t desc_size;                      /* 0: no such note */
	uint64_t core;                         /* bit i: it has core_numbers[i] */
	char objection[HY_PLUGIN_REASON_SIZE]; /* to the first number that is not ours, or "" */
};

static const struct hy_plugin_number *
number_find(const char *what, struct notes *notes)
{
	for (unsigned int l = 0; l < nb_layers; l++)
		for (unsigned int i = 0; i < layers[l].n; i++) {
			if (strcmp(layers[l].numbers[i].what, what) != 0)
				continue;
			notes->core |= l == 0 ? UINT64_C(1) << i : 0;
			return &layers[l].numbers[i];
		}
	return NULL;
}

static void
numbers_compare(const char *bytes, size_t size, struct notes *notes)
{
	struct hy_plugin_number number;

	for (size_t at = 0; size - at >= sizeof(number) && notes->objection[0] == '\0';
		at += sizeof(number)) {
		const struct hy_plugin_number *ours;

		memcpy(&number, bytes + at, sizeof(number));
		number.what[sizeof(number.what) - 1] = '\0';
		ours = number_find(number.what, notes);
		if (ours == NULL && is_text(number.what, sizeof(number.what)))
			snprintf(notes->objection, HY_PLUGIN_REASON_SIZE,
				"it was built with other headers of Halyard: %s is unknown here",
				number.what);
		else if (ours == NULL)
			snprintf(notes->objection, HY_PLUGIN_REASON_SIZE,
				"what its headers of Halyard left is damaged");
		else if (ours->is != number.is)
			snprintf(notes->objection, HY_PLUGIN_REASON_SIZE,
				"it was built with other headers of Halyard: %s is %u there; "
				"accepted: %u",
				number.what, number.is, ours->is);
	}
}

/* Reads our notes in a segment of notes. */
static void
notes_read(Elf *elf, const GElf_Phdr *phdr, struct notes *notes)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)phdr->p_offset, phdr->p_filesz,
		phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t offset = 0, name, found;
	GElf_Nhdr note;

	while (data != NULL && (offset = gelf_getnote(data, offset, &note, &name, &found)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_namesz != sizeof(HY_PLUGIN_OWNER) ||
			memcmp(bytes + name, HY_PLUGIN_OWNER, sizeof(HY_PLUGIN_OWNER)) != 0)
			continue;
		if (note.n_type == HY_PLUGIN_NUMBERS_NOTE) {
			numbers_compare(bytes + found, note.n_descsz, notes);
		} else if (note.n_type == HY_PLUGIN_NOTE && notes->desc_size == 0) {
			memcpy(&notes->desc, bytes + found,
				RTE_MIN(note.n_descsz, sizeof(notes->desc)));
			notes->desc_size = note.n_descsz;
		}
	}
}

/*
 * All that the dynamic linker would map is in the file: it does not look, and reading beyond the
 * end is a SIGBUS. On the way, reads the notes.
 */
static int
segments_read(Elf *elf, uint64_t file_size, struct notes *notes, char *reason)
{
	GElf_Ehdr ehdr;

	/* As many as the header says; elf_getphdrnum() says how many there are. */
	for (int i = 0; gelf_getehdr(elf, &ehdr) != NULL && i < ehdr.e_phnum; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf, i, &phdr) == NULL)
			return hy_plugin_refuse(reason, "it is cut off in its program headers");
		if (phdr.p_filesz > file_size || phdr.p_offset > file_size - phdr.p_filesz)
			return hy_plugin_refuse(reason,
				"it is cut off: segment %d has %ju bytes from byte %ju on, the "
				"file ends at byte %ju",
				i, (uintmax_t)phdr.p_filesz, (uintmax_t)phdr.p_offset,
				(uintmax_t)file_size);
		if (phdr.p_type != PT_NOTE)
			continue;
		notes->size += phdr.p_filesz;
		if (notes->size > NOTES_MAX)
			return hy_plugin_refuse(reason,
				"it has %ju bytes of notes; accepted: at most %u",
				(uintmax_t)notes->size, NOTES_MAX);
		notes_read(elf, &phdr, notes);
	}
	return 0;
}

/* Checks what the plugin was built for, in the order in which fields can be read. */
static int
notes_check(const struct notes *notes, char *reason)
{
	const struct hy_plugin_desc *desc = &notes->desc;
	const size_t size = notes->desc_size;

	if (size == 0)
		return hy_plugin_refuse(reason, "it is no plugin: it has no HY_PLUGIN()");
	if (size < offsetof(struct hy_plugin_desc, name))
		return hy_plugin_refuse(reason, "what its HY_PLUGIN() left is damaged");
	if (desc->abi != HY_ABI)
		return hy_plugin_refuse(reason, "it was built for ABI %u of Halyard; accepted: %u",
			desc->abi, HY_ABI);
	if (desc->dpdk >> 16 !=
		RTE_VERSION_NUM(rte_version_year(), rte_version_month(), 0, 0) >> 16)
		return hy_plugin_refuse(reason,
			"it was built for DPDK %02u.%02u; accepted: %02u.%02u", desc->dpdk >> 24,
			desc->dpdk >> 16 & 0xff, rte_version_year(), rte_version_month());
	if (notes->objection[0] != '\0')
		return hy_plugin_refuse(reason, "%s", notes->objection);
	if (notes->core != UINT64_MAX >> (64 - RTE_DIM(core_numbers)))
		return hy_plugin_refuse(reason,
			"it was built with other headers of Halyard: these left %d sizes and "
			"offsets; accepted: %zu",
			__builtin_popcountll(notes->core), RTE_DIM(core_numbers));
	if (size != sizeof(*desc) || !is_text(desc->name, sizeof(desc->name)) ||
		!is_text(desc->version, sizeof(desc->version)) ||
		!is_text(desc->text, sizeof(desc->text)))
		return hy_plugin_refuse(reason, "what its HY_PLUGIN() left is damaged");
	if (!hy_name_valid(desc->name))
		return hy_plugin_refuse(reason,
			"its HY_PLUGIN() has the name '%s'; accepted: 1 to %d of "
			"A-Z a-z 0-9 _ . -",
			desc->name, HY_NAME_SIZE - 1);
	return 0;
}

int
hy_plugin_file_read(int fd, struct hy_plugin_desc *desc, char *reason)
{
	struct notes notes = { .desc_size = 0 };
	struct stat st;
	Elf *elf;
	int rc;

	if (elf_version(EV_CURRENT) == EV_NONE || fstat(fd, &st) < 0)
		return hy_plugin_refuse(reason, "it cannot be read");
	/* No mapping: a file that shrinks meanwhile is then an error, too. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	rc = header_check(elf, reason);
	if (rc == 0)
		rc = segments_read(elf, (uint64_t)st.st_size, &notes, reason);
	elf_end(elf);
	if (rc == 0)
		rc = notes_check(&notes, reason);
	*desc = notes.desc;
	return rc;
}
