/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz targets, in one program: "hy-fuzz TARGET [options of libFuzzer]", and "hy-replay TARGET …"
 * (replay.c) under any compiler. A target says what must hold of each input.
 */
#ifndef FUZZ_H
#define FUZZ_H

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
	/* Writes the i-th input to start from. Returns false if there are no more. */
	bool (*seed)(unsigned int i, FILE *out);
};

extern const struct fuzz_target fuzz_captures, fuzz_graph, fuzz_options, fuzz_overrides,
	fuzz_plugin, fuzz_policy, fuzz_routes, fuzz_share;

/* The target that the program was started for. */
extern const struct fuzz_target *fuzz_target;

/* Reports a fault and aborts. */
void fuzz_fault(const char *format, ...) __rte_format_printf(1, 2) __attribute__((noreturn));

/* What must hold. */
#define FUZZ_CHECK(what) \
	do { \
		if (!(what)) \
			fuzz_fault("%s:%d: %s", __FILE__, __LINE__, #what); \
	} while (0)

/* Checks that a message has no control characters, which a terminal would obey. */
void fuzz_check_message(const char *text);

/* The path of a regular file with these bytes, until the next call. */
const char *fuzz_file(const void *bytes, size_t size);
/* Its descriptor. */
int fuzz_file_fd(void);

/* Writes the i-th of n texts; for the seed() of targets that read text. */
bool fuzz_seed_text(const char *const *texts, unsigned int n, unsigned int i, FILE *out);

/* What libFuzzer calls, and replay.c. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
