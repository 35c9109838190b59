/* SPDX-License-Identifier: BSD-3-Clause */
/* What all fuzz targets share: EAL, the choice of a target, silence, the file that is read. */

#include <ctype.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_log.h>

#include "app/test/unit.h"
#include "fuzz.h"

static const struct fuzz_target *const targets[] = { &fuzz_captures, &fuzz_graph, &fuzz_options,
	&fuzz_overrides, &fuzz_plugin, &fuzz_policy, &fuzz_routes, &fuzz_share };
const struct fuzz_target *fuzz_target;

static FILE *terminal, *nowhere;
static int file = -1;
static uint64_t accepted, refused;

void
fuzz_fault(const char *format, ...)
{
	va_list ap;

	fprintf(terminal, "fault: ");
	va_start(ap, format);
	vfprintf(terminal, format, ap);
	va_end(ap);
	fprintf(terminal, "\n");
	fflush(terminal);
	abort();
}

void
fuzz_check_message(const char *text)
{
	for (; *text != '\0'; text++)
		FUZZ_CHECK(!iscntrl((unsigned char)*text));
}

const char *
fuzz_file(const void *bytes, size_t size)
{
	static const struct timespec old[2];
	static char path[32];

	FUZZ_CHECK(ftruncate(file, 0) == 0);
	FUZZ_CHECK(size == 0 || pwrite(file, bytes, size, 0) == (ssize_t)size);
	FUZZ_CHECK(futimens(file, old) ==
		0); /* hy_file_read() waits for a new file's tick to pass */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return path;
}

int
fuzz_file_fd(void)
{
	return file;
}

bool
fuzz_seed_text(const char *const *texts, unsigned int n, unsigned int i, FILE *out)
{
	if (i < n)
		fputs(texts[i], out);
	return i < n;
}

/* Two ports, an event device, a main lcore and two workers, all on a CPU that we may use. */
static void
eal_start(char *program)
{
	char args[][32] = { "--no-huge", "-m256", "--no-pci", "--no-shconf", "--no-telemetry",
		"--log-level=lib.eal:error", "--vdev=net_null0", "--vdev=net_null1",
		"--vdev=event_sw0", "" };
	char *argv[RTE_DIM(args) + 2] = { program };
	cpu_set_t cpus;
	int cpu = 0;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	while (cpu + 1 < CPU_SETSIZE && !CPU_ISSET(cpu, &cpus))
		cpu++;
	snprintf(args[RTE_DIM(args) - 1], sizeof(args[0]), "--lcores=(0-2)@%d", cpu);
	for (size_t i = 0; i < RTE_DIM(args); i++)
		argv[i + 1] = args[i];
	if (rte_eal_init(RTE_DIM(args) + 1, argv) < 0) {
		fprintf(stderr, "rte_eal_init() failed\n");
		exit(EXIT_FAILURE);
	}
}

static const struct fuzz_target *
target_find(const char *name)
{
	for (size_t i = 0; i < RTE_DIM(targets); i++)
		if (strcmp(targets[i]->name, name) == 0)
			return targets[i];
	fprintf(stderr, "'%s' is not a fuzz target; there are:", name);
	for (size_t i = 0; i < RTE_DIM(targets); i++)
		fprintf(stderr, " %s", targets[i]->name);
	fprintf(stderr, "\n");
	exit(2);
}

static void
counts_print(void)
{
	fprintf(terminal, "%s: %ju inputs accepted, %ju refused\n", fuzz_target->name,
		(uintmax_t)accepted, (uintmax_t)refused);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char *program = (*argv)[0];

	fuzz_target = target_find(*argc > 1 ? (*argv)[1] : "");
	++*argv; /* the target's name is no option of libFuzzer */
	--*argc;
	(*argv)[0] = program;
	terminal = stderr;
	nowhere = fopen("/dev/null", "w");
	file = memfd_create("fuzz", MFD_CLOEXEC);
	if (nowhere == NULL || file < 0) {
		perror("fuzz");
		return EXIT_FAILURE;
	}
	eal_start(program);
	if (getenv("FUZZ_LOG") == NULL) /* what is refused, in words */
		rte_log_set_global_level(RTE_LOG_EMERG);
	else
		nowhere = stderr;
	if (fuzz_target->init != NULL)
		fuzz_target->init();
	/* What is kept for ever is there before the first input's blocks are counted. */
	LLVMFuzzerTestOneInput(NULL, 0);
	accepted = refused = 0;
	atexit(counts_print);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const int64_t blocks = unit_alloc_live();
	const unsigned int heap_blocks = unit_heap_live();
	FILE *const out = stdout;
	/* Its own block, so that a sanitizer sees the first byte beyond. */
	uint8_t *copy = malloc(RTE_MAX(size, 1u));

	FUZZ_CHECK(copy != NULL);
	if (size > 0)
		memcpy(copy, bytes, size);
	stdout = stderr = nowhere;
	if (fuzz_target->one(copy, size))
		accepted++;
	else
		refused++;
	stdout = out;
	stderr = terminal;
	free(copy);
	/* What getline(3) allocates is not counted, and makes it fewer. */
	FUZZ_CHECK(size == 0 || unit_alloc_live() <= blocks);
	FUZZ_CHECK(size == 0 || unit_heap_live() == heap_blocks);
	return 0;
}
