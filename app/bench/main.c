/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-bench: measures Halyard's parts against one another and against their peers. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_vect.h>

#include "bench.h"

#define ROUNDS_MAX 64
#define ROWS_MAX 256

struct row {
	char work[64];
	const char *contender;
	double rounds[ROUNDS_MAX]; /* cycles an object */
	double sorted[ROUNDS_MAX];
};

static struct row rows[ROWS_MAX];
static struct {
	char work[64];
	const char *against;
	double ratio;
} ratios[ROWS_MAX];
static unsigned int nb_rows, nb_ratios, nb_rounds = 31;
static bool failed;

static const struct {
	const char *name;
	void (*run)(void);
} benches[] = {
	{ "enqueue", bench_enqueue },
	{ "idle", bench_idle },
	{ "lookup", bench_lookup },
	{ "walk", bench_walk },
};

uint32_t
bench_random(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 32);
}

static int
by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Repeats the work until it has lasted long enough for the clock, and returns cycles an object. */
static double
measure(const struct contender *c)
{
	const uint64_t enough = rte_get_tsc_hz() / 2000;
	const uint64_t start = rte_rdtsc();
	uint64_t objects = 0, now;

	do {
		objects += c->run(c->arg);
		now = rte_rdtsc();
	} while (now - start < enough);
	return (double)(now - start) / (double)objects;
}

void
bench_work(const char *work, const struct contender *contenders, unsigned int n)
{
	struct row *first = &rows[nb_rows];
	double best;

	if (nb_rows + n > ROWS_MAX) {
		fprintf(stderr, "hy-bench: more than %d rows\n", ROWS_MAX);
		exit(EXIT_FAILURE);
	}
	for (unsigned int r = 0; r < nb_rounds; r++) {
		for (unsigned int c = 0; c < n; c++) {
			first[c].rounds[r] = measure(&contenders[c]);
			if (contenders[c].check(contenders[c].arg))
				continue;
			fprintf(stderr, "hy-bench: %s: %s is wrong\n", work, contenders[c].name);
			failed = true;
			return;
		}
	}
	for (unsigned int c = 0; c < n; c++) {
		struct row *row = &first[c];

		snprintf(row->work, sizeof(row->work), "%s", work);
		row->contender = contenders[c].name;
		memcpy(row->sorted, row->rounds, nb_rounds * sizeof(row->rounds[0]));
		qsort(row->sorted, nb_rounds, sizeof(row->sorted[0]), by_value);
	}
	best = first[n - 1].sorted[nb_rounds / 2];
	printf("%-22s", work);
	for (unsigned int c = 0; c < n; c++)
		printf("  %s %.2f", first[c].contender, first[c].sorted[nb_rounds / 2]);
	for (unsigned int c = 0; c + 1 < n; c++) {
		const double ratio = first[c].sorted[nb_rounds / 2] / best;

		snprintf(ratios[nb_ratios].work, sizeof(ratios[0].work), "%s", work);
		ratios[nb_ratios].against = first[c].contender;
		ratios[nb_ratios++].ratio = ratio;
		printf("  %.2fx %s", ratio, first[c].contender);
	}
	printf("\n");
	nb_rows += n;
}

static int
write_json(const char *name, const char *bench)
{
	FILE *out = fopen(name, "w");

	if (out == NULL) {
		perror(name);
		return -1;
	}
	fprintf(out, "{\"bench\": \"%s\", \"machine\": {\"tsc_hz\": %lu, \"simd_bits\": %u},\n",
		bench, (unsigned long)rte_get_tsc_hz(), rte_vect_get_max_simd_bitwidth());
	fprintf(out, " \"rows\": [");
	for (unsigned int i = 0; i < nb_rows; i++) {
		const struct row *row = &rows[i];

		fprintf(out,
			"%s\n  {\"work\": \"%s\", \"contender\": \"%s\", \"unit\": \"cycles/object\", "
			"\"median\": %.4f, \"min\": %.4f, \"max\": %.4f, \"rounds\": [",
			i > 0 ? "," : "", row->work, row->contender, row->sorted[nb_rounds / 2],
			row->sorted[0], row->sorted[nb_rounds - 1]);
		for (unsigned int r = 0; r < nb_rounds; r++)
			fprintf(out, "%s%.4f", r > 0 ? ", " : "", row->rounds[r]);
		fprintf(out, "]}");
	}
	fprintf(out, "],\n \"ratios\": [");
	for (unsigned int i = 0; i < nb_ratios; i++)
		fprintf(out, "%s\n  {\"work\": \"%s\", \"against\": \"%s\", \"ratio\": %.4f}",
			i > 0 ? "," : "", ratios[i].work, ratios[i].against, ratios[i].ratio);
	fprintf(out, "]}\n");
	return fclose(out);
}

static int
usage(void)
{
	fprintf(stderr,
		"usage: hy-bench [EAL options --] BENCH [--quick] [--json FILE]\n"
		"BENCH is one of:");
	for (unsigned int i = 0; i < RTE_DIM(benches); i++)
		fprintf(stderr, " %s", benches[i].name);
	fprintf(stderr, "\n");
	return EXIT_FAILURE;
}

/* EAL's arguments: the user's, if there is a "--", else ones that need no set-up. */
static int
eal_init(int argc, char **argv)
{
	static char fallback[][20] = { "hy-bench", "--no-huge", "-m", "512", "--no-pci",
		"--no-telemetry", "--no-shconf", "--log-level=error" };
	char *args[RTE_DIM(fallback) + 1] = { NULL };

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return rte_eal_init(argc, argv);
	for (unsigned int i = 0; i < RTE_DIM(fallback); i++)
		args[i] = fallback[i];
	return rte_eal_init((int)RTE_DIM(fallback), args) < 0 ? -1 : 0;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "quick", no_argument, NULL, 'q' },
		{ "json", required_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	const char *json = NULL;
	int opt, rc = eal_init(argc, argv);

	if (rc < 0) {
		fprintf(stderr, "hy-bench: EAL could not be initialised\n");
		return EXIT_FAILURE;
	}
	argc -= rc;
	argv += rc;
	optind = 1;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'q')
			nb_rounds = 9;
		else if (opt == 'j')
			json = optarg;
		else
			return usage();
	}
	if (optind + 1 != argc)
		return usage();
	/* EAL's default is 256 even where the CPU has more. */
	rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	for (unsigned int i = 0; i < RTE_DIM(benches); i++) {
		if (strcmp(benches[i].name, argv[optind]) != 0)
			continue;
		printf("cycles an object, median of %u rounds; then how much faster the last is\n",
			nb_rounds);
		benches[i].run();
		if (json != NULL && write_json(json, benches[i].name) < 0)
			failed = true;
		rte_eal_cleanup();
		return failed ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	return usage();
}
