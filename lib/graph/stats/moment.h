/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of one moment: the worker copies its image between two walks, when asked to, so that
 * what one node has sent the next one has taken. It is asked by its attention word, as for traces:
 * who does not ask pays nothing.
 */
#pragma once

#include "lib/graph/compile/image.h"

/* The control plane's request. The worker owns it from removing it from the graph until taken. */
struct hy_moment {
	struct hy_image *copy; /* room for the image */
	size_t size;
	const struct hy_image *of; /* the image copied; NULL: there was no room */
	bool taken;
};

/* The worker's part, before a walk. */
void hy_moment_take(struct hy_graph *graph);
