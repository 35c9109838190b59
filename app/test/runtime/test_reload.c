/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are read again: all parts are applied, or none; a policy as a part. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hy_policy_view.h>
#include <hy_reload.h>

#include "unit.h"

static struct hy_policy *policy;
static char path[] = "/tmp/hy-test-reload-XXXXXX";
static char calls[64];       /* a letter each: of the part, and of its function */
static FILE *answers;        /* a file of a reload; NULL: standard output */
static off_t said_too_early; /* bytes there and on standard error before a part ended */

static void
write_rules(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int
setup(void **state)
{
	const struct hy_policy_params params = { .max_rules = 8, .workers = 1 };
	int fd;

	RTE_SET_USED(state);
	calls[0] = '\0';
	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	return fd < 0 || close(fd) < 0 ? -1 : hy_policy_create("reload", &params, &policy);
}

static int
teardown(void **state)
{
	RTE_SET_USED(state);
	hy_policy_destroy(policy);
	return unlink(path);
}

/* Parts of which arg is the letter; the one named "bad" cannot be applied. */
static void
note(const char *part, char call)
{
	const size_t n = strlen(calls);

	assert_true(n + 3 < sizeof(calls));
	calls[n] = part[0];
	calls[n + 1] = call;
	calls[n + 2] = '\0';
}

static int
on_read(void *arg, const char *from, char *error)
{
	RTE_SET_USED(from);
	RTE_SET_USED(error);
	note(arg, 'r');
	return 0;
}

static int
on_apply(void *arg, char *error)
{
	note(arg, 'a');
	if (strcmp(arg, "bad") != 0)
		return 0;
	strcpy(error, "it is bad");
	return -EIO;
}

static void
on_undo(void *arg)
{
	note(arg, 'u');
}

/* Bytes that were written to what may be a file. */
static off_t
said(int fd)
{
	struct stat is;

	assert_int_equal(fstat(fd, &is), 0);
	return S_ISREG(is.st_mode) ? is.st_size : 0;
}

static void
on_end(void *arg)
{
	note(arg, 'e');
	said_too_early += said(STDERR_FILENO) + (answers == NULL ? 0 : said(fileno(answers)));
}

static void
on_say(void *arg, FILE *out)
{
	note(arg, 's');
	fputs("said", out);
}

#define PART(name) \
	{ \
		name, path, on_read, on_apply, on_undo, on_end, on_say, (void *)(uintptr_t)name \
	}

static void
parts_that_were_applied_are_undone_last_first(void **state)
{
	const struct hy_reload_part parts[] = { PART("x"), PART("y"), PART("bad"), PART("z") };

	RTE_SET_USED(state);
	assert_int_equal(hy_reload(parts, RTE_DIM(parts), stdout), -EIO);
	assert_string_equal(calls, "xryrbrzrxayabayuxuxeyebeze");
	calls[0] = '\0';
	assert_int_equal(hy_reload(parts, 2, stdout), 0);
	assert_string_equal(calls, "xryrxayaxsxeysye");
}

/* Whoever reads it, and asks, does not find what parts still hold. */
static void
what_became_of_a_reload_is_said_when_all_parts_have_ended(void **state)
{
	const struct hy_reload_part bad[] = { PART("x"), PART("y"), PART("bad") };
	FILE *errors = tmpfile();
	const int kept = dup(STDERR_FILENO);
	off_t refused, told;
	int rc[2];

	RTE_SET_USED(state);
	answers = tmpfile();
	assert_true(errors != NULL && answers != NULL && kept >= 0);
	setvbuf(answers, NULL, _IONBF, 0); /* as soon as it is written */
	said_too_early = 0;
	dup2(fileno(errors), STDERR_FILENO);
	rc[0] = hy_reload(bad, RTE_DIM(bad), answers);
	refused = said(STDERR_FILENO);
	dup2(kept, STDERR_FILENO);
	close(kept);
	fclose(errors);
	rc[1] = hy_reload(bad, 2, answers);
	told = said(fileno(answers));
	fclose(answers);
	answers = NULL;
	assert_int_equal(rc[0], -EIO);
	assert_int_equal(rc[1], 0);
	assert_string_equal(calls, "xryrbrxayabayuxuxeyebexryrxayaxsxeysye");
	assert_true(refused > 0 && told > 0);
	assert_int_equal(said_too_early, 0);
}

static void
a_start_reads_and_applies_and_says_nothing(void **state)
{
	const struct hy_reload_part good = PART("x"), bad = PART("bad");
	char error[HY_RELOAD_ERROR_SIZE] = "";

	RTE_SET_USED(state);
	assert_int_equal(hy_reload_start(&good, error), 0);
	assert_string_equal(calls, "xrxaxe");
	calls[0] = '\0';
	assert_int_equal(hy_reload_start(&bad, error), -EIO);
	assert_string_equal(calls, "brbabe");
	assert_string_equal(error, "it is bad");
}

static void
a_policy_has_the_rules_of_its_file(void **state)
{
	const struct hy_reload_part part = hy_reload_policy(policy, path);
	char error[HY_RELOAD_ERROR_SIZE] = "";

	RTE_SET_USED(state);
	write_rules("rule 1 class 1\nrule 2 class 2 proto udp\n");
	assert_int_equal(hy_reload_start(&part, error), 0);
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 2);
	write_rules("rule 1 class 1\nrule 2 class none\n");
	assert_int_equal(hy_reload_start(&part, error), -EINVAL);
	assert_non_null(strstr(error, path));
	assert_non_null(strstr(error, ":2: class: "));
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 2);
}

static void
rules_of_a_reload_that_failed_are_not_published_later(void **state)
{
	const struct hy_reload_part parts[] = { PART("bad"), hy_reload_policy(policy, path) };

	RTE_SET_USED(state);
	write_rules("rule 1 class 1\n");
	assert_int_equal(hy_reload(parts, RTE_DIM(parts), stdout), -EIO);
	assert_int_equal(hy_policy_commit(policy), 0);
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 0);
	assert_int_equal(hy_reload(&parts[1], 1, stdout), 0);
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 1);
}

static int
refuse(void *arg, const struct hy_policy_view *next)
{
	RTE_SET_USED(next);
	return *(const int *)arg;
}

/* Three policies of one file; whichever cannot take its rules, none does. */
static void
policies_of_a_reload_change_together_or_not_at_all(void **state)
{
	const struct hy_policy_params params = { .max_rules = 8, .workers = 1 };
	struct hy_policy *policies[3] = { policy };
	struct hy_reload_rules rules[3];
	struct hy_reload_part parts[4] = { PART("x") };
	static const char *const names[] = { "one", "two", "three" };
	int fault[3] = { 0 };
	struct hy_policy_listener listeners[3];

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 3; i++) {
		if (i > 0)
			assert_int_equal(hy_policy_create(names[i], &params, &policies[i]), 0);
		rules[i] = (struct hy_reload_rules){
			.what = names[i], .policy = policies[i], .path = path
		};
		listeners[i] = (struct hy_policy_listener){ .prepare = refuse, .arg = &fault[i] };
		assert_int_equal(hy_policy_listen(policies[i], &listeners[i]), 0);
	}
	hy_reload_together(rules, 3, &parts[1]);
	write_rules("rule 1 class 1\n");
	for (unsigned int bad = 0; bad < 3; bad++) {
		fault[bad] = -E2BIG;
		calls[0] = '\0';
		assert_int_equal(hy_reload(parts, 4, stdout), -E2BIG);
		assert_string_equal(calls, "xrxaxuxe");
		fault[bad] = 0;
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(hy_policy_rules_get(policies[i], NULL, 0), 0);
			assert_int_equal(hy_policy_commit(policies[i]),
				0); /* nothing is left staged */
			assert_int_equal(hy_policy_view(policies[i])->version, 0);
		}
	}
	for (unsigned int round = 1; round < 4; round++) {
		write_rules(round % 2 == 1 ? "rule 1 class 1\nrule 2 class 2\n" : "");
		assert_int_equal(hy_reload(parts, 4, stdout), 0);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(hy_policy_rules_get(policies[i], NULL, 0),
				round % 2 == 1 ? 2 : 0);
	}
	for (unsigned int i = 0; i < 3; i++) {
		hy_policy_unlisten(policies[i], &listeners[i]);
		if (i > 0)
			hy_policy_destroy(policies[i]);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(parts_that_were_applied_are_undone_last_first, setup,
		teardown),
	cmocka_unit_test_setup_teardown(what_became_of_a_reload_is_said_when_all_parts_have_ended,
		setup, teardown),
	cmocka_unit_test_setup_teardown(a_start_reads_and_applies_and_says_nothing, setup,
		teardown),
	cmocka_unit_test_setup_teardown(a_policy_has_the_rules_of_its_file, setup, teardown),
	cmocka_unit_test_setup_teardown(rules_of_a_reload_that_failed_are_not_published_later,
		setup, teardown),
	cmocka_unit_test_setup_teardown(policies_of_a_reload_change_together_or_not_at_all, setup,
		teardown),
};

UNIT_SUITE(tests)
