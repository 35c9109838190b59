/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated NICs and a simulated event device, for tests only: real ethdev and event drivers, which
 * call themselves what vendors' drivers do, so that all that looks at names takes them for those.
 *
 * halyard-simnic.so registers these virtual devices when it is loaded, before rte_eal_init():
 *
 *	vdev name          driver name   flow rules
 *	sim_cn10k...       net_cn10k     cnxk
 *	sim_mlx5...        mlx5_pci      mlx5
 *	sim_hws...         mlx5_pci      mlx5
 *	sim_ice...         net_ice       ice
 *	sim_i40e...        net_i40e      i40e
 *	sim_iavf...        net_iavf      iavf
 *	sim_nic...         net_sim       generic
 *	sim_event_cn10k... event_cn10k   (event device; internal ports to and from net_cn10k only)
 *	sim_event_dlb2...  event_dlb2_pf (event device without internal ports)
 *
 * sim_hws takes rules by templates only, as a ConnectX does with dv_flow_en=2.
 *
 * Arguments of NICs, as of struct hy_flow_sim_params: table_size=N, mark_max=N, lose_rules=1, and
 * its faults no_marks=1, mark_every=N, mark_until=N, lie_every=N, port_add=N. And captures, as
 * net_pcap takes them: rx_pcap=FILE is received once, by the queue of its place among those given,
 * tx_pcap=FILE takes what a queue sends unless that goes to a wire. A port has as many queues as
 * captures of that direction, and SIMNIC_QUEUES without any. So programs that know nothing of
 * simulated NICs run on them: LD_PRELOAD=halyard-simnic.so.
 *
 * Functions take an ethdev port that such a driver has; others are a mistake that ends the process.
 * They are for control threads; packets may pass meanwhile.
 */
#ifndef SIMNIC_H
#define SIMNIC_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)

struct hy_flow_sim;
struct rte_ring;

#define SIMNIC_QUEUES 16         /* at most, for each direction */
#define SIMNIC_WIRE 16384        /* packets that a wire holds */
#define SIMNIC_POOL "simnic_npa" /* mempool operations of sim_cn10k */

/*
 * Makes SIMNIC_POOL the operations of the platform, which pools of packets get by default from then
 * on: sim_cn10k receives into no other. Done with the first of those; for pools made before.
 * Returns 0 or a negative errno.
 */
int simnic_pool_init(void);

/*
 * The wire of a receive queue: mbufs enqueued here are received. Its consumer is the queue's worker.
 * Stays for the life of the port; what lies on it while the port is down waits.
 */
struct rte_ring *simnic_rx_wire(uint16_t port, uint16_t queue);

/*
 * The wire of a transmit queue: from now on what is sent by it is found here, and when it is full
 * nothing can be sent. Otherwise what is sent is freed.
 */
struct rte_ring *simnic_tx_wire(uint16_t port, uint16_t queue);

/* A frame to be received. */
struct simnic_frame {
	const uint8_t *data;
	uint16_t len; /* what does not fit one mbuf of the queue's pool comes in several */
};

/*
 * Has a queue receive copies of frames, one after another and over again, @p total in all. Once for
 * a queue, or again when all have been received. Frames must stay valid until then.
 */
void simnic_feed(uint16_t port, uint16_t queue, const struct simnic_frame *frames, uint32_t n,
	uint64_t total);
/* How many of a feed have not been received. */
uint64_t simnic_feed_left(uint16_t port, uint16_t queue);

/* Its flow engine, for counters and faults. Valid for the life of the port. */
struct hy_flow_sim *simnic_engine(uint16_t port);

/*
 * From now on sim_cn10k is as after DPDK 22.11: marks are not to be negotiated; a created rule switches
 * them on if the driver has counted a MARK, a destroyed one with MARK switches them off if it was the
 * last (net/cnxk/cn10k_flow.c, cn10k_flow_create() and _destroy()). To validate a rule counts, too, and
 * so does one that is refused later (common/cnxk/roc_npc.c, npc_parse_actions()). Before the port is
 * configured.
 */
void simnic_marks_by_rules(uint16_t port);
/* Whether marks are delivered. */
bool simnic_delivers(uint16_t port);

/*
 * The NIC needs a reset: its rules are gone, nothing is received or sent until rte_eth_dev_reset(),
 * and RTE_ETH_EVENT_INTR_RESET is raised, on this thread.
 */
void simnic_break(uint16_t port);

/* The NIC is pulled out: nothing is received or sent, and RTE_ETH_EVENT_INTR_RMV is raised. */
void simnic_remove(uint16_t port);

/* What became of rules by templates. */
struct simnic_templates {
	uint32_t patterns, actions, tables; /* there are */
	uint32_t unanswered;                /* requests that were not pulled */
	uint64_t pushes;                    /* of the queue, since it was configured */
};
void simnic_templates(uint16_t port, struct simnic_templates *templates);
/* From so many answers on the queue gives none, whatever is pushed; or does again. */
void simnic_mute(uint16_t port, bool mute, uint32_t answers);

/* What a program did that it must not. */
struct simnic_offences {
	uint64_t flow_when_removed; /* rte_flow calls on a port that was pulled out */
	uint64_t flow_when_broken;  /* and on one that needs a reset */
	/* rte_flow_validate() with dv_flow_en=2: net/mlx5 of DPDK v22.11 calls what is not there */
	uint64_t flow_validated;
};
void simnic_offences(uint16_t port, struct simnic_offences *offences);

/*
 * ThreadSanitizer does not see that rings and pools hand packets from thread to thread: whoever does
 * that says so before and after. Without it, nothing.
 */
void simnic_sync(void);

#pragma GCC visibility pop

#endif
