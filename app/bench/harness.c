/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds, medians, ratios, the table and the JSON file. */

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "bench.h"

#define ROWS_MAX 2048
#define RATIOS_MAX 1024
#define NAME_SIZE 48
#define CONTENDERS_MAX 16
#define TRIES 4 /* of a round that another program disturbs */

struct row {
	char work[NAME_SIZE], contender[NAME_SIZE];
	enum unit unit;
	double *rounds, *sorted;
};

static struct bench_settings settings;
static struct row rows[ROWS_MAX];
static struct {
	char work[NAME_SIZE], against[NAME_SIZE];
	double ratio;
} ratios[RATIOS_MAX];
static unsigned int nb_rows, nb_ratios;
static bool failed;

static const char *const unit_names[] = {
	[CYCLES_OBJECT] = "cycles/object",
	[CYCLES_PACKET] = "cycles/packet",
	[CYCLES_WALK] = "cycles/walk",
	[MICROSECONDS] = "us",
	[CALLS_WALK] = "calls/walk",
};

void
bench_start(const struct bench_settings *s)
{
	settings = *s;
}

const struct bench_settings *
bench_settings(void)
{
	return &settings;
}

bool
bench_wanted(const char *work)
{
	return fnmatch(settings.works, work, 0) == 0;
}

static int
by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double
median(const struct row *row)
{
	return row->sorted[(settings.rounds - 1) / 2];
}

/* Times that the kernel took the CPU away from this thread. */
static long
interruptions(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* Repeats the work until it has lasted long enough for the clock. */
static double
measure_once(const struct contender *c, enum unit unit)
{
	const double scale = unit == MICROSECONDS ? 1e6 / (double)rte_get_tsc_hz() : 1;
	const uint64_t enough = rte_get_tsc_hz() / 1000000 * settings.round_us;
	const uint64_t start = rte_rdtsc();
	uint64_t done = 0, now;

	if (c->figure != NULL)
		return c->figure(c->arg);
	do {
		done += c->run(c->arg);
		now = rte_rdtsc();
	} while (now - start < enough);
	return scale * (double)(now - start) / (double)done;
}

/* A round in which another program had the CPU for a while says nothing, and is done again. */
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

static double
add_ratio(const char *work, const char *against, double ratio)
{
	if (nb_ratios == RATIOS_MAX) {
		fprintf(stderr, "hy-bench: more than %d ratios\n", RATIOS_MAX);
		exit(EXIT_FAILURE);
	}
	snprintf(ratios[nb_ratios].work, NAME_SIZE, "%s", work);
	snprintf(ratios[nb_ratios].against, NAME_SIZE, "%s", against);
	ratios[nb_ratios++].ratio = ratio;
	return ratio;
}

static void
add_rows(const char *work, enum unit unit, const struct contender *contenders, unsigned int n)
{
	if (nb_rows + n > ROWS_MAX || n > CONTENDERS_MAX) {
		fprintf(stderr, "hy-bench: more than %d rows\n", ROWS_MAX);
		exit(EXIT_FAILURE);
	}
	for (unsigned int c = 0; c < n; c++) {
		struct row *row = &rows[nb_rows + c];

		snprintf(row->work, NAME_SIZE, "%s", work);
		snprintf(row->contender, NAME_SIZE, "%s", contenders[c].name);
		row->unit = unit;
		row->rounds = calloc(2ul * settings.rounds, sizeof(*row->rounds));
		if (row->rounds == NULL)
			exit(EXIT_FAILURE);
		row->sorted = row->rounds + settings.rounds;
	}
}

/* One line a work, and a heading when other contenders come on. */
static void
print_work(const struct row *first, const struct contender *contenders, unsigned int n)
{
	static char heading[512];
	char now[sizeof(heading)];
	size_t len = (size_t)snprintf(now, sizeof(now), "\n%-23s%13s", "work", "unit");

	for (unsigned int c = 0; c < n; c++)
		len += (size_t)snprintf(now + len, sizeof(now) - len, "  %7s", contenders[c].name);
	if (strcmp(now, heading) != 0)
		puts(strcpy(heading, now));
	printf("%-23s%13s", first->work, unit_names[first->unit]);
	for (unsigned int c = 0; c < n; c++)
		printf("  %*.2f", (int)RTE_MAX(strlen(contenders[c].name), 7u), median(&first[c]));
}

/* The fastest of the contenders that count as the peer of contender c, if c is the first one. */
static double
fastest_peer(const struct row *first, const struct contender *contenders, unsigned int n,
	unsigned int c)
{
	const char *peer = contenders[c].against;
	double best = -1;

	for (unsigned int i = 0; i < n; i++) {
		if (contenders[i].against == NULL || strcmp(contenders[i].against, peer) != 0)
			continue;
		if (i < c)
			return -1;
		best = best < 0 ? median(&first[i]) : RTE_MIN(best, median(&first[i]));
	}
	return best;
}

void
bench_work(const char *work, enum unit unit, const struct contender *contenders, unsigned int n)
{
	struct row *first = &rows[nb_rows];
	unsigned int subject = n;

	add_rows(work, unit, contenders, n);
	for (unsigned int r = 0; r < settings.rounds; r++)
		for (unsigned int c = 0; c < n; c++)
			first[c].rounds[r] = first[c].sorted[r] = measure(&contenders[c], unit);
	for (unsigned int c = 0; c < n; c++) {
		if (!contenders[c].check(contenders[c].arg)) {
			fprintf(stderr, "hy-bench: %s: %s is wrong\n", work, contenders[c].name);
			failed = true;
			return;
		}
		if (contenders[c].subject)
			subject = c;
		qsort(first[c].sorted, settings.rounds, sizeof(first[c].sorted[0]), by_value);
	}
	nb_rows += n;
	print_work(first, contenders, n);
	for (unsigned int c = 0; c < n && subject < n; c++) {
		const double best = contenders[c].against != NULL
			? fastest_peer(first, contenders, n, c)
			: -1;

		if (best >= 0)
			printf("  %.2fx %s",
				add_ratio(work, contenders[c].against,
					best / median(&first[subject])),
				contenders[c].against);
	}
	printf("\n");
	fflush(stdout);
}

static const struct row *
find_row(const char *work, const char *contender)
{
	for (unsigned int i = 0; i < nb_rows; i++)
		if (strcmp(rows[i].work, work) == 0 && strcmp(rows[i].contender, contender) == 0)
			return &rows[i];
	return NULL;
}

void
bench_growth(const char *work, const char *from, const char *contender, double expected,
	const char *against)
{
	const struct row *to = find_row(work, contender), *base = find_row(from, contender);

	if (to != NULL && base != NULL)
		printf("%-36s  %.2fx %s\n", work,
			add_ratio(work, against, expected * median(base) / median(to)), against);
}

bool
bench_passed(void)
{
	if (nb_rows == 0 && !failed)
		fprintf(stderr, "hy-bench: no work is named '%s'\n", settings.works);
	return nb_rows > 0 && !failed;
}

static void
write_row(FILE *out, const struct row *row)
{
	fprintf(out,
		"{\"work\": \"%s\", \"contender\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, "
		"\"min\": %.6g, \"max\": %.6g, \"rounds\": [",
		row->work, row->contender, unit_names[row->unit], median(row), row->sorted[0],
		row->sorted[settings.rounds - 1]);
	for (unsigned int r = 0; r < settings.rounds; r++)
		fprintf(out, "%s%.6g", r > 0 ? ", " : "", row->rounds[r]);
	fprintf(out, "]}");
}

int
bench_write_json(FILE *out, const char *bench)
{
	fprintf(out, "{\"bench\": \"%s\",\n \"machine\": ", bench);
	machine_write_json(out);
	calibrate_write_json(out);
	fprintf(out, ",\n \"rows\": [");
	for (unsigned int i = 0; i < nb_rows; i++) {
		fprintf(out, "%s\n  ", i > 0 ? "," : "");
		write_row(out, &rows[i]);
	}
	fprintf(out, "],\n \"ratios\": [");
	for (unsigned int i = 0; i < nb_ratios; i++)
		fprintf(out, "%s\n  {\"work\": \"%s\", \"against\": \"%s\", \"ratio\": %.6g}",
			i > 0 ? "," : "", ratios[i].work, ratios[i].against, ratios[i].ratio);
	fprintf(out, "]}\n");
	return fclose(out);
}
