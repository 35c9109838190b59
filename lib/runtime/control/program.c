/* SPDX-License-Identifier: BSD-3-Clause */
/* The begin and end of a program: see hy_program.h. */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include <hy_about.h>
#include <hy_file.h>
#include <hy_policy.h>
#include <hy_privileges.h>
#include <hy_program.h>
#include <hy_signals.h>
#include <hy_terminal.h>

static const char *name;
static bool eal_begins, eal_runs;

/* Answers --help and --version. Returns 1 if one was asked for. */
static int
answer(const struct hy_program *program, int argc, char **argv)
{
	static char *help; /* EAL may print it later */

	free(help);
	help = hy_command_line_help(program->usage, program->groups, program->nb_groups);
	if (help == NULL)
		return hy_terminal_refuse(-ENOMEM, "out of memory");
	return hy_about(argc, argv, program->name, help);
}

static int
telemetry_begin(const struct hy_program *program)
{
	int rc = 0;

	if (program->prefix != NULL)
		rc = hy_telemetry_register(program->prefix, program->commands,
			program->nb_commands);
	if (program->telemetry != NULL && rc == 0)
		rc = program->telemetry(program->prefix);
	if (program->prefix != NULL && rc == 0)
		rc = hy_telemetry_begin(program->prefix);
	return hy_terminal_report("telemetry", rc);
}

/* EAL answers --help itself, and then calls exit(), whether or not anybody could read it. */
static void
on_exit_of_eal(void)
{
	if (eal_begins && hy_terminal_end() < 0)
		_exit(EXIT_FAILURE);
}

static int
eal_begin(int *argc, char ***argv)
{
	int n;

	atexit(on_exit_of_eal);
	eal_begins = true;
	n = rte_eal_init(*argc, *argv);
	eal_begins = false;
	if (n < 0 && hy_stopping() && rte_errno == EINTR)
		return -EINTR;
	if (n < 0)
		return hy_terminal_refuse(-ENODEV, "EAL could not be initialised: %s",
			rte_errno == 0 ? "its log says why" : rte_strerror(rte_errno));
	eal_runs = true;
	*argc -= n;
	*argv += n;
	return hy_stopping() ? -EINTR : 0;
}

int
hy_program_begin(const struct hy_program *program, int *argc, char ***argv)
{
	int rc = hy_file_prepare();

	name = program->name;
	if (rc == 0)
		rc = answer(program, *argc, *argv);
	if (rc == 0)
		rc = hy_privileges_begin(); /* before there are threads */
	if (rc == 0)
		rc = hy_terminal_begin(program->name);
	if (rc == 0)
		rc = telemetry_begin(program);
	if (rc != 0)
		return rc;
	hy_signals_catch(); /* before all that takes long: a stop at any time is a clean one */
	hy_file_stop_when(hy_stopping);
	rc = eal_begin(argc, argv);
	hy_signals_ignore_rest();
	if (rc == 0 && program->groups != NULL)
		rc = hy_command_line_read(*argc, *argv, program->groups, program->nb_groups);
	return rc;
}

int
hy_program_end(int rc)
{
	/* A file system may fail with this error, too. */
	const bool stopped = rc == -EINTR && hy_stopping();

	hy_policy_wait_destroyed();
	if (eal_runs)
		rte_eal_cleanup();
	if (rc > 0)
		return hy_output_end(name);
	if (stopped)
		hy_terminal_error("stopped while it started");
	if (hy_terminal_end() < 0)
		return EXIT_FAILURE;
	return rc < 0 && !stopped ? EXIT_FAILURE : EXIT_SUCCESS;
}
