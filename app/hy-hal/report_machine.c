/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine in a report. Files with serial numbers or names are not read. */

#include <glob.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include <hy_about.h>

#include "report.h"

#define LINE 4096
#define NODES 64

/* The first line of a file, or "". */
static char *__rte_format_printf(2, 3) line_of(char line[LINE], const char *format, ...)
{
	char path[512];
	va_list ap;
	FILE *in;

	va_start(ap, format);
	vsnprintf(path, sizeof(path), format, ap);
	va_end(ap);
	in = fopen(path, "r");
	if (in == NULL || fgets(line, LINE, in) == NULL)
		line[0] = '\0';
	if (in != NULL)
		fclose(in);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* Reads what follows a name and a separator, without quotes, in the first line that begins so. */
static bool
value_in(const char *path, const char *name, char separator, char line[LINE])
{
	const size_t n = strlen(name);
	FILE *in = fopen(path, "r");
	bool found = false;

	while (in != NULL && !found && fgets(line, LINE, in) != NULL) {
		const char *at = line + n;

		if (strncmp(line, name, n) != 0)
			continue;
		at += strspn(at, " \t");
		if (*at != separator)
			continue;
		found = true;
		at += 1 + strspn(at + 1, " \t\"");
		memmove(line, at, strlen(at) + 1);
		line[strcspn(line, "\"\n")] = '\0';
	}
	if (in != NULL)
		fclose(in);
	return found;
}

static void
line_write(struct outline *o, const char *name, const char *path)
{
	char line[LINE];

	if (*line_of(line, "%s", path) != '\0')
		outline_version(o, name, line);
}

/* Only the flags that decide which code can run, and how reliable the TSC is. */
static void
isa_write(struct outline *o)
{
	static const char *const matter[] = { "sse4_2", "popcnt", "bmi1", "bmi2", "avx", "avx2",
		"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd", "avx512vbmi",
		"avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "aes", "pclmulqdq", "vaes",
		"vpclmulqdq", "gfni", "sha_ni", "movdiri", "movdir64b", "waitpkg", "constant_tsc",
		"nonstop_tsc", "pdpe1gb", "hypervisor", "asimd", "pmull", "sha1", "sha2", "crc32",
		"atomics", "sve", "sve2", "wfxt" };
	char line[LINE] = "";

	if (!value_in("/proc/cpuinfo", "flags", ':', line))
		value_in("/proc/cpuinfo", "Features", ':', line);
	outline_words(o, "isa");
	for (char *rest = line, *flag; (flag = strsep(&rest, " ")) != NULL;)
		for (size_t i = 0; i < RTE_DIM(matter); i++)
			if (strcmp(flag, matter[i]) == 0)
				outline_word(o, flag);
	outline_words_close(o);
}

static void
cpu_write(struct outline *o)
{
	static const char *const values[][2] = { { "model", "model name" },
		{ "family", "cpu family" }, { "model_number", "model" }, { "stepping", "stepping" },
		{ "microcode", "microcode" }, { "implementer", "CPU implementer" },
		{ "part", "CPU part" }, { "variant", "CPU variant" },
		{ "revision", "CPU revision" } };
	static const char base[] = "/sys/devices/system/cpu/";
	struct utsname name;
	char line[LINE];

	outline_open(o, "cpu");
	for (size_t i = 0; i < RTE_DIM(values); i++)
		if (value_in("/proc/cpuinfo", values[i][1], ':', line))
			outline_text(o, values[i][0], "%s", line);
	if (uname(&name) == 0)
		outline_text(o, "architecture", "%s", name.machine);
	isa_write(o);
	outline_text(o, "online", "%s", line_of(line, "%sonline", base));
	line_of(line, "%sisolated", base);
	outline_text(o, "isolated", "%s", *line == '\0' ? "none" : line);
	line_write(o, "smt", "/sys/devices/system/cpu/smt/control");
	line_write(o, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	for (unsigned int i = 0; i < 4; i++) {
		char cache[32], type[LINE], level[LINE];

		line_of(level, "%scpu0/cache/index%u/level", base, i);
		if (*line_of(line, "%scpu0/cache/index%u/size", base, i) == '\0')
			continue;
		line_of(type, "%scpu0/cache/index%u/type", base, i);
		snprintf(cache, sizeof(cache), "cache_l%.2s%s", level,
			type[0] == 'D'           ? "d"
				: type[0] == 'I' ? "i"
						 : "");
		outline_text(o, cache, "%s", line);
	}
	outline_number(o, "tsc_hz", rte_get_tsc_hz());
	outline_close(o);
}

/* Huge pages of each size, of the machine or of a node. */
static void
hugepages_write(struct outline *o, const char *folder)
{
	char pattern[256], line[LINE];
	glob_t sizes = { 0 };

	outline_list(o, "hugepages");
	snprintf(pattern, sizeof(pattern), "%s/hugepages-*", folder);
	glob(pattern, 0, NULL, &sizes);
	for (size_t i = 0; i < sizes.gl_pathc; i++) {
		const char *path = sizes.gl_pathv[i];

		outline_row(o);
		outline_number(o, "size_kb", strtoul(strrchr(path, '-') + 1, NULL, 10));
		line_of(line, "%s/nr_hugepages", path);
		outline_number(o, "pages", strtoul(line, NULL, 10));
		line_of(line, "%s/free_hugepages", path);
		outline_number(o, "free", strtoul(line, NULL, 10));
		outline_row_close(o);
	}
	globfree(&sizes);
	outline_list_close(o);
}

static void
memory_write(struct outline *o)
{
	static const char node[] = "/sys/devices/system/node/node";
	char line[LINE], path[128], name[64];

	if (value_in("/proc/meminfo", "MemTotal", ':', line))
		outline_number(o, "memory_mb", strtoul(line, NULL, 10) / 1024);
	hugepages_write(o, "/sys/kernel/mm/hugepages");
	outline_list(o, "numa_nodes");
	for (unsigned int n = 0; n < NODES; n++) {
		snprintf(path, sizeof(path), "%s%u", node, n);
		if (access(path, F_OK) != 0)
			continue;
		outline_item(o);
		outline_number(o, "node", n);
		outline_text(o, "cpus", "%s", line_of(line, "%s%u/cpulist", node, n));
		snprintf(path, sizeof(path), "%s%u/meminfo", node, n);
		snprintf(name, sizeof(name), "Node %u MemTotal", n);
		if (value_in(path, name, ':', line))
			outline_number(o, "memory_mb", strtoul(line, NULL, 10) / 1024);
		snprintf(path, sizeof(path), "%s%u/hugepages", node, n);
		hugepages_write(o, path);
		outline_close(o);
	}
	outline_list_close(o);
}

/* The kernel's parameters that affect packet processing. Others may identify the machine. */
static void
boot_write(struct outline *o)
{
	static const char *const matter[] = { "isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity",
		"hugepages", "hugepagesz", "default_hugepagesz", "iommu", "intel_iommu",
		"amd_iommu", "iommu.passthrough", "arm-smmu.disable_bypass", "intel_pstate",
		"amd_pstate", "intel_idle.max_cstate", "processor.max_cstate", "idle", "nosmt",
		"mitigations", "tsc", "skew_tick", "nmi_watchdog", "pci" };
	char line[LINE];

	outline_words(o, "boot_parameters");
	line_of(line, "/proc/cmdline");
	for (char *rest = line, *word; (word = strsep(&rest, " ")) != NULL;)
		for (size_t i = 0; i < RTE_DIM(matter); i++)
			if (strcspn(word, "=") == strlen(matter[i]) &&
				strncmp(word, matter[i], strlen(matter[i])) == 0)
				outline_word(o, word);
	outline_words_close(o);
}

static void
system_write(struct outline *o)
{
	glob_t groups = { 0 };
	struct utsname name;
	char line[LINE];

	line_write(o, "vendor", "/sys/class/dmi/id/sys_vendor");
	line_write(o, "product", "/sys/class/dmi/id/product_name");
	line_write(o, "board", "/sys/class/dmi/id/board_name");
	line_write(o, "bios", "/sys/class/dmi/id/bios_version");
	line_write(o, "bios_date", "/sys/class/dmi/id/bios_date");
	line_write(o, "device_tree_model", "/proc/device-tree/model");
	if (value_in("/etc/os-release", "PRETTY_NAME", '=', line))
		outline_text(o, "distribution", "%s", line);
	if (uname(&name) == 0)
		outline_version(o, "kernel", name.release);
	boot_write(o);
	glob("/sys/kernel/iommu_groups/*", 0, NULL, &groups);
	outline_number(o, "iommu_groups", groups.gl_pathc);
	globfree(&groups);
}

void
report_machine(struct outline *o)
{
	outline_open(o, "machine");
	system_write(o);
	cpu_write(o);
	memory_write(o);
	outline_close(o);

	outline_open(o, "software");
	outline_version(o, "halyard", hy_version());
	outline_version(o, "dpdk", rte_version());
	outline_text(o, "iova", "%s",
		rte_eal_iova_mode() == RTE_IOVA_PA           ? "PA"
			: rte_eal_iova_mode() == RTE_IOVA_VA ? "VA"
							     : "unknown");
	outline_flag(o, "on_hugepages", rte_eal_has_hugepages() != 0);
	outline_flag(o, "as_root", geteuid() == 0);
	outline_number(o, "lcores", rte_lcore_count());
	outline_close(o);
}

/* NICs, crypto devices, accelerators, and all devices of an OCTEON. */
static bool
pci_matters(unsigned long class, unsigned long vendor)
{
	const unsigned long base = class >> 16;

	return base == 0x02 || base == 0x10 || base == 0x12 || class >> 8 == 0x0b40 ||
		vendor == 0x177d;
}

static void
pci_device_write(struct outline *o, const char *folder)
{
	static const char *const numbers[] = { "vendor", "device", "subsystem_vendor",
		"subsystem_device", "revision", "class", "numa_node", "current_link_speed",
		"current_link_width", "max_link_speed", "max_link_width", "sriov_totalvfs",
		"sriov_numvfs" };
	char line[LINE], link[512], driver[512];
	ssize_t n;

	outline_row(o);
	outline_text(o, "address", "%s", strrchr(folder, '/') + 1);
	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		if (*line_of(line, "%s/%s", folder, numbers[i]) != '\0')
			outline_text(o, numbers[i], "%s", line);
	snprintf(link, sizeof(link), "%s/driver", folder);
	n = readlink(link, driver, sizeof(driver) - 1);
	driver[n < 0 ? 0 : n] = '\0';
	outline_text(o, "kernel_driver", "%s",
		n < 0                                  ? "none"
			: strrchr(driver, '/') != NULL ? strrchr(driver, '/') + 1
						       : driver);
	outline_row_close(o);
}

void
report_pci(struct outline *o)
{
	glob_t devices = { 0 };

	outline_list(o, "pci");
	glob("/sys/bus/pci/devices/*", 0, NULL, &devices);
	for (size_t i = 0; i < devices.gl_pathc; i++) {
		const char *folder = devices.gl_pathv[i];
		char class[LINE], vendor[LINE];

		line_of(class, "%s/class", folder);
		line_of(vendor, "%s/vendor", folder);
		if (pci_matters(strtoul(class, NULL, 16), strtoul(vendor, NULL, 16)))
			pci_device_write(o, folder);
	}
	globfree(&devices);
	outline_list_close(o);
}
