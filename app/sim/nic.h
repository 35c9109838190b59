/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of the simulated NICs. */
#pragma once

#include <stdbool.h>

#include <ethdev_driver.h>
#include <rte_flow_driver.h>
#include <rte_kvargs.h>
#include <rte_log.h>
#include <rte_ring.h>

#include "lib/graph/internal/dpdk.h"

#include <hy_flow_sim.h>
#include "simnic.h"

/* Logs what is wrong with an argument. Its value is rc, to be returned. */
#define NIC_REFUSE(rc, ...) (RTE_LOG(ERR, USER1, "simnic: " __VA_ARGS__), (rc))

/* How the NICs of one vendor behave. */
struct vendor {
	const char *driver, *alias, *profile;
	bool rules_keep;   /* claims RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP */
	bool negotiates;   /* marks only after rte_eth_rx_metadata_negotiate() */
	bool threads;      /* flow calls are thread-safe */
	bool odd_errors;   /* cnxk's: see nic_flow.c */
	bool own_pools;    /* receives only into pools of SIMNIC_POOL: see nic_pool.c */
	bool templates;    /* takes rules only by templates: see nic_template.c */
	bool no_fast_free; /* lacks RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE */
};

/* When the NIC's count of missed frames begins again. */
#define NIC_CLEARS_AT_RESET 1
#define NIC_CLEARS_AT_START 2
#define NIC_COUNTS_STARTED 4 /* it has no counts while it is stopped: all are 0 */

enum nic_state { NIC_WORKS, NIC_BROKEN, NIC_REMOVED };

struct feed {
	const struct simnic_frame *frames;
	uint32_t n, next;
	uint64_t left; /* 0: nothing to feed; the queue's worker counts down */
};

struct queue {
	struct nic *nic;
	uint16_t port;
	bool wired; /* tx: sent packets go to the wire */
	struct rte_ring *wire;
	struct rte_mempool *pool; /* rx */
	struct feed feed;         /* rx */
	struct capture *capture;  /* rx: the frames of the feed; NULL: not from a capture */
	struct dump *dump;        /* tx: writes sent packets to a capture; NULL: none */
	uint64_t packets, bytes, errors, no_mbufs;
} __rte_cache_aligned;

struct nic {
	const struct vendor *vendor;
	struct hy_flow_sim *engine;
	enum nic_state state;
	bool resets_itself;    /* and tells nobody */
	bool busy;             /* answers no questions; atomic */
	bool is_vf;            /* has a new address after a reset */
	uint32_t clears;       /* NIC_CLEARS_ */
	uint64_t missed;       /* frames; atomic */
	uint32_t reset_waits;  /* resets that are still answered by -EAGAIN */
	bool negotiated;       /* marks */
	bool by_rules;         /* see simnic_marks_by_rules() */
	bool strips;           /* VLAN tags, after its rules have matched them */
	uint32_t mark_actions; /* with by_rules: MARK actions that the driver has counted */
	struct nic_templates *templates; /* NULL: not configured for flows */
	struct simnic_offences offences;
	struct rte_ether_addr mac;
	uint16_t nb_rx_captures, nb_tx_captures; /* of the first queues */
	struct queue rx[SIMNIC_QUEUES], tx[SIMNIC_QUEUES];
};

/* The NIC of a port; aborts if the port is not a simulated NIC. */
struct nic *nic_of(uint16_t port);
struct nic *nic_of_dev(const struct rte_eth_dev *dev);
/* Whether packets pass. */
static inline bool
nic_works(const struct nic *nic)
{
	return __atomic_load_n(&nic->state, __ATOMIC_ACQUIRE) == NIC_WORKS;
}

int nic_rx_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int nic_tx_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_txconf *conf);
void nic_queues_free(struct nic *nic);
uint16_t nic_rx(void *queue, struct rte_mbuf **pkts, uint16_t n);
uint16_t nic_tx(void *queue, struct rte_mbuf **pkts, uint16_t n);
int nic_stats(struct rte_eth_dev *dev, struct rte_eth_stats *stats);
int nic_stats_reset(struct rte_eth_dev *dev);

/* For .pool_ops_supported. */
int nic_pool_supported(struct rte_eth_dev *dev, const char *pool);
/* Whether a queue may receive into a pool. */
bool nic_pool_fits(const struct nic *nic, const struct rte_mempool *pool);

/* Whether the NIC can answer a flow call: 0 or -EIO. Calls to a NIC that cannot are counted. */
int nic_can_answer(struct nic *nic, struct rte_flow_error *error);

/*
 * Opens the captures that the arguments name, for the first queues. Those already open when it
 * fails are closed with the queues.
 */
int nic_captures_open(struct rte_kvargs *args, struct nic *nic);
void nic_capture_free(struct capture *capture);
void nic_dump_write(struct dump *dump, struct rte_mbuf *const pkts[], uint16_t n);
void nic_dump_close(struct dump *dump);

int nic_flow_ops(struct rte_eth_dev *dev, const struct rte_flow_ops **ops);

/* Adds the template API. */
void nic_templates_ops(struct rte_flow_ops *ops);
#if HY_DPDK_FLOW_FAST
extern const struct rte_flow_fp_ops nic_templates_fp_ops;
#endif
/* The engine's handle of a rule. */
void *nic_templates_rule(struct rte_flow *handle);
/* Removes all rules; frees templates and tables too. */
void nic_templates_flush(struct nic *nic);
void nic_templates_free(struct nic *nic);
