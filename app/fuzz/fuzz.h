/* SPDX-License-Identifier: BSD-3-Clause */
/* What libFuzzer calls, and replay.c: see LLVM's documentation. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
