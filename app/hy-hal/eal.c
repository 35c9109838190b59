/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL as hy-hal starts it by itself. */

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_log.h>

#include "command.h"

#define MEMORY_MB 512 /* as in the arguments below */

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

/* Whether enough hugepages of one size are free. */
static bool
hugepages_free(void)
{
	static const char dir[] = "/sys/kernel/mm/hugepages", prefix[] = "hugepages-";
	DIR *sizes = opendir(dir);
	bool enough = false;

	for (struct dirent *d; sizes != NULL && (d = readdir(sizes)) != NULL;) {
		char path[512];

		if (strncmp(d->d_name, prefix, sizeof(prefix) - 1) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s/free_hugepages", dir, d->d_name);
		enough |= number_in(path) * strtoul(d->d_name + sizeof(prefix) - 1, NULL, 10) >=
			MEMORY_MB * 1024ul;
	}
	if (sizes != NULL)
		closedir(sizes);
	return enough;
}

/* The first CPU that the process may run on. */
static unsigned int
first_cpu(void)
{
	unsigned int cpu = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
			cpu++;
	return cpu;
}

/*
 * Nothing is shared with other DPDK programs, and the PCI bus is looked at: devices that are bound
 * to a driver of DPDK are what an inventory is for. Those that are not are passed by in silence.
 */
int
eal_init(void)
{
	static char huge[][24] = { "hy-hal", "--in-memory", "-m", "512", "--no-telemetry",
		"--log-level=critical", "" };
	static char small[][24] = { "hy-hal", "--no-huge", "-m", "512", "--no-telemetry",
		"--log-level=critical", "", "--no-shconf" };
	const bool free_pages = hugepages_free();
	const int n = free_pages ? RTE_DIM(huge) : RTE_DIM(small);
	char *args[RTE_DIM(small)];

	for (int i = 0; i < n; i++)
		args[i] = free_pages ? huge[i] : small[i];
	snprintf(args[6], sizeof(huge[6]), "--lcores=0@%u", first_cpu());
	if (rte_eal_init(n, args) < 0)
		return -1;
	rte_log_set_global_level(RTE_LOG_WARNING);
	return 0;
}
