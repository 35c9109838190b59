/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Linux's driver of an E810 answers a virtual function: see pf_e810.h. Which rules it refuses,
 * and in which order, is after ice_virtchnl_fdir.c, ice_vc_add_fdir_fltr() and what that calls.
 */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include "e810.h"
#include "pf_e810.h"
#include "pf_port.h"

/* Flow types, which are also numbers of profiles. */
enum flow { FLOW_L2, FLOW_IP4, FLOW_UDP, FLOW_TCP, FLOW_SCTP, FLOWS, FLOW_NONE };

/* A rule: a packet that stands for those to match. */
struct rule {
	enum flow flow;
	uint8_t packet[64];
};

/* A rule that is asked for: with the words to compare, and what a packet gets. */
struct wish {
	struct rule rule;
	struct e810_profile profile;
	uint32_t mark;
	bool marks;
};

static struct e810 nic = { .room = PF_RULES };
static struct rule rules[PF_RULES]; /* by their ids */
static bool used[PF_RULES];
static uint32_t nb_of[FLOWS];

static void
ptypes_of(enum flow flow, bool *ptypes)
{
	/* ice_flow.c, ice_flow_proc_seg_hdrs(): those of e810.h, and what GRE has inside. */
	static const uint16_t types[FLOWS][12] = {
		[FLOW_L2] = { E810_MAC, E810_LLDP, E810_ARP },
		[FLOW_IP4] = { E810_IP4_PAY, E810_IP4_UDP, E810_IP4_TCP, E810_IP4_SCTP,
			E810_IP4_ICMP, E810_GRE_PAY, E810_GRE_IP4_FRAG, E810_GRE_IP4_PAY,
			E810_GRE_IP4_UDP, E810_GRE_IP4_TCP, E810_GRE_IP4_SCTP },
		[FLOW_UDP] = { E810_IP4_UDP, E810_GRE_IP4_UDP },
		[FLOW_TCP] = { E810_IP4_TCP, E810_GRE_IP4_TCP },
		[FLOW_SCTP] = { E810_IP4_SCTP, E810_GRE_IP4_SCTP },
	};

	for (unsigned int i = 0; i < RTE_DIM(types[flow]) && types[flow][i] != 0; i++)
		ptypes[types[flow][i]] = true;
}

/* fdir_inset_map: the fields that are compared; others, such as MAC addresses, are left out. */
static const struct {
	enum virtchnl_proto_hdr_field field;
	struct e810_word word;
	unsigned int words;
} fields[] = {
	{ VIRTCHNL_PROTO_HDR_ETH_ETHERTYPE, { E810_ETHER_TYPE, 0, UINT16_MAX }, 1 },
	{ VIRTCHNL_PROTO_HDR_IPV4_SRC, { E810_IP4, 12, UINT16_MAX }, 2 },
	{ VIRTCHNL_PROTO_HDR_IPV4_DST, { E810_IP4, 16, UINT16_MAX }, 2 },
	{ VIRTCHNL_PROTO_HDR_IPV4_DSCP, { E810_IP4, 0, 0x00fc }, 1 },
	{ VIRTCHNL_PROTO_HDR_IPV4_TTL, { E810_IP4, 8, 0xff00 }, 1 },
	{ VIRTCHNL_PROTO_HDR_IPV4_PROT, { E810_IP4, 8, 0x00ff }, 1 },
	{ VIRTCHNL_PROTO_HDR_UDP_SRC_PORT, { E810_UDP, 0, UINT16_MAX }, 1 },
	{ VIRTCHNL_PROTO_HDR_UDP_DST_PORT, { E810_UDP, 2, UINT16_MAX }, 1 },
	{ VIRTCHNL_PROTO_HDR_TCP_SRC_PORT, { E810_TCP, 0, UINT16_MAX }, 1 },
	{ VIRTCHNL_PROTO_HDR_TCP_DST_PORT, { E810_TCP, 2, UINT16_MAX }, 1 },
	{ VIRTCHNL_PROTO_HDR_SCTP_SRC_PORT, { E810_SCTP, 0, UINT16_MAX }, 1 },
	{ VIRTCHNL_PROTO_HDR_SCTP_DST_PORT, { E810_SCTP, 2, UINT16_MAX }, 1 },
};

static void
add_words(const struct virtchnl_proto_hdr *hdr, struct e810_profile *profile)
{
	for (size_t i = 0; i < RTE_DIM(fields); i++) {
		struct e810_word word = fields[i].word;

		if (!VIRTCHNL_TEST_PROTO_HDR(hdr, fields[i].field))
			continue;
		for (unsigned int w = 0; w < fields[i].words; w++) {
			profile->words[profile->n++] = word;
			word.at += 2;
		}
	}
}

#define IP4_AT RTE_ETHER_HDR_LEN
#define L4_AT (IP4_AT + sizeof(struct rte_ipv4_hdr))

/* ice_vc_fdir_parse_pattern(): fills in the header; the flow type that the pattern has with it. */
static enum flow
add_header(const struct virtchnl_proto_hdr *hdr, enum flow flow, uint8_t *packet)
{
	struct rte_ipv4_hdr *ip = (void *)(packet + IP4_AT);

	switch (hdr->type) {
	case VIRTCHNL_PROTO_HDR_ETH:
		memcpy(packet, hdr->buffer, RTE_ETHER_HDR_LEN);
		return flow == FLOW_NONE ? FLOW_L2 : FLOWS;
	case VIRTCHNL_PROTO_HDR_IPV4:
		*(rte_be16_t *)(packet + 2 * RTE_ETHER_ADDR_LEN) = RTE_BE16(RTE_ETHER_TYPE_IPV4);
		memcpy(ip, hdr->buffer, sizeof(*ip));
		ip->version_ihl = RTE_IPV4_VHL_DEF;
		ip->fragment_offset = 0;
		ip->time_to_live = 0; /* it is not taken over */
		return flow == FLOW_L2 ? FLOW_IP4 : FLOWS;
	case VIRTCHNL_PROTO_HDR_UDP:
		ip->next_proto_id = IPPROTO_UDP;
		flow = flow == FLOW_IP4 ? FLOW_UDP : FLOWS;
		break;
	case VIRTCHNL_PROTO_HDR_TCP:
		ip->next_proto_id = IPPROTO_TCP;
		flow = flow == FLOW_IP4 ? FLOW_TCP : FLOWS;
		break;
	case VIRTCHNL_PROTO_HDR_SCTP:
		ip->next_proto_id = IPPROTO_SCTP;
		flow = flow == FLOW_IP4 ? FLOW_SCTP : FLOWS;
		break;
	default:
		return FLOWS;
	}
	memcpy(packet + L4_AT, hdr->buffer, 2 * sizeof(rte_be16_t));
	return flow;
}

/* ice_vc_fdir_parse_action(): one of what becomes of a packet, and at most one mark. */
static bool
read_actions(const struct virtchnl_filter_action_set *set, struct wish *wish)
{
	unsigned int fates = 0, marks = 0;

	if (set->count > VIRTCHNL_MAX_NUM_ACTIONS)
		return false;
	for (int i = 0; i < set->count; i++) {
		if (set->actions[i].type != VIRTCHNL_ACTION_MARK) {
			fates++;
			continue;
		}
		marks++;
		wish->marks = true;
		wish->mark = set->actions[i].act_conf.mark_id;
	}
	return fates == 1 && marks <= 1;
}

/* ice_vc_validate_fdir_fltr(). */
static bool
read_wish(const struct virtchnl_fdir_rule *asked, struct wish *wish)
{
	const struct virtchnl_proto_hdrs *hdrs = &asked->proto_hdrs;
	enum flow flow = FLOW_NONE;

	memset(wish, 0, sizeof(*wish));
	if (hdrs->count <= 0 || hdrs->count > VIRTCHNL_MAX_NUM_PROTO_HDRS)
		return false;
	for (int i = 0; i < hdrs->count && flow != FLOWS; i++) {
		flow = add_header(&hdrs->proto_hdr[i], flow, wish->rule.packet);
		add_words(&hdrs->proto_hdr[i], &wish->profile);
	}
	if (flow == FLOWS)
		return false;
	wish->rule.flow = flow;
	ptypes_of(flow, wish->profile.ptypes);
	return read_actions(&asked->action_set, wish);
}

/* ice_vc_fdir_has_prof_conflict(), ice_vc_fdir_write_flow_prof(), ice_vc_fdir_set_flow_fld(). */
static bool
conflicts(const struct wish *wish)
{
	const enum flow flow = wish->rule.flow;
	bool other = false;

	if (flow == FLOW_IP4)
		other = nb_of[FLOW_UDP] + nb_of[FLOW_TCP] + nb_of[FLOW_SCTP] > 0;
	else if (flow != FLOW_L2)
		other = nb_of[FLOW_IP4] > 0;
	return wish->profile.n == 0 || other ||
		(nb_of[flow] > 0 &&
			memcmp(&nic.profiles[flow], &wish->profile, sizeof(wish->profile)) != 0);
}

/* ice_vc_fdir_is_dup_fltr(): values of fields that are not compared count, too. */
static bool
is_twin(const struct rule *rule)
{
	for (uint32_t i = 0; nb_of[rule->flow] > 0 && i < PF_RULES; i++)
		if (used[i] && rules[i].flow == rule->flow &&
			memcmp(rules[i].packet, rule->packet, sizeof(rule->packet)) == 0)
			return true;
	return false;
}

/* Removes the profiles that no rule uses, and writes that of a rule. */
static void
profile_set(const struct wish *wish)
{
	for (enum flow flow = 0; flow < FLOWS; flow++)
		if (nb_of[flow] == 0)
			nic.profiles[flow].n = 0;
	nic.profiles[wish->rule.flow] = wish->profile;
}

static enum virtchnl_fdir_prgm_status
rule_add(struct virtchnl_fdir_add *add)
{
	struct wish wish;
	uint32_t id = 0;

	if (!read_wish(&add->rule_cfg, &wish))
		return VIRTCHNL_FDIR_FAILURE_RULE_INVALID;
	if (add->validate_only != 0)
		return VIRTCHNL_FDIR_SUCCESS;
	if (conflicts(&wish))
		return VIRTCHNL_FDIR_FAILURE_RULE_CONFLICT;
	if (is_twin(&wish.rule))
		return VIRTCHNL_FDIR_FAILURE_RULE_EXIST;
	while (id < PF_RULES && used[id])
		id++;
	if (id == PF_RULES)
		return VIRTCHNL_FDIR_FAILURE_RULE_NORESOURCE;
	profile_set(&wish);
	if (e810_program(&nic, true, wish.rule.packet, sizeof(wish.rule.packet), wish.mark,
		    wish.marks) != 0)
		return VIRTCHNL_FDIR_FAILURE_RULE_NORESOURCE;
	used[id] = true;
	rules[id] = wish.rule;
	nb_of[wish.rule.flow]++;
	add->flow_id = id;
	return VIRTCHNL_FDIR_SUCCESS;
}

static enum virtchnl_fdir_prgm_status
rule_remove(const struct virtchnl_fdir_del *del)
{
	const struct rule *rule = &rules[del->flow_id];

	if (del->flow_id >= PF_RULES || !used[del->flow_id])
		return VIRTCHNL_FDIR_FAILURE_RULE_NONEXIST;
	if (e810_program(&nic, false, rule->packet, sizeof(rule->packet), 0, false) != 0)
		return VIRTCHNL_FDIR_FAILURE_RULE_NONEXIST;
	used[del->flow_id] = false;
	nb_of[rule->flow]--;
	return VIRTCHNL_FDIR_SUCCESS;
}

/* ice_virtchnl.c, ice_vc_get_vf_res_msg(). */
static void
say_resources(struct pf_answer *answer)
{
	struct virtchnl_vf_resource *res = (void *)answer->bytes;
	struct virtchnl_vsi_resource *vsi = res->vsi_res;

	memset(res, 0, sizeof(*res) + sizeof(*vsi));
	res->num_vsis = 1;
	res->num_queue_pairs = PF_QUEUES;
	res->max_vectors = PF_QUEUES + 1;
	res->vf_cap_flags = VIRTCHNL_VF_OFFLOAD_L2 | VIRTCHNL_VF_OFFLOAD_RSS_PF |
		VIRTCHNL_VF_OFFLOAD_FDIR_PF | VIRTCHNL_VF_OFFLOAD_ADV_RSS_PF |
		VIRTCHNL_VF_OFFLOAD_RX_FLEX_DESC;
	res->rss_key_size = PF_RSS_KEY;
	res->rss_lut_size = PF_RSS_TABLE;
	vsi->vsi_id = PF_VSI;
	vsi->num_queue_pairs = PF_QUEUES;
	vsi->vsi_type = VIRTCHNL_VSI_SRIOV;
	memcpy(vsi->default_mac_addr, "\x02\0\0\0\0\1", RTE_ETHER_ADDR_LEN);
	answer->len = sizeof(*res) + sizeof(*vsi);
}

void
pf_ask(enum virtchnl_ops op, const uint8_t *msg, uint16_t len, struct pf_answer *answer)
{
	answer->op = op;
	answer->status = VIRTCHNL_STATUS_SUCCESS;
	answer->len = len;
	if (len > 0)
		memcpy(answer->bytes, msg, len);
	switch (op) {
	case VIRTCHNL_OP_VERSION:
		*(struct virtchnl_version_info *)answer->bytes = (struct virtchnl_version_info){ 1,
			1 };
		answer->len = sizeof(struct virtchnl_version_info);
		break;
	case VIRTCHNL_OP_GET_VF_RESOURCES:
		say_resources(answer);
		break;
	case VIRTCHNL_OP_GET_SUPPORTED_RXDIDS:
	case VIRTCHNL_OP_GET_RSS_HENA_CAPS:
		memset(answer->bytes, UINT8_MAX, sizeof(uint64_t));
		answer->len = sizeof(uint64_t);
		break;
	case VIRTCHNL_OP_ADD_FDIR_FILTER:
		((struct virtchnl_fdir_add *)answer->bytes)->status =
			rule_add((void *)answer->bytes);
		break;
	case VIRTCHNL_OP_DEL_FDIR_FILTER:
		((struct virtchnl_fdir_del *)answer->bytes)->status =
			rule_remove((const void *)answer->bytes);
		break;
	default: /* interrupts and MAC addresses are always taken */
		if (!pf_port_takes(op, msg))
			answer->status = VIRTCHNL_STATUS_ERR_PARAM;
		break;
	}
}

bool
pf_matches(const uint8_t *frame, uint32_t len)
{
	return e810_matches(&nic, frame, len);
}
