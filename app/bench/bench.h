/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The harness of hy-bench. Contenders for the same work take turns, round after round, so that
 * what the machine does to one it does to all. Their order changes with the round, so that no one
 * profits from its place. A figure is the median of its rounds, and only ratios within one run mean
 * anything.
 *
 * What cannot run on this machine is skipped with its reason, and the rest goes on.
 */
#ifndef HY_BENCH_H
#define HY_BENCH_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ROUNDS_MIN 15 /* fewer say little on a machine that does other things too */
#define ROUNDS_MAX 255
#define CONTENDERS_MAX 16

struct contender {
	const char *name;
	void *arg;
	/* Does the work once and returns how many objects, walks or so that was. Timed. */
	uint64_t (*run)(void *arg);
	/* Instead of run: does the work once and returns a figure in the work's unit. */
	double (*figure)(void *arg);
	/*
	 * Whether results of all that ran are right, as far as it can tell. Not timed. A work with
	 * a contender that is wrong has no figures, and hy-bench fails.
	 */
	bool (*check)(void *arg);
	/*
	 * The peer as which it counts in the ratios, NULL for none. Of several that count as the
	 * same peer the fastest does.
	 */
	const char *against;
	bool subject; /* The one that is compared with the peers. */
	/* Its figure is another one of the contender before it, and is taken right after that one's. */
	bool rides;
};

/* Units of figures; names in bench_unit_name(). Less is better in all of them. */
enum unit { CYCLES_OBJECT, CYCLES_PACKET, CYCLES_WALK, MICROSECONDS, CALLS_WALK };

/* How a run of the program measures. */
struct bench_settings {
	unsigned int rounds;   /* at least; see order_rounds() */
	unsigned int round_us; /* that a contender runs in a round, at least */
	bool quick;            /* smaller works too, where one would last */
	const char *works;     /* fnmatch(3) pattern of the works to do */
	const char *prefixes;  /* file of those that routes are made of; NULL: made up */
	const char *contender; /* shared object with one more contender of l3fwd; NULL: none */
};

/* Whether the user wants a work. Asked before it is prepared. Never once a signal asked to stop. */
bool bench_wanted(const char *work);

/*
 * Measures contenders and adds a row each, and a ratio for each peer that they count as. Without
 * contenders, nothing.
 */
void bench_work(const char *work, enum unit unit, const struct contender *contenders,
	unsigned int n);

/*
 * Notes why something cannot be made, for the bench_skip() that follows. What is noted first counts
 * until then: it is the cause. Returns -1.
 */
int bench_cannot(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports a contender, NULL: all of a work, as left out for the reason noted. */
void bench_skip(const char *work, const char *contender);

/* The contenders for a work, and what destroys them (field.c). */
struct field {
	const char *work;
	struct contender all[CONTENDERS_MAX];
	void (*destroy[CONTENDERS_MAX])(void *arg);
	unsigned int n;
};

/* Lets a contender in; one whose argument is NULL could not be made, and is skipped. */
void field_enter(struct field *f, const struct contender *contender, void (*destroy)(void *arg));
/* Measures the contenders, then destroys them, the last one first. */
void field_measure(struct field *f, enum unit unit);

/*
 * The order of n contenders in a round: over order_rounds() rounds each stands equally often at
 * each place, and equally often right after each other one (order.c).
 */
void order_of(unsigned int n, unsigned int round, unsigned int order[]);
/* The least number of such rounds that is not below `least`. */
unsigned int order_rounds(unsigned int n, unsigned int least);

/*
 * Whether chance explains that `found` of n samples, drawn independently, have what the share p of
 * all has: not if fewer than one experiment in a thousand million is that far off (chance.c).
 */
bool chance_explains(uint64_t found, uint64_t n, double p);
/* Samples of which one at least has it, but for one experiment in a thousand million. */
uint64_t chance_samples(double p);

/*
 * Adds a ratio by hand: of one contender's figures for two works, times an expectation. Nothing
 * where one of the two was not measured.
 */
void bench_growth(const char *work, const char *from, const char *contender, double expected,
	const char *against);

/* For qsort(3): doubles, rising. */
int bench_by_value(const void *a, const void *b);

/* A random number, the same sequence in every run of the program. */
uint32_t bench_random(void);

/* Brings numbers in a random order. */
void bench_shuffle(uint32_t *numbers, uint32_t n);
/* An IPv4 prefix, in host byte order. */
struct bench_prefix {
	uint32_t address;
	uint8_t depth;
};

/*
 * Prefixes, all different, in order: those of a file, or, if path is NULL, made up, in the mix of
 * lengths of networks of the Internet. Freed with free(3).
 */
struct bench_prefix *bench_prefixes(const char *path, unsigned int *n);

/* Begins: from now on SIGINT and SIGTERM end the run after the contender that they interrupt. */
void bench_start(const struct bench_settings *settings);
/* As bench_start() had them. */
const struct bench_settings *bench_settings(void);
/* Says what was wrong with the run as a whole. Returns the program's exit code. */
int bench_finish(void);

/* Rows, ratios, and what was left out (results.c). */

struct row {
	char work[48], contender[48];
	enum unit unit;
	unsigned int nb_rounds;
	double *rounds, *sorted;
	unsigned int *places; /* at which it stood in each round, from 0 on */
};

/* Room for a work's rows, not added yet; ends the program if there is none. */
struct row *rows_reserve(const char *work, enum unit unit, const struct contender *contenders,
	unsigned int n, unsigned int nb_rounds);
/* Adds the rows that were reserved, with their ratios, prints them, and writes the JSON file. */
void rows_add(const struct contender *contenders, unsigned int n);
void rows_forget(unsigned int n);
void results_skip(const char *work, const char *contender, const char *reason);
/* Contenders that did the work wrongly, which has no figures then. */
void results_wrong(const char *work, const char *contender, const char *reason);
bool results_right(void);

/*
 * The JSON file holds all results after each work, so that nothing can lose them; NULL: there is no
 * file. It is a regular file of the user's, which is replaced as a whole, or /dev/null. Returns 0, or
 * -1 after saying why it cannot be written.
 */
int results_open(const char *path, const char *bench);
/* Writes the file for the last time. Returns 0, or -1: some results are not in it; said. */
int results_close(bool complete);

/*
 * Binds the calling thread to the CPU of that number among those that it may use: threads that are
 * to run at once must not share one. Returns which it may use, for bench_unbind(). A thread that
 * the user has bound to one CPU stays there.
 */
cpu_set_t bench_bind(unsigned int number);
void bench_unbind(const cpu_set_t *before);
/* Waits until so many threads have come here, since the counter was 0. */
void bench_meet(atomic_uint *arrived, unsigned int due);

/* What the figures depend on: as lines above the table, and as a JSON object. */
void machine_measure(void);
void machine_print(FILE *out);
void machine_write_json(FILE *out);

/* Median and tenth percentile of the TSC cycles that an addition, one core cycle, takes here. */
void calibrate_addition(double *median, double *p10);
/*
 * Measures how steady lcores are, and whether two of them run at once, and prints it: --calibrate.
 * The others do nothing without it; warn says again when figures are not to be trusted.
 */
void calibrate(void);
void calibrate_warn(void);
void calibrate_write_json(FILE *out);

/* The benchmarks. */
void bench_arc(void);
void bench_dispatch(void);
void bench_enqueue(void);
void bench_idle(void);
void bench_l3fwd(void);
void bench_classify(void);
void bench_lookup(void);
void bench_offload(void);
void bench_routes(void);
void bench_walk(void);

#endif
