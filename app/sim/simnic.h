/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated NICs and event devices, for tests only: real ethdev and event drivers under the names
 * of vendors' drivers, so that code which looks at driver names treats them as the real ones.
 *
 * halyard-simnic.so, loaded before rte_eal_init(), registers these virtual devices:
 *
 *	vdev name          driver name   flow rules
 *	sim_cn10k...       net_cn10k     cnxk
 *	sim_mlx5...        mlx5_pci      mlx5
 *	sim_hws...         mlx5_pci      mlx5
 *	sim_ice...         net_ice       ice
 *	sim_i40e...        net_i40e      i40e
 *	sim_iavf...        net_iavf      iavf
 *	sim_nic...         net_sim       generic
 *	sim_event_cn10k... event_cn10k   (event device with internal ports to and from net_cn10k)
 *	sim_event_dlb2...  event_dlb2_pf (event device without internal ports)
 *
 * sim_hws takes rules only by templates, like a ConnectX with dv_flow_en=2.
 *
 * NICs take the arguments of struct hy_flow_sim_params: table_size=N, mark_max=N, lose_rules=1, and
 * the faults no_marks=1, mark_every=N, mark_until=N, lie_every=N, port_add=N; auto_reset=1, which resets
 * them as net_iavf does by default from DPDK 26.07 on; vf=1, which gives them another random address with
 * each reset, like net_iavf and net_ixgbe_vf if the host has set none; and reset_waits=N, which answers
 * the first N resets with -EAGAIN, like net_ixgbe_vf while the host's side is not done; and clears=N,
 * which counts missed frames from 0 again after each reset (1), with each start (2) as net_ena does, or
 * both (3), and 4 more to tell 0 while it is stopped, as net_bnxt. Like net_pcap, they also take
 * captures. The n-th rx_pcap=FILE is received once, by the n-th receive queue; the n-th
 * tx_pcap=FILE records what the n-th transmit queue sends, unless that goes to a wire. A port has
 * as many queues of a direction as captures, or SIMNIC_QUEUES without captures. So any program runs
 * on simulated NICs: LD_PRELOAD=halyard-simnic.so.
 *
 * The functions abort if the ethdev port is not of such a driver. Control threads may call them
 * while packets flow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)

struct hy_flow_sim;
struct rte_ring;

#define SIMNIC_QUEUES 16         /* of each direction, at most */
#define SIMNIC_WIRE 16384        /* packets that a wire holds */
#define SIMNIC_POOL "simnic_npa" /* mempool operations of sim_cn10k */

/*
 * Makes SIMNIC_POOL the platform's mempool operations, and so the default of new packet pools.
 * sim_cn10k receives into no other pools. Probing the first sim_cn10k does this; call it to create
 * pools before. Returns 0 or a negative errno.
 */
int simnic_pool_init(void);

/*
 * The wire of a receive queue: mbufs enqueued here are received. Its consumer is the queue's
 * worker. It lives as long as the port; packets on it wait while the port is down.
 */
struct rte_ring *simnic_rx_wire(uint16_t port, uint16_t queue);

/*
 * The wire of a transmit queue. From this call on, sent packets go to the wire, and none can be
 * sent while it is full. Before, they are freed.
 */
struct rte_ring *simnic_tx_wire(uint16_t port, uint16_t queue);

/* A frame to be received. */
struct simnic_frame {
	const uint8_t *data;
	uint16_t len; /* longer than an mbuf of the queue's pool: received in several segments */
};

/*
 * Makes a queue receive @p total copies of the frames, in turn. A queue takes another feed only
 * when all have been received. The frames must stay valid until then.
 */
void simnic_feed(uint16_t port, uint16_t queue, const struct simnic_frame *frames, uint32_t n,
	uint64_t total);
/* How many copies have not been received yet. */
uint64_t simnic_feed_left(uint16_t port, uint16_t queue);

/* The flow engine, for counters and faults. Valid as long as the port. */
struct hy_flow_sim *simnic_engine(uint16_t port);

/*
 * Makes sim_cn10k behave as after DPDK 22.11: marks are not negotiated. Creating a rule switches
 * them on if the driver has counted a MARK; destroying the last rule with MARK switches them off
 * (net/cnxk/cn10k_flow.c, cn10k_flow_create() and _destroy()). A MARK counts as well in a rule that
 * is only validated or that is refused later (common/cnxk/roc_npc.c, npc_parse_actions()). Call it
 * before the port is configured.
 */
void simnic_marks_by_rules(uint16_t port);
/* Whether marks are delivered. */
bool simnic_delivers(uint16_t port);

/*
 * Makes the NIC need a reset: it loses its rules, and receives and sends nothing until
 * rte_eth_dev_reset(). Raises RTE_ETH_EVENT_INTR_RESET on the calling thread. With auto_reset=1, it
 * loses its rules, works on, and raises no event.
 */
void simnic_break(uint16_t port);

/*
 * The driver begins to recover the NIC, as net_hns3 does, or has done so. Raises
 * RTE_ETH_EVENT_ERR_RECOVERING or RTE_ETH_EVENT_RECOVERY_SUCCESS. Rules survive.
 */
void simnic_recovers(uint16_t port, bool on);

/* Makes the NIC miss frames. One that works no more reads as all ones: see simnic_offences. */
void simnic_miss(uint16_t port, uint64_t n);

/* Whether the NIC answers rte_eth_dev_info_get() with -EBUSY, as net_bnxt does while its firmware resets. */
void simnic_busy(uint16_t port, bool on);

/*
 * Unplugs the NIC: it receives and sends nothing. Raises RTE_ETH_EVENT_INTR_RMV if the configuration asks
 * for that (intr_conf.rmv), as mlx5 does.
 */
void simnic_remove(uint16_t port);

/* State of the rules by templates. */
struct simnic_templates {
	uint32_t patterns, actions, tables; /* that exist */
	uint32_t unanswered;                /* requests not pulled yet */
	uint64_t pushes;                    /* of the queue, since it was configured */
};
void simnic_templates(uint16_t port, struct simnic_templates *templates);
/* After this many answers the queue gives no more, whatever is pushed; false: it answers again. */
void simnic_mute(uint16_t port, bool mute, uint32_t answers);

/* Forbidden calls of the program. */
struct simnic_offences {
	uint64_t flow_when_removed; /* rte_flow calls on a port that was unplugged */
	uint64_t flow_when_broken;  /* rte_flow calls on a port that needs a reset or recovers */
	uint64_t stats_unanswered;  /* rte_eth_stats_get() on a port that works no more */
	/* rte_flow_validate() with dv_flow_en=2: net/mlx5 of DPDK v22.11 calls a NULL function */
	uint64_t flow_validated;
};
void simnic_offences(uint16_t port, struct simnic_offences *offences);

/*
 * Tells ThreadSanitizer, which does not understand rings and pools, that packets pass from thread
 * to thread. To be called before and after. Otherwise without effect.
 */
void simnic_sync(void);

#pragma GCC visibility pop
