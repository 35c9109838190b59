/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of hy-hal share. */
#ifndef HY_HAL_COMMAND_H
#define HY_HAL_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include <hy_conform.h>
#include <hy_hal.h>

struct rte_mempool;

#define REPEATS_MAX 32

/* What the user asks for. */
struct settings {
	const struct command *command;
	bool json;
	bool try_flows;
	const char *const *families; /* of --graph, NULL behind the last; NULL: all */
	const char *packs[REPEATS_MAX];
	unsigned int nb_packs;
	const char *force[REPEATS_MAX];
	unsigned int nb_force;
	const char *deny[REPEATS_MAX];
	unsigned int nb_deny;
	const char *caps[REPEATS_MAX];
	unsigned int nb_caps;
	const char *cap_files[REPEATS_MAX];
	unsigned int nb_cap_files;
	const char *family[REPEATS_MAX]; /* of selftest; none: all */
	unsigned int nb_family;
	const char *variant[REPEATS_MAX]; /* likewise, FAMILY/VARIANT */
	unsigned int nb_variant;
	const char *pcap; /* a folder, or NULL */
	const char *file; /* the command's argument, if it takes one */
	bool quick;
	uint64_t load; /* seconds */
	uint64_t seed;
	uint64_t
		packets; /* of selftest, for each variant at least; 0: as many as its bursts have */
};

struct command {
	const char *name;
	const char *text;    /* for --help */
	const char *options; /* that it takes, by their letters in settings.c */
	/* 0, or negative: it said why on standard error. Packs, rules and overrides are in place. */
	int (*run)(const struct settings *settings, struct hy_hal *hal);
	const char *argument; /* that it needs, as the usage calls it; NULL: it takes none */
};

/* The commands, the last one without a name. */
extern const struct command commands[];

/* settings.c: argv[0] is skipped. 0, or negative: said why. --help prints and exits. */
int settings_read(int argc, char **argv, struct settings *settings);

/* show.c */
int show_inventory(const struct settings *settings, struct hy_hal *hal);
int show_explain(const struct settings *settings, struct hy_hal *hal);
int show_packs(const struct settings *settings, struct hy_hal *hal);

/* flows.c: tells the HAL what rules ports take. 0, or negative: said why. */
int flows_try(struct hy_hal *hal);
/* Packets for all ports to start with so many queues of each direction. NULL: said why. */
struct rte_mempool *ports_pool(const char *name, uint16_t nb_queues);
/* Configures a port with so many queues of each direction, and starts it. 0 or a negative errno. */
int port_start(uint16_t port, uint16_t nb_queues, struct rte_mempool *pool);
/* What ports were found to take, in words; of those not tried, nothing. */
void flows_print(FILE *out);

/* selftest.c */
int selftest(const struct settings *settings, struct hy_hal *hal);
/*
 * Its output, into a file. The variants must have been selected. 0, also when a variant failed, or
 * negative: it said why.
 */
int selftest_write(const struct settings *settings, const struct hy_hal *hal, FILE *out,
	bool *passed);

/* report.c */
int report(const struct settings *settings, struct hy_hal *hal);

/* captures.c: all frames of the folder's captures. 0, or negative: said why. */
int captures_read(const char *folder, struct hy_frames *frames);
void captures_free(struct hy_frames *frames);

#endif
