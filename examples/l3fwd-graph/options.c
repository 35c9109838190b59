/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the command line. Every refusal names the option and what is accepted. */

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eventdev.h>
#include <rte_lcore.h>

#include <hy_file.h>
#include <hy_idle.h>
#include <hy_recorder.h>
#include <hy_tracer.h>

#include "option.h"
#include "options.h"

#define RULES_DEFAULT 16384

const char options_usage[] =
	"usage: l3fwd-graph [EAL options] -- -p MASK [options]\n"
	"\n"
	"Options of DPDK's l3fwd-graph:\n"
	"  -p MASK                     ports to use, in hexadecimal\n"
	"  -P                          promiscuous mode\n"
	"  --config=(P,Q,L)[,(P,Q,L)]  lcore L polls receive queue Q of port P\n"
	"                              (default: queue 0 of each port, over all workers)\n"
	"  --eth-dest=P,MM:MM:MM:MM:MM:MM\n"
	"                              next hop of port P's default route\n"
	"  --max-pkt-len N             longest frame, with CRC (64 to 9600, default 1518)\n"
	"  --no-numa                   one packet pool and table for all NUMA nodes\n"
	"  --per-port-pool             a packet pool for each port\n"
	"\n"
	"Halyard's options:\n"
	"  --routes FILE               routes, instead of 198.18.P.0/24 to each port P;\n"
	"                              lines of \"PREFIX port N mac MM:MM:MM:MM:MM:MM\";\n"
	"                              read again on SIGHUP\n"
	"  --max-routes N              most routes (default: a quarter more than the file\n"
	"                              has, at least 1024)\n"
	"  --max-tbl8s N               most /24 networks with longer prefixes inside\n"
	"                              (default: likewise, at least 256)\n"
	"  --max-next-hops N           most next hops (default: likewise, at least 32767)\n"
	"  --policy FILE               rules that give packets a class before they are routed;\n"
	"                              lines of \"rule ID class CLASS\" and conditions; read\n"
	"                              again on SIGHUP\n"
	"  --drop-class CLASS          drop the packets of a class; 0: packets without one\n"
	"  --steer CLASS=PORT,MAC      send the packets of a class there, regardless of routes\n"
	"  --feature NODE@PORT:FILTER\n"
	"                              drop matching packets of PORT before they are routed;\n"
	"                              FILTER is as for --trace\n"
	"  --max-rules N               most rules (1 to 1048576, default 16384)\n"
	"  --offload HOW               install rules in hardware (rte_flow) or in a simulator\n"
	"                              (sim:PROFILE, of generic, cnxk, mlx5, ice, i40e or\n"
	"                              iavf); settings may follow, as in\n"
	"                              sim:ice,table_size=64\n"
	"  --burst N                   packets taken from a queue at a time (1 to 256, default 64)\n"
	"  --rx-budget P=N             take at most N packets from a queue of port P before\n"
	"                              polling other queues (1 to the burst)\n"
	"  --mode=poll|eventdev|dispatch\n"
	"                              workers poll the queues of --config (default), take\n"
	"                              packets from an event device, or poll and hand packets\n"
	"                              over to the workers of --pin\n"
	"  --pin PATTERN=LCORE[+LCORE...]\n"
	"                              run matching nodes there, with --mode=dispatch; with\n"
	"                              several lcores, each flow on one of them\n"
	"  --eventq-sched=TYPE         atomic (default), ordered or parallel\n"
	"  --event-device=N            which event device, if there are several\n"
	"  --event-vector              receive several packets per event, if supported\n"
	"  --event-vector-size=N       most packets per event (1 to 256, default 64)\n"
	"  --event-vector-tmo=NS       longest wait for a vector to fill (default 1000000, or\n"
	"                              the nearest value that the device supports)\n"
	"  --idle MODE[:USEC]          workers without packets keep polling (poll, the default),\n"
	"                              pause between polls (pause), or sleep until a packet\n"
	"                              arrives, for USEC at most (interrupt)\n"
	"  --node FAMILY[@PORT]=VARIANT\n"
	"                              force a variant\n"
	"  --deny FAMILY[@PORT]=VARIANT\n"
	"                              exclude a variant\n"
	"  --cap TARGET.CAPABILITY=LEVEL[:VALUE]\n"
	"                              override a capability, as in port0.rx_mark=no\n"
	"  --cap-file FILE             overrides, one per line; --cap takes precedence\n"
	"  --pack FILE                 load nodes and variants from a shared object, after the\n"
	"                              files of HALYARD_PACKS, FILE[:FILE...]\n"
	"  --user NAME|UID:GID         drop root privileges once ports are open\n"
	"  --explain[=json]            print what the HAL selects and why, and exit\n"
	"  --stats SECONDS             print the tables of nodes and drops at this interval\n"
	"  --duration S                stop after S seconds\n"
	"  --until-idle MS             stop when nothing has arrived for MS milliseconds\n"
	"  --trace N[:FILTER]          trace N packets on each worker (1 to 1000) and print\n"
	"                              their paths; FILTER is src=PREFIX, dst=PREFIX, proto=NUMBER\n"
	"                              or several of these, separated by commas\n"
	"  --capture FILE,at=POINT...  write packets to FILE, as pcapng, where they enter a NODE,\n"
	"                              take an edge (NODE/TARGET) or are dropped (NODE:REASON);\n"
	"                              may be followed, separated by commas, by more of at=POINT,\n"
	"                              a filter as for --trace, max=N packets, snaplen=N bytes of\n"
	"                              each, ring=BYTES of buffer, and fifo, if FILE is a FIFO\n"
	"                              that another program reads\n"
	"  --export-dot FILE           write the graph with its counters, for Graphviz\n"
	"  --export-json FILE          write the graph with its counters, as JSON\n"
	"  --dry-run                   set up, write the graph without counters, and exit\n"
	"  --json FILE                 write final statistics; with -, to standard output, and\n"
	"                              everything else to standard error\n"
	"  --dump-routes FILE          write the routes on exit and on SIGUSR1, as --routes\n"
	"                              reads them; - is standard output\n"
	"  --help, -h                  print this; before --, also EAL's options\n"
	"  --version                   print the version\n";

static int
read_mask(const char *text, uint32_t *mask)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 16);
	if (!isxdigit((unsigned char)*text) || *end != '\0' || errno != 0 || value == 0 ||
		value > UINT32_MAX)
		return hy_option_refuse("-p",
			"'%s' is not a mask of ports in hexadecimal, such as 0x3", text);
	for (uint16_t p = 0; p < 32; p++)
		if ((value >> p & 1) != 0 &&
			rte_eth_find_next_owned_by(p, RTE_ETH_DEV_NO_OWNER) != p)
			return hy_option_refuse("-p", "'%s' names port %u; %u ports are available",
				text, p, rte_eth_dev_count_avail());
	*mask = (uint32_t)value;
	return 0;
}

static int
read_eth_dest(const char *text, struct options *options)
{
	const char *comma = strchr(text, ',');
	char port[8] = "";
	unsigned int p = 0;

	if (comma == NULL || comma - text >= (int)sizeof(port) || strlen(comma + 1) != 17)
		return hy_option_refuse("--eth-dest", "'%s' is not PORT,MM:MM:MM:MM:MM:MM", text);
	memcpy(port, text, (size_t)(comma - text));
	if (hy_option_number("--eth-dest", port, 0, RTE_MAX_ETHPORTS - 1, &p) < 0)
		return -1;
	options->eth_dest_set |= UINT64_C(1) << p;
	if (rte_ether_unformat_addr(comma + 1, &options->eth_dest[p]) < 0)
		return hy_option_refuse("--eth-dest",
			"'%s' is not a MAC address, MM:MM:MM:MM:MM:MM", comma + 1);
	return 0;
}

static int
read_repeated(const char *option, const char *text, const char **values, unsigned int *n)
{
	if (*n == REPEATS_MAX)
		return hy_option_refuse(option, "more than %d times", REPEATS_MAX);
	values[(*n)++] = text;
	return 0;
}

static int
read_drop_class(const char *text, struct options *options)
{
	unsigned int class_id = 0;

	if (options->nb_drop_class == REPEATS_MAX)
		return hy_option_refuse("--drop-class", "more than %d times", REPEATS_MAX);
	if (hy_option_number("--drop-class", text, 0, UINT16_MAX, &class_id) < 0)
		return -1;
	options->drop_class[options->nb_drop_class++] = (uint16_t)class_id;
	return 0;
}

static int
read_explain(const char *text, struct options *options)
{
	options->explain = EXPLAIN_TEXT;
	if (text == NULL)
		return 0;
	if (strcmp(text, "json") != 0)
		return hy_option_refuse("--explain", "'%s' is not json", text);
	options->explain = EXPLAIN_JSON;
	return 0;
}

static int
read_rx_budget(const char *text, struct options *options)
{
	const char *equals = strchr(text, '=');
	char port[8] = "";
	unsigned int p = 0, n = 0;

	if (equals == NULL || equals - text >= (int)sizeof(port))
		return hy_option_refuse("--rx-budget", "'%s' is not PORT=PACKETS", text);
	memcpy(port, text, (size_t)(equals - text));
	if (hy_option_number("--rx-budget", port, 0, RTE_MAX_ETHPORTS - 1, &p) < 0 ||
		hy_option_number("--rx-budget", equals + 1, 1, HY_BURST_MAX, &n) < 0)
		return -1;
	options->rx_budget[p] = (uint16_t)n;
	return 0;
}

static int
read_idle(const char *text, struct options *options)
{
	static const char *const modes[] = {
		[HY_IDLE_POLL] = "poll", [HY_IDLE_PAUSE] = "pause", [HY_IDLE_SLEEP] = "interrupt"
	};
	const size_t len = strcspn(text, ":");

	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		if (strlen(modes[m]) != len || strncmp(text, modes[m], len) != 0)
			continue;
		options->idle = (enum hy_idle_mode)m;
		if (text[len] == '\0')
			return 0;
		if (m != HY_IDLE_SLEEP)
			return hy_option_refuse("--idle", "'%s': only interrupt has microseconds",
				text);
		return hy_option_number("--idle", text + len + 1, 1, 1000000, &options->wait_us);
	}
	return hy_option_refuse("--idle", "'%s' is not poll, pause, interrupt or interrupt:USEC",
		text);
}

static bool
port_polled(const struct options *options, uint16_t port)
{
	for (unsigned int q = 0; q < options->nb_queues; q++)
		if (options->queues[q].port == port)
			return true;
	return false;
}

/* Budgets are of ports that workers poll, and within the burst. Writes them to the queues. */
static int
check_rx_budget(struct options *options)
{
	const unsigned int burst = options->burst;

	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		if (options->rx_budget[p] == 0)
			continue;
		if (!port_enabled(options, p))
			return hy_option_refuse("--rx-budget", "port %u is not in -p 0x%x", p,
				options->ports);
		if (!port_polled(options, p))
			return hy_option_refuse("--rx-budget", "no queue of port %u is in --config",
				p);
		if (options->rx_budget[p] > burst)
			return hy_option_refuse("--rx-budget",
				"%u packets of port %u are more than the burst; 1 to %u are "
				"accepted",
				options->rx_budget[p], p, burst);
	}
	for (unsigned int q = 0; q < options->nb_queues; q++)
		if (port_enabled(options, options->queues[q].port))
			options->queues[q].budget = options->rx_budget[options->queues[q].port];
	return 0;
}

static int
read_burst(const char *text, struct options *options)
{
	unsigned int burst = 0;
	const int rc = hy_option_number("--burst", text, 1, HY_BURST_MAX, &burst);

	options->burst = (uint16_t)burst;
	return rc;
}

static int
read_trace(const char *text, struct options *options)
{
	options->trace = text;
	return hy_tracer_check(text);
}

static int
read_capture(const char *text, struct options *options)
{
	if (options->capture != NULL)
		return hy_option_refuse("--capture",
			"is accepted once; at=POINT can be repeated in it");
	options->capture = text;
	return hy_recorder_check(text);
}

static int
read_user(const char *text, struct options *options)
{
	return hy_user_read("--user", text, &options->user);
}

/* What becomes of an option's value. */
enum kind {
	SET,    /* it has none: a bool becomes true, */
	CLEAR,  /* or false */
	TEXT,   /* is kept as it is */
	LIST,   /* is added to an array of texts */
	NUMBER, /* becomes an unsigned int */
	READ,   /* is for read() */
	READ_OPTIONAL,
};

#define AT(field) offsetof(struct options, field)

static const struct spec {
	const char *name;
	enum kind kind;
	size_t at;             /* of the field in struct options */
	size_t count;          /* LIST: and of the number of its values */
	unsigned int min, max; /* NUMBER */
	int (*read)(const char *text, struct options *options);
} specs[] = {
	{ "config", READ, .read = option_read_config },
	{ "eth-dest", READ, .read = read_eth_dest },
	{ "max-pkt-len", NUMBER, AT(max_pkt_len), .min = 64, .max = 9600 },
	{ "no-numa", CLEAR, AT(numa) },
	{ "per-port-pool", SET, AT(per_port_pool) },
	{ "routes", TEXT, AT(routes) },
	{ "max-routes", NUMBER, AT(max_routes), .min = 1, .max = 1 << 28 },
	{ "max-tbl8s", NUMBER, AT(max_tbl8s), .min = 1, .max = 1 << 21 },
	{ "max-next-hops", NUMBER, AT(max_next_hops), .min = 1, .max = 1 << 24 },
	{ "policy", TEXT, AT(policy) },
	{ "drop-class", READ, .read = read_drop_class },
	{ "steer", READ, .read = option_read_steer },
	{ "feature", READ, .read = option_read_feature },
	{ "max-rules", NUMBER, AT(max_rules), .min = 1, .max = 1 << 20 },
	{ "offload", READ, .read = option_read_offload },
	{ "burst", READ, .read = read_burst },
	{ "rx-budget", READ, .read = read_rx_budget },
	{ "mode", READ, .read = option_read_mode },
	{ "pin", READ, .read = option_read_pin },
	{ "eventq-sched", READ, .read = option_read_sched },
	{ "event-device", READ, .read = option_read_event_device },
	{ "event-vector", SET, AT(event.vector) },
	{ "event-vector-size", NUMBER, AT(event.vector_size), .min = 1, .max = HY_BURST_MAX },
	{ "event-vector-tmo", NUMBER, AT(event.vector_tmo_ns), .min = 1, .max = 1000000000 },
	{ "idle", READ, .read = read_idle },
	{ "node", LIST, AT(force), AT(nb_force) },
	{ "deny", LIST, AT(deny), AT(nb_deny) },
	{ "cap", LIST, AT(caps), AT(nb_caps) },
	{ "cap-file", LIST, AT(cap_files), AT(nb_cap_files) },
	{ "pack", LIST, AT(packs), AT(nb_packs) },
	{ "user", READ, .read = read_user },
	{ "explain", READ_OPTIONAL, .read = read_explain },
	{ "stats", NUMBER, AT(stats_s), .min = 1, .max = 86400 },
	{ "duration", NUMBER, AT(duration_s), .min = 1, .max = 31536000 },
	{ "until-idle", NUMBER, AT(until_idle_ms), .min = 1, .max = 3600000 },
	{ "trace", READ, .read = read_trace },
	{ "capture", READ, .read = read_capture },
	{ "export-dot", TEXT, AT(dot) },
	{ "export-json", TEXT, AT(graph_json) },
	{ "dry-run", SET, AT(dry_run) },
	{ "json", TEXT, AT(json) },
	{ "dump-routes", TEXT, AT(dump) },
};

#define LONG 256 /* value for getopt_long() of the first of specs[], beyond any character */

static int
read_long(const struct spec *spec, const char *text, struct options *options)
{
	void *field = (uint8_t *)options + spec->at;
	char option[32];

	snprintf(option, sizeof(option), "--%s", spec->name);
	switch (spec->kind) {
	case SET:
	case CLEAR:
		*(bool *)field = spec->kind == SET;
		return 0;
	case TEXT:
		*(const char **)field = text;
		return 0;
	case LIST:
		return read_repeated(option, text, field,
			(unsigned int *)((uint8_t *)options + spec->count));
	case NUMBER:
		return hy_option_number(option, text, spec->min, spec->max, field);
	case READ:
	case READ_OPTIONAL:
		return spec->read(text, options);
	}
	return -1;
}

static int
read_option(int opt, struct options *options)
{
	if (opt == 'p')
		return read_mask(optarg, &options->ports);
	if (opt == 'P') {
		options->promiscuous = true;
		return 0;
	}
	if (opt >= LONG)
		return read_long(&specs[opt - LONG], optarg, options);
	/* getopt has said what it is */
	fprintf(stderr, "l3fwd-graph: --help lists the options\n");
	return -1;
}

static int
read_all(int argc, char **argv, struct options *options)
{
	struct option known[RTE_DIM(specs) + 1] = { { 0 } };
	int opt, rc = 0;

	for (unsigned int i = 0; i < RTE_DIM(specs); i++) {
		const enum kind kind = specs[i].kind;

		known[i] = (struct option){ .name = specs[i].name,
			.has_arg = kind == READ_OPTIONAL ? optional_argument : required_argument,
			.val = LONG + (int)i };
		if (kind == SET || kind == CLEAR)
			known[i].has_arg = no_argument;
	}
	optind = 0; /* not 1: forgets what is left of another command line, too */
	while (rc == 0 && (opt = getopt_long(argc, argv, "p:P", known, NULL)) != -1)
		rc = read_option(opt, options);
	if (rc == 0 && optind < argc)
		return hy_option_refuse("command line", "'%s' is not an option; --help lists them",
			argv[optind]);
	return rc;
}

static bool
is_standard_output(const char *name)
{
	return name != NULL && strcmp(name, "-") == 0;
}

/* What is written when it stops: only if there is something to tell. */
static int
check_outputs(const struct options *options)
{
	if (is_standard_output(options->dump) && is_standard_output(options->json))
		return hy_option_refuse("--dump-routes", "- is where --json writes; name a file");
	if (options->explain != EXPLAIN_NO && options->dump != NULL)
		return hy_option_refuse("--explain",
			"cannot be combined with --dump-routes: it makes no table");
	if (options->explain != EXPLAIN_NO &&
		(options->json != NULL || options->dot != NULL || options->graph_json != NULL))
		return hy_option_refuse("--explain",
			"cannot be combined with --json, --export-dot or --export-json: it forwards nothing");
	if (options->dry_run && options->json != NULL)
		return hy_option_refuse("--dry-run",
			"cannot be combined with --json: it forwards nothing");
	return 0;
}

/* Options that ask for others, or exclude them. */
static int
check_together(const struct options *options)
{
	if (options->ports == 0)
		return hy_option_refuse("-p",
			"is required: a mask of ports in hexadecimal, such as 0x3");
	if ((options->eth_dest_set & ~(uint64_t)options->ports) != 0)
		return hy_option_refuse("--eth-dest", "names a port that is not in -p 0x%x",
			options->ports);
	if (options->eth_dest_set != 0 && options->routes != NULL)
		return hy_option_refuse("--eth-dest",
			"is for the default routes, which --routes replaces");
	if (options->routes == NULL &&
		(options->max_routes | options->max_tbl8s | options->max_next_hops) != 0)
		return hy_option_refuse("--max-routes, --max-tbl8s, --max-next-hops",
			"require --routes: only its routes change");
	if (options->policy == NULL &&
		(options->nb_drop_class > 0 || options->nb_steers > 0 || options->max_rules > 0 ||
			options->offload.params.provider != NULL))
		return hy_option_refuse("--drop-class, --steer, --max-rules, --offload",
			"require --policy, whose rules give classes");
	if (options->explain != EXPLAIN_NO && options->trace != NULL)
		return hy_option_refuse("--explain",
			"cannot be combined with --trace: it forwards nothing");
	if (options->dry_run && options->trace != NULL)
		return hy_option_refuse("--dry-run",
			"cannot be combined with --trace: it forwards nothing");
	if (options->explain != EXPLAIN_NO && options->capture != NULL)
		return hy_option_refuse("--explain",
			"cannot be combined with --capture: it forwards nothing");
	if (options->dry_run && options->capture != NULL)
		return hy_option_refuse("--dry-run",
			"cannot be combined with --capture: it forwards nothing");
	return check_outputs(options);
}

int
options_read(int argc, char **argv, struct options *options)
{
	int rc;

	*options = (struct options){ .burst = HY_BURST_DEFAULT,
		.numa = true,
		.max_pkt_len = RTE_ETHER_MAX_LEN,
		.event.sched = RTE_SCHED_TYPE_ATOMIC,
		.wait_us = hy_idle_defaults.wait_us };
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		options->eth_dest[p] = (struct rte_ether_addr){ { RTE_ETHER_LOCAL_ADMIN_ADDR, 0, 0,
			0, 0, (uint8_t)p } };

	rc = read_all(argc, argv, options);
	if (rc < 0 || check_together(options) < 0)
		return -1;
	if (options->max_rules == 0)
		options->max_rules = RULES_DEFAULT;
	if (options->nb_queues == 0 && option_default_config(options) < 0)
		return -1;
	if (check_rx_budget(options) < 0 || option_check_event(options) < 0 ||
		option_check_steer(options) < 0 || option_check_feature(options) < 0 ||
		option_check_config(options) < 0)
		return -1;
	return option_check_dispatch(options);
}
