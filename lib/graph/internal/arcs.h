/* SPDX-License-Identifier: BSD-3-Clause */
/* The arcs of the process, for code that plans where nodes run. With the registry's lock held. */
#pragma once

#include <hy_arc.h>

/* The first arc, or the one after another; NULL after the last. */
struct hy_arc *hy_arc_next_of(const struct hy_arc *arc);
/* The position of a feature on an arc, by its whole name, or -1. hy_arc_feature_at() is the inverse. */
int hy_arc_position(const struct hy_arc *arc, const char *feature);
/*
 * Sorts n features, always choosing the first one whose predecessors are all placed. Bit o of
 * behind[f]: feature o comes before f. Returns how many were placed: less than n if the others wait
 * for one another in a circle.
 */
unsigned int hy_arc_sort(unsigned int n, const uint64_t behind[], unsigned int order[]);
/* The name of the node that the arc ends at. */
const char *hy_arc_end(const struct hy_arc *arc);
/* Whether graphs have any of its features. */
bool hy_arc_is_live(const struct hy_arc *arc);
