/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz targets, in one program: "hy-fuzz TARGET [options of libFuzzer]", and "hy-replay TARGET …"
 * (replay.c) under any compiler. A target checks what must hold for each input.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_common.h>

struct fuzz_target {
	const char *name;
	/* Called once, after rte_eal_init(). May be NULL. */
	void (*init)(void);
	/* Runs one input. Returns whether the code under test accepted it. */
	bool (*one)(const uint8_t *bytes, size_t size);
	/* Writes seed i. Returns false if there is none. NULL: the seeds are texts. */
	bool (*seed)(unsigned int i, FILE *out);
	/* Seeds of targets that read text; ends with NULL. */
	const char *const *texts;
};

extern const struct fuzz_target fuzz_bridge, fuzz_captures, fuzz_graph, fuzz_options,
	fuzz_overrides, fuzz_plugin, fuzz_policy, fuzz_routes, fuzz_share, fuzz_vswitch;

/* The target that the program was started for. */
extern const struct fuzz_target *fuzz_target;

/* Reports a fault and aborts. */
void fuzz_fault(const char *where, const char *what) __attribute__((noreturn));

/* Reports a fault unless the condition holds. */
#define FUZZ_CHECK(what) \
	do { \
		if (!(what)) \
			fuzz_fault(__FILE__ ":" RTE_STR(__LINE__) ": ", #what); \
	} while (0)

/* Checks that a message has no control characters, which a terminal would interpret. */
void fuzz_check_message(const char *text);

/* Returns the path of a regular file with these bytes, valid until the next call. */
const char *fuzz_file(const void *bytes, size_t size);
/* Its descriptor. */
int fuzz_file_fd(void);

/* Called by libFuzzer and by replay.c. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
