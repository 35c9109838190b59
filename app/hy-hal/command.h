/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of hy-hal share. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <hy_conform.h>
#include <hy_hal.h>

struct rte_mempool;

#define REPEATS_MAX 64

/* Prints an error. Its value is -1, to be returned. */
#define refuse(...) (fprintf(stderr, "hy-hal: " __VA_ARGS__), fputc('\n', stderr), -1)

/* Options that may be given several times. */
enum list { PACKS, FORCE, DENY, CAPS, CAP_FILES, FAMILIES, VARIANTS, LISTS };

/* The values of one of these options, in order. */
struct values {
	const char *text[REPEATS_MAX];
	unsigned int n;
};

/* The command line. */
struct settings {
	const struct command *command;
	bool json;
	bool try_flows;
	const char *const *families; /* of --graph, terminated by NULL; NULL: all */
	struct values lists[LISTS]; /* without FAMILIES and VARIANTS, selftest tests all variants */
	const char *pcap;           /* a folder, or NULL */
	const char *file;           /* the command's argument, if it takes one */
	bool quick;
	uint64_t load; /* seconds */
	uint64_t seed;
	uint64_t packets; /* of selftest: at least, for each variant; 0: no minimum */
};

struct command {
	const char *name;
	const char *text;    /* for --help */
	const char *options; /* letters of the options it takes, as in settings.c */
	/*
	 * Called with packs, rules and overrides in place. Returns 0, or a negative number with the
	 * reason printed on standard error.
	 */
	int (*run)(const struct settings *settings, struct hy_hal *hal);
	const char *argument; /* its mandatory argument, as in the usage; NULL: none */
};

/* The commands; the last one has no name. */
extern const struct command commands[];

/*
 * The functions below that can fail print the reason on standard error and return a negative number
 * or NULL, unless their comment says otherwise.
 */

/* settings.c: reads the command line; skips argv[0]. --help prints and exits. */
int settings_read(int argc, char **argv, struct settings *settings);

/* show.c */
int show_inventory(const struct settings *settings, struct hy_hal *hal);
int show_explain(const struct settings *settings, struct hy_hal *hal);
int show_packs(const struct settings *settings, struct hy_hal *hal);

/* flows.c: finds out what rules the ports take, and sets the HAL's capabilities. */
int flows_try(struct hy_hal *hal);
/* A pool for starting all ports with this many queues of each direction. */
struct rte_mempool *ports_pool(const char *name, uint16_t nb_queues);
/* Configures and starts a port with this many queues of each direction. 0 or a negative errno. */
int port_start(uint16_t port, uint16_t nb_queues, struct rte_mempool *pool);
/* Prints what rules the ports take that flows_try() has tried. */
void flows_print(FILE *out);

/* selftest.c */
int selftest(const struct settings *settings, struct hy_hal *hal);
/*
 * Writes the output of selftest to a file. Variants must be selected. 0 also if a variant failed.
 */
int selftest_write(const struct settings *settings, const struct hy_hal *hal, FILE *out,
	bool *passed);

/* report.c */
int report(const struct settings *settings, struct hy_hal *hal);

/* captures.c: reads all frames of the captures in a folder. */
int captures_read(const char *folder, struct hy_frames *frames);
void captures_free(struct hy_frames *frames);
