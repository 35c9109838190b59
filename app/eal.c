/* SPDX-License-Identifier: BSD-3-Clause */
/* See eal.h. */

#include <errno.h>
#include <glob.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "eal.h"

/* The number in a file of one line, 0 if there is none. */
static unsigned long
number_in(const char *path)
{
	char line[32] = "";
	FILE *in = fopen(path, "r");

	if (in == NULL)
		return 0;
	if (fgets(line, sizeof(line), in) == NULL)
		line[0] = '\0';
	fclose(in);
	return strtoul(line, NULL, 10);
}

/* Whether so many MB of hugepages of one size are free. */
static bool
hugepages_free(unsigned int mb)
{
	bool enough = false;
	glob_t files;

	if (glob("/sys/kernel/mm/hugepages/hugepages-*kB/free_hugepages", 0, NULL, &files) != 0)
		return false;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *size_kb = strrchr(files.gl_pathv[i], '-') + 1;

		enough |= number_in(files.gl_pathv[i]) * strtoul(size_kb, NULL, 10) >= mb * 1024ul;
	}
	globfree(&files);
	return enough;
}

int
eal_init(const char *program, unsigned int huge_mb, unsigned int plain_mb, const char *options)
{
	const bool huge = hugepages_free(huge_mb);
	static char *text; /* to stay: EAL may keep parts of it */
	char *args[16] = { NULL };
	int n = 0;

	if (asprintf(&text, "%s --no-telemetry %s -m %u %s", program,
		    huge ? "--in-memory" : "--no-huge --no-shconf", huge ? huge_mb : plain_mb,
		    options) < 0) {
		rte_errno = ENOMEM;
		return -1;
	}
	for (char *rest = text; rest != NULL && n < (int)RTE_DIM(args) - 1;)
		args[n++] = strsep(&rest, " ");
	return rte_eal_init(n, args);
}

unsigned int
eal_first_cpu(void)
{
	unsigned int cpu = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
			cpu++;
	return cpu;
}
