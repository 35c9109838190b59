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
#include <hy_document.h>
#include <hy_file.h>
#include <hy_policy.h>

#include "app/eal.h"
#include "bench.h"

#define PLAIN_MB 1024 /* cannot grow as hugepages can; enough for the largest work */

static const struct bench {
	const char *name;
	void (*run)(void);
	unsigned int lcores;    /* most that it uses */
	unsigned int memory_mb; /* of hugepages; if they are not free, PLAIN_MB without */
} benches[] = {
	{ "acl", bench_acl, 2, 768 },
	{ "arc", bench_arc, 1, 256 },
	{ "classify", bench_classify, 1, 512 },
	{ "dispatch", bench_dispatch, 2, 256 },
	{ "enqueue", bench_enqueue, 1, 256 },
	{ "flows", bench_flows, 1, 512 },
	{ "idle", bench_idle, 1, 256 },
	{ "l2", bench_l2, 1, 512 },
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
benches_print(FILE *out)
{
	for (unsigned int i = 0; i < RTE_DIM(benches); i++)
		fprintf(out, " %s", benches[i].name);
}

static void
usage(FILE *out)
{
	fprintf(out, "usage: hy-bench [EAL options --] BENCH [options]\nBENCH is one of:");
	benches_print(out);
	fprintf(out,
		"\n  --work PATTERN    only works whose names match, as in --work 'mix*_256'\n"
		"  --rounds N        rounds at least, %d to %d\n"
		"  --quick           fewer rounds, and shorter ones\n"
		"  --calibrate       measure first how steady the machine is\n"
		"  --json FILE       write all figures there\n"
		"  --prefixes FILE   of l3fwd, lookup, routes: one prefix a line; else made up\n"
		"  --rules FILE      of acl: one more set of rules, in a format that hy-policy reads\n"
		"  --full FILE       of flows: all cases, but those in that file, where rows are "
		"appended\n"
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
	benches_print(stderr);
	fprintf(stderr, "\n");
	return -EINVAL;
}

/* argv[0] is the program's name or "--". */
static int
parse(int argc, char **argv, struct arguments *args)
{
	const char **const texts[] = { &args->settings.works, &args->settings.prefixes,
		&args->settings.contender, &args->json, &args->settings.rules,
		&args->settings.full };
	int quick = 0, calibrate = 0, index = 0, opt;
	const struct option options[] = {
		{ "work", required_argument, NULL, 0 }, /* indexes of texts */
		{ "prefixes", required_argument, NULL, 1 },
		{ "contender", required_argument, NULL, 2 },
		{ "json", required_argument, NULL, 3 },
		{ "rules", required_argument, NULL, 4 },
		{ "full", required_argument, NULL, 5 },
		{ "quick", no_argument, &quick, 1 },
		{ "calibrate", no_argument, &calibrate, 1 },
		{ "rounds", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	static char name[] = "hy-bench";
	unsigned int rounds = 0;

	argv[0] = name; /* for getopt's messages */
	*args = (struct arguments){ .settings.works = "*" };
	while ((opt = getopt_long(argc, argv, "h", options, &index)) != -1) {
		if (opt == 'h' || opt == 'v') {
			if (opt == 'h')
				usage(stdout);
			else
				hy_version_print("hy-bench");
			exit(hy_output_end("hy-bench"));
		}
		if (opt == '?') {
			usage(stderr);
			return -EINVAL;
		}
		if (opt == 'r' && parse_rounds(optarg, &rounds) < 0)
			return -EINVAL;
		if (options[index].flag == NULL && opt < (int)RTE_DIM(texts))
			*texts[opt] = optarg;
	}
	args->calibrate = calibrate != 0;
	args->settings.rounds = rounds > 0 ? rounds : quick ? ROUNDS_MIN : 31;
	args->settings.quick = quick != 0;
	args->settings.round_us = quick ? 500 : 3000;
	return parse_bench(argc - optind, argv + optind, &args->bench);
}

/*
 * EAL's options. Lcores may run on every CPU, since one bound to a busy CPU would be disturbed.
 * There are at most as many as CPUs.
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

/* Works may read the other files only after the first results are saved. */
static int
json_open(const struct arguments *args)
{
	struct hy_input inputs[3];
	unsigned int n = 0;

	if (args->settings.prefixes != NULL)
		inputs[n++] = (struct hy_input){ "--prefixes", args->settings.prefixes };
	if (args->settings.contender != NULL)
		inputs[n++] = (struct hy_input){ "--contender", args->settings.contender };
	if (args->settings.rules != NULL)
		inputs[n++] = (struct hy_input){ "--rules", args->settings.rules };
	return results_open(args->json, benches[args->bench].name, inputs, n);
}

/* Reserves memory at start; otherwise creating a graph would measure the kernel. */
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
	split %= argc; /* 0: there are no options of EAL */
	if (parse(argc - split, argv + split, &args) < 0)
		return EXIT_FAILURE;
	/* Checked now, because some works read it only after others have run. */
	if (args.settings.prefixes != NULL && access(args.settings.prefixes, R_OK) != 0) {
		fprintf(stderr, "hy-bench: --prefixes %s: %s\n", args.settings.prefixes,
			strerror(errno));
		return EXIT_FAILURE;
	}
	if (json_open(&args) < 0)
		return EXIT_FAILURE;
	if ((split > 0 ? rte_eal_init(split, argv) : eal_start(&args)) < 0) {
		fprintf(stderr, "hy-bench: EAL could not be initialised\n");
		return EXIT_FAILURE;
	}
	/* EAL's default is 256 even where the CPU has more. */
	rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	bench_start(&args.settings);
	machine_measure();
	machine_print(stdout);
	printf("median of at least %u rounds, and below it their lowest tenth; less is better; a ratio "
	       "above 1: ours is faster; noise: the median above the lowest tenth\n",
		args.settings.rounds);
	if (args.calibrate)
		calibrate();
	benches[args.bench].run();
	calibrate_warn();
	code = bench_finish();
	rc = hy_output_end("hy-bench");
	code = code == EXIT_SUCCESS ? rc : code;
	hy_policy_wait_destroyed();
	rte_eal_cleanup();
	return code;
}
