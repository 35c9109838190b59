/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that belong to something else than a program. */
#pragma once

#include <hy_graph.h>

/* Asserts that each call that would change a node is refused, says why, and has changed nothing. */
void assert_owned(hy_node_id id, const char *owner);
