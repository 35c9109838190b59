/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of shared graphs have in common: a folder, a reader in the same process, at other
 * addresses, and a graph of which there is much to tell. */
#pragma once

#include <hy_share.h>

#include "lib/graph/share/share.h"
#include "trace_fixture.h"

#define SHARE_TEST(f) cmocka_unit_test_setup_teardown(f, share_setup, share_teardown)

extern char folder[];           /* where the program shares its graphs; the test's own */
extern struct hy_share *reader; /* attached by share() */

int share_setup(void **state);
int share_teardown(void **state);

/* Has the program share its graphs, and the reader look. */
void share(void);
/* Reads the description of a graph; *bytes is for free(3). Returns how many there are. */
size_t share_description(const char *name, char **bytes);
/* Puts another in its place. */
void share_describe_as(const char *name, const char *bytes, size_t size);
/* Graph "g": objects by their ids, to nodes a, b, c and two drop reasons, in tenths. */
struct hy_graph *tenths_graph(struct probe *src, struct probe *split);

/* Both look through the reader first: the program that looks may find something to tidy up. */
void assert_same_pictures(struct hy_graph *graph);
/* Returns how many entries of how many nodes it compared. */
unsigned int assert_same_stats(const char *pattern, unsigned int nb_nodes);
