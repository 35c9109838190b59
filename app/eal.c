/* SPDX-License-Identifier: BSD-3-Clause */
/* See eal.h. */

#include <dirent.h>
#include <errno.h>
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
	static const char dir[] = "/sys/kernel/mm/hugepages", prefix[] = "hugepages-";
	DIR *sizes = opendir(dir);
	bool enough = false;

	for (struct dirent *d; sizes != NULL && (d = readdir(sizes)) != NULL;) {
		char path[512];

		if (strncmp(d->d_name, prefix, sizeof(prefix) - 1) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s/free_hugepages", dir, d->d_name);
		enough |= number_in(path) * strtoul(d->d_name + sizeof(prefix) - 1, NULL, 10) >=
			mb * 1024ul;
	}
	if (sizes != NULL)
		closedir(sizes);
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
