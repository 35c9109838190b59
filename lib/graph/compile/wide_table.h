/* SPDX-License-Identifier: BSD-3-Clause */
/* The wide lanes of an image: a table of its own, which only graphs that declare some have. */
#pragma once

#include <hy_graph_worker.h>

struct hy_image;

/* A node, by rank. Bit l of a mask: the graph's wide lane l. */
struct hy_wide_node {
	uint8_t lane[HY_WIDE_MAX]; /* the graph's number of each of the node's */
	uint8_t in;                /* it, or a node behind it, uses the lane */
	uint8_t out;               /* its objects may have a value there */
	uint8_t next;              /* a target has the bit in `in` */
};

struct hy_wide {
	hy_scatter_t *scatter; /* for bursts that take no wide lane along */
	unsigned int nb_lanes;
	struct hy_wide_lane lanes[HY_WIDE_MAX];
	uint32_t offset[HY_WIDE_MAX]; /* from a stream's start, in bytes */
	struct hy_wide_node nodes[];
};

/* Bytes of the table; 0 without wide lanes. */
size_t hy_wide_size(const struct hy_graph_params *params, unsigned int nb_nodes);
/* Fills the table of an image whose nodes are joined; `all`: every lane is kept everywhere. */
void hy_wide_fill(struct hy_image *image, const struct hy_graph_params *params, bool all);
/* Lays out the lanes behind `size` bytes of a stream with room for so many objects. */
size_t hy_wide_layout(struct hy_wide *wide, size_t size, size_t room);
