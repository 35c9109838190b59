/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the generic nodes share: frames, packets of any segmentation, ports made of
 * rings, and a rig: a source of given packets and sinks that keep what comes, in a real graph.
 */
#pragma once

#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <hy_graph_worker.h>
#include <hy_ip4.h>
#include <hy_stats.h>

#include "app/test/unit.h"

#define FRAME_MAX 4096
#define KEEP_MAX 4096 /* packets that a sink keeps */

/* RTE_IPV4() of plain numbers shifts a one into the sign. */
#define IP4(a, b, c, d) RTE_IPV4((uint32_t)(a), b, c, d)

/* A frame of IPv4 over Ethernet; what is 0 takes the value in brackets. */
struct frame_spec {
	uint32_t dst;     /* [198.18.0.1] */
	uint8_t ttl;      /* [64] */
	uint8_t ihl;      /* [5] */
	uint16_t payload; /* bytes behind the IPv4 header */
	uint16_t padding; /* bytes behind the IPv4 packet */
	uint16_t id;      /* IPv4 identification, and what the payload is made from */
};

/* Writes a frame that can be forwarded, and returns its length. */
uint32_t frame_write(uint8_t *frame, const struct frame_spec *spec);
#define FRAME(frame, ...) frame_write(frame, &(const struct frame_spec){ __VA_ARGS__ })

/* The checksum over an IPv4 header, computed byte by byte; the field itself counts as 0. */
uint16_t frame_checksum(const uint8_t *frame);
/* Writes it into the header. */
void frame_sum(uint8_t *frame);
/* What a router makes of a frame: addresses, TTL, checksum computed anew. */
void frame_forward(uint8_t *frame, const struct rte_ether_addr *dst,
	const struct rte_ether_addr *src);

extern struct rte_mempool *pool;

/* A packet in one segment; in two, cut after some bytes; in segments of size bytes. */
struct rte_mbuf *packet(const uint8_t *frame, uint32_t len);
struct rte_mbuf *packet_cut(const uint8_t *frame, uint32_t len, uint32_t cut);
struct rte_mbuf *packet_pieces(const uint8_t *frame, uint32_t len, uint32_t size);
/* In segments of 0 to most bytes. */
struct rte_mbuf *packet_random(const uint8_t *frame, uint32_t len, uint32_t most, uint64_t *seed);
/* Fails the test unless a packet is exactly these bytes, in as many segments as it had. */
void assert_packet(const struct rte_mbuf *m, const uint8_t *frame, uint32_t len,
	unsigned int segments);

/* The lane that the source writes and the sinks keep; "ip4_route" by default. */
extern const char *rig_lane;
/* Packets, and lane values beside them, in the order in which a node got them. */
struct kept {
	struct rte_mbuf *packets[KEEP_MAX];
	uint32_t lane[KEEP_MAX];
	unsigned int n;
};

#define RIG_OUTS 3
#define RIG_DROP (RIG_OUTS - 1)
/* What came to "rig_out-0", "rig_out-1", and "rig_out-2": the graph's drop node. */
extern struct kept out[RIG_OUTS];

/* Makes the nodes rig_source, which leads to the node of that name, and the sinks. */
void rig_nodes(const char *first);
/* What tables of the rig free waits for, and its graph reports to as reader 0; NULL by default. */
extern struct rte_rcu_qsbr *rig_qsbr;
/* Creates the graph "rig", of the rig's source and what it leads to. */
struct hy_graph *rig_graph(uint16_t burst);
/* Sends packets into the graph; lane may be NULL. Walks until all are through. */
void rig_send(struct hy_graph *graph, struct rte_mbuf **packets, const uint32_t *lane,
	unsigned int n);
/* Frees what the sinks keep. */
void rig_free(void);

/* A clone "NODE-rig" of a node of the pack, in this variant of its family, or NULL; its first edge to next. */
hy_node_id rig_clone(const char *node, const char *variant, const char *next);

/*
 * A table with ports 0 and 1 behind 198.18.0.0/24 and 198.18.1.0/24, which send frames of at most
 * 1,514 bytes; rig_mac(0, p) is port p's address, rig_mac(1, p) its next hop's.
 * It is one that a variant of ip4_lookup reads.
 */
struct hy_ip4_fib *rig_table(const char *lookup);
const struct rte_ether_addr *rig_mac(int next_hop, uint16_t port);

/* The variant of ip4_rewrite in the next rig_chain(); "scalar" by default. */
extern const char *rig_rewriter;
/* Whether the next rig_chain(), all of whose variants are named alike, is fused; false by default.
 * Sinks then keep no lanes. */
extern bool rig_fused;
extern uint64_t rig_fused_objs; /* that the fusion has handled */
/* Whether there is a fusion of variants of that name. */
bool rig_can_fuse(const char *variant);
/* Offers it, as a HAL does; likewise one for IPv6; and withdraws both. */
void rig_fuse(const char *variant);
extern uint64_t rig_fused_objs6; /* that the one for IPv6 has handled */
void rig_fuse6(const char *variant);
void rig_part(void);
/* rig_source, pkt_cls, ip4_lookup, ip4_rewrite, sinks. The table is written to fib if not NULL. */
struct hy_graph *rig_chain(const char *classifier, const char *lookup, uint16_t burst,
	struct hy_ip4_fib **fib);

/* Objects that a node of graphs called this dropped for a reason; UINT64_MAX: no such reason. */
uint64_t dropped(const char *graph, const char *node, const char *reason);

/* A port made of rings. */
struct port {
	uint16_t id;
	char name[32];
	struct rte_ring *rx[4], *tx[4];
	uint16_t nb_rx, nb_tx;
};

/* Opens and starts a port, the next free slot of ports[]; its tx rings hold exactly tx_room. */
struct port *port_open(uint16_t nb_rx, uint16_t nb_tx, unsigned int tx_room);
/* Closes all ports, and frees what is in their rings. */
void ports_close(void);
/* Puts packets into a port's receive ring; takes what it sent. */
void port_feed(struct port *port, uint16_t queue, struct rte_mbuf **packets, unsigned int n);
unsigned int port_take(struct port *port, uint16_t queue, struct rte_mbuf **packets,
	unsigned int n);
/* Frees what waits in a port's receive ring. */
void port_drain(struct port *port, uint16_t queue);

uint32_t rnd(uint64_t *seed);

/* Removes graph, nodes, and table; twice does no harm. */
void rig_clear(void);

int node_setup(void **state);
int node_teardown(void **state);
#define NODE_TEST(f) cmocka_unit_test_setup_teardown(f, node_setup, node_teardown)
