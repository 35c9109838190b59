/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fixture of net_i40e: registers are plain memory, and a Flow Director works off the programming
 * queue whenever the driver waits for it. Nothing of the driver's flow code is replaced.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitmap.h>
#include <rte_cycles.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_version.h>

#include "flow_port.h"

#include "base/i40e_prototype.h"
#include "base/i40e_type.h"
#include "i40e_ethdev.h"
#include "i40e_logs.h"
#include "i40e_rxtx.h"

#include "fdir.h"
#include "oracle.h"

/* Queues, rings and descriptors have become those of all Intel's drivers. */
#if RTE_VERSION >= RTE_VERSION_NUM(25, 7, 0, 0)
#define i40e_rx_queue ci_rx_queue
#define i40e_rx_desc ci_rx_desc
#endif
#if RTE_VERSION >= RTE_VERSION_NUM(26, 3, 0, 0)
#define i40e_tx_queue ci_tx_queue
#define i40e_tx_desc ci_tx_desc
#define TX_RING(q) ((q)->ci_tx_ring)
#elif RTE_VERSION >= RTE_VERSION_NUM(25, 3, 0, 0)
#define i40e_tx_queue ci_tx_queue
#define TX_RING(q) ((q)->i40e_tx_ring)
#else
#define TX_RING(q) ((q)->tx_ring)
#endif

#define PACKET_LEN 512 /* i40e_fdir.c, I40E_FDIR_PKT_LEN */
#define REGISTERS (8u << 20)
#define GUARANTEED 512 /* filters */
#define BEST_EFFORT 7168
#define PIT_IP4 2           /* i40e_ethdev.c, I40E_GLQF_PIT_IPV4_START */
#define FIELD_VECTOR_IP4 9u /* the word of the field vector in which an IPv4 header begins */

static const struct oracle_profile profiles[] = {
	{
		.name = "xl710",
		.source =
			"DPDK v20.11, net/i40e/i40e_ethdev.h, I40E_INSET_IPV4_TOS_MASK: the word of the "
			"field vector where IPv4 begins; firmware's numbers of filters are assumed, "
			"as i40e_fdir_setup() would log them",
	},
	{ 0 },
};

static struct i40e_adapter *adapter;
static struct i40e_vsi fdir_vsi, main_vsi;
static struct i40e_tx_queue fdir_txq;
static struct i40e_rx_queue fdir_rxq, rxqs[FLOW_PORT_QUEUES];
static void *rx_queues[FLOW_PORT_QUEUES];
static struct i40e_tx_desc tx_ring[I40E_FDIR_NUM_TX_DESC];
static union i40e_rx_desc rx_ring[I40E_FDIR_NUM_RX_DESC];
static uint8_t packets[I40E_FDIR_PRG_PKT_CNT][PACKET_LEN];
static uint32_t tx_tail, rx_tail; /* registers of the queues */
static struct fdir fdir;

/* Replaces the driver's: firmware is asked for the ether type of an outer tag, and nothing else. */
enum i40e_status_code
i40e_aq_debug_read_register(struct i40e_hw *hw, u32 addr, u64 *value,
	struct i40e_asq_cmd_details *details)
{
	RTE_SET_USED(hw);
	RTE_SET_USED(addr);
	RTE_SET_USED(details);
	*value = (u64)RTE_ETHER_TYPE_VLAN << I40E_GL_SWT_L2TAGCTRL_ETHERTYPE_SHIFT;
	return I40E_SUCCESS;
}

/* Replaces the driver's: firmware takes a rule on an ether type that only picks a queue. */
enum i40e_status_code
i40e_aq_add_rem_control_packet_filter(struct i40e_hw *hw, u8 *mac, u16 type, u16 flags, u16 vsi,
	u16 queue, bool add, struct i40e_control_filter_stats *stats,
	struct i40e_asq_cmd_details *details)
{
	RTE_SET_USED(hw);
	RTE_SET_USED(mac);
	RTE_SET_USED(type);
	RTE_SET_USED(flags);
	RTE_SET_USED(vsi);
	RTE_SET_USED(queue);
	RTE_SET_USED(add);
	RTE_SET_USED(stats);
	RTE_SET_USED(details);
	return I40E_SUCCESS;
}

/* The headers that a packet classifier type is made of: a type of IPv4 has whole packets only. */
static void
type_headers(uint32_t pctype, struct hy_sim_key *mask)
{
	mask->layers = HY_SIM_IP4 | HY_SIM_IP6;
	if (pctype != I40E_FILTER_PCTYPE_L2_PAYLOAD)
		mask->layers |= HY_SIM_FRAG | HY_SIM_L4;
}

/* The fields that the registers of a type select: i40e_ethdev.c, i40e_translate_input_set_reg(). */
static void
type_fields(uint32_t pctype, struct hy_sim_key *mask)
{
	const struct i40e_hw *hw = &adapter->hw;
	const uint64_t inset = I40E_READ_REG(hw, I40E_PRTQF_FD_INSET(pctype, 0)) |
		(uint64_t)I40E_READ_REG(hw, I40E_PRTQF_FD_INSET(pctype, 1)) << 32;

	memset(mask, 0, sizeof(*mask));
	type_headers(pctype, mask);
	mask->tci = (inset & 0x0080000000000000) != 0 ? UINT16_MAX : 0;
	mask->type = (inset & 0x0000000000004000) != 0 ? UINT16_MAX : 0;
	mask->src = (inset & 0x0001800000000000) != 0 ? UINT32_MAX : 0;
	mask->dst = (inset & 0x0000001800000000) != 0 ? UINT32_MAX : 0;
	mask->sport = (inset & 0x0000000400000000) != 0 ? UINT16_MAX : 0;
	mask->dport = (inset & 0x0000000200000000) != 0 ? UINT16_MAX : 0;
	mask->tos = (inset & 0x0040000000000000) != 0 ? UINT8_MAX : 0;
	if ((inset & 0x0004000000000000) == 0)
		return;
	/* One word has both TTL and protocol; a mask register of the type may leave out one. */
	mask->ttl = mask->proto = UINT8_MAX;
	for (int i = 0; i < I40E_INSET_MASK_NUM_REG; i++) {
		const uint32_t left_out = I40E_READ_REG(hw, I40E_GLQF_FD_MSK(i, pctype));

		if (left_out >> 16 != FIELD_VECTOR_IP4 + 4)
			continue;
		mask->ttl &= (left_out & 0xff00) != 0 ? 0 : UINT8_MAX;
		mask->proto &= (left_out & 0x00ff) != 0 ? 0 : UINT8_MAX;
	}
}

/* Says in the receive ring of the Flow Director that a request failed. */
static void
complain(enum i40e_rx_prog_status_desc_error_bits error)
{
	volatile union i40e_rx_desc *desc = &rx_ring[fdir_rxq.rx_tail];

	desc->wb.qword1.status_error_len = rte_cpu_to_le_64(1ULL << I40E_RX_DESC_STATUS_DD_SHIFT |
		(uint64_t)I40E_RX_PROG_STATUS_DESC_FD_FILTER_STATUS
			<< I40E_RX_PROG_STATUS_DESC_QW1_PROGID_SHIFT |
		1ULL << error << I40E_RX_PROG_STATUS_DESC_QW1_ERROR_SHIFT |
		(uint64_t)I40E_RX_PROG_STATUS_DESC_LENGTH << I40E_RX_PROG_STATUS_DESC_LENGTH_SHIFT);
}

static void
program(const struct i40e_filter_program_desc *desc, const uint8_t *packet)
{
	const uint32_t qw0 = rte_le_to_cpu_32(desc->qindex_flex_ptype_vsi);
	const uint32_t qw1 = rte_le_to_cpu_32(desc->dtype_cmd_cntindex);
	const uint32_t command = (qw1 & I40E_TXD_FLTR_QW1_PCMD_MASK) >>
		I40E_TXD_FLTR_QW1_PCMD_SHIFT;
	const uint32_t status = (qw1 & I40E_TXD_FLTR_QW1_FD_STATUS_MASK) >>
		I40E_TXD_FLTR_QW1_FD_STATUS_SHIFT;
	struct fdir_filter filter = {
		.type = (qw0 & I40E_TXD_FLTR_QW0_PCTYPE_MASK) >> I40E_TXD_FLTR_QW0_PCTYPE_SHIFT,
		.id = rte_le_to_cpu_32(desc->fd_id),
		.reports = status == I40E_FILTER_PROGRAM_DESC_FD_STATUS_FD_ID,
	};

	hy_sim_parse(packet, PACKET_LEN, &filter.value);
	fdir_reverse(&filter.value);
	type_fields(filter.type, &fdir.mask[filter.type]);
	if (command == I40E_FILTER_PROGRAM_DESC_PCMD_ADD_UPDATE) {
		if (fdir_add(&fdir, &filter) != 0)
			complain(I40E_RX_PROG_STATUS_DESC_FD_TBL_FULL_SHIFT);
	} else if (fdir_remove(&fdir, &filter) != 0) {
		complain(I40E_RX_PROG_STATUS_DESC_NO_FD_ENTRY_SHIFT);
	}
}

/* What the NIC does while the driver waits: one request, if there is one, and a flush. */
static void
nic_works(unsigned int us)
{
	struct i40e_hw *hw = &adapter->hw;
	static uint32_t head;
	struct i40e_tx_desc *done;

	RTE_SET_USED(us);
	if ((I40E_READ_REG(hw, I40E_PFQF_CTL_1) & I40E_PFQF_CTL_1_CLEARFDTABLE_MASK) != 0) {
		I40E_WRITE_REG(hw, I40E_PFQF_CTL_1, 0);
		fdir.n = 0;
	}
	if (head == tx_tail)
		return;
	program((const void *)&tx_ring[head], packets[head / 2]);
	done = &tx_ring[head + 1];
	done->cmd_type_offset_bsz = rte_cpu_to_le_64(I40E_TX_DESC_DTYPE_DESC_DONE);
	head = (head + 2) % I40E_FDIR_NUM_TX_DESC;
}

static struct rte_hash *
table_create(const char *name, uint32_t entries, uint32_t key_len)
{
	return rte_hash_create(&(struct rte_hash_parameters){
		.name = name, .entries = entries, .key_len = key_len, .hash_func = rte_hash_crc });
}

/* As i40e_init_fdir_filter_list(), which nobody can call from outside. */
static int
filter_list_init(struct i40e_fdir_info *info)
{
	const uint32_t space = GUARANTEED + BEST_EFFORT;
	const uint32_t size = rte_bitmap_get_memory_footprint(space);
	void *bits = rte_zmalloc(NULL, size, RTE_CACHE_LINE_SIZE);

	TAILQ_INIT(&info->fdir_list);
	info->hash_table = table_create("fdir", I40E_MAX_FDIR_FILTER_NUM,
		sizeof(struct i40e_fdir_input));
	info->hash_map = calloc(I40E_MAX_FDIR_FILTER_NUM, sizeof(info->hash_map[0]));
	info->fdir_filter_array = calloc(I40E_MAX_FDIR_FILTER_NUM,
		sizeof(info->fdir_filter_array[0]));
	info->fdir_space_size = space;
	info->fdir_flow_pool.pool = calloc(space, sizeof(info->fdir_flow_pool.pool[0]));
	if (info->hash_table == NULL || info->hash_map == NULL || bits == NULL ||
		info->fdir_filter_array == NULL || info->fdir_flow_pool.pool == NULL)
		return -ENOMEM;
	info->fdir_flow_pool.bitmap = rte_bitmap_init(space, bits, size);
	for (uint32_t i = 0; i < space; i++) {
		info->fdir_flow_pool.pool[i].idx = i;
		rte_bitmap_set(info->fdir_flow_pool.bitmap, i);
	}
	return 0;
}

/* As i40e_init_ethtype_filter_list(). */
static int
ether_types_init(struct i40e_ethertype_rule *rules)
{
	TAILQ_INIT(&rules->ethertype_list);
	rules->hash_table = table_create("ethertype", I40E_MAX_ETHERTYPE_FILTER_NUM,
		sizeof(struct i40e_ethertype_filter_input));
	rules->hash_map = calloc(I40E_MAX_ETHERTYPE_FILTER_NUM, sizeof(rules->hash_map[0]));
	return rules->hash_table != NULL && rules->hash_map != NULL ? 0 : -ENOMEM;
}

/* The programming queue. fdir_invalprio is 0: the driver waits for each filter. */
static void
fdir_open(struct i40e_fdir_info *info)
{
	info->fdir_vsi = &fdir_vsi;
	info->txq = &fdir_txq;
	info->rxq = &fdir_rxq;
	TX_RING(&fdir_txq) = tx_ring;
	fdir_txq.nb_tx_desc = I40E_FDIR_NUM_TX_DESC;
	fdir_txq.qtx_tail = (void *)&tx_tail;
	fdir_rxq.rx_ring = rx_ring;
	fdir_rxq.nb_rx_desc = I40E_FDIR_NUM_RX_DESC;
	fdir_rxq.qrx_tail = (void *)&rx_tail;
	info->txq_available_buf_count = I40E_FDIR_PRG_PKT_CNT;
	for (int i = 0; i < I40E_FDIR_PRG_PKT_CNT; i++)
		info->prg_pkt[i] = packets[i];
}

static int
adapter_open(struct rte_eth_dev *dev)
{
	struct i40e_pf *pf = &adapter->pf;
	struct i40e_hw *hw = &adapter->hw;

	hw->back = adapter;
	hw->hw_addr = calloc(1, REGISTERS);
	if (hw->hw_addr == NULL)
		return -ENOMEM;
	hw->mac.type = I40E_MAC_XL710;
	hw->aq.api_maj_ver =
		1; /* before 1.5 the driver reads and writes by register, not by firmware */
	hw->aq.api_min_ver = 4;
	hw->func_caps.fd_filters_guaranteed = GUARANTEED;
	hw->func_caps.fd_filters_best_effort = BEST_EFFORT;
	I40E_WRITE_REG(hw, I40E_GLQF_PIT(PIT_IP4),
		10u << I40E_GLQF_PIT_FSIZE_SHIFT |
			FIELD_VECTOR_IP4 << I40E_GLQF_PIT_DEST_OFF_SHIFT);
	pf->adapter = adapter;
	pf->dev_data = dev->data;
	pf->main_vsi = &main_vsi;
	main_vsi.adapter = adapter;
	pf->flags |= I40E_FLAG_FDIR | I40E_FLAG_RSS;
	TAILQ_INIT(&pf->flow_list);
	TAILQ_INIT(&pf->rss_config_list);
	TAILQ_INIT(&pf->tunnel.tunnel_list);
	fdir_open(&pf->fdir);
	fdir.room = GUARANTEED + BEST_EFFORT;
	if (ether_types_init(&pf->ethertype) != 0)
		return -ENOMEM;
	return filter_list_init(&pf->fdir);
}

static int
flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	RTE_SET_USED(dev);
	*ops = &i40e_flow_ops;
	return 0;
}

static int
i40e_open(const struct oracle_profile *profile, uint16_t nb_queues, uint16_t *port)
{
	static const struct eth_dev_ops dev_ops = {
		.dev_infos_get = flow_port_info,
		.flow_ops_get = flow_ops_get,
	};
	struct rte_eth_dev *dev = flow_port_alloc("net_i40e", &dev_ops, sizeof(*adapter), rx_queues,
		nb_queues);
	int rc;

	RTE_SET_USED(profile);
	if (dev == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < nb_queues; i++)
		rx_queues[i] = &rxqs[i];
	adapter = dev->data->dev_private;
	rc = adapter_open(dev);
	if (rc != 0)
		return rc;
	rte_delay_us_callback_register(nic_works);
	rte_eth_dev_probing_finish(dev);
	*port = dev->data->port_id;
	return 0;
}

static bool
i40e_matches(const uint8_t *frame, uint32_t len)
{
	return fdir_matches(&fdir, frame, len);
}

const struct oracle oracle = {
	.driver = "net_i40e",
	.simulator = "i40e",
	.profiles = profiles,
	.open = i40e_open,
	.room = GUARANTEED + BEST_EFFORT,
	.creates = true,
	.matches = i40e_matches,
};
