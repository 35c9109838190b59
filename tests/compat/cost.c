/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a walk costs, in TSC cycles, of each graph of DPDK's test_graph_perf.c: the least of many
 * rounds, since others may use the CPU too. Compiled once for each library, and run in turns:
 * "PROGRAM EAL-ARGUMENTS -- ROUNDS".
 */

#include "test_graph_perf.c"

#define WALKS 64 /* a round: short, so that many rounds are not interrupted */

static unsigned int rounds;

void
add_test_command(struct test_command *t)
{
	RTE_SET_USED(t);
}

int
unit_test_suite_runner(struct unit_test_suite *suite)
{
	for (const struct unit_test_case *test = suite->unit_test_cases; test->testcase; test++) {
		struct rte_graph *graph;
		uint64_t least = UINT64_MAX;

		if (test->setup() != 0)
			return TEST_FAILED;
		graph = rte_graph_lookup(rte_graph_id_to_name(0));
		for (unsigned int r = 0; r < rounds; r++) {
			const uint64_t start = rte_rdtsc();

			for (unsigned int w = 0; w < WALKS; w++)
				rte_graph_walk(graph);
			least = RTE_MIN(least, rte_rdtsc() - start);
		}
		printf("%s %.1f\n", test->name, (double)least / WALKS);
		test->teardown();
	}
	return TEST_SUCCESS;
}

int
main(int argc, char **argv)
{
	const int eal = rte_eal_init(argc, argv);

	rounds = eal < 0 || eal + 1 >= argc ? 0 : (unsigned int)atoi(argv[eal + 1]);
	if (rounds == 0)
		return EXIT_FAILURE;
	return unit_test_suite_runner(&graph_perf_testsuite) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
