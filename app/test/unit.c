/* SPDX-License-Identifier: BSD-3-Clause */
/* The runner: collects the tables of tests, brings EAL up, runs them, catches the log. */

#include <fnmatch.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_log.h>

#include <hy_policy.h>

#include "unit.h"

#define TESTS_MAX 1024

static struct CMUnitTest tests[TESTS_MAX];
static size_t nb_tests;

static char log_text[1 << 16];
static size_t log_len;

void
unit_suite_add(const struct CMUnitTest *table, size_t n)
{
	if (n > TESTS_MAX - nb_tests) {
		fprintf(stderr, "more than %d tests\n", TESTS_MAX);
		abort();
	}
	memcpy(&tests[nb_tests], table, n * sizeof(*table));
	nb_tests += n;
}

static ssize_t
log_write(void *cookie, const char *text, size_t size)
{
	const size_t n = RTE_MIN(size, sizeof(log_text) - 1 - log_len);

	RTE_SET_USED(cookie);
	memcpy(log_text + log_len, text, n);
	log_len += n;
	log_text[log_len] = '\0';
	return (ssize_t)size;
}

const char *
unit_log(void)
{
	return log_text;
}

unsigned int
unit_log_lines(void)
{
	unsigned int lines = 0;

	for (size_t i = 0; i < log_len; i++)
		lines += log_text[i] == '\n';
	return lines;
}

void
unit_log_clear(void)
{
	log_len = 0;
	log_text[0] = '\0';
}

const char *
unit_beside(const char *file)
{
	static char path[PATH_MAX + NAME_MAX];
	char self[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[RTE_MAX(n, 0)] = '\0';
	snprintf(path, sizeof(path), "%s/%s", dirname(self), file);
	return path;
}

/* Keeps the tests whose names match one of the patterns. */
static void
select_tests(char *const *patterns, int nb_patterns)
{
	size_t kept = 0;

	for (size_t i = 0; i < nb_tests; i++) {
		int p = 0;

		while (p < nb_patterns && fnmatch(patterns[p], tests[i].name, 0) != 0)
			p++;
		if (p < nb_patterns)
			tests[kept++] = tests[i];
	}
	nb_tests = kept;
}

static void
eal_start(char *program)
{
	static const cookie_io_functions_t io = { .write = log_write };
	char args[][40] = { "--no-huge", "-m", "256", "--no-pci", "--no-shconf", "--no-telemetry",
		"--log-level=lib.eal:error" };
	char *argv[RTE_DIM(args) + 2] = { program };
	FILE *log;

	for (size_t i = 0; i < RTE_DIM(args); i++)
		argv[i + 1] = args[i];
	if (rte_eal_init(RTE_DIM(args) + 1, argv) < 0) {
		fprintf(stderr, "%s: rte_eal_init() failed\n", program);
		exit(EXIT_FAILURE);
	}
	log = fopencookie(NULL, "w", io);
	if (log != NULL) {
		setvbuf(log, NULL, _IONBF, 0);
		rte_openlog_stream(log);
	}
}

int
main(int argc, char **argv)
{
	int failed;

	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < nb_tests; i++)
			puts(tests[i].name);
		return EXIT_SUCCESS;
	}
	if (argc > 1)
		select_tests(argv + 1, argc - 1);
	if (nb_tests == 0) {
		fprintf(stderr, "%s: no such test\n", argv[0]);
		return EXIT_FAILURE;
	}
	eal_start(argv[0]);
	failed = _cmocka_run_group_tests(basename(argv[0]), tests, nb_tests, NULL, NULL);
	rte_openlog_stream(NULL);
	hy_policy_wait_destroyed();
	rte_eal_cleanup();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
