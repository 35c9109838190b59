/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text that is made while the registry is locked, and written when it is not: whoever reads the file
 * may be slow, and must not hold up the control plane.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct hy_text {
	FILE *stream; /* into memory: what to write the text to */
	char *bytes;
	size_t size;
	const char *of; /* what it is about, for the log */
};

/* Begins a text and locks the registry. Returns 0; or -ENOMEM, logged, and nothing is locked. */
int hy_text_begin(struct hy_text *text, const char *of);
/* Unlocks the registry, writes the text and frees it. Returns 0, -ENOMEM, or why the
 * text could not be written. */
int hy_text_end(struct hy_text *text, FILE *out);
