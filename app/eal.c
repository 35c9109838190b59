/* SPDX-License-Identifier: BSD-3-Clause */
/* See eal.h. */

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

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

#define HUGEPAGES "/sys/kernel/mm/hugepages"
#define PATIENCE_MS 5000 /* for another program that is about to take hugepages */
#define TICK_MS 5

/*
 * Keeps other such programs from counting the same free hugepages before EAL takes them. Returns a
 * descriptor to be closed then; -1 if there are no hugepages, or another program takes too long.
 */
static int
hugepages_lock(void)
{
	const int fd = open(HUGEPAGES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int waited = 0; fd >= 0 && waited < PATIENCE_MS; waited += TICK_MS) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		usleep(TICK_MS * 1000);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Whether so many MB of hugepages of one size are free. */
static bool
hugepages_free(unsigned int mb)
{
	bool enough = false;
	glob_t files;

	if (glob(HUGEPAGES "/hugepages-*kB/free_hugepages", 0, NULL, &files) != 0)
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
	const int lock = hugepages_lock();
	const bool huge = lock >= 0 && hugepages_free(huge_mb);
	static char *text; /* to stay: EAL may keep parts of it */
	char *args[16] = { NULL };
	int n = 0, rc;

	if (asprintf(&text, "%s --no-telemetry %s -m %u %s", program,
		    huge ? "--in-memory" : "--no-huge --no-shconf", huge ? huge_mb : plain_mb,
		    options) < 0) {
		if (lock >= 0)
			close(lock);
		rte_errno = ENOMEM;
		return -1;
	}
	if (lock >= 0 && !huge)
		close(lock);
	for (char *rest = text; rest != NULL && n < (int)RTE_DIM(args) - 1;)
		args[n++] = strsep(&rest, " ");
	rc = rte_eal_init(n, args);
	if (huge)
		close(lock);
	return rc;
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
