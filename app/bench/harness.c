/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds: contenders take turns, and their work is measured and checked. */

#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <rte_cycles.h>

#include "bench.h"

#define TRIES 4 /* of a round disturbed by another program */

static struct bench_settings settings;
static volatile sig_atomic_t stopped; /* the signal; 0: none */
static bool matched;                  /* a work was wanted */
static char noted[160];               /* why something cannot be created */

static void
stop(int signal)
{
	stopped = signal;
}

void
bench_start(const struct bench_settings *s)
{
	/* A second signal kills a contender that does not end. */
	const struct sigaction action = { .sa_handler = stop, .sa_flags = (int)SA_RESETHAND };

	settings = *s;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

const struct bench_settings *
bench_settings(void)
{
	return &settings;
}

bool
bench_wanted(const char *work)
{
	if (stopped != 0 || fnmatch(settings.works, work, 0) != 0)
		return false;
	matched = true;
	return true;
}

int
bench_cannot(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (noted[0] == '\0')
		vsnprintf(noted, sizeof(noted), format, ap);
	va_end(ap);
	return -1;
}

void
bench_skip(const char *work, const char *contender)
{
	results_skip(work, contender, noted[0] != '\0' ? noted : "it could not be created");
	noted[0] = '\0';
	matched = true;
}

int
bench_by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Involuntary context switches of this thread. */
static long
interruptions(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* Repeats the work until the time measured is long enough. */
static double
measure_once(const struct contender *c, enum unit unit)
{
	const double scale = unit == MICROSECONDS ? 1e6 / (double)rte_get_tsc_hz() : 1;
	const uint64_t enough = rte_get_tsc_hz() / 1000000 * settings.round_us;
	const uint64_t start = rte_rdtsc();
	uint64_t done = 0, now;

	if (c->also != NULL)
		return *c->also;
	if (c->figure != NULL)
		return c->figure(c->arg);
	do {
		done += c->run(c->arg);
		now = rte_rdtsc();
	} while (now - start < enough);
	return scale * (double)(now - start) / (double)done;
}

/* Repeats a round in which another program had the CPU. */
static double
measure(const struct contender *c, enum unit unit)
{
	double figure = 0;

	for (unsigned int i = 0; i < TRIES; i++) {
		const long before = interruptions();

		figure = measure_once(c, unit);
		if (interruptions() == before)
			break;
	}
	return figure;
}

/* Runs a round of the leading contenders, each with its further figures. False after a signal. */
static bool
round_run(struct row *rows, const struct contender *contenders, unsigned int n,
	const unsigned int leads[], unsigned int nb_leads, unsigned int round)
{
	unsigned int order[CONTENDERS_MAX];

	order_of(nb_leads, round, order);
	for (unsigned int place = 0; place < nb_leads; place++) {
		unsigned int c = leads[order[place]];

		do {
			rows[c].rounds[round] = rows[c].sorted[round] = measure(&contenders[c],
				rows->unit);
			rows[c].places[round] = place;
		} while (++c < n && contenders[c].also != NULL);
		if (stopped != 0)
			return false;
	}
	return true;
}

/* Returns whether all contenders are right. */
static bool
check(const char *work, const struct contender *contenders, unsigned int n)
{
	bool right = true;

	for (unsigned int c = 0; c < n; c++) {
		if (contenders[c].also != NULL || contenders[c].check(contenders[c].arg))
			continue;
		results_wrong(work, contenders[c].name, "its results are wrong");
		right = false;
	}
	return right;
}

void
bench_work(const char *work, enum unit unit, const struct contender *contenders, unsigned int n)
{
	unsigned int leads[CONTENDERS_MAX], nb_leads = 0, nb_rounds, r = 0;
	struct row *rows;

	for (unsigned int c = 0; c < n; c++)
		if (contenders[c].also == NULL)
			leads[nb_leads++] = c;
	if (n == 0 || stopped != 0)
		return;
	nb_rounds = order_rounds(nb_leads, settings.rounds);
	rows = rows_reserve(work, unit, contenders, n, nb_rounds);
	while (r < nb_rounds && round_run(rows, contenders, n, leads, nb_leads, r))
		r++;
	if (r == nb_rounds && check(work, contenders, n))
		rows_add(contenders, n);
}

int
bench_finish(void)
{
	const bool written = results_close(stopped == 0) == 0;

	if (stopped != 0) {
		fprintf(stderr, "hy-bench: stopped by signal %d\n", (int)stopped);
		return 128 + (int)stopped;
	}
	if (!matched)
		fprintf(stderr, "hy-bench: no work is named '%s'\n", settings.works);
	return matched && written && results_right() ? EXIT_SUCCESS : EXIT_FAILURE;
}
