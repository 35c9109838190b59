/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmarks' harness: no contender profits from its place, and chance fails no check. */

#include <math.h>
#include <string.h>

#include "app/bench/bench.h"

#include "app/test/unit.h"

/* Checks the rounds of one number of contenders. Returns how many rounds those were. */
static unsigned int
balanced(unsigned int n)
{
	const unsigned int rounds = order_rounds(n, ROUNDS_MIN);
	unsigned int at[CONTENDERS_MAX][CONTENDERS_MAX] = { 0 };
	unsigned int after[CONTENDERS_MAX][CONTENDERS_MAX] = { 0 };
	unsigned int order[CONTENDERS_MAX];

	for (unsigned int r = 0; r < rounds; r++) {
		bool seen[CONTENDERS_MAX] = { false };

		order_of(n, r, order);
		for (unsigned int place = 0; place < n; place++) {
			assert_in_range(order[place], 0, n - 1);
			assert_false(seen[order[place]]);
			seen[order[place]] = true;
			at[order[place]][place]++;
			if (place > 0)
				after[order[place]][order[place - 1]]++;
		}
	}
	for (unsigned int c = 0; c < n; c++) {
		for (unsigned int i = 0; i < n; i++) {
			assert_int_equal(at[c][i], rounds / n);
			if (i != c)
				assert_int_equal(after[c][i], rounds / n);
		}
	}
	return rounds;
}

static void
every_contender_stands_equally_often_at_each_place_and_after_each_other(void **state)
{
	unsigned int n;

	RTE_SET_USED(state);
	for (n = 1; n <= CONTENDERS_MAX; n++)
		assert_in_range(balanced(n), ROUNDS_MIN, ROUNDS_MIN + 2 * n - 1);
	assert_int_equal(n, 17);
}

static void
rounds_are_raised_to_the_least_that_balance(void **state)
{
	static const struct {
		unsigned int n, least, rounds;
	} want[] = { { 1, 15, 15 }, { 2, 15, 16 }, { 3, 15, 18 }, { 4, 15, 16 }, { 5, 15, 20 },
		{ 6, 15, 18 }, { 6, 18, 18 }, { 6, 31, 36 }, { 7, 15, 28 }, { 16, 15, 16 },
		{ 13, 31, 52 } };

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(want); i++)
		assert_int_equal(order_rounds(want[i].n, want[i].least), want[i].rounds);
}

/* The tail by Pascal's recursion, another way to the same number. */
static double
at_most(unsigned int k, unsigned int n, double p)
{
	double row[64] = { 1 }, sum = 0;

	for (unsigned int i = 1; i <= n; i++)
		for (unsigned int j = RTE_MIN(i, 63u) + 1; j-- > 0;)
			row[j] = row[j] * (1 - p) + (j > 0 ? row[j - 1] * p : 0);
	for (unsigned int j = 0; j <= k; j++)
		sum += row[j];
	return sum;
}

static void
chance_explains_what_it_does_and_nothing_else(void **state)
{
	unsigned int explained = 0, refused = 0;

	RTE_SET_USED(state);
	for (unsigned int k = 0; k <= 63; k++) {
		const double p = 0.01, fewer = at_most(k, 2200, p);
		const double more = 1 - (k == 0 ? 0 : at_most(k - 1, 2200, p));
		const double tail = RTE_MIN(fewer, more);

		if (fabs(tail / 5e-10 - 1) < 1e-3) /* where rounding might decide */
			continue;
		assert_int_equal(chance_explains(k, 2200, p), tail >= 5e-10);
		*(chance_explains(k, 2200, p) ? &explained : &refused) += 1;
	}
	assert_true(explained > 30);
	assert_true(refused > 5);
	/* Where nothing is left to chance. */
	assert_true(chance_explains(0, 1000, 0));
	assert_false(chance_explains(1, 1000, 0));
	assert_true(chance_explains(1000, 1000, 1));
	assert_false(chance_explains(999, 1000, 1));
	assert_false(chance_explains(1001, 1000, 0.5));
}

/* As it once was: none of 264 found, 3 expected; a run in twenty is like that. */
static void
unlucky_sample_of_forged_marks_is_no_failure(void **state)
{
	RTE_SET_USED(state);
	assert_true(chance_explains(0, 264, 0.01));
	/* But it proves nothing either. So many must be found that none is impossible. */
	assert_in_range(chance_samples(0.01), 2100, 2200);
	assert_false(chance_explains(0, chance_samples(0.01), 0.01));
	assert_true(chance_explains(0, chance_samples(0.01) - 1, 0.01));
	assert_int_equal(chance_samples(1), 1);
}

/* A simulated honest check of forged marks fails in none of so many runs. */
static void
honest_checks_pass_whatever_the_luck(void **state)
{
	const unsigned int n = (unsigned int)chance_samples(0.01);
	unsigned int least = UINT_MAX, most = 0;

	RTE_SET_USED(state);
	for (unsigned int run = 0; run < 2000; run++) {
		unsigned int found = 0;

		for (unsigned int i = 0; i < n; i++)
			found += bench_random() % 100 == 0;
		assert_true(chance_explains(found, n, 0.01));
		least = RTE_MIN(least, found);
		most = RTE_MAX(most, found);
	}
	assert_in_range(least, 1, 15);
	assert_in_range(most, 30, 60);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_contender_stands_equally_often_at_each_place_and_after_each_other),
	cmocka_unit_test(rounds_are_raised_to_the_least_that_balance),
	cmocka_unit_test(chance_explains_what_it_does_and_nothing_else),
	cmocka_unit_test(unlucky_sample_of_forged_marks_is_no_failure),
	cmocka_unit_test(honest_checks_pass_whatever_the_luck),
};
UNIT_SUITE(tests)
