/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Linux's driver of an E810 takes of a virtual function's port: see pf_port.h. After its
 * ice_virtchnl.c: ice_vc_cfg_qs_msg(), ice_vc_validate_vqs_bitmaps(), ice_vc_handle_rss_cfg(),
 * ice_vc_config_rss_key() and ice_vc_config_rss_lut().
 */

#include <rte_common.h>
#include <rte_ethdev.h>

#include "pf_port.h"

#define DESCRIPTORS_LEAST 64
#define DESCRIPTORS_MOST 8160
#define DESCRIPTORS_STEP 32
#define FRAME_LEAST 64
#define FRAME_MOST 9728
#define BUFFER_LEAST 1024
#define BUFFER_MOST (16 * 1024 - 128)

static uint64_t hashed;

static bool
ring_fits(uint16_t descriptors)
{
	return descriptors == 0 ||
		(descriptors >= DESCRIPTORS_LEAST && descriptors <= DESCRIPTORS_MOST &&
			descriptors % DESCRIPTORS_STEP == 0);
}

static bool
pair_fits(const struct virtchnl_queue_pair_info *pair)
{
	const struct virtchnl_rxq_info *rx = &pair->rxq;

	if (pair->txq.vsi_id != PF_VSI || rx->vsi_id != PF_VSI ||
		rx->queue_id != pair->txq.queue_id || rx->queue_id >= PF_QUEUES ||
		!ring_fits(pair->txq.ring_len) || !ring_fits(rx->ring_len))
		return false;
	if (rx->ring_len == 0)
		return true;
	return rx->max_pkt_size >= FRAME_LEAST && rx->max_pkt_size <= FRAME_MOST &&
		(rx->databuffer_size == 0 ||
			(rx->databuffer_size >= BUFFER_LEAST &&
				rx->databuffer_size <= BUFFER_MOST));
}

static bool
queues_fit(const struct virtchnl_vsi_queue_config_info *queues)
{
	if (queues->vsi_id != PF_VSI || queues->num_queue_pairs > PF_QUEUES)
		return false;
	for (unsigned int i = 0; i < queues->num_queue_pairs; i++)
		if (!pair_fits(&queues->qpair[i]))
			return false;
	return true;
}

static bool
selection_fits(const struct virtchnl_queue_select *select)
{
	const uint32_t any = select->rx_queues | select->tx_queues;

	return select->vsi_id == PF_VSI && any != 0 && any < UINT32_C(1) << PF_QUEUES;
}

/* ice_vc_hash_field_list: another choice of fields is none. */
static bool
fields_are(const struct virtchnl_proto_hdr *hdr, uint32_t first, uint32_t second)
{
	return hdr->field_selector ==
		(1U << (first & PROTO_HDR_FIELD_MASK) | 1U << (second & PROTO_HDR_FIELD_MASK));
}

static bool
has_addresses(const struct virtchnl_proto_hdr *hdr)
{
	struct virtchnl_proto_hdr bare = *hdr;

	if (hdr->type == VIRTCHNL_PROTO_HDR_IPV4) {
		VIRTCHNL_DEL_PROTO_HDR_FIELD(&bare, VIRTCHNL_PROTO_HDR_IPV4_PROT);
		return fields_are(&bare, VIRTCHNL_PROTO_HDR_IPV4_SRC, VIRTCHNL_PROTO_HDR_IPV4_DST);
	}
	VIRTCHNL_DEL_PROTO_HDR_FIELD(&bare, VIRTCHNL_PROTO_HDR_IPV6_PROT);
	return fields_are(&bare, VIRTCHNL_PROTO_HDR_IPV6_SRC, VIRTCHNL_PROTO_HDR_IPV6_DST);
}

/* The type that two headers at most ask for; 0: none that DPDK has a name for. */
static uint64_t
type_of(const struct virtchnl_proto_hdrs *hdrs)
{
	static const struct {
		int l4;
		uint32_t source, destination;
		uint64_t ip4, ip6;
	} types[] = {
		{ VIRTCHNL_PROTO_HDR_UDP, VIRTCHNL_PROTO_HDR_UDP_SRC_PORT,
			VIRTCHNL_PROTO_HDR_UDP_DST_PORT, RTE_ETH_RSS_NONFRAG_IPV4_UDP,
			RTE_ETH_RSS_NONFRAG_IPV6_UDP },
		{ VIRTCHNL_PROTO_HDR_TCP, VIRTCHNL_PROTO_HDR_TCP_SRC_PORT,
			VIRTCHNL_PROTO_HDR_TCP_DST_PORT, RTE_ETH_RSS_NONFRAG_IPV4_TCP,
			RTE_ETH_RSS_NONFRAG_IPV6_TCP },
		{ VIRTCHNL_PROTO_HDR_SCTP, VIRTCHNL_PROTO_HDR_SCTP_SRC_PORT,
			VIRTCHNL_PROTO_HDR_SCTP_DST_PORT, RTE_ETH_RSS_NONFRAG_IPV4_SCTP,
			RTE_ETH_RSS_NONFRAG_IPV6_SCTP },
	};
	const struct virtchnl_proto_hdr *ip = &hdrs->proto_hdr[0], *l4 = &hdrs->proto_hdr[1];
	const bool ip4 = ip->type == VIRTCHNL_PROTO_HDR_IPV4;

	if ((!ip4 && ip->type != VIRTCHNL_PROTO_HDR_IPV6) || !has_addresses(ip))
		return 0;
	if (hdrs->count == 1)
		return ip4 ? RTE_ETH_RSS_IPV4 : RTE_ETH_RSS_IPV6;
	for (size_t i = 0; hdrs->count == 2 && i < RTE_DIM(types); i++)
		if (l4->type == types[i].l4 &&
			fields_are(l4, types[i].source, types[i].destination))
			return ip4 ? types[i].ip4 : types[i].ip6;
	return 0;
}

static bool
hash_fits(const struct virtchnl_rss_cfg *cfg)
{
	const struct virtchnl_proto_hdrs *hdrs = &cfg->proto_hdrs;

	if (hdrs->count > VIRTCHNL_MAX_NUM_PROTO_HDRS ||
		cfg->rss_algorithm > VIRTCHNL_RSS_ALG_XOR_SYMMETRIC)
		return false;
	for (int i = 0; i < hdrs->count; i++) /* ice_vc_hdr_list ends there */
		if (hdrs->proto_hdr[i].type > VIRTCHNL_PROTO_HDR_PFCP)
			return false;
	return true;
}

bool
pf_port_takes(enum virtchnl_ops op, const uint8_t *msg)
{
	const struct virtchnl_rss_cfg *cfg = (const void *)msg;
	const struct virtchnl_rss_key *key = (const void *)msg;
	const struct virtchnl_rss_lut *table = (const void *)msg;

	switch (op) {
	case VIRTCHNL_OP_CONFIG_VSI_QUEUES:
		return queues_fit((const void *)msg);
	case VIRTCHNL_OP_ENABLE_QUEUES:
	case VIRTCHNL_OP_DISABLE_QUEUES:
		return selection_fits((const void *)msg);
	case VIRTCHNL_OP_CONFIG_RSS_KEY:
		return key->vsi_id == PF_VSI && key->key_len == PF_RSS_KEY;
	case VIRTCHNL_OP_CONFIG_RSS_LUT:
		return table->vsi_id == PF_VSI && table->lut_entries == PF_RSS_TABLE;
	case VIRTCHNL_OP_ADD_RSS_CFG:
	case VIRTCHNL_OP_DEL_RSS_CFG:
		if (!hash_fits(cfg))
			return false;
		if (op == VIRTCHNL_OP_ADD_RSS_CFG)
			hashed |= type_of(&cfg->proto_hdrs);
		else
			hashed &= ~type_of(&cfg->proto_hdrs);
		return true;
	default:
		return true;
	}
}

uint64_t
pf_port_hashed(void)
{
	const uint64_t types = hashed;

	hashed = 0;
	return types;
}
