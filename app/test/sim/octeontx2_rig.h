/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The octeontx2 pack on simulated devices: two NICs feed an event device of their kind, workers
 * take from there, and what comes in by one NIC leaves by the other.
 */
#pragma once

#include <hy_event.h>
#include <hy_graph_worker.h>
#include <hy_hal_live.h>

#include "simnic_fixture.h"

#define OCT_DEVICE "sim_event_cn10k0"
#define NICS 2
#define WORKERS_MAX 2
#define QUEUES 2 /* of a NIC, for both directions */
#define FRAMES 64
#define PATIENCE 1000000 /* walks without a packet: something is stuck */

/* How a rig is to be; what is 0 takes the value in brackets. */
struct oct_spec {
	uint16_t vector_size; /* [no vectors] */
	uint64_t timeout_ns;  /* of a vector [50,000] */
	bool any_timeout;     /* nobody says what it is */
	uint8_t sched_type;   /* [ordered, which is 0] */
	uint16_t workers;     /* [1] */
	uint16_t burst;       /* of the graphs [64] */
	bool by_rules;        /* marks are delivered while there are rules */
	const char *force;    /* a variant */
	const char *deny;     /* likewise */
};

struct oct_rig {
	struct hy_hal *hal;
	struct hy_target device;
	uint16_t nic[NICS];
	struct rte_ring *wire[NICS]; /* what a NIC sent */
	uint64_t out[NICS];          /* packets found there */
	struct hy_graph *graphs[WORKERS_MAX];
	unsigned int nb_graphs;
	bool fed;
};

extern struct oct_rig R;

/* The devices and the HAL, as far as phase one. */
void oct_devices(const struct oct_spec *spec);
/* Configures a port with all its queues, and starts it. */
void oct_nic_start(uint16_t port);
/* A feed of all queues. */
void oct_feed(const struct oct_spec *spec);
void oct_select(void);
/* A feed, the selection, graphs; and nodes: event_rx-oct leads to ethdev_tx-1 for NIC 0, to ethdev_tx-0 for NIC 1. */
void oct_run(const struct oct_spec *spec);
/* oct_devices() and oct_run(). */
void oct_open(const struct oct_spec *spec);
/* Takes graphs and feed down; how many packets were still in it. */
uint64_t oct_close(void);

/* Has so many packets come in by each NIC, by its queue 0. */
void oct_send(uint64_t first, uint64_t second);
/* Walks all graphs in turn until the NICs have sent exactly so many, in order. */
void oct_forward(uint64_t first, uint64_t second);
/* Takes what a NIC sent, which must be whole and in the order of the frames. */
void oct_drain(unsigned int nic);
/* Objects that all nodes of that name had, or what they dropped for a reason. */
uint64_t oct_objs(const char *node, const char *drop);

const struct hy_selection *oct_selected(const char *family, struct hy_target target);
/* Of ethdev_tx for both NICs, and of event_rx. */
void assert_chosen(const char *tx, const char *rx);
void assert_refused(const struct hy_selection *s, const char *variant, enum hy_fate fate,
	const char *reason);

int oct_setup(void **state);
int oct_teardown(void **state);
#define OCT_TEST(f) cmocka_unit_test_setup_teardown(f, oct_setup, oct_teardown)
