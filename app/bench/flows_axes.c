/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cases of the flows benchmark: numbers of flows, megaflows and masks, how packets are drawn, and
 * tunnels. A case's name lists what is not usual: `loop_10k_k16` has 16 masks. With --full all are
 * measured, and their rows are appended to a file, so that another run goes on where one was ended.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "flows.h"

#define USUAL 1024 /* megaflows */

static const struct {
	const char *name;
	uint32_t n;
} flows_axis[] = { { "8", 8 }, { "100", 100 }, { "1k", 1000 }, { "2k", 2000 }, { "5k", 5000 },
	{ "10k", 10000 }, { "20k", 20000 }, { "50k", 50000 }, { "100k", 100000 },
	{ "500k", 500000 }, { "1M", 1000000 } };

static const struct {
	const char *name;
	uint32_t n;
} megaflows_axis[] = { { "", USUAL }, { "_m8", 8 }, { "_mall", FLOWS_ALL } };

static const uint32_t masks_axis[] = { 1, 4, 16, 64 };
static const char *const draws[] = { [DRAW_UNIFORM] = "", [DRAW_ZIPF] = "_zipf", [DRAW_NEW] = "" };

/* Measured without --full, and those with nothing but a number of flows. */
static const char *const usual[] = { "loop_10k_k4", "loop_10k_k16", "loop_10k_k64", "loop_1M_k16",
	"loop_10k_m8", "loop_10k_mall", "loop_100k_mall", "loop_10k_zipf", "loop_100k_zipf",
	"loop_1M_zipf", "loop_new", "loop_new_k16", "loop_new_mall", "loop_8_vxlan",
	"loop_10k_vxlan", "loop_100k_vxlan" };
/* Measured with --quick, unless --work names others. */
static const char *const quick[] = { "loop_8", "loop_10k", "loop_1M", "loop_10k_k16",
	"loop_10k_zipf", "loop_new_mall", "loop_10k_vxlan" };

static bool
is_in(const char *name, const char *const names[], uint32_t n)
{
	while (n > 0)
		if (strcmp(names[--n], name) == 0)
			return true;
	return false;
}

/* Whether a case is one of its own. */
static bool
is_possible(const struct flows_case *c)
{
	const bool new = c->draw == DRAW_NEW;
	const uint32_t megaflows = c->megaflows != FLOWS_ALL ? c->megaflows
		: new                                        ? UINT32_MAX
							     : c->flows;

	if (!new && c->megaflows != USUAL && c->flows <= (c->megaflows == 8 ? 8 : USUAL))
		return false; /* it is as with the usual megaflows */
	return c->masks <= RTE_MIN(megaflows, new ? UINT32_MAX : c->flows);
}

/* The case of a number, or false after the last. */
static bool
case_of(uint32_t number, struct flows_case *c)
{
	const uint32_t flows = number % RTE_DIM(flows_axis);
	const uint32_t megaflows = (number /= RTE_DIM(flows_axis)) % RTE_DIM(megaflows_axis);
	const uint32_t masks = (number /= RTE_DIM(megaflows_axis)) % RTE_DIM(masks_axis);
	const uint32_t drawn = (number /= RTE_DIM(masks_axis)) % RTE_DIM(draws);
	char k[16] = "";

	number /= RTE_DIM(draws);
	*c = (struct flows_case){ .flows = flows_axis[flows].n,
		.megaflows = megaflows_axis[megaflows].n,
		.masks = masks_axis[masks],
		.draw = (enum flows_draw)drawn,
		.vxlan = number % 2 == 1 };
	if (c->masks > 1)
		snprintf(k, sizeof(k), "_k%u", c->masks);
	snprintf(c->name, sizeof(c->name), "loop_%s%s%s%s%s",
		c->draw == DRAW_NEW ? "new" : flows_axis[flows].name,
		megaflows_axis[megaflows].name, k, draws[drawn], c->vxlan ? "_vxlan" : "");
	c->usual = c->megaflows == USUAL && c->masks == 1 && c->draw == DRAW_UNIFORM && !c->vxlan;
	c->usual |= is_in(c->name, usual, RTE_DIM(usual));
	if (c->draw == DRAW_NEW) {
		if (flows > 0)
			c->name[0] = '\0'; /* the number of flows means nothing */
		c->flows = UINT32_MAX;
	}
	return number < 2;
}

/* The file of --full: its end, and all names of cases that were ended. */
struct journal {
	FILE *out;
	char *text;
};

static void
journal_open(struct journal *j, const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;
	size_t n = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		bench_fail("flows: --full %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		bench_fail("flows: --full %s: a regular file is needed", path);
	j->out = fdopen(fd, "a+");
	j->text = bench_alloc((size_t)st.st_size + 1, 1);
	if (j->out == NULL || fseek(j->out, 0, SEEK_SET) != 0)
		bench_fail("flows: --full %s: %s", path, strerror(errno));
	n = fread(j->text, 1, (size_t)st.st_size, j->out);
	j->text[n] = '\0';
	if (n == 0)
		flows_loop_head(j->out);
}

/* Whether there is the line that ends a case. */
static bool
journal_has(const struct journal *j, const char *name)
{
	char line[64];

	snprintf(line, sizeof(line), "\n# end of %s\n", name);
	return j->text != NULL && strstr(j->text, line) != NULL;
}

static void
journal_close(struct journal *j)
{
	if (j->out != NULL && fclose(j->out) != 0)
		bench_fail("flows: --full: %s", strerror(errno));
	free(j->text);
}

static void
measure(const struct flows_case *c, struct journal *j)
{
	if (journal_has(j, c->name)) {
		printf("%s: measured before\n", c->name);
		return;
	}
	flows_loop(c, j->out);
	if (j->out == NULL || bench_median(c->name, "gen") < 0)
		return;
	fprintf(j->out, "# end of %s\n", c->name);
	if (fflush(j->out) != 0)
		bench_fail("flows: --full: %s", strerror(errno));
}

/* Rows of the proposal of January 2018 for Open vSwitch: Mpps, before and with it. */
static const struct {
	const char *flows;
	double before, with;
} proposal[] = { { "8", 4.45, 4.62 }, { "100", 4.17, 4.47 }, { "1k", 3.88, 4.34 },
	{ "2k", 3.54, 4.17 }, { "5k", 3.01, 3.82 }, { "10k", 2.75, 3.63 }, { "20k", 2.64, 3.50 },
	{ "50k", 2.60, 3.33 }, { "100k", 2.59, 3.23 }, { "500k", 2.59, 3.16 } };

static double
gain(double before, double with)
{
	return 100 * (with / before - 1);
}

static void
print_proposal(void)
{
	const double hz = (double)rte_get_tsc_hz() / 1e6;
	bool some = false;

	for (uint32_t i = 0; i < RTE_DIM(proposal); i++) {
		char work[16];
		double emc, dfc, ours;

		snprintf(work, sizeof(work), "loop_%s", proposal[i].flows);
		emc = bench_median(work, "emc8k");
		dfc = bench_median(work, "emc16k_dfc");
		ours = bench_median(work, "auto");
		if (emc < 0 || dfc < 0 || ours < 0)
			continue;
		if (!some)
			printf("the proposal's table, and ours beside it (Mpps)\n%8s %8s %8s %7s   "
			       "%8s %10s %7s %8s %7s\n",
				"flows", "EMC 8k", "EMC+DFC", "gain", "emc8k", "emc16k_dfc", "gain",
				"auto", "gain");
		some = true;
		printf("%8s %8.2f %8.2f %6.1f%%   %8.2f %10.2f %6.1f%% %8.2f %6.1f%%\n",
			proposal[i].flows, proposal[i].before, proposal[i].with,
			gain(proposal[i].before, proposal[i].with), hz / emc, hz / dfc,
			gain(hz / emc, hz / dfc), hz / ours, gain(hz / emc, hz / ours));
	}
}

/* Whether it takes --full, or --work with its name, to have a case measured. */
static bool
is_left_out(const struct flows_case *c, const struct bench_settings *s)
{
	if (s->full != NULL || strcmp(s->works, c->name) == 0)
		return false;
	return !c->usual ||
		(s->quick && strcmp(s->works, "*") == 0 && !is_in(c->name, quick, RTE_DIM(quick)));
}

void
flows_axes(void)
{
	const struct bench_settings *s = bench_settings();
	struct journal j = { 0 };
	struct flows_case c;

	if (s->full != NULL)
		journal_open(&j, s->full);
	for (uint32_t number = 0; case_of(number, &c); number++) {
		if (c.name[0] == '\0' || !is_possible(&c))
			continue;
		if (is_left_out(&c, s))
			continue;
		if (bench_wanted(c.name))
			measure(&c, &j);
	}
	journal_close(&j);
	print_proposal();
}
