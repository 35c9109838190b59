/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows benchmark. Lookups alone are measured in flows.c; a loop from a source of frames to a sink in
 * flows_loop.c, with the frames of flows_frames.c, over the cases of flows_axes.c; what changes in the
 * meantime in flows_change.c; a switch whose rules change in flows_rules.c;
 * and what is done to packets in flows_apply.c.
 */
#pragma once

#include <hy_flows_cache.h>
#include <hy_flows_upcall.h>

#include "bench.h"

/* A choice of caches. */
struct flows_mode {
	const char *name;
	struct hy_flows_caches caches;
	bool peer, subject; /* in ratios */
};

#define FLOWS_MODES 10

/* Of lookups alone: every packet that the exact cache misses is entered, but with another cache. */
extern const struct flows_mode flows_modes[FLOWS_MODES];

enum flows_draw { DRAW_UNIFORM, DRAW_ZIPF, DRAW_NEW };

#define FLOWS_ALL 0

/* What packets there are, and what is installed. */
struct flows_case {
	char name[40];
	uint32_t flows;     /* with DRAW_NEW, each packet has its own */
	uint32_t megaflows; /* a power of two, or FLOWS_ALL: one for each flow */
	uint32_t masks;
	enum flows_draw draw;
	bool vxlan; /* the flows are inside a tunnel */
	bool usual; /* it is measured without --full */
};

#define FLOWS_DRAWN (1u << 21) /* packets, after which they come again */
#define FLOWS_RUN 8192         /* packets of a run of a loop */
#define FLOWS_N 32             /* packets of a burst */

/* Packets of a case (flows_frames.c). */
struct flows_frames {
	const struct flows_case *of;
	uint32_t megaflows; /* installed */
	uint32_t length;    /* of a frame */
	uint32_t *drawn;    /* numbers of flows; NULL: each packet is a new one */
	uint64_t *expected; /* the sum of the actions of each run */
	uint8_t *frame;     /* of each flow, or one to be changed */
};

struct flows_frames *flows_frames_create(const struct flows_case *of);
void flows_frames_free(struct flows_frames *frames);
/* Writes packet n of the flow of that number, with its hash, as a driver does. */
void flows_frames_write(const struct flows_frames *frames, uint32_t flow, struct rte_mbuf *m);
/* The rules: the megaflow of a packet, and its action, from 1 on. */
hy_flows_rules_t flows_frames_rules;
/* Installs all megaflows that rules have, unless there are too many. */
int flows_frames_install(const struct flows_frames *frames, struct hy_flows *flows);

static inline uint32_t
flows_action_of(const struct flows_frames *frames, uint32_t flow)
{
	return (flow & (frames->megaflows - 1)) + 1;
}

/* Measures a case (flows_loop.c); rows go to a stream too, unless it is NULL. */
void flows_loop(const struct flows_case *of, FILE *out);
/* Heads the rows. */
void flows_loop_head(FILE *out);

/*
 * Begins to call turn() over and over on another core, and keeps this thread on one (flows_other.c), until
 * it is stopped. Returns -1 after bench_cannot() if there is one core.
 */
int flows_other_start(void (*turn)(void *arg), void *arg);
void flows_other_stop(void);

/* Begins to read so many MiB over and over on another core, with 0 none; -1 as above (flows_pirate.c). */
int flows_pirate_start(uint32_t mib);
void flows_pirate_stop(void);

/* What happens besides lookups (flows_change.c). */
void flows_changes(void);
/* A switch whose rules change (flows_rules.c). */
void flows_rules(void);
/* Lists of operations (flows_apply.c). */
void flows_apply(void);

/* All cases that are wanted, and the table of the proposal (flows_axes.c). */
void flows_axes(void);
