/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker with upcalls, whose packets are numbered within their flows. */
#pragma once

#include <rte_mbuf.h>

#include <hy_flows_upcall.h>

#include "flows_fixture.h"

#define SIM_FLOWS 4096
#define SIM_BURST 32

/* Bytes of a frame that differ within a connection, and what every fourth packet has there. */
#define SIM_TOS 15
#define SIM_TTL 22
#define SIM_TCP_FLAGS 47
#define SIM_DIFFERS 0x18

/* A sender's packets: TCP to an address that is the number of the flow. */
struct sim {
	struct hy_flows_upcalls *upcalls;
	struct rte_mempool *pool;
	unsigned int worker;
	uint32_t next[SIM_FLOWS]; /* number of the next packet sent, by flow */
	uint32_t due[SIM_FLOWS];  /* of the next one that may come out; some are dropped */
	uint64_t sent, out, full, gone;
	uint64_t full_of[SIM_FLOWS], out_of[SIM_FLOWS];
	uint32_t action[SIM_FLOWS]; /* of the last packet that came out, by flow */
	uint64_t wrong, disordered;
	uint32_t differ; /* one of these bytes, or 0 */
	bool same_hash;  /* as an adversary would have it */
};

/* What the rules say of a flow at present; changed by tests. */
extern uint32_t sim_action_of(uint32_t number);
extern uint32_t sim_version;
/* Called when rules have said what, before that is installed; NULL: nothing is. */
extern void (*sim_rules_wait)(void);

/* Rules that depend on the port and the destination, and for some flows on more fields: many masks. */
int sim_rules(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer);

void sim_open(struct sim *s, uint32_t room);
/* Frees what is on the way and the pool; checks that nothing was lost. */
void sim_close(struct sim *s);
/* Sends a burst of these flows through the worker: takes answers back, looks up, upcalls. */
void sim_burst(struct sim *s, const uint32_t number[], uint32_t n);
/* Takes answers back. */
void sim_answers(struct sim *s);
