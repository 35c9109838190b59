/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs tests of DPDK's app/test, which come with the sources that they are compiled from: what its
 * own main program offers them, and no more. "PROGRAM EAL-ARGUMENTS -- TEST..." runs tests by name.
 */

#include <stdio.h>
#include <string.h>

#include <rte_eal.h>

#include "test.h"

static struct test_commands_list commands = TAILQ_HEAD_INITIALIZER(commands);

void
add_test_command(struct test_command *t)
{
	TAILQ_INSERT_TAIL(&commands, t, next);
}

static const char *
case_run(const struct unit_test_case *test, struct unit_test_suite *suite)
{
	int rc = test->setup == NULL ? TEST_SUCCESS : test->setup();

	suite->total++;
	if (rc == TEST_SUCCESS) {
		suite->executed++;
		rc = test->testcase();
	}
	if (test->teardown != NULL)
		test->teardown();
	if (rc == TEST_SUCCESS)
		suite->succeeded++;
	else if (rc == TEST_SKIPPED)
		suite->skipped++;
	else
		suite->failed++;
	return rc == TEST_SUCCESS ? "passed" : rc == TEST_SKIPPED ? "skipped" : "FAILED";
}

int
unit_test_suite_runner(struct unit_test_suite *suite)
{
	const int rc = suite->setup == NULL ? TEST_SUCCESS : suite->setup();

	if (rc != TEST_SUCCESS) {
		printf("suite '%s': setup returned %d\n", suite->suite_name, rc);
		return rc;
	}
	for (struct unit_test_case *test = suite->unit_test_cases; test->testcase != NULL; test++)
		printf("case %s: %s\n", test->name, case_run(test, suite));
	if (suite->teardown != NULL)
		suite->teardown();
	printf("suite '%s': %u cases, %u passed, %u failed, %u skipped\n", suite->suite_name,
		suite->total, suite->succeeded, suite->failed, suite->skipped);
	return suite->failed == 0 ? TEST_SUCCESS : TEST_FAILED;
}

static int
run(const char *name)
{
	struct test_command *t;

	TAILQ_FOREACH(t, &commands, next)
		if (strcmp(t->command, name) == 0)
			return t->callback();
	fprintf(stderr, "there is no test '%s'\n", name);
	return TEST_FAILED;
}

int
main(int argc, char **argv)
{
	const int eal = rte_eal_init(argc, argv);
	int failed = 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (eal < 0)
		return EXIT_FAILURE;
	for (int i = eal + 1; i < argc; i++) {
		const int rc = run(argv[i]);

		printf("test %s: %s\n", argv[i], rc == TEST_SUCCESS ? "ok" : "failed");
		failed += rc != TEST_SUCCESS;
	}
	rte_eal_cleanup();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
