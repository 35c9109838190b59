/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a fuzz target without libFuzzer, so with any compiler: on the files named, or on random
 * inputs; or writes the seeds.
 */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define INPUT_MAX (1 << 16)

static uint8_t input[INPUT_MAX];

static int
replay_file(const char *path)
{
	FILE *in = fopen(path, "rb");
	size_t size;

	if (in == NULL) {
		perror(path);
		return -1;
	}
	size = fread(input, 1, sizeof(input), in);
	fclose(in);
	printf("%s: %zu bytes\n", path, size);
	fflush(stdout); /* if it aborts, the last line names the input */
	LLVMFuzzerTestOneInput(input, size);
	return 0;
}

static void
replay_random(unsigned long count, uint64_t seed)
{
	for (unsigned long i = 0; i < count; i++) {
		size_t size;

		for (size_t b = 0; b < sizeof(input); b++) {
			/* xorshift64* */
			seed ^= seed >> 12;
			seed ^= seed << 25;
			seed ^= seed >> 27;
			input[b] = (uint8_t)(seed * UINT64_C(0x2545f4914f6cdd1d) >> 56);
		}
		size = (size_t)(1 + seed % 2000);
		printf("input %lu of seed: %zu bytes\n", i, size);
		fflush(stdout);
		LLVMFuzzerTestOneInput(input, size);
	}
}

/* Returns 0, or -1 after an error. */
static int
seeds_write(const char *folder)
{
	bool more = true;

	for (unsigned int i = 0; more; i++) {
		char path[4096];
		FILE *out;

		snprintf(path, sizeof(path), "%s/seed-%02u", folder, i);
		out = fopen(path, "wb");
		if (out == NULL) {
			perror(path);
			return -1;
		}
		if (fuzz_target->seed != NULL)
			more = fuzz_target->seed(i, out);
		else if ((more = fuzz_target->texts[i] != NULL))
			fputs(fuzz_target->texts[i], out);
		if (fclose(out) != 0 || (!more && remove(path) != 0)) {
			perror(path);
			return -1;
		}
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const bool random = argc == 5 && strcmp(argv[2], "--random") == 0;
	const bool seeds = argc == 4 && strcmp(argv[2], "--seeds") == 0;
	int failed = 0;

	if (argc < 3 || (argv[2][0] == '-' && !random && !seeds)) {
		fprintf(stderr,
			"usage: %s TARGET FILE... | TARGET --random COUNT SEED | "
			"TARGET --seeds FOLDER\n",
			argv[0]);
		return 2;
	}
	if (LLVMFuzzerInitialize(&argc, &argv) != 0)
		return EXIT_FAILURE;
	if (random)
		replay_random(strtoul(argv[2], NULL, 0), 1 + strtoull(argv[3], NULL, 0));
	if (seeds)
		failed = seeds_write(argv[2]);
	for (int i = 1; i < argc && !random && !seeds; i++)
		failed += replay_file(argv[i]) != 0;
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
