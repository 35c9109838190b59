/* SPDX-License-Identifier: BSD-3-Clause */
/* The results, and what is missing and why: the table and the JSON file. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include <hy_document.h>
#include <hy_file.h>

#include "bench.h"
#include "lib/file/internal/json.h"

#define ROWS_MAX 2048
#define NAME_SIZE sizeof(((struct row *)0)->work)

/* A list in the JSON file: its text so far. */
static struct list {
	const char *key;
	FILE *out;
	char *text;
	size_t size;
	unsigned int n;
} lists[] = { { "rows" }, { "ratios" }, { "skipped" }, { "wrong" } };
enum { ROWS, RATIOS, SKIPPED, WRONG };

static struct row rows[ROWS_MAX];
static unsigned int nb_rows;
static struct {
	const char *bench, *path; /* NULL: none */
	char part[4096];          /* is written and then renamed to path; "": /dev/null */
	mode_t mode;
	bool failed, said;
} json;

static const char *const unit_names[] = {
	[CYCLES_OBJECT] = "cycles/object",
	[CYCLES_PACKET] = "cycles/packet",
	[CYCLES_WALK] = "cycles/walk",
	[MICROSECONDS] = "us",
	[MEBIBYTES] = "MiB",
	[CALLS_WALK] = "calls/walk",
};

static double
median(const struct row *row)
{
	return row->sorted[(row->nb_rounds - 1) / 2];
}

static double
p10(const struct row *row)
{
	return row->sorted[(row->nb_rounds - 1) / 10];
}

struct row *
rows_reserve(const char *work, enum unit unit, const struct contender *contenders, unsigned int n,
	unsigned int nb_rounds)
{
	if (nb_rows + n > ROWS_MAX || n > CONTENDERS_MAX)
		bench_fail("more than %d rows", ROWS_MAX);
	for (unsigned int c = 0; c < n; c++) {
		struct row *row = &rows[nb_rows + c];

		snprintf(row->work, NAME_SIZE, "%s", work);
		snprintf(row->contender, NAME_SIZE, "%s", contenders[c].name);
		row->unit = unit;
		row->nb_rounds = nb_rounds;
	}
	return &rows[nb_rows];
}

/* The largest distance of a contender's median from its lowest tenth. */
static double
noise(const struct row *first, unsigned int n)
{
	double most = 0;

	for (unsigned int c = 0; c < n; c++)
		most = RTE_MAX(most, median(&first[c]) / p10(&first[c]) - 1);
	return most;
}

static void
print_figures(const struct row *first, const struct contender *contenders, unsigned int n,
	double (*figure)(const struct row *row))
{
	for (unsigned int c = 0; c < n; c++)
		printf("  %*.2f", (int)RTE_MAX(strlen(contenders[c].name), 7u), figure(&first[c]));
}

/* Prints the medians of a work, and a heading when the contenders change. */
static void
print_medians(const struct row *first, const struct contender *contenders, unsigned int n)
{
	static char heading[512];
	char now[sizeof(heading)];
	size_t len = (size_t)snprintf(now, sizeof(now), "\n%-23s%13s  %6s", "work", "unit",
		"noise");

	for (unsigned int c = 0; c < n; c++)
		len += (size_t)snprintf(now + len, sizeof(now) - len, "  %7s", contenders[c].name);
	if (strcmp(now, heading) != 0)
		puts(strcpy(heading, now));
	printf("%-23s%13s  %5.1f%%", first->work, unit_names[first->unit], 100 * noise(first, n));
	print_figures(first, contenders, n, median);
}

/* Begins an entry of a list. */
static FILE *
entry(unsigned int which)
{
	struct list *list = &lists[which];

	if (list->out == NULL)
		list->out = open_memstream(&list->text, &list->size);
	if (list->out == NULL)
		bench_fail("no memory for results");
	fputs(list->n++ > 0 ? ",\n  " : "\n  ", list->out);
	return list->out;
}

static double
add_ratio(const struct row *row, const char *against, double ratio)
{
	fprintf(entry(RATIOS),
		"{\"work\": \"%s\", \"contender\": \"%s\", \"against\": \"%s\", \"ratio\": %.6g}",
		row->work, row->contender, against, ratio);
	return ratio;
}

/* The fastest contender that counts as the same peer as c; -1 if c is not the first of them. */
static double
fastest_peer(const struct row *first, const struct contender *contenders, unsigned int n,
	unsigned int c)
{
	const char *peer = contenders[c].against;
	double best = -1;

	for (unsigned int i = 0; i < n && peer != NULL; i++) {
		if (contenders[i].against == NULL || strcmp(contenders[i].against, peer) != 0)
			continue;
		if (i < c)
			return -1;
		best = best < 0 ? median(&first[i]) : RTE_MIN(best, median(&first[i]));
	}
	return best;
}

static void
add_row(const struct row *row)
{
	FILE *out = entry(ROWS);

	fprintf(out,
		"{\"work\": \"%s\", \"contender\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, "
		"\"p10\": %.6g, \"min\": %.6g, \"max\": %.6g, \"rounds\": [",
		row->work, row->contender, unit_names[row->unit], median(row), p10(row),
		row->sorted[0], row->sorted[row->nb_rounds - 1]);
	for (unsigned int r = 0; r < row->nb_rounds; r++)
		fprintf(out, "%s%.6g", r > 0 ? ", " : "", row->rounds[r]);
	fprintf(out, "], \"places\": [");
	for (unsigned int r = 0; r < row->nb_rounds; r++)
		fprintf(out, "%s%u", r > 0 ? ", " : "", row->places[r]);
	fprintf(out, "]}");
}

static void
write_all(FILE *out, bool complete)
{
	fprintf(out, "{\"bench\": \"%s\",\n \"complete\": %s,\n \"machine\": ", json.bench,
		complete ? "true" : "false");
	machine_write_json(out);
	calibrate_write_json(out);
	for (unsigned int i = 0; i < RTE_DIM(lists); i++) {
		if (lists[i].out != NULL)
			fflush(lists[i].out);
		fprintf(out, ",\n \"%s\": [%s]", lists[i].key,
			lists[i].out != NULL ? lists[i].text : "");
	}
	fprintf(out, "}\n");
}

static int
refuse(const char *why)
{
	if (!json.said)
		fprintf(stderr, "hy-bench: --json %s: %s\n", json.path, why);
	json.said = true;
	return -1;
}

/* Opens the file that replaces the path, empty. */
static FILE *
part_open(char *why)
{
	FILE *out;
	int fd, rc = hy_output_open(json.part, 0, &fd, why);

	if (rc < 0)
		return NULL;
	rc = hy_output_empty(fd);
	out = rc < 0 || fchmod(fd, json.mode) < 0 ? NULL : fdopen(fd, "w");
	if (out == NULL) {
		snprintf(why, HY_FILE_ERROR_SIZE, "%s", strerror(rc < 0 ? -rc : errno));
		close(fd);
	}
	return out;
}

static int
part_write(FILE *out, bool complete)
{
	int rc;

	write_all(out, complete);
	rc = hy_output_flush(out);
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(json.part, json.path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(json.part);
	return rc;
}

/* Replaces the file as a whole; on failure the old content stays. */
static void
save(bool complete)
{
	char why[HY_FILE_ERROR_SIZE];
	FILE *out;
	int rc;

	if (json.part[0] == '\0')
		return;
	out = part_open(why);
	rc = out == NULL ? refuse(why) : part_write(out, complete);
	if (rc < 0 && out != NULL)
		refuse(strerror(-rc));
	json.failed = rc < 0;
}

/* Neither the file nor its part may be one that is read: both are replaced. */
static int
spare(const struct hy_input *inputs, unsigned int nb_inputs)
{
	const char *reader = hy_input_find(inputs, nb_inputs, json.path);
	char why[HY_FILE_ERROR_SIZE];
	bool part = false;

	if (reader == NULL) {
		reader = hy_input_find(inputs, nb_inputs, json.part);
		part = reader != NULL;
	}
	if (reader == NULL)
		return 0;
	snprintf(why, sizeof(why), "%sis the file of %s, which is read",
		part ? "with .part added, it " : "", reader);
	return refuse(why);
}

int
results_open(const char *path, const char *bench, const struct hy_input *inputs,
	unsigned int nb_inputs)
{
	char why[HY_FILE_ERROR_SIZE];
	struct stat st;
	bool made;
	int fd;

	json.path = path;
	json.bench = bench;
	if (path == NULL)
		return 0;
	if (snprintf(json.part, sizeof(json.part), "%s.part", path) >= (int)sizeof(json.part))
		return refuse(strerror(ENAMETOOLONG));
	if (spare(inputs, nb_inputs) < 0)
		return -1;
	made = lstat(path, &st) < 0;
	if (hy_output_open(path, 0, &fd, why) < 0)
		return refuse(why);
	if (made)
		unlink(path); /* created again with the first results */
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		json.part[0] = '\0';
	json.mode = st.st_mode & 0777;
	close(fd);
	return 0;
}

int
results_close(bool complete)
{
	save(complete);
	return json.failed ? -1 : 0;
}

void
rows_add(const struct contender *contenders, unsigned int n)
{
	struct row *first = &rows[nb_rows];
	unsigned int subject = n;

	for (unsigned int c = 0; c < n; c++) {
		qsort(first[c].sorted, first[c].nb_rounds, sizeof(first[c].sorted[0]),
			bench_by_value);
		add_row(&first[c]);
		if (contenders[c].subject)
			subject = c;
	}
	nb_rows += n;
	print_medians(first, contenders, n);
	for (unsigned int c = 0; c < n && subject < n; c++) {
		const double best = fastest_peer(first, contenders, n, c);

		if (best >= 0)
			printf("  %.2fx %s",
				add_ratio(&first[subject], contenders[c].against,
					best / median(&first[subject])),
				contenders[c].against);
	}
	printf("\n%*s", 23 + 13 + 2 + 6, "lowest tenth");
	print_figures(first, contenders, n, p10);
	printf("\n");
	fflush(stdout);
	save(false);
}

static const struct row *
find_row(const char *work, const char *contender)
{
	for (unsigned int i = 0; i < nb_rows; i++)
		if (strcmp(rows[i].work, work) == 0 && strcmp(rows[i].contender, contender) == 0)
			return &rows[i];
	return NULL;
}

double
bench_median(const char *work, const char *contender)
{
	const struct row *row = find_row(work, contender);

	return row == NULL ? -1 : median(row);
}

void
bench_growth(const char *work, const char *from, const char *contender, double expected,
	const char *against)
{
	const struct row *to = find_row(work, contender), *base = find_row(from, contender);

	if (to != NULL && base != NULL)
		printf("%-36s  %.2fx %s\n", work,
			add_ratio(to, against, expected * median(base) / median(to)), against);
}

void
bench_loss(const char *work, const char *from)
{
	bool begun = false;

	for (unsigned int i = 0; i < nb_rows; i++) {
		const struct row *to = &rows[i], *base = find_row(from, to->contender);

		if (strcmp(to->work, work) != 0 || base == NULL)
			continue;
		if (!begun)
			printf("lost from %s to %s:", from, work);
		printf("  %.1f%% %s", 100 * (1 - median(base) / median(to)), to->contender);
		begun = true;
	}
	if (begun)
		printf("\n");
}

static void
omit(unsigned int list, const char *work, const char *contender, const char *reason)
{
	const char *quote = contender == NULL ? "" : "\"";
	FILE *out = entry(list);

	fprintf(out, "{\"work\": \"%s\", \"contender\": %s%s%s, \"reason\": ", work, quote,
		contender == NULL ? "null" : contender, quote);
	hy_json_string(reason, out);
	fputc('}', out);
	save(false);
}

void
results_skip(const char *work, const char *contender, const char *reason)
{
	printf("%-23s skipped%s%s: %s\n", work, contender == NULL ? "" : ": ",
		contender == NULL ? "" : contender, reason);
	fflush(stdout);
	omit(SKIPPED, work, contender, reason);
}

void
results_wrong(const char *work, const char *contender, const char *reason)
{
	fprintf(stderr, "hy-bench: %s: %s is wrong: %s\n", work, contender, reason);
	omit(WRONG, work, contender, reason);
}

bool
results_right(void)
{
	return lists[WRONG].n == 0;
}
