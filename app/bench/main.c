/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-bench: measures Halyard's parts against one another and against their peers. */

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_vect.h>

#include <hy_about.h>
#include <hy_file.h>

#include "app/eal.h"
#include "bench.h"

#define PLAIN_MB 1024 /* cannot grow, as hugepages can: room for all tables of the largest work */

static const struct bench {
	const char *name;
	void (*run)(void);
	unsigned int lcores;    /* that it can use */
	unsigned int memory_mb; /* of hugepages, or it runs on PLAIN_MB without */
} benches[] = {
	{ "arc", bench_arc, 1, 256 },
	{ "classify", bench_classify, 1, 512 },
	{ "dispatch", bench_dispatch, 2, 256 },
	{ "enqueue", bench_enqueue, 1, 256 },
	{ "idle", bench_idle, 1, 256 },
	{ "l3fwd", bench_l3fwd, 2, 512 },
	{ "lookup", bench_lookup, 1, 512 },
	{ "offload", bench_offload, 1, 512 },
	{ "routes", bench_routes, 1, 512 },
	{ "walk", bench_walk, 1, 256 },
};

struct arguments {
	unsigned int bench;
	struct bench_settings settings;
	const char *json; /* NULL: none */
	bool calibrate;
};

static void
usage(FILE *out)
{
	fprintf(out, "usage: hy-bench [EAL options --] BENCH [options]\nBENCH is one of:");
	for (unsigned int i = 0; i < RTE_DIM(benches); i++)
		fprintf(out, " %s", benches[i].name);
	fprintf(out,
		"\n  --work PATTERN    only works whose names match, as in --work 'mix*_256'\n"
		"  --rounds N        rounds at least, %d to %d\n"
		"  --quick           fewer rounds, and shorter ones\n"
		"  --calibrate       measure first how steady the machine is\n"
		"  --json FILE       write all figures there\n"
		"  --prefixes FILE   of l3fwd, lookup, routes: one prefix a line; else made up\n"
		"  --contender FILE  of l3fwd: a shared object with one more static loop\n"
		"  --help, -h        print this\n"
		"  --version         print the version\n"
		"Without EAL options: no PCI, and hugepages if enough are free.\n",
		ROUNDS_MIN, ROUNDS_MAX);
}

static int
parse_rounds(const char *text, unsigned int *rounds)
{
	char *end;
	const long n = strtol(text, &end, 10);

	if (end == text || *end != '\0' || n < ROUNDS_MIN || n > ROUNDS_MAX) {
		fprintf(stderr, "hy-bench: --rounds %s: a number from %d to %d is wanted\n", text,
			ROUNDS_MIN, ROUNDS_MAX);
		return -EINVAL;
	}
	*rounds = (unsigned int)n;
	return 0;
}

static int
parse_bench(int argc, char **argv, unsigned int *bench)
{
	for (*bench = 0; argc == 1 && *bench < RTE_DIM(benches); (*bench)++)
		if (strcmp(benches[*bench].name, argv[0]) == 0)
			return 0;
	if (argc == 0)
		fprintf(stderr, "hy-bench: which benchmark?");
	else if (argc == 1)
		fprintf(stderr, "hy-bench: '%s' is no benchmark;", argv[0]);
	else
		fprintf(stderr, "hy-bench: one benchmark at a time, not '%s' too;", argv[1]);
	fprintf(stderr, " there are:");
	for (unsigned int i = 0; i < RTE_DIM(benches); i++)
		fprintf(stderr, " %s", benches[i].name);
	fprintf(stderr, "\n");
	return -EINVAL;
}

/* argv[0] is the program's name or "--". */
static int
parse(int argc, char **argv, struct arguments *args)
{
	static const struct option options[] = {
		{ "work", required_argument, NULL, 'w' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "prefixes", required_argument, NULL, 'p' },
		{ "quick", no_argument, NULL, 'q' },
		{ "json", required_argument, NULL, 'j' },
		{ "calibrate", no_argument, NULL, 'k' },
		{ "contender", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	static char name[] = "hy-bench";
	unsigned int rounds = 0;
	bool quick = false;
	int opt;

	argv[0] = name; /* in getopt's messages */
	*args = (struct arguments){ .settings.works = "*" };
	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (opt) {
		case 'w':
			args->settings.works = optarg;
			break;
		case 'r':
			if (parse_rounds(optarg, &rounds) < 0)
				return -EINVAL;
			break;
		case 'p':
			args->settings.prefixes = optarg;
			break;
		case 'q':
			quick = true;
			break;
		case 'j':
			args->json = optarg;
			break;
		case 'k':
			args->calibrate = true;
			break;
		case 'c':
			args->settings.contender = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(hy_output_end("hy-bench"));
		case 'v':
			hy_version_print("hy-bench");
			exit(hy_output_end("hy-bench"));
		default:
			usage(stderr);
			return -EINVAL;
		}
	}
	args->settings.rounds = rounds > 0 ? rounds : quick ? ROUNDS_MIN : 31;
	args->settings.quick = quick;
	args->settings.round_us = quick ? 500 : 3000;
	return parse_bench(argc - optind, argv + optind, &args->bench);
}

/*
 * EAL's options. Lcores may run on every CPU: one that is bound to a busy CPU would measure the
 * others. No more of them than CPUs.
 */
static const char *
options(unsigned int lcores)
{
	char cpus[8 + 5 * RTE_MAX_LCORE] = "";
	static char text[2 * sizeof(cpus) + 64];
	size_t len = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		CPU_ZERO(&set);
	for (unsigned int cpu = 0; cpu < RTE_MAX_LCORE; cpu++)
		if (CPU_ISSET(cpu, &set))
			len += (size_t)snprintf(cpus + len, sizeof(cpus) - len, "%s%u",
				len > 0 ? "," : "", cpu);
	len = (size_t)snprintf(text, sizeof(text), "--no-pci --log-level=error --lcores=0@(%s)",
		cpus);
	if (lcores > 1 && CPU_COUNT(&set) > 1)
		snprintf(text + len, sizeof(text) - len, ",1@(%s)", cpus);
	return text;
}

/* Memory ahead, or creating a graph would measure the kernel. */
static int
eal_start(const struct arguments *args)
{
	const struct bench *bench = &benches[args->bench];

	return eal_init("hy-bench", bench->memory_mb, PLAIN_MB,
		options(args->calibrate ? 2 : bench->lcores));
}

int
main(int argc, char **argv)
{
	struct arguments args;
	int split = 1, code, rc;

	if (hy_file_prepare() < 0)
		return EXIT_FAILURE;
	while (split < argc && strcmp(argv[split], "--") != 0)
		split++;
	if (split < argc ? parse(argc - split, argv + split, &args) : parse(argc, argv, &args))
		return EXIT_FAILURE;
	/* Some works read it only after others have been done. */
	if (args.settings.prefixes != NULL && access(args.settings.prefixes, R_OK) != 0) {
		fprintf(stderr, "hy-bench: --prefixes %s: %s\n", args.settings.prefixes,
			strerror(errno));
		return EXIT_FAILURE;
	}
	if (results_open(args.json, benches[args.bench].name) < 0)
		return EXIT_FAILURE;
	if ((split < argc ? rte_eal_init(split, argv) : eal_start(&args)) < 0) {
		fprintf(stderr, "hy-bench: EAL could not be initialised\n");
		return EXIT_FAILURE;
	}
	/* EAL's default is 256 even where the CPU has more. */
	rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	bench_start(&args.settings);
	machine_measure();
	machine_print(stdout);
	printf("median of at least %u rounds, less is better; a ratio above 1: ours is faster; noise: "
	       "the median above the lowest tenth\n",
		args.settings.rounds);
	if (args.calibrate)
		calibrate();
	benches[args.bench].run();
	calibrate_warn();
	code = bench_finish();
	rc = hy_output_end("hy-bench");
	code = code == EXIT_SUCCESS ? rc : code;
	rte_eal_cleanup();
	return code;
}
