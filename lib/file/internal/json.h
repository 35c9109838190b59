/* SPDX-License-Identifier: BSD-3-Clause */
/* Text as JSON strings. */
#ifndef HY_GRAPH_JSON_H
#define HY_GRAPH_JSON_H

#include <stdio.h>

/* Writes a JSON string. The text may hold anything: what is not UTF-8 becomes U+FFFD. */
void hy_json_string(const char *text, FILE *out);

#endif
