/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that are registered when a program or a plugin is loaded, and are refused there. */

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph_fixture.h"

struct child {
	int status; /* of the exit */
	char out[4096];
	char err[4096];
};

static void
read_all(int fd, char *to, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size - 1 && (n = read(fd, to + len, size - 1 - len)) > 0)
		len += (size_t)n;
	to[len] = '\0';
	close(fd);
}

/* Runs a function in a child; what it writes to stdout and stderr is kept. */
static void
in_child(void (*body)(void), struct child *child)
{
	int out[2], err[2];
	pid_t pid;

	assert_int_equal(pipe(out) | pipe(err), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		body();
		fflush(NULL);
		_exit(0);
	}
	close(out[1]);
	close(err[1]);
	read_all(out[0], child->out, sizeof(child->out));
	read_all(err[0], child->err, sizeof(child->err));
	assert_int_equal(waitpid(pid, &child->status, 0), pid);
}

static void
run_bad_program(void)
{
	const char *path = unit_beside("hy-test-bad-program");

	/* In a shell, for what programs of another CPU are run by. */
	execl("/bin/sh", "sh", "-c", "exec $HALYARD_UNDER \"$0\"", path, (char *)NULL);
	perror(path);
	_exit(99);
}

/* Failure in a constructor was silent: the node was missing, and that was all. */
static void
a_program_with_a_bad_node_says_so_and_creates_no_graph(void **state)
{
	struct child child;
	char expected[32];

	RTE_SET_USED(state);
	in_child(run_bad_program, &child);
	assert_int_equal(child.status, 0);
	/* The good node beside it is there all the same. */
	snprintf(expected, sizeof(expected), "%d 0\n", -ENOEXEC);
	if (strstr(child.out, expected) == NULL)
		fail_msg("stdout: '%s', stderr: '%s'", child.out, child.err);
	if (strstr(child.err, "registration of 'bad node' failed") == NULL)
		fail_msg("not on stderr: stdout '%s', stderr '%s'", child.out, child.err);
}

/* Prints to stdout what the program's own log has, so that stderr is only what the load said. */
static void
load_bad_plugin(void)
{
	struct hy_graph *graph = NULL;
	int before, after;

	before = GRAPH_TRY("before", &graph, .burst = 1);
	hy_graph_destroy(graph);
	if (dlopen(unit_beside("hy-test-bad-node.so"), RTLD_NOW) == NULL)
		printf("dlopen: %s\n", dlerror());
	unit_log_clear();
	after = GRAPH_TRY("after", &graph, .burst = 1);
	printf("%d %d %s", before, after, unit_log());
}

static void
a_plugin_with_a_bad_node_says_so_and_no_graph_is_created_any_more(void **state)
{
	struct child child;
	char expected[32];

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	in_child(load_bad_plugin, &child);
	assert_int_equal(child.status, 0);
	snprintf(expected, sizeof(expected), "0 %d ", -ENOEXEC);
	if (strstr(child.out, expected) == NULL || strstr(child.out, "'bad node'") == NULL)
		fail_msg("stdout: '%s', stderr: '%s'", child.out, child.err);
	if (strstr(child.err, "registration of 'bad node' failed") == NULL)
		fail_msg("not on stderr: '%s'", child.err);
}

static void
check_registrations(void)
{
	struct hy_graph *graph = NULL;

	hy_registration_check("fine", 0);
	printf("%d ", GRAPH_TRY("a", &graph, .burst = 1));
	hy_graph_destroy(graph);
	hy_registration_check("first", -EEXIST);
	hy_registration_check("second", -EINVAL);
	unit_log_clear();
	printf("%d %s", GRAPH_TRY("a", &graph, .burst = 1), unit_log());
	hy_registration_check(NULL, -EINVAL);
}

static void
the_first_registration_that_failed_is_the_one_named(void **state)
{
	struct child child;
	char expected[32];

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	in_child(check_registrations, &child);
	assert_int_equal(child.status, 0);
	snprintf(expected, sizeof(expected), "0 %d ", -ENOEXEC);
	assert_non_null(strstr(child.out, expected));
	assert_non_null(strstr(child.out, "'first'"));
	assert_null(strstr(child.out, "'second'"));
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_program_with_a_bad_node_says_so_and_creates_no_graph),
	GRAPH_TEST(a_plugin_with_a_bad_node_says_so_and_no_graph_is_created_any_more),
	GRAPH_TEST(the_first_registration_that_failed_is_the_one_named),
};

UNIT_SUITE(tests)
