/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fixture of net_ice: the driver's flow code down to the profiles and the programming queue of
 * the Flow Director, which e810.c is behind. What loads a package or asks firmware is replaced.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_version.h>

#include "flow_port.h"

#include "ice_ethdev.h" /* before all others of this driver */

#include "base/ice_flow.h"
#include "ice_generic_flow.h"
#include "ice_rxtx.h"

#include "e810.h"
#include "oracle.h"

/* Queues, rings and descriptors have become those of all Intel's drivers. */
#if RTE_VERSION >= RTE_VERSION_NUM(25, 7, 0, 0)
#define ice_rx_queue ci_rx_queue
#endif
#if RTE_VERSION >= RTE_VERSION_NUM(26, 3, 0, 0)
#define ice_tx_queue ci_tx_queue
#define ice_tx_desc ci_tx_desc
#define TX_RING(q) ((q)->ci_tx_ring)
#elif RTE_VERSION >= RTE_VERSION_NUM(25, 3, 0, 0)
#define ice_tx_queue ci_tx_queue
#define TX_RING(q) ((q)->ice_tx_ring)
#else
#define TX_RING(q) ((q)->tx_ring)
#endif
#if RTE_VERSION >= RTE_VERSION_NUM(24, 7, 0, 0)
#define STATUS int
#else
#define STATUS enum ice_status
#endif

#define DESCRIPTORS 64
#define GUARANTEED 1024
#define BEST_EFFORT 15360
#define REGISTERS (8u << 20)

/* What the package that a device runs knows: packet types below, and those of the Comms package. */
struct package {
	enum ice_pkg_type type;
	uint16_t ptypes;
};

static const struct oracle_profile profiles[] = {
	{
		.name = "os-default",
		.source =
			"DPDK, net/ice/base/ice_flex_type.h: the packet types to 157, of Ethernet, IP, "
			"TCP, UDP, SCTP, ICMP, GRE and VXLAN",
		.data = &(const struct package){ ICE_PKG_TYPE_OS_DEFAULT, 158 },
	},
	{
		.name = "comms",
		.source =
			"Intel's document 617296: the default package's protocols and GTP, PPPoE, "
			"L2TPv3, IPsec and PFCP; DPDK, net/ice/base/ice_flex_type.h, those to 372",
		.data = &(const struct package){ ICE_PKG_TYPE_COMMS, 373 },
	},
	{ 0 },
};

static struct ice_adapter *adapter;
static struct ice_vsi main_vsi, ctrl_vsi = { .idx = 1, .vsi_id = 1 };
static struct ice_vsi_ctx vsi_ctx[2];
static struct ice_tx_queue fdir_txq;
static struct ice_rx_queue fdir_rxq, rxqs[FLOW_PORT_QUEUES];
static void *rx_queues[FLOW_PORT_QUEUES];
static struct ice_tx_desc tx_ring[DESCRIPTORS];
static union ice_32byte_rx_desc rx_ring[DESCRIPTORS];
static uint32_t tx_tail, rx_tail; /* registers of the queues */
static struct e810 nic = { .room = GUARANTEED + BEST_EFFORT };

/* Replaced: a VSI and its queues, which firmware makes. */

struct ice_vsi *
ice_setup_vsi(struct ice_pf *pf, enum ice_vsi_type type)
{
	RTE_SET_USED(type);
	ctrl_vsi.adapter = pf->adapter;
	return &ctrl_vsi;
}

int
ice_fdir_setup_tx_resources(struct ice_pf *pf)
{
	TX_RING(&fdir_txq) = tx_ring;
	fdir_txq.nb_tx_desc = DESCRIPTORS;
	fdir_txq.qtx_tail = (void *)&tx_tail;
	pf->fdir.txq = &fdir_txq;
	return 0;
}

int
ice_fdir_setup_rx_resources(struct ice_pf *pf)
{
	fdir_rxq.rx_ring = (void *)rx_ring;
	fdir_rxq.nb_rx_desc = DESCRIPTORS;
	fdir_rxq.qrx_tail = (void *)&rx_tail;
	pf->fdir.rxq = &fdir_rxq;
	return 0;
}

int
ice_fdir_tx_queue_start(struct rte_eth_dev *dev, uint16_t queue)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
	return 0;
}

int
ice_fdir_rx_queue_start(struct rte_eth_dev *dev, uint16_t queue)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
	return 0;
}

void
ice_vsi_queues_bind_intr(struct ice_vsi *vsi)
{
	RTE_SET_USED(vsi);
}

void
ice_vsi_enable_queues_intr(struct ice_vsi *vsi)
{
	RTE_SET_USED(vsi);
}

/* Replaced: a parser of raw patterns, which reads the package. */
STATUS
ice_parser_create(struct ice_hw *hw, struct ice_parser **parser)
{
	RTE_SET_USED(hw);
	*parser = NULL;
	return ICE_ERR_NOT_SUPPORTED;
}

/* Replaced: rules of the switch, which firmware takes, and which cannot mark. */

STATUS
ice_add_adv_rule(struct ice_hw *hw, struct ice_adv_lkup_elem *lookups, u16 n,
	struct ice_adv_rule_info *info, struct ice_rule_query_data *added)
{
	RTE_SET_USED(hw);
	RTE_SET_USED(lookups);
	RTE_SET_USED(n);
	RTE_SET_USED(info);
	memset(added, 0, sizeof(*added));
	return ICE_SUCCESS;
}

STATUS
ice_rem_adv_rule_by_id(struct ice_hw *hw, struct ice_rule_query_data *entry)
{
	RTE_SET_USED(hw);
	RTE_SET_USED(entry);
	return ICE_SUCCESS;
}

/* Replaced: what writes profiles into the device, of packet types and of words to extract. */

STATUS
ice_add_prof(struct ice_hw *hw, enum ice_block block, u64 id, ice_bitmap_t *ptypes,
	const struct ice_ptype_attributes *attr, u16 attr_cnt, struct ice_fv_word *words,
	u16 *masks, bool swap)
{
	struct e810_profile *profile = &nic.profiles[id];

	RTE_SET_USED(hw);
	RTE_SET_USED(attr);
	RTE_SET_USED(attr_cnt);
	RTE_SET_USED(swap);
	if (block != ICE_BLK_FD)
		return ICE_SUCCESS;
	if (id >= E810_PROFILES)
		return ICE_ERR_MAX_LIMIT;
	memset(profile, 0, sizeof(*profile));
	for (unsigned int i = 0; i < ICE_FLOW_PTYPE_MAX; i++)
		profile->ptypes[i] = ice_is_bit_set(ptypes, (u16)i);
	for (unsigned int i = 0; i < ICE_MAX_FV_WORDS; i++) {
		if (words[i].prot_id == ICE_PROT_INVALID)
			continue;
		if (profile->n == E810_WORDS)
			return ICE_ERR_MAX_LIMIT;
		profile->words[profile->n++] = (struct e810_word){
			.header = words[i].prot_id,
			.at = (uint8_t)words[i].off,
			.mask = masks[i] != 0 ? masks[i] : UINT16_MAX,
		};
	}
	return ICE_SUCCESS;
}

STATUS
ice_rem_prof(struct ice_hw *hw, enum ice_block block, u64 id)
{
	RTE_SET_USED(hw);
	if (block == ICE_BLK_FD && id < E810_PROFILES)
		nic.profiles[id].n = 0;
	return ICE_SUCCESS;
}

STATUS
ice_add_prof_id_flow(struct ice_hw *hw, enum ice_block block, u16 vsi, u64 id)
{
	RTE_SET_USED(hw);
	RTE_SET_USED(block);
	RTE_SET_USED(vsi);
	RTE_SET_USED(id);
	return ICE_SUCCESS;
}

STATUS
ice_rem_prof_id_flow(struct ice_hw *hw, enum ice_block block, u16 vsi, u64 id)
{
	return ice_add_prof_id_flow(hw, block, vsi, id);
}

/* 0, or the bit of the status that says why a request failed. */
static uint64_t
program(const struct ice_fltr_desc *desc, bool *add)
{
	const uint64_t qw1 = rte_le_to_cpu_64(desc->dtype_cmd_vsi_fdid);
	uint8_t packet[ICE_FDIR_PKT_LEN];
	int rc;

	memcpy(packet, adapter->pf.fdir.prg_pkt, sizeof(packet));
	e810_reverse(packet, sizeof(packet));
	*add = (qw1 & ICE_FXD_FLTR_QW1_PCMD_M) >> ICE_FXD_FLTR_QW1_PCMD_S ==
		ICE_FXD_FLTR_QW1_PCMD_ADD;
	rc = e810_program(&nic, *add, packet, sizeof(packet),
		(uint32_t)(qw1 >> ICE_FXD_FLTR_QW1_FDID_S),
		(qw1 & ICE_FXD_FLTR_QW1_FDID_PRI_M) != 0);
	if (rc == -EPROTO)
		return ICE_FXD_FLTR_WB_QW1_FAIL_PROF_M;
	return rc != 0 ? ICE_FXD_FLTR_WB_QW1_FAIL_M : 0;
}

/* What the NIC does while the driver waits: one request, if there is one, and its status. */
static void
nic_works(unsigned int us)
{
	static uint32_t head, status_head;
	union ice_32byte_rx_desc *status = &rx_ring[status_head];
	uint64_t failed;
	bool add;

	RTE_SET_USED(us);
	if (head == tx_tail)
		return;
	failed = program((const void *)&tx_ring[head], &add);
	tx_ring[head + 1].cmd_type_offset_bsz = rte_cpu_to_le_64(ICE_TX_DESC_DTYPE_DESC_DONE);
	status->wb.qword1.status_error_len = rte_cpu_to_le_64(ICE_FXD_FLTR_WB_QW1_DD_M | failed |
		(add ? ICE_FXD_FLTR_WB_QW1_PROG_ADD : ICE_FXD_FLTR_WB_QW1_PROG_DEL)
			<< ICE_FXD_FLTR_WB_QW1_PROG_ID_S);
	head = (head + 2) % DESCRIPTORS;
	status_head = (status_head + 1) % DESCRIPTORS;
}

static int
hw_open(struct ice_hw *hw, const struct package *package)
{
	hw->back = adapter;
	hw->hw_addr = calloc(1, REGISTERS);
	if (hw->hw_addr == NULL)
		return -ENOMEM;
	hw->func_caps.fd_fltr_guar = GUARANTEED;
	hw->func_caps.fd_fltr_best_effort = BEST_EFFORT;
	for (int block = 0; block < ICE_BLK_COUNT; block++) {
		ice_init_lock(&hw->fl_profs_locks[block]);
		INIT_LIST_HEAD(&hw->fl_profs[block]);
		hw->blk[block].es.fvw = ICE_MAX_FV_WORDS;
	}
	/* base/ice_flex_pipe.c, blk_sizes: the Flow Director fills its field vector from the end. */
	hw->blk[ICE_BLK_FD].es.reverse = true;
	for (int i = 0; i < 2; i++) {
		vsi_ctx[i].vsi_num = (u16)i;
		hw->vsi_ctx[i] = &vsi_ctx[i];
	}
	for (u16 ptype = 1; ptype < package->ptypes; ptype++)
		ice_set_bit(ptype, hw->hw_ptype);
	return 0;
}

static int
adapter_open(struct rte_eth_dev *dev, const struct package *package)
{
	struct ice_pf *pf = &adapter->pf;
	int rc = hw_open(&adapter->hw, package);

	if (rc != 0)
		return rc;
	pf->adapter = adapter;
	pf->dev_data = dev->data;
	pf->main_vsi = &main_vsi;
	pf->flags = ICE_FLAG_FDIR | ICE_FLAG_RSS;
	main_vsi.adapter = adapter;
	adapter->active_pkg_type = package->type;
#if RTE_VERSION >= RTE_VERSION_NUM(24, 3, 0, 0)
	/* It asks firmware at once, and cannot mark. */
	adapter->disabled_engine_mask = 1ul << ICE_FLOW_ENGINE_ACL;
#endif
	return ice_flow_init(adapter);
}

static int
flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	RTE_SET_USED(dev);
	*ops = &ice_flow_ops;
	return 0;
}

static int
ice_open(const struct oracle_profile *profile, uint16_t nb_queues, uint16_t *port)
{
	static const struct eth_dev_ops dev_ops = {
		.dev_infos_get = flow_port_info,
		.flow_ops_get = flow_ops_get,
	};
	struct rte_eth_dev *dev = flow_port_alloc("net_ice", &dev_ops, sizeof(*adapter), rx_queues,
		nb_queues);
	int rc;

	if (dev == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < nb_queues; i++)
		rx_queues[i] = &rxqs[i];
	adapter = dev->data->dev_private;
	rte_delay_us_callback_register(nic_works);
	rc = adapter_open(dev, profile->data);
	if (rc != 0)
		return rc;
	rte_eth_dev_probing_finish(dev);
	*port = dev->data->port_id;
	return 0;
}

static bool
ice_matches(const uint8_t *frame, uint32_t len)
{
	return e810_matches(&nic, frame, len);
}

const struct oracle oracle = {
	.driver = "net_ice",
	.simulator = "ice",
	.profiles = profiles,
	.open = ice_open,
	.room = GUARANTEED + BEST_EFFORT,
	.creates = true,
	.matches = ice_matches,
};
