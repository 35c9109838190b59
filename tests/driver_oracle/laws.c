/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks a vendor's own driver code, which runs on no hardware, what it makes of rules:
 * hy-oracle-DRIVER [--profile=NAME] COMMAND. Prints one JSON object.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_version.h>

#include "laws.h"

#define NOTES 256

static struct {
	char text[LAW_WORDS], example[LAW_WORDS];
	unsigned int count;
} notes[NOTES];
static unsigned int nb_notes;

void
law_note(const char *example, const char *format, ...)
{
	char text[LAW_WORDS];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (unsigned int i = 0; i < nb_notes; i++)
		if (strcmp(notes[i].text, text) == 0) {
			notes[i].count++;
			return;
		}
	if (nb_notes == NOTES) {
		fprintf(stderr, "more than %u sorts of findings, such as: %s\n", NOTES, text);
		exit(EXIT_FAILURE);
	}
	snprintf(notes[nb_notes].text, LAW_WORDS, "%s", text);
	snprintf(notes[nb_notes].example, LAW_WORDS, "%s", example);
	notes[nb_notes++].count = 1;
}

void
law_print_string(const char *string)
{
	putchar('"');
	for (; *string != '\0'; string++) {
		if (*string == '"' || *string == '\\')
			putchar('\\');
		putchar((unsigned char)*string < ' ' ? ' ' : *string);
	}
	putchar('"');
}

void
law_print_notes(void)
{
	printf("\"notes\": [");
	for (unsigned int i = 0; i < nb_notes; i++) {
		printf("%s\n{\"count\": %u, \"text\": ", i > 0 ? "," : "", notes[i].count);
		law_print_string(notes[i].text);
		printf(", \"example\": ");
		law_print_string(notes[i].example);
		putchar('}');
	}
	printf("]");
}

static void
words(struct law_answer *answer, const struct rte_flow_error *error)
{
	const int rc = answer->validate != 0 ? answer->validate : answer->create;

	if (rc != 0 && answer->message[0] == '\0')
		snprintf(answer->message, sizeof(answer->message), "%s",
			error->message != NULL ? error->message : strerror(-rc));
}

void
law_ask_driver(const struct law *law, const struct law_rule *rule, struct law_answer *answer)
{
	struct rte_flow_error error = { 0 };
	void *flow;

	memset(answer, 0, sizeof(*answer));
	answer->validate = hy_flow_rte.validate(law->port, rule->attr, rule->items, rule->actions,
		&error);
	words(answer, &error);
	if (!oracle.creates)
		return;
	memset(&error, 0, sizeof(error));
	answer->create = hy_flow_rte.create(law->port, rule->attr, rule->items, rule->actions,
		&flow, &error);
	words(answer, &error);
	if (answer->create == 0 && hy_flow_rte.destroy(law->port, flow, &error) != 0)
		law_note("", "cannot be destroyed: %s", error.message);
}

void
law_ask_simulator(const struct law *law, const struct law_rule *rule, struct law_answer *answer)
{
	struct rte_flow_error error = { 0 };
	void *flow;

	memset(answer, 0, sizeof(*answer));
	answer->validate = hy_flow_sim_check(law->sim, rule->attr, rule->items, rule->actions,
		&error);
	words(answer, &error);
	if (!oracle.creates)
		return;
	memset(&error, 0, sizeof(error));
	answer->create = hy_flow_sim_add(law->sim, rule->attr, rule->items, rule->actions, &flow,
		&error);
	words(answer, &error);
	if (answer->create == 0)
		hy_flow_sim_remove(law->sim, flow, &error);
}

static bool
differ(const char *what, int driver, int simulator, const struct law_answer *answers,
	const char *example)
{
	if ((driver == 0) == (simulator == 0))
		return false;
	if (driver == 0)
		law_note(example, "%s: the driver takes, the simulator refuses: %s", what,
			answers[1].message);
	else
		law_note(example, "%s: the simulator takes, the driver refuses: %s", what,
			answers[0].message);
	return true;
}

bool
law_compare(const struct law_answer *driver, const struct law_answer *simulator,
	const char *example)
{
	const struct law_answer answers[] = { *driver, *simulator };
	bool unlike = differ("validate", driver->validate, simulator->validate, answers, example);

	unlike |= differ("create", driver->create, simulator->create, answers, example);
	return unlike;
}

int
law_lower(const struct law *law, const struct hy_flow_match *match, struct hy_flow_lowered *lowered,
	const char **reason)
{
	return law_lower_spread(law, match, &law->spread, lowered, reason);
}

int
law_lower_spread(const struct law *law, const struct hy_flow_match *match,
	const struct hy_flow_spread *spread, struct hy_flow_lowered *lowered, const char **reason)
{
	return hy_flow_lower(law->driver, &law->limits, match, LAW_MARK, 0, spread, lowered,
		reason);
}

static const struct oracle_profile *
profile_of(const char *name)
{
	for (const struct oracle_profile *p = oracle.profiles; p->name != NULL; p++)
		if (name == NULL || strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static int
fail(const char *what, int rc)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-rc));
	return rc;
}

/* The port, its flow driver as an offload would pick it, and a simulator of the same NIC. */
static int
law_open(struct law *law)
{
	const char *simulator = law->profile->simulator;
	struct rte_eth_rss_conf rss = { 0 };
	int rc = oracle.open(law->profile, LAW_QUEUES, &law->port);

	if (rc != 0)
		return fail("the fixture opens no port", rc);
	law->driver_name = law->profile->driver != NULL ? law->profile->driver : oracle.driver;
	law->driver = hy_flow_driver_of(law->driver_name);
	rc = hy_flow_spread_get(law->port, &law->spread);
	if (rc == 0)
		rc = hy_flow_probe(law->port, &hy_flow_rte, law->driver, &law->limits);
	if (rc != 0)
		return fail("the port cannot be probed", rc);
	rc = hy_flow_sim_create(&(struct hy_flow_sim_params){ .table_size = oracle.room,
					.profile = simulator != NULL ? simulator
								     : oracle.simulator },
		&law->sim);
	if (rc != 0)
		return fail("no such simulator", rc);
	rss.rss_hf = law->spread.types;
	rss.rss_key = law->spread.key_len > 0 ? law->spread.key : NULL;
	rss.rss_key_len = law->spread.key_len;
	hy_flow_sim_configure(law->sim, LAW_QUEUES, &rss);
	hy_flow_sim_start(law->sim);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const struct law *law);
} commands[] = {
	{ "controls", law_controls },
	{ "shapes", law_shapes },
	{ "rules", law_rules },
	{ "random", law_random },
	{ "sequences", law_sequences },
	{ "programmed", law_programmed },
	{ "groups", law_groups },
	{ "priorities", law_priorities },
	{ "kinds", law_kinds },
	{ "device", law_device },
};

static int
usage(void)
{
	fprintf(stderr, "usage: hy-oracle-DRIVER [--profile=NAME] COMMAND\nprofiles:");
	for (const struct oracle_profile *p = oracle.profiles; p->name != NULL; p++)
		fprintf(stderr, " %s", p->name);
	fprintf(stderr, "\ncommands:");
	for (size_t i = 0; i < RTE_DIM(commands); i++)
		fprintf(stderr, " %s", commands[i].name);
	fprintf(stderr, "\n");
	return 2;
}

static void
print_head(const struct law *law)
{
	printf("{\"driver\": \"%s\", \"profile\": \"%s\", \"source\": ", law->driver_name,
		law->profile->name);
	law_print_string(law->profile->source);
	printf(", \"dpdk\": \"%s\", \"simulator\": \"%s\", \"creates\": %s,\n", rte_version(),
		hy_flow_sim_profile(law->sim), oracle.creates ? "true" : "false");
	printf("\"mark_max\": %u, \"priorities\": %u, \"probed\": ", law->limits.mark_max,
		law->limits.priorities);
	law_print_string(law->limits.reason);
	printf(",\n");
}

/* The driver's log is of no interest, unless HALYARD_ORACLE_LOG is set. */
static int
start_eal(char *program)
{
	static char words[][20] = { "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m",
		"256", "-l", "0", "--log-level=*:1" };
	char *args[RTE_DIM(words) + 1] = { program };
	const bool quiet = getenv("HALYARD_ORACLE_LOG") == NULL;

	for (size_t i = 0; i < RTE_DIM(words); i++)
		args[1 + i] = words[i];
	return rte_eal_init((int)RTE_DIM(args) - !quiet, args);
}

static int
run(struct law *law, int (*command)(const struct law *law))
{
	int rc;

	if (law_open(law) != 0)
		return EXIT_FAILURE;
	print_head(law);
	rc = command(law);
	law_print_notes();
	printf("}\n");
	fflush(stdout);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	struct law law = { .profile = oracle.profiles };

	if (argc == 3)
		law.profile = strncmp(argv[1], "--profile=", 10) == 0 ? profile_of(argv[1] + 10)
								      : NULL;
	if (argc < 2 || argc > 3 || law.profile == NULL)
		return usage();
	for (size_t i = 0; i < RTE_DIM(commands); i++)
		if (strcmp(commands[i].name, argv[argc - 1]) == 0) {
			if (start_eal(argv[0]) < 0)
				return EXIT_FAILURE;
			/* A fixture's port is not whole enough to be closed by destructors. */
			_Exit(run(&law, commands[i].run));
		}
	return usage();
}
