/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Five ports under one HAL, one policy, one graph and one worker that never stops:
 *
 *	ethdev_rx-P → flow_cls-P → five_check → ethdev_tx-P
 *
 * Four ports are simulated NICs of different vendors; the fifth is a ring that has no flow engine,
 * and gives back what is sent. five_check holds the class of every packet against the oracle:
 * hy_policy_classify() on the rules of the moment, worked out for all frames before they are shown.
 */
#pragma once

#include <hy_hal_live.h>
#include <hy_offload.h>
#include <hy_policy_view.h>
#include "app/sim/simnic.h"

#include "app/test/flow/flow_fixture.h"

enum { CNXK, MLX5, ICE, I40E, RING, PORTS };

/*
 * FRAMES different ones of all kinds. LINE_WAIT packets wait between the NIC and the worker, marked
 * already; SETTLE_MS is what offloads are promised of them. A packet that waits for OVERDUE_MS is
 * dropped, so that the promise holds, unless the worker is without a CPU for LATE_MS with packets in
 * hand. Sanitized, workers are slow, and often without a CPU.
 */
#ifdef SANITIZED
#define FRAMES 1024
#define LINE_WAIT 64
#define SETTLE_MS 500
#define OVERDUE_MS 200
#define LATE_MS 250
#else
#define FRAMES 8192
#define LINE_WAIT 512
#define SETTLE_MS 200
#define OVERDUE_MS 50
#define LATE_MS 100
#endif
#define PHASES 16       /* of traffic: each has a part of the frames that most packets are of */
#define PHASE 32768     /* packets */
#define ANSWERS 4       /* versions of rules whose answers are kept */
#define LINE 1024       /* room of a receive queue behind the NIC */
#define LOOPED 512      /* packets in the ring port */
#define STABLE 100      /* rules that stay, each with a class of its own: its id + 1 */
#define CHURNED 100     /* ids of rules that come, go, and change, */
#define CHURNED_ID 1000 /* from this one on; their classes are above those of the others */

/* A receive queue between the NIC's marks and the worker. */
struct line {
	struct {
		struct rte_mbuf *pkt;
		uint64_t since;
	} entry[LINE];
	uint32_t head, n;
	uint64_t asked;   /* when packets were asked for last, TSC */
	uint64_t overdue; /* packets that were dropped, */
	uint64_t marked;  /* and those of them that had a mark */
};

struct five_port {
	uint16_t id;
	struct hy_offload *offload;
	struct line line;
	uint64_t late; /* packets that were not classified as soon as offloads are promised */
	const struct rte_eth_rxtx_callback *callback;
	unsigned int downs, ups, gone, resets; /* as observers are told, and the program asked */
};

struct five {
	struct hy_hal *hal;
	struct hy_policy *policy;
	struct hy_graph *graph;
	struct rte_rcu_qsbr *qsbr;
	struct five_port port[PORTS];
	uint64_t seed;
	uint64_t checked; /* packets held against the oracle; the worker's, as all that follow */
	uint64_t quiet;   /* of those, while one version of rules was to be seen; */
	uint64_t either;  /* of the others, such that the two versions differ about */
	uint64_t wrong;
	uint64_t by_class[UINT16_MAX + 1]; /* packets */
};
extern struct five F;

/* Makes everything up to the graph. */
void five_open(const struct hy_offload_params *params);
/* Frames: random, of rules' corners, malformed. To be called when the rules that stay are there. */
void five_frames_make(void);
void five_frame_get(uint32_t i, struct simnic_frame *frame);
/* A rule, more often an exact one than not: what overlaps much takes rte_acl long to compile. */
struct hy_flow_rule five_rule(uint32_t id, uint16_t class_id);
/* Feeds the ports, in phases that differ in what is frequent, and starts the worker; stops it. */
void five_start(void);
void five_stop(void);
uint64_t five_checked(void);
uint64_t five_quiet(void);
/* Packets that a simulated NIC has made. */
uint64_t five_fed(unsigned int port);
/* What a control thread does now and then: sees to ports, then to offloads of those that run. */
void five_control(void);
void five_commit(void);
/* A counter, the objects ("objs"), or the drops ("drop:REASON") of a node and port. */
uint64_t five_count(const char *node, unsigned int port, const char *what);

int five_setup(void **state);
int five_teardown(void **state);
