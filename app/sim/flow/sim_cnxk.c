/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of Marvell's cn9k and cn10k, after DPDK v22.11: drivers/common/cnxk (roc_npc*.c) and
 * drivers/net/cnxk (cnxk_flow.c). A TCAM: any mask, three priorities, no groups.
 *
 * A rule can match only fields in the key, which the key extraction profile (KEX) of the kernel's
 * admin function (AF) selects. "cnxk" has Linux's default, "cnxk_wide" all fields that the
 * simulator knows, as a firmware's profile may, and "cnxk_ip6" the addresses of IPv6.
 * tests/driver_oracle compares all three with the driver's own code.
 */

#include <errno.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_sctp.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#include "sim_engine.h"

#define MARK_MAX 0xfffd /* roc_npc.c, npc_parse_actions(): NPC_FLOW_FLAG_VAL - 2 */
#define PRIORITIES 3    /* cnxk_ethdev_devargs.c, cnxk_ethdev_parse_devargs(): flow_max_priority */
#define RSS_KEY 48      /* bytes: roc_nix.h, ROC_NIX_RSS_KEY_LEN */
#define RSS_QUEUES 64   /* cnxk_ethdev_devargs.c: ROC_NIX_RSS_RETA_SZ_64 */
/* roc_npc_priv.h, NPC_RSS_GRPS; roc_npc.c, npc_rss_action_configure(): all but group 0 */
#define RSS_GROUPS 7

/* The bytes of each header that are in the key. */
struct key {
	struct rte_ether_hdr eth;
	struct rte_vlan_hdr vlan;
	struct rte_ipv4_hdr ip4;
	union {
		struct rte_ipv6_hdr ip6;
		struct {
			uint8_t head[8], addresses[32]; /* whose type depends on DPDK's version */
		} ip6_bytes;
	};
	struct rte_udp_hdr udp;
	struct rte_tcp_hdr tcp;
	struct rte_sctp_hdr sctp;
	struct rte_icmp_hdr icmp;
	struct rte_vxlan_hdr vxlan;
};

#define WHOLE_MAC 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define WHOLE_PORTS .src_port = UINT16_MAX, .dst_port = UINT16_MAX
#define WHOLE_IP6 \
	{ \
		WHOLE_MAC, WHOLE_MAC, WHOLE_MAC, WHOLE_MAC, WHOLE_MAC, 0xff, 0xff \
	}
#define HEAD_IP6 \
	.vtc_flow = UINT32_MAX, .payload_len = UINT16_MAX, .proto = 0xff, .hop_limits = 0xff

/* Linux, drivers/net/ethernet/marvell/octeontx2/af/npc_profile.h: npc_mkex_default. */
static const struct key default_key = {
	.eth = { .dst_addr.addr_bytes = { WHOLE_MAC }, .ether_type = UINT16_MAX },
	.vlan = { UINT16_MAX, UINT16_MAX },
	.ip4 = { .type_of_service = 0xff, .src_addr = UINT32_MAX, .dst_addr = UINT32_MAX },
	.ip6 = { HEAD_IP6 },
	.udp = { WHOLE_PORTS },
	.tcp = { WHOLE_PORTS },
};

static const struct key wide_key = {
	.eth = { { { WHOLE_MAC } }, { { WHOLE_MAC } }, UINT16_MAX },
	.vlan = { UINT16_MAX, UINT16_MAX },
	.ip4 = { .type_of_service = 0xff,
		.fragment_offset = UINT16_MAX,
		.time_to_live = 0xff,
		.next_proto_id = 0xff,
		.src_addr = UINT32_MAX,
		.dst_addr = UINT32_MAX },
	.ip6 = { HEAD_IP6 },
	.udp = { WHOLE_PORTS },
	.tcp = { WHOLE_PORTS, .tcp_flags = 0xff },
	.sctp = { WHOLE_PORTS },
	.icmp = { .icmp_type = 0xff, .icmp_code = 0xff },
	.vxlan = { .vx_vni = UINT32_MAX },
};

/* With the addresses of IPv6, for which the others have no room. */
static const struct key ip6_key = {
	.eth = { .ether_type = UINT16_MAX },
	.vlan = { UINT16_MAX, UINT16_MAX },
	.ip4 = { .type_of_service = 0xff, .src_addr = UINT32_MAX, .dst_addr = UINT32_MAX },
	.ip6_bytes = { .addresses = WHOLE_IP6 },
	.udp = { WHOLE_PORTS },
	.tcp = { WHOLE_PORTS },
};

/* roc_npc.c, npc_parse_attr(). */
static int
judge_attr(struct hy_sim_wish *wish)
{
	if (wish->attr.priority >= PRIORITIES)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, EINVAL,
			"priorities 0 to 2 only");
	if (!wish->attr.ingress || wish->attr.egress)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, EINVAL,
			"either ingress or egress; egress is not simulated");
	wish->attr.group = 0; /* cnxk_map_flow_data() ignores it */
	return 0;
}

/* The bytes of an item's header that are in the key. */
static const uint8_t *
in_key(const struct key *key, enum rte_flow_item_type type, size_t *size)
{
	static const struct {
		enum rte_flow_item_type type;
		size_t at, size;
	} headers[] = {
		{ RTE_FLOW_ITEM_TYPE_ETH, offsetof(struct key, eth), sizeof(key->eth) },
		{ RTE_FLOW_ITEM_TYPE_VLAN, offsetof(struct key, vlan), sizeof(key->vlan) },
		{ RTE_FLOW_ITEM_TYPE_IPV4, offsetof(struct key, ip4), sizeof(key->ip4) },
		{ RTE_FLOW_ITEM_TYPE_IPV6, offsetof(struct key, ip6), sizeof(key->ip6) },
		{ RTE_FLOW_ITEM_TYPE_ICMP, offsetof(struct key, icmp), sizeof(key->icmp) },
		{ RTE_FLOW_ITEM_TYPE_UDP, offsetof(struct key, udp), sizeof(key->udp) },
		{ RTE_FLOW_ITEM_TYPE_TCP, offsetof(struct key, tcp), sizeof(key->tcp) },
		{ RTE_FLOW_ITEM_TYPE_SCTP, offsetof(struct key, sctp), sizeof(key->sctp) },
		{ RTE_FLOW_ITEM_TYPE_VXLAN, offsetof(struct key, vxlan), sizeof(key->vxlan) },
	};
	const uint8_t *bytes = (const uint8_t *)key;

	*size = 0;
	for (size_t i = 0; i < RTE_DIM(headers); i++)
		if (headers[i].type == type) {
			*size = headers[i].size;
			bytes += headers[i].at;
		}
	return bytes;
}

static int
judge_item(struct hy_sim_wish *wish, const struct rte_flow_item *item)
{
	const bool tag = item->type == RTE_FLOW_ITEM_TYPE_VLAN;
	const struct hy_sim_profile *profile = wish->sim->profile;
	const struct key *key = profile == &hy_sim_cnxk_wide ? &wide_key
		: profile == &hy_sim_cnxk_ip6                ? &ip6_key
							     : &default_key;
	const uint8_t *mask = item->mask;
	size_t size;
	const uint8_t *bytes = in_key(key, item->type, &size);

	if (item->last != NULL)
		return hy_sim_bad_item(wish, item, EINVAL, "no ranges");
	/* cnxk_flow.c, cnxk_map_pattern(): of an item that is not in term[], VOID is made. */
	if (item->type == RTE_FLOW_ITEM_TYPE_ICMP6)
		return hy_sim_bad_item(wish, item, ENOTSUP,
			"not simulated: an item that the driver skips");
	if (item->spec == NULL && item->mask != NULL && !tag)
		return hy_sim_bad_item(wish, item, EINVAL, "a mask without a spec");
	if (item->spec != NULL && item->mask == NULL && !tag)
		return hy_sim_bad_item(wish, item, EINVAL, "a spec without a mask");
	for (size_t i = 0; mask != NULL && i < size; i++)
		if ((mask[i] & ~bytes[i]) != 0)
			return hy_sim_bad_item(wish, item, EINVAL,
				"a field that the key extraction profile leaves out");
	return 0;
}

/* roc_npc_utils.c, npc_parse_item_basic(); for VLAN, roc_npc_parse.c, npc_parse_vlan_count(). */
static int
judge_items(struct hy_sim_wish *wish)
{
	return hy_sim_each_item(wish, judge_item);
}

/*
 * roc_npc_parse.c, npc_parse_la() and npc_parse_lb_vlan(): the spec alone says whether there is a
 * tag, and a second one; one tag is CTAG, two are STAG_QINQ. For VLAN, a missing spec or mask is
 * all zeros.
 */
static int
read_tags(struct hy_sim_wish *wish)
{
	const struct rte_flow_item *eth = hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_ETH);
	const struct rte_flow_item *vlan = hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_VLAN);
	const struct rte_flow_item_eth *eth_spec = eth != NULL ? eth->spec : NULL;
	const struct rte_flow_item_vlan *spec, *mask;
	const uint32_t tag = eth_spec != NULL && eth_spec->has_vlan
		? HY_SIM_TAG
		: wish->value.layers & HY_SIM_TAG;

	wish->mask.layers = (wish->mask.layers & ~HY_SIM_TAG) | tag;
	wish->value.layers = (wish->value.layers & ~HY_SIM_TAG) | tag;
	if (vlan == NULL) {
		/* npc_parse_la(): the type of a tagged frame is that of its tag. */
		if (wish->mask.type != 0)
			wish->mask.layers |= HY_SIM_TAG;
		return 0;
	}
	spec = vlan->spec;
	mask = vlan->mask;
	wish->mask.layers |= HY_SIM_TAGS;
	if (spec != NULL && spec->has_more_vlan)
		wish->value.layers |= HY_SIM_TAGS;
	else
		wish->value.layers &= ~HY_SIM_TAGS;
	if (spec != NULL && mask != NULL)
		return 0;
	wish->mask.tci = mask != NULL ? mask->hdr.vlan_tci : 0;
	wish->mask.type = mask != NULL ? mask->hdr.eth_proto : 0;
	wish->value.tci = wish->value.type = 0;
	return 0;
}

/*
 * cnxk_flow.c, cnxk_map_actions() and npc_rss_action_validate(): -EINVAL, "Failed to map flow
 * data", with RTE_FLOW_ERROR_TYPE_ACTION_NUM.
 */
static int
unmapped(const struct hy_sim_wish *wish, const char *why)
{
	return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ACTION_NUM, EINVAL, why);
}

/* npc_rss_action_configure() checks the queues of RSS: see admit(). */
static int
judge_actions(struct hy_sim_wish *wish)
{
	for (const struct rte_flow_action *a = wish->actions; a->type != RTE_FLOW_ACTION_TYPE_END;
		a++) {
		const struct rte_flow_action_queue *queue = a->conf;
		const struct rte_flow_action_rss *rss = a->conf;

		if (a->type == RTE_FLOW_ACTION_TYPE_PASSTHRU ||
			a->type == RTE_FLOW_ACTION_TYPE_JUMP)
			return unmapped(wish, "no PASSTHRU, no JUMP");
		if (a->type == RTE_FLOW_ACTION_TYPE_QUEUE && queue->index >= wish->sim->nb_queues)
			return unmapped(wish, "no such queue");
		if (a->type != RTE_FLOW_ACTION_TYPE_RSS)
			continue;
		if (!wish->sim->has_rss)
			return unmapped(wish, "RSS without rxmode.mq_mode RSS");
		if (rss->queue_num == 0)
			return unmapped(wish, "RSS over no queue");
		if (rss->func != RTE_ETH_HASH_FUNCTION_DEFAULT)
			return unmapped(wish, "RSS by the default function only");
		if (rss->key_len > RSS_KEY)
			return unmapped(wish, "an RSS key has 48 bytes at most");
	}
	return 0;
}

/* roc_npc.c, npc_parse_actions(), from "Exactly one terminating action is supported" on. */
static int
judge_together(struct hy_sim_wish *wish)
{
	const struct rte_flow_action *a = wish->actions;
	const bool fates = (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_QUEUE) > 0) +
			(hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_RSS) > 0) + wish->drop >
		1;

	/*
	 * With a mark beyond the limit, npc_parse_actions() returns early with error code 0, from
	 * 22.11 to 26.11-rc0: the rule is accepted, and npc_action stays 0, NIX_RX_ACTIONOP_DROP
	 * (hw/nix.h).
	 */
	if (wish->mark && wish->mark_id > MARK_MAX) {
		wish->mark = false;
		wish->drop = true;
		return 0;
	}
	if (a->type == RTE_FLOW_ACTION_TYPE_END)
		return hy_sim_bad_action(wish, a, EINVAL, "no action");
	if (fates)
		return hy_sim_bad_action(wish, a, EINVAL, "more than one of DROP, QUEUE, RSS");
	if (wish->drop && (wish->mark || wish->flag))
		return hy_sim_bad_action(wish, a, EINVAL, "DROP goes with COUNT only");
	if (wish->flag && wish->mark)
		return hy_sim_bad_action(wish, a, EINVAL, "MARK and FLAG");
	return 0;
}

static int
no_group(const struct hy_sim_wish *wish, int code, const char *why)
{
	return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ACTION_CONF, code, why);
}

/*
 * roc_npc.c, npc_rss_action_configure(), which runs when the rule has an entry: each RSS takes a
 * group, even over one queue. In v22.11 each refusal leaves the freed rule in a list that the next
 * create() reads (npc_get_free_mcam_entry()), so programs should avoid these refusals.
 */
static int
admit(struct hy_sim_wish *wish)
{
	const struct rte_flow_action *action = hy_sim_action(wish, RTE_FLOW_ACTION_TYPE_RSS);
	const struct hy_flow_sim *sim = wish->sim;
	const struct rte_flow_action_rss *rss;

	if (action == NULL)
		return 0;
	rss = action->conf;
	if (memcmp(wish->fate.key, sim->rss.key, wish->fate.key_len) != 0)
		return no_group(wish, ENOTSUP, "the RSS key is not that of the port");
	if (sim->nb_spread == RSS_GROUPS)
		return no_group(wish, ENOSPC, "no group of queues is left for RSS");
	for (uint32_t q = 0; q < rss->queue_num; q++)
		if (rss->queue[q] >= sim->nb_queues)
			return no_group(wish, EINVAL, "RSS over a queue that the port lacks");
	if (rss->queue_num > RSS_QUEUES)
		return no_group(wish, ENOTSUP, "RSS over more than 64 queues");
	return 0;
}

/*
 * When the table is full, npc_mcam_alloc_and_write() returns NPC_ERR_MCAM_ALLOC, which is not an
 * errno: hy_flow_rte turns it into EIO. When RSS has no group left, it is ENOSPC.
 */
#define CNXK \
	.table_size = 2048, /* of the MCAM, which all ports share and AF allocates */ \
		.mark_max = MARK_MAX, .full = -EIO, .admit = admit, .zeros_ip6 = true, \
	.judge = { judge_actions, judge_attr, judge_items, read_tags, judge_together }
/*
 * cnxk_ethdev_ops.c, cnxk_nix_info_get(): RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP; so .forgets is not set
 */

const struct hy_sim_profile hy_sim_cnxk = { .name = "cnxk", CNXK };
const struct hy_sim_profile hy_sim_cnxk_wide = { .name = "cnxk_wide", CNXK };
const struct hy_sim_profile hy_sim_cnxk_ip6 = { .name = "cnxk_ip6", CNXK };
