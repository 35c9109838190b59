/* SPDX-License-Identifier: BSD-3-Clause */
/* Text as JSON strings, and its characters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Writes a JSON string. The text may hold anything: what is not UTF-8 becomes U+FFFD. */
void hy_json_string(const char *text, FILE *out);

/* Bytes of the UTF-8 character at s (RFC 3629, 4), of at most size, and its code; 0: there is none. */
unsigned int hy_utf8(const unsigned char *s, size_t size, uint32_t *code);

/* Whether a character is one of C0, DEL or C1, which a terminal may obey. */
static inline bool
hy_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}
