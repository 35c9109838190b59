/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the command line. Each error names the option and what is accepted. */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_about.h>
#include <hy_file.h>

#include "command.h"

#define LONG_PACKETS 20000000    /* of --long: more than 400,000 bursts */
#define PACKETS_MAX 100000000000 /* bursts are counted in 32 bits */
#define LOAD_MAX 86400

/* The families in l3fwd's graph. */
static const char *const l3fwd[] = { "ethdev_rx", "pkt_cls", "ip4_lookup", "ip4_rewrite",
	"ethdev_tx", "pkt_drop", NULL };

/* struct command.options lists these letters. */
static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "graph", required_argument, NULL, 'g' },
	{ "pack", required_argument, NULL, 'p' },
	{ "node", required_argument, NULL, 'n' },
	{ "deny", required_argument, NULL, 'd' },
	{ "cap", required_argument, NULL, 'c' },
	{ "cap-file", required_argument, NULL, 'f' },
	{ "try-flows", no_argument, NULL, 't' },
	{ "family", required_argument, NULL, 'F' },
	{ "variant", required_argument, NULL, 'V' },
	{ "packets", required_argument, NULL, 'N' },
	{ "long", no_argument, NULL, 'l' },
	{ "pcap", required_argument, NULL, 'P' },
	{ "seed", required_argument, NULL, 's' },
	{ "load", required_argument, NULL, 'L' },
	{ "quick", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

/* The options of enum list, in that order. */
static const char list_letters[] = "pndcfFV";

static const char option_texts[] =
	"  --json                      print JSON\n"
	"  --graph NAME                explain: only the families of that graph (l3fwd)\n"
	"  --pack FILE                 load nodes and variants from a shared object, after the\n"
	"                              files of HALYARD_PACKS, FILE[:FILE...]\n"
	"  --node FAMILY[@PORT]=VARIANT\n"
	"                              explain, selftest, report: force a variant\n"
	"  --deny FAMILY[@PORT]=VARIANT\n"
	"                              explain, selftest, report: exclude a variant\n"
	"  --cap TARGET.CAPABILITY=LEVEL[:VALUE]\n"
	"                              override a capability, as in port0.rx_ptype_ip4=no\n"
	"  --cap-file FILE             overrides, one per line; --cap takes precedence\n"
	"  --try-flows                 start each port, with one queue, and try which flow rules\n"
	"                              it accepts\n"
	"  --family NAME               selftest, report: test only the variants of that family\n"
	"  --variant FAMILY/VARIANT    selftest, report: test only that variant\n"
	"  --packets N                 selftest: send at least N packets through each variant\n"
	"  --long                      selftest: --packets 20000000, about a minute each\n"
	"  --pcap FOLDER               selftest: also send the frames of FOLDER/*.pcap\n"
	"  --seed N                    selftest, report: seed of the packets (default 1)\n"
	"  --load SECONDS              report: receive on all ports for that time, and report\n"
	"                              their counters (default 0: do not; 300 suffices)\n"
	"  --quick                     report: test each variant with a tenth of the bursts, and\n"
	"                              do not measure it\n"
	"  --help, -h                  print this\n"
	"  --version                   print the version\n";

static void
usage(FILE *out)
{
	fprintf(out, "usage: hy-hal [EAL options --] COMMAND [options]\nCOMMAND is one of:\n");
	for (const struct command *c = commands; c->name != NULL; c++) {
		char name[32];

		snprintf(name, sizeof(name), "%s%s%s", c->name, c->argument != NULL ? " " : "",
			c->argument != NULL ? c->argument : "");
		fprintf(out, "  %-11s %s\n", name, c->text);
	}
	fprintf(out,
		"\n%s\n"
		"Without EAL options: all PCI devices bound to a DPDK driver, one core, and huge\n"
		"pages if enough are free. Virtual devices are given to EAL, as in\n"
		"  hy-hal --no-huge -m 512 --vdev=net_null0 -- inventory\n",
		option_texts);
}

static int
read_command(const char *name, struct settings *settings)
{
	char names[256] = "";

	for (const struct command *c = commands; c->name != NULL; c++) {
		const size_t used = strlen(names);

		if (name != NULL && strcmp(c->name, name) == 0) {
			settings->command = c;
			return 0;
		}
		snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "", c->name);
	}
	if (name == NULL)
		return refuse("a command is required: %s", names);
	if (name[0] == '-')
		return refuse("%s: the command comes after EAL's options and --, and before its "
			      "own options; the commands are: %s",
			name, names);
	return refuse("'%s' is not a command; the commands are: %s", name, names);
}

static int
read_graph(const char *name, struct settings *settings)
{
	if (strcmp(name, "l3fwd") != 0)
		return refuse("--graph: '%s' is not a known graph; accepted: l3fwd", name);
	settings->families = l3fwd;
	return 0;
}

static int
read_repeated(const char *option, const char *text, struct values *values)
{
	if (values->n == REPEATS_MAX)
		return refuse("--%s: more than %d times", option, REPEATS_MAX);
	values->text[values->n++] = text;
	return 0;
}

static int
read_number(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || *number < least ||
		*number > most)
		return refuse("--%s: '%s' is not a number from %" PRIu64 " to %" PRIu64, option,
			text, least, most);
	return 0;
}

static int
read_option(int letter, const char *name, struct settings *settings)
{
	const char *at = strchr(list_letters, letter);

	if (at != NULL)
		return read_repeated(name, optarg, &settings->lists[at - list_letters]);
	switch (letter) {
	case 'j':
		settings->json = true;
		return 0;
	case 'g':
		return read_graph(optarg, settings);
	case 't':
		settings->try_flows = true;
		return 0;
	case 'P':
		settings->pcap = optarg;
		return 0;
	case 's':
		return read_number(name, optarg, 0, UINT64_MAX, &settings->seed);
	case 'N':
		return read_number(name, optarg, 1, PACKETS_MAX, &settings->packets);
	case 'l':
		settings->packets = LONG_PACKETS;
		return 0;
	case 'L':
		return read_number(name, optarg, 0, LOAD_MAX, &settings->load);
	case 'q':
		settings->quick = true;
		return 0;
	case 'v':
		hy_version_print("hy-hal");
		exit(hy_output_end("hy-hal"));
	default:
		usage(stdout);
		exit(hy_output_end("hy-hal"));
	}
}

/* Reads the words that follow the options. */
static int
read_argument(int n, char **words, struct settings *settings)
{
	const struct command *command = settings->command;

	if (command->argument == NULL && n > 0)
		return refuse("'%s': %s takes options only", words[0], command->name);
	if (command->argument != NULL && n != 1)
		return refuse("%s takes one %s besides options; it was given %s%s%s", command->name,
			command->argument, n == 0 ? "none" : "'", n == 0 ? "" : words[n - 1],
			n == 0 ? "" : "' too");
	if (n > 0)
		settings->file = words[0];
	return 0;
}

int
settings_read(int argc, char **argv, struct settings *settings)
{
	static char program[] = "hy-hal";
	int letter, which = 0;

	*settings = (struct settings){ .seed = 1 };
	argv[0] = program; /* in getopt's messages */
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return read_option('h', NULL, settings);
	if (argc > 1 && strcmp(argv[1], "--version") == 0)
		return read_option('v', NULL, settings);
	if (read_command(argc > 1 ? argv[1] : NULL, settings) < 0)
		return -1;
	optind = 2;
	while ((letter = getopt_long(argc, argv, "h", options, &which)) != -1) {
		if (letter == '?')
			return refuse("hy-hal --help lists what is accepted");
		if (letter != 'v' && strchr(settings->command->options, letter) == NULL)
			return refuse("--%s: not an option of %s", options[which].name,
				settings->command->name);
		if (read_option(letter, options[which].name, settings) < 0)
			return -1;
	}
	return read_argument(argc - optind, argv + optind, settings);
}
