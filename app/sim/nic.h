/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated NICs inside. */
#ifndef NIC_H
#define NIC_H

#include <stdbool.h>

#include <ethdev_driver.h>
#include <rte_flow_driver.h>
#include <rte_kvargs.h>
#include <rte_ring.h>

#include "hal/internal/dpdk.h"

#include <hy_flow_sim.h>
#include "simnic.h"

/* What makes a NIC that of a vendor. */
struct vendor {
	const char *driver, *alias, *profile;
	bool rules_keep;      /* claims RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP */
	bool negotiates;      /* marks only after rte_eth_rx_metadata_negotiate() */
	bool threads;         /* takes flow calls from several threads */
	bool odd_errors;      /* cnxk's: see nic_flow.c */
	bool own_pools;       /* receives into pools of SIMNIC_POOL only: see nic_pool.c */
	bool templates;       /* takes rules by templates only: see nic_template.c */
	uint64_t tx_offloads; /* the mbufs are passed on as they are */
};

enum nic_state { NIC_WORKS, NIC_BROKEN, NIC_REMOVED };

struct feed {
	const struct simnic_frame *frames;
	uint32_t n, next;
	uint64_t left; /* 0: nothing to be fed; the queue's worker counts down */
};

struct queue {
	struct nic *nic;
	uint16_t port;
	bool wired; /* tx: what is sent goes to the wire */
	struct rte_ring *wire;
	struct rte_mempool *pool; /* rx */
	struct feed feed;         /* rx */
	struct capture *capture;  /* rx: that the feed is of; NULL: none */
	struct dump *dump;        /* tx: the capture that what is sent is written to; NULL: none */
	uint64_t packets, bytes, errors, no_mbufs;
} __rte_cache_aligned;

struct nic {
	const struct vendor *vendor;
	struct hy_flow_sim *engine;
	enum nic_state state;
	bool negotiated;                 /* marks */
	bool by_rules;                   /* see simnic_marks_by_rules() */
	uint32_t mark_actions;           /* by those: that the driver has counted */
	struct nic_templates *templates; /* NULL: not configured for flows */
	struct simnic_offences offences;
	struct rte_ether_addr mac;
	uint16_t nb_rx_captures, nb_tx_captures; /* those of the first queues */
	struct queue rx[SIMNIC_QUEUES], tx[SIMNIC_QUEUES];
};

/* The NIC of a port; ends the process if there is none. */
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

/* For .pool_ops_supported; and whether a queue may receive into a pool. */
int nic_pool_supported(struct rte_eth_dev *dev, const char *pool);
bool nic_pool_fits(const struct nic *nic, const struct rte_mempool *pool);

/* Whether the NIC can answer. It counts who asks one that cannot. */
int nic_can_answer(struct nic *nic, struct rte_flow_error *error);

/*
 * Captures behind the first queues, as the arguments name them. What was opened when a call fails
 * is freed with the queues.
 */
int nic_captures_open(struct rte_kvargs *args, struct nic *nic);
void nic_capture_free(struct capture *capture);
void nic_dump_write(struct dump *dump, struct rte_mbuf *const pkts[], uint16_t n);
void nic_dump_close(struct dump *dump);

int nic_flow_ops(struct rte_eth_dev *dev, const struct rte_flow_ops **ops);

/* Adds the template API; what the engine knows a rule by; removes all rules, or everything. */
void nic_templates_ops(struct rte_flow_ops *ops);
#if HY_DPDK_FLOW_FAST
extern const struct rte_flow_fp_ops nic_templates_fp_ops; /* those of rules went here */
#endif
void *nic_templates_rule(struct rte_flow *handle);
void nic_templates_flush(struct nic *nic);
void nic_templates_free(struct nic *nic);

#endif
