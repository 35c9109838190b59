/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment that figures depend on: processor, compiler, memory, and the build of DPDK. */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <rte_cpuflags.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_graph.h>
#include <rte_pause.h>
#include <rte_vect.h>
#include <rte_version.h>

#include "bench.h"

#ifdef __clang__
#define COMPILER \
	"clang " RTE_STR(__clang_major__) "." RTE_STR(__clang_minor__) "." RTE_STR( \
		__clang_patchlevel__)
#else
#define COMPILER "gcc " __VERSION__
#endif

/* The processor's name, or the architecture's where /proc/cpuinfo has none (arm64). */
static const char *
cpu(void)
{
	static char line[256];
	static struct utsname name;
	FILE *in = fopen("/proc/cpuinfo", "r");

	while (in != NULL && fgets(line, sizeof(line), in) != NULL) {
		char *value = strstr(line, ": ");

		if (value == NULL || strncmp(line, "model name", 10) != 0)
			continue;
		fclose(in);
		value[strcspn(value, "\"\\\n")] = '\0';
		return value + 2;
	}
	if (in != NULL)
		fclose(in);
	return uname(&name) == 0 ? name.machine : "unknown";
}

static const char *
memory(void)
{
	return rte_eal_has_hugepages() ? "hugepages" : "no hugepages";
}

/* TSC cycles of an addition, which takes a core cycle. */
static struct {
	double median, p10;
} addition;

void
machine_measure(void)
{
	calibrate_addition(&addition.median, &addition.p10);
}

/* The widest vectors that the CPU has and EAL allows. */
static unsigned int
simd_bits(void)
{
#ifdef RTE_ARCH_X86
	const unsigned int widest = rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 ? 512
		: rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0                      ? 256
										      : 128;

	return RTE_MIN(widest, (unsigned int)rte_vect_get_max_simd_bitwidth());
#else
	return rte_vect_get_max_simd_bitwidth();
#endif
}

/* The file from which librte_graph was loaded. */
static const char *
peer(void)
{
	Dl_info info;

	return dladdr((void *)(uintptr_t)rte_graph_create, &info) != 0 ? info.dli_fname
								       : "linked statically";
}

/* How DPDK was built, as written beside it by tools/dpdk-build; the libraries do not tell. */
static const char *
peer_build(void)
{
	static char line[256];
	char path[4096];
	FILE *in;

	snprintf(path, sizeof(path), "%.*s/halyard-dpdk-build",
		(int)(strrchr(peer(), '/') == NULL ? 0 : strrchr(peer(), '/') - peer()), peer());
	in = fopen(path, "r");
	if (in == NULL || fgets(line, sizeof(line), in) == NULL)
		snprintf(line, sizeof(line), "as its packager compiled it");
	if (in != NULL)
		fclose(in);
	line[strcspn(line, "\"\\\n")] = '\0';
	return line;
}

void
machine_print(FILE *out)
{
	const double tsc = (double)rte_get_tsc_hz() / 1e9;

	fprintf(out, "%s, TSC %.2f GHz, SIMD %u bits; %s\n", cpu(), tsc, simd_bits(), memory());
	fprintf(out,
		"core clock %.2f GHz: an addition takes %.3f TSC cycles, %.3f in the lowest tenth\n",
		tsc / addition.median, addition.median, addition.p10);
	fprintf(out, "%s, %s, for all that is compiled here\n", COMPILER, HY_BENCH_FLAGS);
	fprintf(out,
		"%s, %s: %s; librte_graph counts cycles, calls and objects: %s (its build's "
		"default); nostats is without\n",
		rte_version(), peer(), peer_build(), rte_graph_has_stats_feature() ? "yes" : "no");
}

void
machine_write_json(FILE *out)
{
	fprintf(out,
		"{\"cpu\": \"%s\", \"tsc_hz\": %lu, \"addition\": %.6g, \"addition_p10\": %.6g, "
		"\"simd_bits\": %u, \"memory\": \"%s\",\n  "
		"\"compiler\": \"%s\", \"flags\": \"%s\", \"dpdk\": \"%s\", "
		"\"dpdk_library\": \"%s\", \"dpdk_build\": \"%s\", \"librte_graph_stats\": %s}",
		cpu(), (unsigned long)rte_get_tsc_hz(), addition.median, addition.p10, simd_bits(),
		memory(), COMPILER, HY_BENCH_FLAGS, rte_version(), peer(), peer_build(),
		rte_graph_has_stats_feature() ? "true" : "false");
}

bool
bench_simd(bool cpu_can, unsigned int bits)
{
	if (!cpu_can)
		bench_cannot("the CPU lacks its instructions");
	else if (bits > rte_vect_get_max_simd_bitwidth())
		bench_cannot("it needs vectors of %u bits, %u are allowed", bits,
			rte_vect_get_max_simd_bitwidth());
	else
		return true;
	return false;
}

void
bench_meet(atomic_uint *arrived, unsigned int due)
{
	atomic_fetch_add(arrived, 1);
	for (unsigned int i = 1; atomic_load(arrived) < due; i++)
		if (i % 1024 == 0)
			sched_yield(); /* other programs may have the other thread's CPU */
		else
			rte_pause();
}
