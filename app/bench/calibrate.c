/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How steady the machine is: two pieces of work with a constant number of core cycles run on each
 * lcore alone, then on two at once. Their spread is the spread that figures of a run have too. The
 * time that the medians do not account for went to other programs.
 */

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_lcore.h>

#include "bench.h"
#include "lanes.h"

#define REPEATS 2001 /* longer in all than a scheduling period of the kernel */
#define GLANCES 201  /* before every run; takes some ms */
#define SPIN_STEPS 40000
#define CHASE_LINES 8192 /* 512 KB: fits a second-level cache, not a first-level one */
#define SPREAD_MOST 0.10 /* between the first and the last tenth, relative to the median */
#define LOST_MOST 0.10   /* of an lcore, to other programs */
#define SLOWDOWN_MOST 1.10

enum { SPIN, CHASE, WORKS };

struct line {
	alignas(RTE_CACHE_LINE_SIZE) const struct line *next;
};

/* The measurements of an lcore. */
struct sample {
	double median[WORKS]; /* TSC cycles a step */
	double spread[WORKS];
	double lost; /* share of the time that the lcore did something else */
};

struct place {
	struct line *lines;
	atomic_uint *arrived; /* both lcores start together; NULL: it runs alone */
	struct sample sample;
};

static struct {
	bool done, trusted, two_cores;
	unsigned int nb_lcores;
	struct sample samples[2][LANES]; /* alone and, with two lcores, together */
} result;

static const char *const whens[] = { "alone", "together" };

/* Additions that depend on one another: one core cycle each. */
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

/* Links all lines in one circle, in an order that hardware cannot predict. */
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

static void
measure(void *places, unsigned int lane)
{
	static const double steps[WORKS] = { SPIN_STEPS, CHASE_LINES };
	struct place *p = (struct place *)places + lane;
	double times[REPEATS], all = 0, own = 0;

	if (p->arrived != NULL)
		bench_meet(p->arrived, LANES);
	chase(p->lines); /* into the cache */
	for (unsigned int w = 0; w < WORKS; w++) {
		for (unsigned int i = 0; i < REPEATS; i++) {
			const uint64_t start = rte_rdtsc_precise();

			if (w == SPIN)
				spin();
			else
				chase(p->lines);
			times[i] = (double)(rte_rdtsc_precise() - start) / steps[w];
			all += times[i] * steps[w];
		}
		qsort(times, REPEATS, sizeof(times[0]), bench_by_value);
		p->sample.median[w] = times[REPEATS / 2];
		p->sample.spread[w] = (times[REPEATS * 9 / 10] - times[REPEATS / 10]) /
			times[REPEATS / 2];
		own += times[REPEATS / 2] * REPEATS * steps[w];
	}
	p->sample.lost = RTE_MAX(1 - own / all, 0.0);
}

static void
judge(void)
{
	result.trusted = result.two_cores = true;
	for (unsigned int l = 0; l < result.nb_lcores; l++) {
		const struct sample *alone = &result.samples[0][l], *both = &result.samples[1][l];

		result.trusted &= alone->spread[SPIN] <= SPREAD_MOST &&
			alone->spread[CHASE] <= SPREAD_MOST && alone->lost <= LOST_MOST;
		for (unsigned int w = 0; result.nb_lcores == LANES && w < WORKS; w++)
			result.two_cores &= both->median[w] <= SLOWDOWN_MOST * alone->median[w];
		result.two_cores &= both->lost <= LOST_MOST;
	}
	result.two_cores &= result.nb_lcores == LANES;
}

static void
result_print(void)
{
	for (unsigned int when = 0; when < result.nb_lcores; when++)
		for (unsigned int l = 0; l < result.nb_lcores; l++) {
			const struct sample *s = &result.samples[when][l];

			printf("lcore %u %-9s  addition %.3f cycles, spread %4.1f %%;  L2 load "
			       "%5.2f cycles, spread %4.1f %%;  lost to others %4.1f %%\n",
				l, whens[when], s->median[SPIN], 100 * s->spread[SPIN],
				s->median[CHASE], 100 * s->spread[CHASE], 100 * s->lost);
		}
	if (result.nb_lcores == LANES)
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
	struct line *lines = bench_alloc((size_t)LANES * CHASE_LINES, sizeof(*lines));
	struct place places[LANES];
	atomic_uint arrived = 0;
	const unsigned int n = RTE_MIN(rte_lcore_count(), (unsigned int)LANES);

	for (unsigned int l = 0; l < n; l++) {
		places[l] = (struct place){ .lines = lines + l * CHASE_LINES };
		lines_link(places[l].lines);
		lanes_run(measure, places, l, 1);
		result.samples[0][l] = places[l].sample;
		places[l].arrived = &arrived;
	}
	if (n == LANES)
		lanes_run(measure, places, 0, n);
	for (unsigned int l = 0; l < n; l++)
		result.samples[1][l] = places[l].sample;
	result.nb_lcores = n;
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
	for (unsigned int when = 0; when < result.nb_lcores; when++)
		samples_write(out, whens[when], result.samples[when]);
	fprintf(out, "}");
}
