/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The harness of hy-bench. Contenders for one work take turns, round after round, so that
 * disturbances of the machine hit all of them alike. Their order changes with the round, so that
 * none profits from its place. A figure is the median of its rounds; only ratios within one run are
 * meaningful.
 *
 * A contender that cannot run on this machine is skipped with the reason; the others are measured.
 */
#pragma once

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <hy_ip6.h>

#define ROUNDS_MIN 15 /* fewer are not reliable on a machine with other load */
#define ROUNDS_MAX 255
#define CONTENDERS_MAX 16
#define ROUNDS_ROOM (ROUNDS_MAX + 2 * CONTENDERS_MAX) /* with those that balance the order */

struct contender {
	const char *name;
	void *arg;
	/* Does the work once and returns the number of objects, walks or other units. Timed. */
	uint64_t (*run)(void *arg);
	/* Instead of run: does the work once and returns a figure in the work's unit. */
	double (*figure)(void *arg);
	/* Instead of either, and of check: a further figure of the contender before it. */
	const double *also;
	/*
	 * Returns whether the results of all runs are right, as far as it can tell. Not timed. A
	 * work with a wrong contender has no figures, and hy-bench fails.
	 */
	bool (*check)(void *arg);
	/*
	 * The peer that it counts as in the ratios; NULL: none. Of several contenders that count as
	 * one peer, the fastest is used.
	 */
	const char *against;
	bool subject; /* The contender that is compared with the peers. */
};

/* Units of figures. Less is better in all of them. */
enum unit { CYCLES_OBJECT, CYCLES_PACKET, CYCLES_WALK, MICROSECONDS, CALLS_WALK, MEBIBYTES };

/* How a run of the program measures. */
struct bench_settings {
	unsigned int rounds;   /* at least; see order_rounds() */
	unsigned int round_us; /* that a contender runs in a round, at least */
	bool quick;            /* also smaller works, where one takes long */
	const char *works;     /* fnmatch(3) pattern of the works to measure */
	const char *prefixes;  /* file of prefixes for routes; NULL: generate them */
	const char *rules;     /* file of rules for acl; NULL: none */
	const char *full;      /* file of all cases of flows; NULL: none */
	const char *contender; /* shared object with another contender for l3fwd; NULL: none */
};

/*
 * Returns whether the user wants a work; to be called before preparing it. False after a signal to
 * stop.
 */
bool bench_wanted(const char *work);

/*
 * Measures contenders and adds a row for each, and a ratio for each peer. Does nothing without
 * contenders.
 */
void bench_work(const char *work, enum unit unit, const struct contender *contenders,
	unsigned int n);

/*
 * Records why something cannot be created, for the next bench_skip(). The first reason since the
 * last bench_skip() is kept, since it is the cause. Returns -1.
 */
int bench_cannot(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports an error and exits: for wrong user input, and for failures that affect every work. */
void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/*
 * Zeroed memory for n elements, aligned to pairs of cache lines, for free(3); exits if there is none.
 */
void *bench_alloc(size_t n, size_t size);
/* Returns whether vectors of that width can be used; if not, calls bench_cannot(). */
bool bench_simd(bool cpu_can, unsigned int bits);
/* Reports that a contender, or a whole work (NULL), is skipped for the recorded reason. */
void bench_skip(const char *work, const char *contender);

/* The contenders for a work, and their destructors (field.c). */
struct field {
	const char *work;
	struct contender all[CONTENDERS_MAX];
	void (*destroy[CONTENDERS_MAX])(void *arg);
	unsigned int n;
};

/* Adds a contender. One whose argument is NULL could not be created and is skipped. */
void field_enter(struct field *f, const struct contender *contender, void (*destroy)(void *arg));
/* A destructor for what outlives the work. */
void field_keep(void *arg);
/* Measures the contenders, then destroys them in reverse order. */
void field_measure(struct field *f, enum unit unit);

/*
 * The order of n contenders in a round. Over order_rounds() rounds, each contender is equally often
 * at each place, and equally often right after each other one (order.c).
 */
void order_of(unsigned int n, unsigned int round, unsigned int order[]);
/* The smallest balanced number of rounds that is not below `least`. */
unsigned int order_rounds(unsigned int n, unsigned int least);

/*
 * Returns whether chance explains that `found` of n independent samples have a property of which
 * the share in the population is p: whether at least one experiment in a thousand million deviates
 * as much (chance.c).
 */
bool chance_explains(uint64_t found, uint64_t n, double p);
/*
 * Number of samples of which at least one has it, except in one experiment in a thousand million.
 */
uint64_t chance_samples(double p);

/* The median of a contender for a work that was measured; else -1. */
double bench_median(const char *work, const char *contender);

/*
 * Adds a ratio between one contender's figures for two works, times the growth expected. Does
 * nothing if either work was not measured.
 */
void bench_growth(const char *work, const char *from, const char *contender, double expected,
	const char *against);

/*
 * Prints how much of its speed each contender loses from one work to another with equal contenders.
 * Does nothing if either work was not measured.
 */
void bench_loss(const char *work, const char *from);

/* Compares doubles for qsort(3), ascending. */
int bench_by_value(const void *a, const void *b);

/* A random number, the same sequence in every run of the program. */
uint32_t bench_random(void);

/* Shuffles numbers. */
void bench_shuffle(uint32_t *numbers, uint32_t n);
/* A route to an IPv4 prefix, in host byte order. */
struct bench_route {
	uint32_t prefix;
	uint8_t depth;
	uint8_t hop;
};

/* The mask of a prefix, from 1 bit to 32. */
static inline uint32_t
bench_mask(unsigned int depth)
{
	return UINT32_MAX << (32 - depth);
}

/* Compares routes by prefix, then by depth, for qsort(3). */
int bench_by_prefix(const void *a, const void *b);

/*
 * Routes without next hops, sorted and without duplicates: to the prefixes of a file, or, if path is
 * NULL or the file has none of IPv4, to prefixes with the distribution of lengths of networks of the
 * Internet. Freed with free(3).
 */
struct bench_route *bench_prefixes(const char *path, unsigned int *n);
/* The same of IPv6. */
struct hy_ip6_route *bench_prefixes6(const char *path, unsigned int *n);
/* Clears the bits of an address beyond a length. */
void bench_cut6(uint8_t address[HY_IP6_BYTES], unsigned int depth);

struct hy_policy;
struct hy_flow_rule;
struct rte_rcu_qsbr;

/* A policy with n rules, committed; NULL after bench_cannot(). qsbr: may be NULL. */
struct hy_policy *bench_policy(uint32_t n, struct hy_flow_rule (*rule)(uint32_t i),
	struct rte_rcu_qsbr *qsbr);

/* Begins a run: from now on, SIGINT and SIGTERM end it after the current contender. */
void bench_start(const struct bench_settings *settings);
/* The settings passed to bench_start(). */
const struct bench_settings *bench_settings(void);
/* Reports errors of the run as a whole. Returns the program's exit code. */
int bench_finish(void);

/* Rows, ratios and omissions (results.c). */

struct row {
	char work[48], contender[48];
	enum unit unit;
	unsigned int nb_rounds;
	double rounds[ROUNDS_ROOM], sorted[ROUNDS_ROOM];
	unsigned int places[ROUNDS_ROOM]; /* its place in each round, from 0 */
};

/* A work's rows, which rows_add() adds; exits if there is no room. */
struct row *rows_reserve(const char *work, enum unit unit, const struct contender *contenders,
	unsigned int n, unsigned int nb_rounds);
/* Adds the reserved rows with their ratios, prints them, and writes the JSON file. */
void rows_add(const struct contender *contenders, unsigned int n);
void results_skip(const char *work, const char *contender, const char *reason);
/* Records a contender with wrong results; its work has no figures. */
void results_wrong(const char *work, const char *contender, const char *reason);
bool results_right(void);

struct hy_input;

/*
 * Sets the JSON file, which is written anew after each work, so that no result is lost; NULL: none.
 * The file is a regular file of the user, replaced as a whole, or /dev/null; neither it nor
 * FILE.part may be one of the inputs or a loaded library. Returns 0, or -1 (reported) if it cannot be
 * written.
 */
int results_open(const char *path, const char *bench, const struct hy_input *inputs,
	unsigned int nb_inputs);
/* Writes the file for the last time. Returns 0, or -1 (reported) if results are missing from it. */
int results_close(bool complete);

/* Waits until `due` threads have arrived since the counter was 0. */
void bench_meet(atomic_uint *arrived, unsigned int due);

/* The environment that the figures depend on, as lines above the table and as a JSON object. */
void machine_measure(void);
void machine_print(FILE *out);
void machine_write_json(FILE *out);

/* Median and tenth percentile of the TSC cycles of an addition, which takes one core cycle. */
void calibrate_addition(double *median, double *p10);
/*
 * Implements --calibrate: measures how steady the lcores are and whether two of them really run in
 * parallel, and prints it. The other functions do nothing without it; calibrate_warn() repeats the
 * warning if figures are not trustworthy.
 */
void calibrate(void);
void calibrate_warn(void);
void calibrate_write_json(FILE *out);

/* The benchmarks. */
void bench_acl(void);
void bench_arc(void);
void bench_dispatch(void);
void bench_enqueue(void);
void bench_flows(void);
void bench_idle(void);
void bench_l2(void);
void bench_l3fwd(void);
void bench_classify(void);
void bench_lookup(void);
void bench_offload(void);
void bench_routes(void);
void bench_walk(void);
