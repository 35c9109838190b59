/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads rte_flow rules: into a mask and a value to match, and what to do with packets that match.
 */

#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include "sim_engine.h"

/* A field of an item that the simulator can match, and its place in the key. */
static const struct field {
	enum rte_flow_item_type type;
	uint16_t in_item, in_key, size;
} fields[] = {
#define FIELD(type_, item, member, key_member) \
	{ \
		RTE_FLOW_ITEM_TYPE_##type_, offsetof(struct rte_flow_item_##item, member), \
			offsetof(struct hy_sim_key, key_member), \
			sizeof(((struct hy_sim_key *)0)->key_member) \
	}
	FIELD(ETH, eth, hdr.dst_addr, dst_mac),
	FIELD(ETH, eth, hdr.src_addr, src_mac),
	FIELD(ETH, eth, hdr.ether_type, type),
	FIELD(VLAN, vlan, hdr.vlan_tci, tci),
	FIELD(VLAN, vlan, hdr.eth_proto, type),
	FIELD(IPV4, ipv4, hdr.src_addr, src),
	FIELD(IPV4, ipv4, hdr.dst_addr, dst),
	FIELD(IPV4, ipv4, hdr.type_of_service, tos),
	FIELD(IPV4, ipv4, hdr.time_to_live, ttl),
	FIELD(IPV4, ipv4, hdr.next_proto_id, proto),
	FIELD(IPV4, ipv4, hdr.fragment_offset, frag),
	FIELD(IPV6, ipv6, hdr.vtc_flow, vtc),
	FIELD(IPV6, ipv6, hdr.src_addr, src6),
	FIELD(IPV6, ipv6, hdr.dst_addr, dst6),
	FIELD(IPV6, ipv6, hdr.hop_limits, ttl),
	FIELD(IPV6, ipv6, hdr.proto, proto),
	FIELD(UDP, udp, hdr.src_port, sport),
	FIELD(UDP, udp, hdr.dst_port, dport),
	FIELD(TCP, tcp, hdr.src_port, sport),
	FIELD(TCP, tcp, hdr.dst_port, dport),
	FIELD(TCP, tcp, hdr.tcp_flags, tcp_flags),
	FIELD(SCTP, sctp, hdr.src_port, sport),
	FIELD(SCTP, sctp, hdr.dst_port, dport),
	FIELD(ICMP, icmp, hdr.icmp_type, icmp_type),
	FIELD(ICMP, icmp, hdr.icmp_code, icmp_code),
	FIELD(ICMP6, icmp6, type, icmp_type),
	FIELD(ICMP6, icmp6, code, icmp_code),
	FIELD(VXLAN, vxlan, hdr.vx_vni, vni),
};

/* An item that the simulator supports. */
struct layer {
	enum rte_flow_item_type type;
	unsigned int rank; /* items come in this order, each rank at most once */
	uint16_t size;
	uint32_t layers;  /* that a packet must have */
	const void *mask; /* default */
};

#define LAYER(type_, item, rank_, layers_) \
	{ \
		.type = RTE_FLOW_ITEM_TYPE_##type_, .rank = (rank_), \
		.size = sizeof(struct rte_flow_item_##item), .layers = (layers_), \
		.mask = &rte_flow_item_##item##_mask, \
	}

static const struct layer layers[] = {
	LAYER(ETH, eth, 1, 0),
	LAYER(VLAN, vlan, 2, HY_SIM_TAG),
	LAYER(IPV4, ipv4, 3, HY_SIM_IP4),
	LAYER(IPV6, ipv6, 3, HY_SIM_IP6),
	LAYER(UDP, udp, 4, HY_SIM_UDP),
	LAYER(TCP, tcp, 4, HY_SIM_TCP),
	LAYER(SCTP, sctp, 4, HY_SIM_SCTP),
	LAYER(ICMP, icmp, 4, HY_SIM_ICMP),
	LAYER(ICMP6, icmp6, 4, HY_SIM_ICMP6),
	LAYER(VXLAN, vxlan, 5, HY_SIM_VXLAN),
};

static const struct layer *
layer_of(enum rte_flow_item_type type)
{
	for (size_t i = 0; i < RTE_DIM(layers); i++)
		if (layers[i].type == type)
			return &layers[i];
	return NULL;
}

/*
 * Reads the flags for a following VLAN tag or fragment header, which are bit fields outside the
 * header, and clears them in what is left of the mask.
 */
static void
flags_read(const struct rte_flow_item *item, void *left, struct hy_sim_wish *wish)
{
	struct rte_flow_item_eth *eth = left;
	struct rte_flow_item_vlan *vlan = left;
	struct rte_flow_item_ipv6 *ip6 = left;
	uint32_t bit = 0;
	bool wanted = false;

	if (item->type == RTE_FLOW_ITEM_TYPE_ETH && eth->has_vlan) {
		bit = HY_SIM_TAG;
		eth->has_vlan = 0;
		wanted = ((const struct rte_flow_item_eth *)item->spec)->has_vlan;
	} else if (item->type == RTE_FLOW_ITEM_TYPE_VLAN && vlan->has_more_vlan) {
		bit = HY_SIM_TAGS;
		vlan->has_more_vlan = 0;
		wanted = ((const struct rte_flow_item_vlan *)item->spec)->has_more_vlan;
	} else if (item->type == RTE_FLOW_ITEM_TYPE_IPV6 && ip6->has_frag_ext) {
		bit = HY_SIM_FRAG;
		ip6->has_frag_ext = 0;
		wanted = ((const struct rte_flow_item_ipv6 *)item->spec)->has_frag_ext;
	}
	wish->mask.layers |= bit;
	wish->value.layers |= wanted ? bit : 0;
}

/* Copies the fields. The simulator cannot match what then remains of the mask. */
static int
item_fields(const struct layer *layer, const struct rte_flow_item *item, struct hy_sim_wish *wish)
{
	const uint8_t *mask = item->mask != NULL ? item->mask : layer->mask, *spec = item->spec;
	alignas(struct rte_flow_item_ipv6) uint8_t left[64];
	uint8_t *to_mask = (uint8_t *)&wish->mask, *to_value = (uint8_t *)&wish->value;

	RTE_BUILD_BUG_ON(sizeof(struct rte_flow_item_ipv6) > sizeof(left));
	memcpy(left, mask, layer->size);
	flags_read(item, left, wish);
	for (const struct field *f = fields; f < fields + RTE_DIM(fields); f++) {
		if (f->type != layer->type)
			continue;
		memset(left + f->in_item, 0, f->size);
		for (uint16_t i = 0; i < f->size; i++) {
			to_mask[f->in_key + i] |= mask[f->in_item + i];
			to_value[f->in_key + i] |= spec[f->in_item + i] & mask[f->in_item + i];
		}
	}
	for (uint16_t i = 0; i < layer->size; i++)
		if (left[i] != 0)
			return hy_sim_bad_item(wish, item, ENOTSUP,
				"not simulated: a match on this field of the header");
	return 0;
}

/* An ether type before a tag only says that a tag follows, like the VLAN item itself. */
static int
type_before_tag(const struct rte_flow_item *item, struct hy_sim_wish *wish)
{
	if (wish->mask.type != 0 &&
		wish->value.type != (RTE_BE16(RTE_ETHER_TYPE_VLAN) & wish->mask.type) &&
		wish->value.type != (RTE_BE16(RTE_ETHER_TYPE_QINQ) & wish->mask.type))
		return hy_sim_bad_item(wish, item, EINVAL, "VLAN follows another ether type");
	wish->mask.type = 0;
	wish->value.type = 0;
	return 0;
}

/*
 * A rule on Ethernet alone compares the type of the outermost header: mlx5_flow_dv.c,
 * flow_dv_translate_item_eth(); for cnxk, Linux's npc_profile.h, NPC_LT_LA_ETHER. A
 * tag's type implies a tag.
 */
static void
type_of_tag(struct hy_sim_wish *wish)
{
	const rte_be16_t type = wish->value.type;

	if (wish->mask.layers != 0 || wish->mask.type != UINT16_MAX ||
		(type != RTE_BE16(RTE_ETHER_TYPE_VLAN) && type != RTE_BE16(RTE_ETHER_TYPE_QINQ)))
		return;
	wish->mask.type = wish->value.type = 0;
	wish->mask.layers |= HY_SIM_TAG;
	wish->value.layers |= HY_SIM_TAG;
}

static int
items_read(const struct rte_flow_item *items, struct hy_sim_wish *wish)
{
	unsigned int n = 0, rank = 0;
	int rc = 0;

	for (; items->type != RTE_FLOW_ITEM_TYPE_END && rc == 0; items++) {
		const struct layer *layer = layer_of(items->type);

		if (items->type == RTE_FLOW_ITEM_TYPE_VOID)
			continue;
		if (layer == NULL)
			return hy_sim_bad_item(wish, items, ENOTSUP, "not simulated: this item");
		if (layer->rank == rank || (layer->rank < rank && rank < 5))
			return hy_sim_bad_item(wish, items, EINVAL, "items out of order");
		if (layer->rank < rank)
			return hy_sim_bad_item(wish, items, ENOTSUP,
				"not simulated: inner headers");
		if (layer->type == RTE_FLOW_ITEM_TYPE_VLAN)
			rc = type_before_tag(items, wish);
		rank = layer->rank;
		wish->mask.layers |= layer->layers;
		wish->value.layers |= layer->layers;
		wish->items[n++] = *items;
		if (rc == 0 && items->spec != NULL &&
			(items->mask != NULL || !wish->sim->profile->bare_specs))
			rc = item_fields(layer, items, wish);
	}
	type_of_tag(wish);
	return rc;
}

static int
action_read(const struct rte_flow_action *action, struct hy_sim_wish *wish)
{
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_MARK:
	case RTE_FLOW_ACTION_TYPE_JUMP:
	case RTE_FLOW_ACTION_TYPE_QUEUE:
	case RTE_FLOW_ACTION_TYPE_RSS:
		if (action->conf == NULL)
			return hy_sim_bad_action(wish, action, EINVAL, "action without conf");
		break;
	case RTE_FLOW_ACTION_TYPE_FLAG:
	case RTE_FLOW_ACTION_TYPE_COUNT:
	case RTE_FLOW_ACTION_TYPE_DROP:
	case RTE_FLOW_ACTION_TYPE_PASSTHRU:
		break;
	default:
		return hy_sim_bad_action(wish, action, ENOTSUP, "not simulated: this action");
	}
	if (action->type == RTE_FLOW_ACTION_TYPE_MARK)
		wish->mark_id = ((const struct rte_flow_action_mark *)action->conf)->id;
	if (action->type == RTE_FLOW_ACTION_TYPE_JUMP)
		wish->jump = ((const struct rte_flow_action_jump *)action->conf)->group;
	if (action->type == RTE_FLOW_ACTION_TYPE_QUEUE || action->type == RTE_FLOW_ACTION_TYPE_RSS)
		hy_sim_rss_of_rule(&wish->fate, action);
	wish->mark |= action->type == RTE_FLOW_ACTION_TYPE_MARK;
	wish->flag |= action->type == RTE_FLOW_ACTION_TYPE_FLAG;
	wish->count |= action->type == RTE_FLOW_ACTION_TYPE_COUNT;
	wish->drop |= action->type == RTE_FLOW_ACTION_TYPE_DROP;
	return 0;
}

int
hy_sim_wish_read(const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct hy_sim_wish *wish)
{
	unsigned int n = 0;
	int rc;

	if (attr == NULL || items == NULL || actions == NULL)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, EINVAL,
			"attributes, items and actions must be given");
	wish->attr = *attr;
	rc = items_read(items, wish);
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END && rc == 0; actions++) {
		if (actions->type == RTE_FLOW_ACTION_TYPE_VOID)
			continue;
		if (n + 1 == RTE_DIM(wish->actions))
			return hy_sim_bad_action(wish, actions, ENOTSUP, "too many actions");
		wish->actions[n++] = *actions;
		rc = action_read(actions, wish);
	}
	return rc;
}

unsigned int
hy_sim_which(const struct hy_sim_wish *wish, enum rte_flow_action_type type)
{
	unsigned int n = 0;

	for (const struct rte_flow_action *a = wish->actions; a->type != RTE_FLOW_ACTION_TYPE_END;
		a++)
		n += a->type == type;
	return n;
}

unsigned int
hy_sim_fates(const struct hy_sim_wish *wish)
{
	return hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_QUEUE) +
		hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_RSS) +
		hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_DROP) +
		hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_JUMP);
}

const struct rte_flow_item *
hy_sim_item(const struct hy_sim_wish *wish, enum rte_flow_item_type type)
{
	for (const struct rte_flow_item *i = wish->items; i->type != RTE_FLOW_ITEM_TYPE_END; i++)
		if (i->type == type)
			return i;
	return NULL;
}

int
hy_sim_each_item(struct hy_sim_wish *wish,
	int (*judge)(struct hy_sim_wish *wish, const struct rte_flow_item *item))
{
	int rc = 0;

	for (const struct rte_flow_item *i = wish->items;
		rc == 0 && i->type != RTE_FLOW_ITEM_TYPE_END; i++)
		rc = judge(wish, i);
	return rc;
}

bool
hy_sim_is_range(const struct rte_flow_item *item)
{
	const struct layer *layer = layer_of(item->type);
	const uint8_t *mask = item->mask != NULL ? item->mask : layer->mask;
	const uint8_t *spec = item->spec, *last = item->last;

	for (uint16_t i = 0; spec != NULL && last != NULL && i < layer->size; i++)
		if (((spec[i] ^ last[i]) & mask[i]) != 0)
			return true;
	return false;
}

const struct rte_flow_action *
hy_sim_action(const struct hy_sim_wish *wish, enum rte_flow_action_type type)
{
	for (const struct rte_flow_action *a = wish->actions; a->type != RTE_FLOW_ACTION_TYPE_END;
		a++)
		if (a->type == type)
			return a;
	return NULL;
}

int
hy_sim_check_queues(struct hy_sim_wish *wish)
{
	const uint16_t n = wish->sim->nb_queues;

	for (const struct rte_flow_action *a = wish->actions; a->type != RTE_FLOW_ACTION_TYPE_END;
		a++) {
		const struct rte_flow_action_queue *queue = a->conf;
		const struct rte_flow_action_rss *rss = a->conf;

		if (a->type == RTE_FLOW_ACTION_TYPE_QUEUE && queue->index >= n)
			return hy_sim_bad_action(wish, a, EINVAL, "no such queue");
		if (a->type != RTE_FLOW_ACTION_TYPE_RSS)
			continue;
		if (rss->queue_num == 0)
			return hy_sim_bad_action(wish, a, EINVAL, "RSS over no queue");
		for (uint32_t q = 0; q < rss->queue_num; q++)
			if (rss->queue[q] >= n)
				return hy_sim_bad_action(wish, a, EINVAL, "no such queue");
	}
	return 0;
}
