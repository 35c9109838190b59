/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of simulated hardware share: packets in a line, and the commonest flows. */
#pragma once

#include <rte_flow.h>
#include <rte_mbuf.h>

#include "app/test/unit.h"
#include "sim_rules.h"

#define FRAME_SIZE 64

/* A packet, or a rule's match of one; in host byte order. 0 in a rule matches anything. */
struct sim_packet {
	uint16_t vlan; /* tag control; 0: no tag */
	uint32_t src, dst;
	uint8_t tos, proto;
	uint16_t sport, dport;
	uint16_t frag; /* as in the header */
};

extern struct rte_mempool *sim_pool;

/* Writes the frame, FRAME_SIZE bytes. */
void sim_frame(const struct sim_packet *packet, uint8_t *frame);
struct rte_mbuf *sim_mbuf(const struct sim_packet *packet);
/* The IPv4 destination of a packet without a tag. */
uint32_t sim_dst_of(const struct rte_mbuf *pkt);
/* A mark or no mark, -1. */
int64_t sim_mark_of(const struct rte_mbuf *pkt);
/* The mark that a packet gets; -1: none, -2: it was dropped. */
int64_t sim_marked(struct hy_flow_sim *sim, const struct sim_packet *packet);

/* A flow on what is not 0 of a packet: eth / ipv4 / udp or tcp. Points into itself. */
struct sim_match {
	struct rte_flow_attr attr;
	struct rte_flow_item_ipv4 ip, ip_mask;
	struct rte_flow_item_udp l4, l4_mask; /* TCP's ports lie the same */
	struct rte_flow_item_tcp tcp, tcp_mask;
	struct rte_flow_item items[4];
	struct rte_flow_action_mark mark;
	struct rte_flow_action_count count;
	struct rte_flow_action_queue queue;
	struct rte_flow_action actions[4];
};
/* Whether the driver of a profile takes COUNT beside MARK. */
bool sim_counts(const char *profile);
/* @p fate: QUEUE 0 behind the mark; @p count: and a counter. */
void sim_match(struct sim_match *flow, const struct sim_packet *packet, uint32_t mark, bool count,
	bool fate);

int sim_setup(void **state);
int sim_teardown(void **state);
#define SIM_TEST(f) cmocka_unit_test_setup_teardown(f, sim_setup, sim_teardown)
