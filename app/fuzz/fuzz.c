/* SPDX-License-Identifier: BSD-3-Clause */
/* What all fuzz targets share: EAL, the choice of the target, muted output, the input file. */

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_log.h>

#include "app/eal.h"
#include "app/test/unit.h"
#include "fuzz.h"

static const struct fuzz_target *const targets[] = { &fuzz_bridge, &fuzz_captures, &fuzz_graph,
	&fuzz_options, &fuzz_overrides, &fuzz_plugin, &fuzz_policy, &fuzz_routes, &fuzz_share,
	&fuzz_vswitch };
const struct fuzz_target *fuzz_target;

static FILE *terminal, *nowhere;
static int file = -1;
static uint64_t accepted, refused;

void
fuzz_fault(const char *where, const char *what)
{
	fprintf(terminal, "fault: %s%s\n", where, what);
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
	FUZZ_CHECK(futimens(file, old) == 0); /* else hy_file_read() waits for the tick to pass */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return path;
}

int
fuzz_file_fd(void)
{
	return file;
}

/* Two ports, an event device, a main lcore and two workers, all on one allowed CPU. */
static void
eal_start(void)
{
	char options[128];

	snprintf(options, sizeof(options),
		"--no-pci --log-level=lib.eal:error --vdev=net_null0 --vdev=net_null1 "
		"--vdev=event_sw0 --lcores=(0-2)@%u",
		eal_first_cpu());
	if (eal_init("hy-fuzz", UINT_MAX, 256, options) <
		0) { /* so many hugepages are never free */
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
	++*argv; /* libFuzzer must not see the target's name */
	--*argc;
	(*argv)[0] = program;
	terminal = stderr;
	nowhere = fopen("/dev/null", "w");
	file = memfd_create("fuzz", MFD_CLOEXEC);
	if (nowhere == NULL || file < 0) {
		perror("fuzz");
		return EXIT_FAILURE;
	}
	eal_start();
	if (getenv("FUZZ_LOG") == NULL) /* no log of refused inputs */
		rte_log_set_global_level(RTE_LOG_EMERG);
	else
		nowhere = stderr;
	if (fuzz_target->init != NULL)
		fuzz_target->init();
	/* Allocates what is never freed, before the blocks of the first input are counted. */
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
	/* In a block of its own, so that a sanitizer detects reads beyond its end. */
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
	/* Blocks allocated by getline(3) are not counted, but freeing them is. */
	FUZZ_CHECK(size == 0 || unit_alloc_live() <= blocks);
	FUZZ_CHECK(size == 0 || unit_heap_live() == heap_blocks);
	return 0;
}
