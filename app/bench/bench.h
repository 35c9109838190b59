/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The harness of hy-bench. Contenders for the same work run in turn, round after round, so that
 * what the machine does to one it does to all; a figure is the median of its rounds, and only
 * ratios within one run mean anything.
 */
#ifndef HY_BENCH_H
#define HY_BENCH_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ROUNDS_MIN 15 /* fewer say little on a machine that does other things too */
#define ROUNDS_MAX 255

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
};

/* Units of figures; names in bench_unit_name(). Less is better in all of them. */
enum unit { CYCLES_OBJECT, CYCLES_PACKET, CYCLES_WALK, MICROSECONDS, CALLS_WALK };

/* How a run of the program measures. */
struct bench_settings {
	unsigned int rounds;
	unsigned int round_us; /* that a contender runs in a round, at least */
	bool quick;            /* smaller works too, where one would last */
	const char *works;     /* fnmatch(3) pattern of the works to do */
	const char *prefixes;  /* file of those that routes are made of; NULL: made up */
	const char *contender; /* shared object with one more contender of l3fwd; NULL: none */
};

/* Whether the user wants a work. Asked before it is prepared. */
bool bench_wanted(const char *work);

/* Measures contenders and adds a row each, and a ratio for each peer that they count as. */
void bench_work(const char *work, enum unit unit, const struct contender *contenders,
	unsigned int n);

/*
 * Adds a ratio by hand: of one contender's figures for two works, times an expectation. Nothing
 * where one of the two was not measured.
 */
void bench_growth(const char *work, const char *from, const char *contender, double expected,
	const char *against);

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

void bench_start(const struct bench_settings *settings);
/* As bench_start() had them. */
const struct bench_settings *bench_settings(void);
/* Whether something was measured and nothing was wrong; if not, it has been said. */
bool bench_passed(void);
/* Writes all rows and ratios, and closes the file. Returns 0, or -1 with errno set. */
int bench_write_json(FILE *out, const char *bench);

/*
 * Binds the calling thread to the CPU of that number among those that it may use: threads that are
 * to run at once must not share one. Returns which it may use, for bench_unbind(). A thread that
 * the user has bound to one CPU stays there.
 */
cpu_set_t bench_bind(unsigned int number);
void bench_unbind(const cpu_set_t *before);

/* What the figures depend on: as lines above the table, and as a JSON object. */
void machine_print(FILE *out);
void machine_write_json(FILE *out);

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
