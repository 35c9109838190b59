/* SPDX-License-Identifier: BSD-3-Clause */
/* Version and usage: see hy_about.h. */

#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_version.h>

#include <hy_about.h>

static const char *own_usage;

const char *
hy_version(void)
{
	return HY_VERSION;
}

void
hy_version_print(const char *program)
{
	printf("%s: Halyard %s, %s\n", program, hy_version(), rte_version());
}

static void
usage_print(const char *program __rte_unused)
{
	printf("\n%s", own_usage);
}

/* Whether one of the words from the given one on is that. */
static bool
has(int argc, char **argv, int from, const char *word)
{
	for (int i = from; i < argc; i++)
		if (strcmp(argv[i], word) == 0)
			return true;
	return false;
}

bool
hy_about(int argc, char **argv, const char *program, const char *usage)
{
	int split = 1;

	own_usage = usage;
	rte_set_application_usage_hook(usage_print);
	while (split < argc && strcmp(argv[split], "--") != 0)
		split++;
	if (has(argc, argv, 1, "--version")) {
		hy_version_print(program);
		return true;
	}
	if (!has(argc, argv, split, "--help") && !has(argc, argv, split, "-h"))
		return false;
	fputs(usage, stdout);
	return true;
}
