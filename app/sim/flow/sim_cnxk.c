/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of Marvell's cn9k and cn10k, after DPDK v22.11: drivers/common/cnxk (roc_npc*.c) and
 * drivers/net/cnxk (cnxk_flow.c). A TCAM: any mask, three priorities, no groups.
 *
 * A rule can match what is in the key, which a key extraction profile (KEX) of the kernel's admin
 * function (AF) decides on. "cnxk" has Linux's own, "cnxk_wide" all that the simulator knows, as a
 * profile of a firmware may. tests/driver_oracle holds both against the driver's own code.
 */

#include <errno.h>
#include <string.h>

#include <rte_ether.h>
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

/* Which bytes of which headers are in the key. */
struct key {
	struct rte_ether_hdr eth;
	struct rte_vlan_hdr vlan;
	struct rte_ipv4_hdr ip4;
	struct rte_udp_hdr udp;
	struct rte_tcp_hdr tcp;
	struct rte_sctp_hdr sctp;
	struct rte_vxlan_hdr vxlan;
};

#define WHOLE_MAC \
	{ \
		{ \
			0xff, 0xff, 0xff, 0xff, 0xff, 0xff \
		} \
	}
#define WHOLE_PORTS .src_port = UINT16_MAX, .dst_port = UINT16_MAX

/* Linux, drivers/net/ethernet/marvell/octeontx2/af/npc_profile.h: npc_mkex_default. */
static const struct key default_key = {
	.eth = { .dst_addr = WHOLE_MAC, .ether_type = UINT16_MAX },
	.vlan = { UINT16_MAX, UINT16_MAX },
	.ip4 = { .type_of_service = 0xff, .src_addr = UINT32_MAX, .dst_addr = UINT32_MAX },
	.udp = { WHOLE_PORTS },
	.tcp = { WHOLE_PORTS },
};

static const struct key wide_key = {
	.eth = { WHOLE_MAC, WHOLE_MAC, UINT16_MAX },
	.vlan = { UINT16_MAX, UINT16_MAX },
	.ip4 = { .type_of_service = 0xff,
		.fragment_offset = UINT16_MAX,
		.time_to_live = 0xff,
		.next_proto_id = 0xff,
		.src_addr = UINT32_MAX,
		.dst_addr = UINT32_MAX },
	.udp = { WHOLE_PORTS },
	.tcp = { WHOLE_PORTS },
	.sctp = { WHOLE_PORTS },
	.vxlan = { .vx_vni = UINT32_MAX },
};

/* roc_npc.c, npc_parse_attr(). */
static int
judge_attr(const struct rte_flow_attr *attr, struct rte_flow_error *error)
{
	if (attr->priority >= PRIORITIES)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, EINVAL,
			"priorities 0 to 2 only", error);
	if (!attr->ingress || attr->egress)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, EINVAL,
			"either ingress or egress; egress is not simulated", error);
	return 0;
}

/* Of an item's header, what is in the key. */
static const uint8_t *
in_key(const struct key *key, enum rte_flow_item_type type, size_t *size)
{
	switch (type) {
	case RTE_FLOW_ITEM_TYPE_ETH:
		*size = sizeof(key->eth);
		return (const uint8_t *)&key->eth;
	case RTE_FLOW_ITEM_TYPE_VLAN:
		*size = sizeof(key->vlan);
		return (const uint8_t *)&key->vlan;
	case RTE_FLOW_ITEM_TYPE_IPV4:
		*size = sizeof(key->ip4);
		return (const uint8_t *)&key->ip4;
	case RTE_FLOW_ITEM_TYPE_UDP:
		*size = sizeof(key->udp);
		return (const uint8_t *)&key->udp;
	case RTE_FLOW_ITEM_TYPE_TCP:
		*size = sizeof(key->tcp);
		return (const uint8_t *)&key->tcp;
	case RTE_FLOW_ITEM_TYPE_SCTP:
		*size = sizeof(key->sctp);
		return (const uint8_t *)&key->sctp;
	case RTE_FLOW_ITEM_TYPE_VXLAN:
		*size = sizeof(key->vxlan);
		return (const uint8_t *)&key->vxlan;
	default:
		*size = 0;
		return NULL;
	}
}

/* roc_npc_utils.c, npc_parse_item_basic(); of VLAN, roc_npc_parse.c, npc_parse_vlan_count(). */
static int
judge_item(const struct key *key, const struct rte_flow_item *item, struct rte_flow_error *error)
{
	const bool tag = item->type == RTE_FLOW_ITEM_TYPE_VLAN;
	const uint8_t *mask = item->mask;
	size_t size;
	const uint8_t *bytes = in_key(key, item->type, &size);

	if (item->last != NULL)
		return hy_sim_bad_item(item, EINVAL, "no ranges", error);
	if (item->spec == NULL && item->mask != NULL && !tag)
		return hy_sim_bad_item(item, EINVAL, "a mask without a spec", error);
	if (item->spec != NULL && item->mask == NULL && !tag)
		return hy_sim_bad_item(item, EINVAL, "a spec without a mask", error);
	for (size_t i = 0; mask != NULL && i < size; i++)
		if ((mask[i] & ~bytes[i]) != 0)
			return hy_sim_bad_item(item, EINVAL,
				"a field that the key extraction profile leaves out", error);
	return 0;
}

/*
 * roc_npc_parse.c, npc_parse_la() and npc_parse_lb_vlan(): whether tags are there, or more of them,
 * is read off the spec alone; one tag is CTAG, two are STAG_QINQ. Of VLAN, no spec is one of zeros,
 * and no mask is none.
 */
static void
read_tags(struct hy_sim_wish *wish)
{
	const struct rte_flow_item *eth = hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_ETH);
	const struct rte_flow_item *vlan = hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_VLAN);
	const struct rte_flow_item_eth *eth_spec = eth != NULL ? eth->spec : NULL;
	const struct rte_flow_item_vlan *spec, *mask;
	const uint32_t tag = vlan != NULL || (eth_spec != NULL && eth_spec->has_vlan) ? HY_SIM_TAG
										      : 0;

	wish->mask.layers = (wish->mask.layers & ~HY_SIM_TAG) | tag;
	wish->value.layers = (wish->value.layers & ~HY_SIM_TAG) | tag;
	if (vlan == NULL)
		return;
	spec = vlan->spec;
	mask = vlan->mask;
	wish->mask.layers |= HY_SIM_TAGS;
	if (spec != NULL && spec->has_more_vlan)
		wish->value.layers |= HY_SIM_TAGS;
	else
		wish->value.layers &= ~HY_SIM_TAGS;
	if (spec != NULL && mask != NULL)
		return;
	wish->mask.tci = mask != NULL ? mask->hdr.vlan_tci : 0;
	wish->mask.type = mask != NULL ? mask->hdr.eth_proto : 0;
	wish->value.tci = wish->value.type = 0;
}

/*
 * cnxk_flow.c, cnxk_map_actions() and npc_rss_action_validate(): -EINVAL, "Failed to map flow data",
 * with RTE_FLOW_ERROR_TYPE_ACTION_NUM.
 */
static int
unmapped(const struct rte_flow_action *action, const char *why, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_NUM, action, why);
}

/* Queues of RSS are not looked at here, but in npc_rss_action_configure(): see admit(). */
static int
judge_action(const struct hy_flow_sim *sim, const struct rte_flow_action *action,
	struct rte_flow_error *error)
{
	const struct rte_flow_action_queue *queue = action->conf;
	const struct rte_flow_action_rss *rss = action->conf;

	if (action->type == RTE_FLOW_ACTION_TYPE_PASSTHRU ||
		action->type == RTE_FLOW_ACTION_TYPE_JUMP)
		return unmapped(action, "no PASSTHRU, no JUMP", error);
	if (action->type == RTE_FLOW_ACTION_TYPE_QUEUE && queue->index >= hy_sim_queues(sim))
		return unmapped(action, "no such queue", error);
	if (action->type != RTE_FLOW_ACTION_TYPE_RSS)
		return 0;
	if (!hy_sim_has_rss(sim))
		return unmapped(action, "RSS without rxmode.mq_mode RSS", error);
	if (rss->queue_num == 0)
		return unmapped(action, "RSS over no queue", error);
	if (rss->func != RTE_ETH_HASH_FUNCTION_DEFAULT)
		return unmapped(action, "RSS by the default function only", error);
	if (rss->key_len > RSS_KEY)
		return unmapped(action, "an RSS key has 48 bytes at most", error);
	return 0;
}

/* roc_npc.c, npc_parse_actions(), from "Exactly one terminating action is supported" on. */
static int
judge_together(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct rte_flow_action *a = wish->actions;
	const bool fates = (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_QUEUE) > 0) +
			(hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_RSS) > 0) + wish->drop >
		1;

	if (a->type == RTE_FLOW_ACTION_TYPE_END)
		return hy_sim_bad_action(a, EINVAL, "no action", error);
	if (fates)
		return hy_sim_bad_action(a, EINVAL, "more than one of DROP, QUEUE, RSS", error);
	if (wish->drop && (wish->mark || wish->flag))
		return hy_sim_bad_action(a, EINVAL, "DROP goes with COUNT only", error);
	if (wish->flag && wish->mark)
		return hy_sim_bad_action(a, EINVAL, "MARK and FLAG", error);
	return 0;
}

static int
judge(const struct hy_flow_sim *sim, const struct key *key, struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	int rc = 0;

	for (const struct rte_flow_action *a = wish->actions;
		rc == 0 && a->type != RTE_FLOW_ACTION_TYPE_END; a++)
		rc = judge_action(sim, a, error);
	if (rc == 0)
		rc = judge_attr(&wish->attr, error);
	for (const struct rte_flow_item *i = wish->items;
		rc == 0 && i->type != RTE_FLOW_ITEM_TYPE_END; i++)
		rc = judge_item(key, i, error);
	if (rc != 0)
		return rc;
	wish->attr.group = 0; /* cnxk_map_flow_data() does not look at it */
	read_tags(wish);
	/*
	 * A mark beyond the limit ends npc_parse_actions() with error code 0, from 22.11 to 26.11-rc0:
	 * the rule is taken, and npc_action is left at 0, NIX_RX_ACTIONOP_DROP (hw/nix.h).
	 */
	if (wish->mark && wish->mark_id > MARK_MAX) {
		wish->mark = false;
		wish->drop = true;
		return 0;
	}
	return judge_together(wish, error);
}

static int
judge_default(const struct hy_flow_sim *sim, struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	return judge(sim, &default_key, wish, error);
}

static int
judge_wide(const struct hy_flow_sim *sim, struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	return judge(sim, &wide_key, wish, error);
}

static int
no_group(int code, const char *why, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_ACTION_CONF, NULL, why);
}

/*
 * roc_npc.c, npc_rss_action_configure(), once the rule has an entry: each RSS takes a group, be it
 * over one queue. In v22.11 each refusal leaves the freed rule in a list that the next create()
 * reads (npc_get_free_mcam_entry()), so that a program had better not come here.
 */
static int
admit(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct hy_sim_rss *fate = &wish->fate;
	const struct rte_flow_action_rss *rss = NULL;

	for (const struct rte_flow_action *a = wish->actions; a->type != RTE_FLOW_ACTION_TYPE_END;
		a++)
		if (a->type == RTE_FLOW_ACTION_TYPE_RSS && rss == NULL)
			rss = a->conf;
	if (rss == NULL)
		return 0;
	if (memcmp(fate->key, sim->rss.key, fate->key_len) != 0)
		return no_group(ENOTSUP, "the RSS key is not that of the port", error);
	if (sim->nb_spread == RSS_GROUPS)
		return no_group(ENOSPC, "no group of queues is left for RSS", error);
	for (uint32_t q = 0; q < rss->queue_num; q++)
		if (rss->queue[q] >= hy_sim_queues(sim))
			return no_group(EINVAL, "RSS over a queue that the port lacks", error);
	if (rss->queue_num > RSS_QUEUES)
		return no_group(ENOTSUP, "RSS over more than 64 queues", error);
	return 0;
}

/*
 * Where the table is full, npc_mcam_alloc_and_write() says NPC_ERR_MCAM_ALLOC, which is no errno:
 * hy_flow_rte makes EIO of it. Where RSS has no group left, it is ENOSPC.
 */
#define CNXK \
	.table_size = 2048, /* of the MCAM that all ports share; AF hands it out */ \
		.mark_max = MARK_MAX, .full = -EIO, .admit = admit
/* cnxk_ethdev_ops.c, cnxk_nix_info_get(): RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP; so .forgets is not set */

const struct hy_sim_profile hy_sim_cnxk = { .name = "cnxk", CNXK, .judge = judge_default };
const struct hy_sim_profile hy_sim_cnxk_wide = { .name = "cnxk_wide", CNXK, .judge = judge_wide };
