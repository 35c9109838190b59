/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The l3fwd benchmark: IPv4 forwarding from rings to rings, by ways that have the same packets, the
 * same routes and the same ports. A lap is: refill the receive rings (untimed), forward until they
 * are empty (timed), look at all that was sent (untimed).
 *
 * What its parts call a port is the work's port, from 0 on; ethdev's ids are in the rig.
 */
#ifndef HY_BENCH_L3FWD_H
#define HY_BENCH_L3FWD_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "bench.h"

#define L3FWD_PORTS 8
#define L3FWD_LANES 2 /* lcores that forward at once: a queue and rings of its own for each */

/* Next hops are numbered so that the port is in the number, which costs no way a lookup. */
#define HOPS_PER_PORT 8
#define HOPS (HOPS_PER_PORT * L3FWD_PORTS)
#define HOP_NONE HOPS /* no route; the port that it would be behind is the one after the last */

static inline uint16_t
hop_port(uint32_t hop)
{
	return (uint16_t)(hop / HOPS_PER_PORT);
}

/* An address in host byte order, as all are here. DPDK's RTE_IPV4() shifts into the sign. */
#define IP4(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

/* Where a port's frames come from, and a next hop's MAC address. */
struct rte_ether_addr l3fwd_port_mac(unsigned int port);
struct rte_ether_addr l3fwd_hop_mac(unsigned int hop);
/* The Ethernet header of what is sent to a next hop. */
struct rte_ether_hdr l3fwd_hop_header(unsigned int hop);

/* Routes (l3fwd_table.c). */

struct l3fwd_route {
	uint32_t prefix;
	uint8_t depth;
	uint8_t hop;
};

struct l3fwd_table {
	struct l3fwd_route *routes; /* by prefix and depth */
	uint32_t n;
	uint32_t tbl8s; /* groups of 256 that rte_lpm wants for prefixes longer than /24 */
};

/* Routes in the works of that name. */
#define TABLE_EIGHT 8

/* What cannot be made here says why by bench_cannot(), and returns NULL or -1. */

/* Eight routes to so many next hops, on so many ports in turn. */
struct l3fwd_table *table_eight(unsigned int nb_hops, unsigned int nb_ports);
/* A route for each of bench_prefixes(path) that packets may be forwarded to, if there are any. */
struct l3fwd_table *table_full(const char *path, unsigned int nb_ports);
void table_free(struct l3fwd_table *table);
/* The next hop of the longest prefix, by search: what the contenders' tables must agree with. */
uint32_t table_hop(const struct l3fwd_table *table, uint32_t dst);

/* Packets (l3fwd_traffic.c). */

#define L3FWD_MTU 1514 /* longest frame that ports send */
#define FRAME_LEN 60   /* 64 bytes on the wire: Ethernet's checksum is not in memory */

struct l3fwd_packet {
	alignas(64) uint8_t frame[FRAME_LEN]; /* as received */
	uint16_t hop;                         /* HOP_NONE: to be dropped */
	uint16_t seen;                        /* the lap in which it was sent last */
};

struct l3fwd_traffic {
	struct l3fwd_packet *packets;
	uint32_t n;
	uint32_t routed; /* of them */
	uint16_t lap;
	uint16_t port;         /* ethdev's id of that on which they are received */
	const uint32_t *marks; /* of each packet by the port's hardware; NULL: it has none */
};

/* One packet for each destination, in that order. */
struct l3fwd_traffic *traffic_create(const uint32_t *dst, uint32_t n, uint8_t ttl,
	const struct l3fwd_table *table);
void traffic_free(struct l3fwd_traffic *traffic);
/* Makes an mbuf what a driver makes it that has received packet i. */
void traffic_write(const struct l3fwd_traffic *traffic, uint32_t i, struct rte_mbuf *m);
/* Routers that a packet has gone through since, by its TTL. */
unsigned int traffic_hops(const struct l3fwd_traffic *traffic, const struct rte_mbuf *m);
/* A new lap: no packet has been seen. */
void traffic_lap(struct l3fwd_traffic *traffic);
/*
 * What is wrong with a packet that a port sent, NULL if nothing is. hops: how many routers it has
 * gone through since traffic_write(); 0 for what was sent as it came.
 */
const char *traffic_check(struct l3fwd_traffic *traffic, const struct rte_mbuf *m,
	unsigned int port, unsigned int hops);

/* Ports and rings (l3fwd_rig.c). */

/* ethdevs over the same rings: librte_node's ethdev_rx adds a callback to its own. */
enum l3fwd_users { USERS_ALL, USERS_LIBRTE_NODE, USERS };

struct l3fwd_rig {
	unsigned int lane; /* the queue of every port */
	unsigned int nb_ports;
	bool loop; /* one port, which receives what it sends */
	uint16_t port[USERS][L3FWD_PORTS];
	struct rte_ring *rx[L3FWD_PORTS], *tx[L3FWD_PORTS]; /* the same one in a loop */
	struct l3fwd_traffic *traffic;
	struct rte_mempool *pool;
	struct rte_mbuf **mbufs; /* packet i travels in mbufs[i] */
};

#define RIG_LOOP L3FWD_PORTS /* number of the looping port */

/* Makes the ports, once for all works, with a queue for each lane. */
int rig_ports(unsigned int lanes);
unsigned int rig_lanes(void);
/* ethdev's id of a port. */
uint16_t rig_port(enum l3fwd_users users, unsigned int port);
/* Packets that one receive call brings at most, from now on, on all ports; 0: as many as asked. */
void rig_burst(uint16_t most);

/*
 * A rig for a work: the first ports, or the looping one, and mbufs for the packets, which are the
 * rig's from then on. It is to be closed in any case.
 */
int rig_open(struct l3fwd_rig *rig, unsigned int lane, unsigned int nb_ports, bool loop,
	struct l3fwd_traffic *traffic);
void rig_close(struct l3fwd_rig *rig);
/* All packets as new, in the receive rings, in order, by turns of ports. */
void rig_fill(struct l3fwd_rig *rig);
/*
 * Takes all that was sent, and looks at it; says what is wrong. rewrites: MACs and TTL are to have
 * changed. forwarded: packets received, and drops: dropped, as the contender's own counters say.
 */
bool rig_check(struct l3fwd_rig *rig, const char *name, bool rewrites, uint64_t forwarded,
	uint64_t drops);
/* Packets that ports of those users have received on all queues. */
uint64_t rig_received(const struct l3fwd_rig *rig, enum l3fwd_users users);

/* Whether there is something to receive. Every contender asks once a turn. */
static inline bool
rig_pending(const struct l3fwd_rig *rig)
{
	for (unsigned int p = 0; p < rig->nb_ports; p++)
		if (!rte_ring_empty(rig->rx[p]))
			return true;
	return false;
}

/* Contenders. */

#define NODES_MAX 8

/* What all nodes of a kind have done. */
struct l3fwd_node {
	char name[16]; /* without the port's number */
	uint64_t cycles;
};

struct l3fwd_way {
	const char *name;
	enum l3fwd_users users;
	bool rewrites;
	unsigned int burst; /* packets that a turn receives at most from one port */
	void *arg;
	/* Forwards until nothing is to be received, or so many turns; then all has been sent. */
	void (*run)(void *arg, uint64_t turns);
	uint64_t (*drops)(void *arg); /* since it was created */
	/* Cycles by kind of node since it was created; returns how many. NULL: it has no nodes. */
	unsigned int (*nodes)(void *arg, struct l3fwd_node nodes[NODES_MAX]);
	void (*destroy)(void *arg);
};

/*
 * Adds cycles to the nodes of a name's kind, if there are any cycles; n is how many kinds there are.
 * Returns the new n.
 */
unsigned int l3fwd_node_add(struct l3fwd_node nodes[NODES_MAX], unsigned int n, const char *name,
	uint64_t cycles);

/* What ours is made of. */
struct ours_params {
	uint16_t burst;                   /* 0: the default */
	uint16_t sample_every;            /* 0: the default */
	const struct hy_family *family;   /* whose variant is another one; NULL: as selected */
	const struct hy_variant *variant; /* of that family */
	const char *flow_cls;      /* the node between receiving and pkt_cls; NULL: there is none */
	struct rte_rcu_qsbr *qsbr; /* that the graph reports to; NULL: to none */
	const char *source;        /* what receiving nodes are called; NULL: ethdev_rx */
};

/* A way without a run function could not be made; bench_cannot() has been told why. */
struct l3fwd_way rxtx_create(const struct l3fwd_rig *rig);
struct l3fwd_way static_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table,
	bool checked);
struct l3fwd_way librte_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table);
/* The same graph, where receiving tells packet types: as with a NIC that does. */
struct l3fwd_way librte_typed(const struct l3fwd_way *librte);
/* With the routes of ours_table_create(). */
struct l3fwd_way ours_create(const struct l3fwd_rig *rig, const struct ours_params *params);
/* The same nodes, registered and joined by hand: without a HAL. */
struct l3fwd_way by_hand_create(const struct l3fwd_rig *rig);
int ours_table_create(const struct l3fwd_table *table, bool loop);
void ours_table_destroy(void);
/* All variants that run here, of families of which there are several; returns how many. */
unsigned int ours_variants(struct ours_params *params, unsigned int most);

/* What a shared object exports as l3fwd_contender for --contender. arg NULL: it has failed. */
typedef struct l3fwd_way(l3fwd_contender_t)(const struct l3fwd_rig *rig,
	const struct l3fwd_table *table);

/* Contenders in a work (l3fwd_field.c). */

struct entrant {
	struct l3fwd_way way;
	struct l3fwd_rig *rig;
	char name[32];
	bool wrong;
};

/* Role of a contender in the ratios. */
enum role_in_ratios { ROLE_SHOWN, ROLE_PEER, ROLE_SUBJECT };

/* Lets a way in under a name, NULL: its own; one without a run function is skipped. */
void l3fwd_enter(struct field *f, struct l3fwd_rig *rig, struct l3fwd_way way, const char *name,
	enum role_in_ratios role);
/* Measures the way's kinds of nodes as a work of that name, and destroys it. */
void l3fwd_nodes(const char *work, struct l3fwd_rig *rig, struct l3fwd_way way);
/* One lap, of which cycles and packets are added. Returns whether all was right. */
bool lap(struct entrant *e, uint64_t *cycles, uint64_t *packets);

/*
 * Measures a contender on one lcore and on two (l3fwd_lcores.c), and destroys it. The work is skipped
 * if one of the ways has no run function.
 */
void lcores_work(const char *work, struct l3fwd_rig rigs[L3FWD_LANES],
	const struct l3fwd_way ways[L3FWD_LANES]);

/* Ends the program, for what no work can go on without: the user's input is wrong, or this program. */
void __rte_noreturn __rte_format_printf(1, 2) l3fwd_fail(const char *format, ...);

#endif
