/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ports over rings, for contenders that forward frames between them by their destination. A
 * lap fills the receive rings (untimed), forwards until they are empty (timed), and checks every
 * frame sent (untimed): by the right port, once, with the right content, and no buffer is lost.
 */
#pragma once

#include <stdalign.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "l2.h"

#define L2_PORTS 2
#define L2_FRAMES 4096  /* of a lap */
#define L2_FRAME_LEN 60 /* without a tag: 64 bytes on the wire, without the frame check sequence */
#define L2_WIRE_BYTES (L2_FRAME_LEN + 4 + 20) /* of such a frame, with preamble and gap */

/* What frames are, and what a contender makes of them. */
struct l2_form {
	bool tagged_in, tagged_out; /* a tag of 802.1Q with L2_VID */
	bool sources;               /* many source addresses of the port, not one */
	bool macs_updated;          /* as DPDK's l2fwd does */
};

struct l2_frame {
	alignas(64) uint8_t bytes[64]; /* as received */
	uint32_t entry;                /* of its destination */
	uint16_t seen;                 /* the last lap in which it was sent */
};

struct l2_rig {
	uint16_t port[L2_PORTS]; /* ethdevs */
	struct rte_ring *rx[L2_PORTS], *tx[L2_PORTS];
	struct rte_mempool *pool;
	struct rte_mbuf *mbufs[L2_FRAMES];
	const struct l2_macs *macs;
	uint32_t *by_port[L2_PORTS]; /* entries of each port, for sources */
	uint32_t nb_by_port[L2_PORTS];
	uint32_t next; /* in macs->turn, of the next lap */
	uint16_t lap;
	struct l2_frame frames[L2_FRAMES];
	/* Where frames leave: NULL: by the ports; else they are read here, see l2_kernel_port.h. */
	struct l2_kernel_port *kernel;
};

/*
 * Opens a rig; the ports are created by the first call. Returns NULL after bench_cannot(). There
 * is one rig at a time.
 */
struct l2_rig *l2_rig_open(const struct l2_macs *macs);
void l2_rig_close(struct l2_rig *rig);

/* The MAC addresses of a port, and of what DPDK's l2fwd sends frames of that port to. */
void l2_port_mac(unsigned int port, uint8_t mac[6]);
void l2_next_mac(unsigned int port, uint8_t mac[6]);
/* A header of a frame to an entry, if sources are one for each port. */
void l2_header(const struct hy_l2_source *entry, uint8_t header[L2_LONG_KEY]);
/* The port that sends frames to an entry; the other one receives them. */
static inline unsigned int
l2_port_out(const struct hy_l2_source *entry)
{
	return entry->port - 1u;
}

/* Returns whether frames wait. Every contender calls it once a turn. */
static __rte_always_inline bool
l2_rig_pending(struct rte_ring *const rx[L2_PORTS])
{
	return !rte_ring_empty(rx[0]) || !rte_ring_empty(rx[1]);
}

/* A contender. */
struct l2_way {
	const char *name;
	struct l2_form form;
	void *arg;              /* NULL: it could not be created, and bench_cannot() was called */
	void (*run)(void *arg); /* forwards until no frame waits, and sends all */
	void (*free)(void *arg);
};

struct l2_entrant {
	struct l2_rig *rig;
	struct l2_way way;
	uint64_t laps;
	bool wrong;
};

/* Runs laps for the duration of a round. Returns cycles for each frame. */
double l2_laps(struct l2_entrant *entrant);

enum l2_role { L2_SHOWN, L2_PEER, L2_SUBJECT };

/* Adds a contender that runs laps, or skips it. */
void l2_enter(struct field *f, struct l2_rig *rig, const struct l2_way *way, enum l2_role role);

/* Contenders of a bridge. */

/* The loop of DPDK's l2fwd: every frame goes to the other port, without a lookup (l2_static.c). */
struct l2_way l2_static_create(const struct l2_rig *rig, const struct l2_form *form);

/*
 * What a bridge does to untagged frames, in a loop without a graph (l2_by_hand.c). Skipped without
 * a table.
 */
struct l2_way l2_by_hand_create(const struct l2_rig *rig, const struct hy_l2_table *table,
	const struct l2_form *form);
