/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How steady the machine is: two pieces of work that always take the same number of core cycles,
 * on each lcore alone and on two at once. What they spread is what figures of a run spread too. What
 * they last longer in all than the median says, an lcore was busy with something else.
 */

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "bench.h"

#define REPEATS 2001 /* in all longer than the kernel lets a program run while others wait */
#define GLANCES 201  /* before every run: some ms */
#define SPIN_STEPS 40000
#define CHASE_LINES 8192 /* 512 KB: in a second-level cache, not in a first-level one */
#define LCORES 2
#define SPREAD_MOST 0.10 /* between the first and the last tenth, as a part of the median */
#define LOST_MOST 0.10   /* of an lcore, to other programs */
#define SLOWDOWN_MOST 1.10

enum { SPIN, CHASE, WORKS };

struct line {
	alignas(RTE_CACHE_LINE_SIZE) const struct line *next;
};

/* What an lcore measured. */
struct sample {
	double median[WORKS]; /* TSC cycles a step */
	double spread[WORKS];
	double lost; /* part of the time in which the lcore did something else */
};

struct place {
	unsigned int lcore, number;
	struct line *lines;
	atomic_uint *arrived; /* both lcores start together; NULL: it runs alone */
	struct sample sample;
};

static struct {
	bool done, trusted, has_two, two_cores;
	unsigned int nb_lcores;
	struct sample alone[LCORES], together[LCORES];
} result;

/* One addition that waits for the one before: a core cycle. */
static void
spin(void)
{
	uint64_t x = 0;

	for (uint64_t i = 0; i < SPIN_STEPS; i++) {
		x += i;
		__asm__ volatile("" : "+r"(x));
	}
}

void
calibrate_addition(double *median, double *p10)
{
	double times[GLANCES];

	for (unsigned int i = 0; i < GLANCES; i++) {
		const uint64_t start = rte_rdtsc_precise();

		spin();
		times[i] = (double)(rte_rdtsc_precise() - start) / SPIN_STEPS;
	}
	qsort(times, GLANCES, sizeof(times[0]), bench_by_value);
	*median = times[GLANCES / 2];
	*p10 = times[GLANCES / 10];
}

static void
chase(const struct line *line)
{
	for (unsigned int i = 0; i < CHASE_LINES; i++)
		line = line->next;
	__asm__ volatile("" : : "r"(line));
}

/* All lines in one circle, in no order that hardware guesses. */
static void
lines_link(struct line *lines)
{
	uint32_t order[CHASE_LINES];

	for (uint32_t i = 0; i < CHASE_LINES; i++)
		order[i] = i;
	bench_shuffle(order, CHASE_LINES);
	for (uint32_t i = 0; i < CHASE_LINES; i++)
		lines[order[i]].next = &lines[order[(i + 1) % CHASE_LINES]];
}

static double
sum(const double *times)
{
	double all = 0;

	for (unsigned int i = 0; i < REPEATS; i++)
		all += times[i];
	return all;
}

static int
measure(void *arg)
{
	static const double steps[WORKS] = { SPIN_STEPS, CHASE_LINES };
	struct place *p = arg;
	const cpu_set_t before = bench_bind(p->number);
	double times[REPEATS], all = 0, own = 0;

	if (p->arrived != NULL) {
		atomic_fetch_add(p->arrived, 1);
		while (atomic_load(p->arrived) < LCORES)
			rte_pause();
	}
	chase(p->lines); /* into the cache */
	for (unsigned int w = 0; w < WORKS; w++) {
		for (unsigned int i = 0; i < REPEATS; i++) {
			const uint64_t start = rte_rdtsc_precise();

			if (w == SPIN)
				spin();
			else
				chase(p->lines);
			times[i] = (double)(rte_rdtsc_precise() - start) / steps[w];
		}
		all += sum(times) * steps[w];
		qsort(times, REPEATS, sizeof(times[0]), bench_by_value);
		p->sample.median[w] = times[REPEATS / 2];
		p->sample.spread[w] = (times[REPEATS * 9 / 10] - times[REPEATS / 10]) /
			times[REPEATS / 2];
		own += times[REPEATS / 2] * REPEATS * steps[w];
	}
	p->sample.lost = RTE_MAX(1 - own / all, 0.0);
	bench_unbind(&before);
	return 0;
}

/* Measures on an lcore, this one or another. */
static void
start(struct place *p)
{
	if (p->lcore != rte_lcore_id())
		rte_eal_remote_launch(measure, p, p->lcore);
}

static void
finish(struct place *p)
{
	if (p->lcore == rte_lcore_id())
		measure(p);
	else
		rte_eal_wait_lcore(p->lcore);
}

static bool
steady(const struct sample *s)
{
	return s->spread[SPIN] <= SPREAD_MOST && s->spread[CHASE] <= SPREAD_MOST &&
		s->lost <= LOST_MOST;
}

static void
judge(void)
{
	result.trusted = result.two_cores = true;
	result.has_two = result.nb_lcores > 1;
	for (unsigned int l = 0; l < result.nb_lcores; l++) {
		const struct sample *alone = &result.alone[l], *both = &result.together[l];

		result.trusted &= steady(alone);
		for (unsigned int w = 0; result.has_two && w < WORKS; w++)
			result.two_cores &= both->median[w] <= SLOWDOWN_MOST * alone->median[w];
		result.two_cores &= both->lost <= LOST_MOST;
	}
	result.two_cores &= result.has_two;
}

static void
sample_print(const char *when, unsigned int lcore, const struct sample *s)
{
	printf("lcore %u %-9s  addition %.3f cycles, spread %4.1f %%;  L2 load %5.2f cycles, "
	       "spread %4.1f %%;  lost to others %4.1f %%\n",
		lcore, when, s->median[SPIN], 100 * s->spread[SPIN], s->median[CHASE],
		100 * s->spread[CHASE], 100 * s->lost);
}

static void
result_print(void)
{
	for (unsigned int l = 0; l < result.nb_lcores; l++)
		sample_print("alone", l, &result.alone[l]);
	for (unsigned int l = 0; result.has_two && l < result.nb_lcores; l++)
		sample_print("together", l, &result.together[l]);
	if (result.has_two)
		printf("two lcores are two cores: %s\n",
			result.two_cores ? "yes"
					 : "NO, they slow one another down, or others run on them");
	calibrate_warn();
}

void
calibrate_warn(void)
{
	if (result.done && !result.trusted)
		printf("THIS RUN IS NOT TO BE TRUSTED: the same work took times that spread by "
		       "more than %.0f %%, or others had more than %.0f %% of an lcore\n",
			100 * SPREAD_MOST, 100 * LOST_MOST);
}

void
calibrate(void)
{
	struct line *lines = aligned_alloc(alignof(struct line),
		LCORES * CHASE_LINES * sizeof(*lines));
	struct place places[LCORES];
	atomic_uint arrived = 0;
	unsigned int lcore, n = 0;

	if (lines == NULL) {
		fprintf(stderr, "hy-bench: no memory to calibrate with\n");
		exit(EXIT_FAILURE);
	}
	RTE_LCORE_FOREACH(lcore) {
		if (n == LCORES)
			break;
		places[n] = (struct place){
			.lcore = lcore, .number = n, .lines = lines + n * CHASE_LINES
		};
		lines_link(places[n++].lines);
	}
	result.nb_lcores = n;
	for (unsigned int l = 0; l < n; l++) {
		start(&places[l]);
		finish(&places[l]);
		result.alone[l] = places[l].sample;
	}
	for (unsigned int l = 0; n == LCORES && l < n; l++) {
		places[l].arrived = &arrived;
		start(&places[l]);
	}
	for (unsigned int l = 0; n == LCORES && l < n; l++) {
		finish(&places[l]);
		result.together[l] = places[l].sample;
	}
	free(lines);
	judge();
	result.done = true;
	result_print();
}

static void
samples_write(FILE *out, const char *when, const struct sample *samples)
{
	fprintf(out, ",\n  \"%s\": [", when);
	for (unsigned int l = 0; l < result.nb_lcores; l++)
		fprintf(out,
			"%s{\"addition\": %.6g, \"addition_spread\": %.6g, \"l2_load\": %.6g, "
			"\"l2_load_spread\": %.6g, \"lost\": %.6g}",
			l > 0 ? ", " : "", samples[l].median[SPIN], samples[l].spread[SPIN],
			samples[l].median[CHASE], samples[l].spread[CHASE], samples[l].lost);
	fprintf(out, "]");
}

void
calibrate_write_json(FILE *out)
{
	if (!result.done)
		return;
	fprintf(out, ",\n \"calibration\": {\"trusted\": %s, \"two_cores\": %s",
		result.trusted ? "true" : "false", result.two_cores ? "true" : "false");
	samples_write(out, "alone", result.alone);
	if (result.has_two)
		samples_write(out, "together", result.together);
	fprintf(out, "}");
}
