/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of an image that a fusion runs: see hy_fuse.h. */
#pragma once

#include <hy_fuse.h>

#include "image.h"

/* Fuses the chains of a compiled image. With the registry's lock. */
void hy_image_fuse(struct hy_image *image);

/* Has the heads of chains run their own functions, or the fusions again. The worker's. */
void hy_image_part(struct hy_image *image);
void hy_image_join(struct hy_image *image);

/* In place of the process function of a chain's first node: walk/fused.c. */
uint16_t hy_fused_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n);
