/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The l3fwd benchmark: IP forwarding from rings to rings, in several ways with the same packets,
 * routes and ports. A lap refills the receive rings (untimed), forwards until they are empty
 * (timed), and checks all packets sent (untimed).
 *
 * Ports are numbered within a work, from 0; the rig has their ethdev ids.
 */
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "bench.h"

#define L3FWD_PORTS 8
#define L3FWD_LANES 2 /* lcores that forward at once, each with its own queue and rings */

/* The number of a next hop contains its port, so that no contender needs a lookup for it. */
#define HOPS_PER_PORT 8
#define HOPS (HOPS_PER_PORT * L3FWD_PORTS)
#define HOP_NONE HOPS /* no route; hop_port() is then the port after the last */

static inline uint16_t
hop_port(uint32_t hop)
{
	return (uint16_t)(hop / HOPS_PER_PORT);
}

/*
 * An address in host byte order, as all addresses here. DPDK's RTE_IPV4() shifts into the sign bit.
 */
#define IP4(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

/* The MAC addresses of a port and of a next hop. */
struct rte_ether_addr l3fwd_port_mac(unsigned int port);
struct rte_ether_addr l3fwd_hop_mac(unsigned int hop);
/* The Ethernet header of IPv4 packets to a next hop. */
struct rte_ether_hdr l3fwd_hop_header(unsigned int hop);

/* Rewrites a packet for its next hop: MAC addresses, TTL and checksum. For contenders without nodes. */
static __rte_always_inline void
l3fwd_rewrite(struct rte_mbuf *m, const struct rte_ether_hdr *l2)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *,
		RTE_ETHER_HDR_LEN);
	uint32_t sum;

	memcpy(rte_pktmbuf_mtod(m, void *), l2, RTE_ETHER_HDR_LEN);
	ip->time_to_live--;
	sum = ip->hdr_checksum + (uint32_t)RTE_BE16(0x0100);
	ip->hdr_checksum = (uint16_t)(sum + (sum >> 16));
}

/* An address of either family. */
struct l3fwd_address {
	bool is_ip6;
	uint32_t ip4;
	uint8_t ip6[HY_IP6_BYTES];
};

/* Routes (l3fwd_table.c, l3fwd_table6.c). */

struct l3fwd_table {
	struct bench_route *routes; /* sorted by prefix and depth; at least one */
	uint32_t n;
	uint32_t tbl8s; /* groups of 256 entries that rte_lpm needs for prefixes longer than /24 */
	unsigned int nb_ports;
	struct hy_ip6_route *routes6; /* sorted likewise; the id of a next hop is its number */
	uint32_t n6;                  /* 0: no IPv6 */
};

/* Number of routes of table_eight(). */
#define TABLE_EIGHT 8

/* On failure, the functions below call bench_cannot() and return NULL or -1. */

/* Eight routes to nb_hops next hops, which are on nb_ports ports in turn. */
struct l3fwd_table *table_eight(unsigned int nb_hops, unsigned int nb_ports);
/* The same, to all addresses of IPv4. */
struct l3fwd_table *table_everywhere(unsigned int nb_hops, unsigned int nb_ports);
/* A route for each of bench_prefixes(path) that packets may be forwarded to. */
struct l3fwd_table *table_full(const char *path, unsigned int nb_ports);
/* Adds as many routes of IPv6 to the same next hops. */
void table_eight6(struct l3fwd_table *table);
/* Adds a route for each of bench_prefixes6(path). */
int table_full6(struct l3fwd_table *table, const char *path);
void table_free(struct l3fwd_table *table);
/* Next hop i of eight, on the ports of a table in turn. */
uint8_t table_eight_hop(unsigned int i, unsigned int nb_ports);
/* Whether packets to all addresses of a prefix may be forwarded (RFC 1812 5.3.7). */
bool table_forwardable(const struct bench_route *route);
/* The next hop of the longest matching prefix, by search; contenders' tables must agree with it. */
uint32_t table_hop(const struct l3fwd_table *table, uint32_t dst);
uint32_t table_hop6(const struct l3fwd_table *table, const uint8_t dst[HY_IP6_BYTES]);
/* Number i of the addresses of an IPv6 route. */
void table_address6(const struct hy_ip6_route *route, uint32_t i, uint8_t address[HY_IP6_BYTES]);
/* A table of rte_lpm with the IPv4 routes. */
struct rte_lpm *table_lpm(const struct l3fwd_table *table, const char *name);
/* Tables of rte_fib6 and rte_lpm6 with those of IPv6; the former finds HOP_NONE where there is none. */
struct rte_fib6 *table_fib6(const struct l3fwd_table *table, const char *name);
struct rte_lpm6 *table_lpm6(const struct l3fwd_table *table, const char *name);

/* Packets (l3fwd_traffic.c). */

#define L3FWD_MTU 1514 /* longest frame that a port sends */
#define FRAME_LEN 60   /* 64 bytes on the wire, without the frame check sequence */

struct l3fwd_packet {
	alignas(64) uint8_t frame[FRAME_LEN]; /* as received */
	uint16_t hop;                         /* HOP_NONE: must be dropped */
	uint16_t seen;                        /* the last lap in which it was sent */
};

struct l3fwd_traffic {
	uint32_t n;
	uint32_t routed; /* packets with a route */
	uint32_t ip6;    /* packets of IPv6 */
	uint16_t lap;
	uint16_t port;         /* ethdev id of the receiving port */
	const uint32_t *marks; /* hardware mark of each packet; NULL: none */
	bool any_hop;          /* packets may be sent to any next hop, but by its port */
	bool may_drop; /* packets with a route may be dropped, too; the caller checks which */
	struct l3fwd_packet packets[];
};

/* One packet for each destination, in that order. Freed with free(3). */
struct l3fwd_traffic *traffic_create(const struct l3fwd_address *dst, uint32_t n, uint8_t ttl,
	const struct l3fwd_table *table);
/* Writes an mbuf as a driver that received packet i. */
void traffic_write(const struct l3fwd_traffic *traffic, uint32_t i, struct rte_mbuf *m);
/* Number of routers that the packet, of IPv4, has passed since, by its TTL. */
unsigned int traffic_hops(const struct l3fwd_traffic *traffic, const struct rte_mbuf *m);
/* Begins a lap: no packet has been seen. */
void traffic_lap(struct l3fwd_traffic *traffic);
/*
 * Checks a packet that a port sent; returns what is wrong, or NULL. hops: number of routers that it
 * has passed since traffic_write(); 0 if it was sent unchanged.
 */
const char *traffic_check(struct l3fwd_traffic *traffic, const struct rte_mbuf *m,
	unsigned int port, unsigned int hops);

/* Ports and rings (l3fwd_rig.c). */

/* ethdevs over the same rings; librte_node has its own because its ethdev_rx adds a callback. */
enum l3fwd_users { USERS_ALL, USERS_LIBRTE_NODE, USERS };

struct l3fwd_rig {
	unsigned int lane; /* the queue of every port */
	unsigned int nb_ports;
	bool loop; /* one port, which receives the packets that it sends */
	uint16_t port[USERS][L3FWD_PORTS];
	struct rte_ring *rx[L3FWD_PORTS], *tx[L3FWD_PORTS]; /* the same rings if loop */
	struct l3fwd_traffic *traffic;
	struct rte_mempool *pool;
	struct rte_mbuf **mbufs; /* packet i travels in mbufs[i] */
};

#define RIG_LOOP L3FWD_PORTS /* number of the looping port */

/* Creates the ports, once for all works, with a queue for each lane. */
int rig_ports(unsigned int lanes);
unsigned int rig_lanes(void);
/* The ethdev id of a port. */
uint16_t rig_port(enum l3fwd_users users, unsigned int port);
/* Limits the packets per receive call on all ports; 0: no limit. */
void rig_burst(uint16_t most);

/*
 * Opens a rig for a work: the first ports, or the looping one, and mbufs for the packets, which it
 * takes over. rig_close() must be called even on failure.
 */
int rig_open(struct l3fwd_rig *rig, unsigned int lane, unsigned int nb_ports, bool loop,
	struct l3fwd_traffic *traffic);
void rig_close(struct l3fwd_rig *rig);
/* Writes all packets anew and puts them into the receive rings, in order, on the ports in turn. */
void rig_fill(struct l3fwd_rig *rig);
/*
 * Takes all packets sent, checks them and reports errors. rewrites: MAC addresses and TTL must have
 * changed. forwarded and drops: packets received and dropped by the contender's own counters.
 */
bool rig_check(struct l3fwd_rig *rig, const char *name, bool rewrites, uint64_t forwarded,
	uint64_t drops);
/* Packets received by the ports of those users, on all queues. */
uint64_t rig_received(const struct l3fwd_rig *rig, enum l3fwd_users users);

/* Returns whether packets wait. Every contender calls it once a turn. */
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

/* The sum over all nodes of a kind. */
struct l3fwd_node {
	char name[16]; /* without the port's number */
	uint64_t cycles;
};

struct l3fwd_way {
	const char *name;
	enum l3fwd_users users;
	bool rewrites;
	unsigned int burst; /* most packets that a turn receives from one port */
	void *arg;
	/*
	 * Forwards until no packet waits, or for so many turns, and sends all packets that it
	 * holds.
	 */
	void (*run)(void *arg, uint64_t turns);
	uint64_t (*drops)(void *arg); /* since its creation */
	/*
	 * Cycles by kind of node since its creation; returns the number of kinds. NULL: it has no
	 * nodes.
	 */
	unsigned int (*nodes)(void *arg, struct l3fwd_node nodes[NODES_MAX]);
	void (*destroy)(void *arg);
};

/* Adds cycles, unless 0, to the kind of a node's name, of n kinds so far. Returns the new n. */
unsigned int l3fwd_node_add(struct l3fwd_node nodes[NODES_MAX], unsigned int n, const char *name,
	uint64_t cycles);

/*
 * Creates a way; one without a run function could not be created, and bench_cannot() was called. A
 * shared object for --contender exports one as l3fwd_contender(); it fails with arg NULL.
 */
typedef struct l3fwd_way(l3fwd_contender_t)(const struct l3fwd_rig *rig,
	const struct l3fwd_table *table);

l3fwd_contender_t rxtx_create, static_create, static_checked_create, librte_create;
/* static_create() with bursts of another size, up to 256. */
struct l3fwd_way static_burst_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table,
	uint16_t burst);
/* DPDK's librte_pipeline; skipped where DPDK was built without it. */
l3fwd_contender_t pipeline_create;
/* The graph of librte_create() for the same rig, but ports report packet types, as some NICs do. */
l3fwd_contender_t librte_typed_create;
/* Halyard, as selected. ours_create() uses the routes of ours_table_create() in any case. */
l3fwd_contender_t halyard_create;
/* The same, and no chain is fused. */
l3fwd_contender_t halyard_apart_create;

/* Parameters of Halyard's contender. */
struct ours_params {
	uint16_t burst;                   /* 0: the default */
	uint16_t sample_every;            /* 0: the default */
	const struct hy_variant *variant; /* instead of the one selected; NULL: all as selected */
	const char *flow_cls;             /* node between ethdev_rx and pkt_cls; NULL: none */
	struct rte_rcu_qsbr *qsbr;        /* QSBR variable that the graph reports to; NULL: none */
	bool lists;                       /* with the lanes of access lists */
	const char *source;               /* name of receiving nodes; NULL: ethdev_rx */
	bool apart;                       /* no chain is fused */
	bool group;                       /* all routes lead to a group of eight next hops */
};

struct l3fwd_way ours_create(const struct l3fwd_rig *rig, const struct ours_params *params);
/* The same nodes, registered and joined without the HAL. */
struct l3fwd_way by_hand_create(const struct l3fwd_rig *rig);
int ours_table_create(const struct l3fwd_table *table, bool loop);
void ours_table_destroy(void);
/* Lists all variants that can run here and were not selected; returns their number. */
unsigned int ours_variants(const struct hy_variant *variants[], unsigned int most);

/* Contenders in a work (l3fwd_field.c). */

struct entrant {
	struct l3fwd_way way;
	struct l3fwd_rig *rig;
	char name[32];
	bool wrong;
};

/* Role of a contender in the ratios. */
enum role_in_ratios { ROLE_SHOWN, ROLE_PEER, ROLE_SUBJECT };

/* Adds a way under a name (NULL: its own). A way without a run function is skipped. */
void l3fwd_enter(struct field *f, struct l3fwd_rig *rig, struct l3fwd_way way, const char *name,
	enum role_in_ratios role);
/* Measures the kinds of nodes of a way as a work, and destroys the way. */
void l3fwd_nodes(const char *work, struct l3fwd_rig *rig, struct l3fwd_way way);
/* Of an entrant: cycles a packet in a round of laps, and whether all laps were right. */
double l3fwd_figure(void *entrant);
bool l3fwd_right(void *entrant);
/* Runs a lap, and adds its cycles and packets. Returns whether it was right. */
bool lap(struct entrant *e, uint64_t *cycles, uint64_t *packets);

/*
 * Measures a contender on one lcore and on two (l3fwd_lcores.c), and destroys it. Skips the work if
 * one of the ways has no run function.
 */
void lcores_work(const char *work, struct l3fwd_rig rigs[L3FWD_LANES],
	const struct l3fwd_way ways[L3FWD_LANES]);
