/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules as rte_flow has them, taken apart: a mask and a value to match on, and what to do. */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "sim.h"

/* What of an item's header the simulator can match on, and where that lies in the key. */
struct field {
	uint16_t in_item, in_key, size;
};

#define FIELD(item, member, key_member) \
	{ \
		offsetof(struct rte_flow_item_##item, member), \
			offsetof(struct hy_sim_key, key_member), \
			sizeof(((struct hy_sim_key *)0)->key_member) \
	}

static const struct field eth_fields[] = {
	FIELD(eth, hdr.dst_addr, dst_mac),
	FIELD(eth, hdr.src_addr, src_mac),
	FIELD(eth, hdr.ether_type, type),
	{ 0 },
};
static const struct field vlan_fields[] = {
	FIELD(vlan, hdr.vlan_tci, tci),
	FIELD(vlan, hdr.eth_proto, type),
	{ 0 },
};
static const struct field ip4_fields[] = {
	FIELD(ipv4, hdr.src_addr, src),
	FIELD(ipv4, hdr.dst_addr, dst),
	FIELD(ipv4, hdr.type_of_service, tos),
	FIELD(ipv4, hdr.time_to_live, ttl),
	FIELD(ipv4, hdr.next_proto_id, proto),
	FIELD(ipv4, hdr.fragment_offset, frag),
	{ 0 },
};
static const struct field no_fields[] = {
	{ 0 },
};
static const struct field udp_fields[] = {
	FIELD(udp, hdr.src_port, sport),
	FIELD(udp, hdr.dst_port, dport),
	{ 0 },
};
static const struct field tcp_fields[] = {
	FIELD(tcp, hdr.src_port, sport),
	FIELD(tcp, hdr.dst_port, dport),
	{ 0 },
};
static const struct field sctp_fields[] = {
	FIELD(sctp, hdr.src_port, sport),
	FIELD(sctp, hdr.dst_port, dport),
	{ 0 },
};
static const struct field vxlan_fields[] = {
	FIELD(vxlan, hdr.vx_vni, vni),
	{ 0 },
};

/* An item that the simulator knows. */
struct layer {
	enum rte_flow_item_type type;
	unsigned int rank; /* items come in this order, none twice */
	uint16_t size;
	uint32_t layers;  /* that a packet must have */
	const void *mask; /* by default */
	const struct field *fields;
};

#define LAYER(type_, item, rank_, layers_, fields_) \
	{ \
		.type = RTE_FLOW_ITEM_TYPE_##type_, .rank = (rank_), \
		.size = sizeof(struct rte_flow_item_##item), .layers = (layers_), \
		.mask = &rte_flow_item_##item##_mask, .fields = (fields_), \
	}

static const struct layer layers[] = {
	LAYER(ETH, eth, 1, 0, eth_fields),
	LAYER(VLAN, vlan, 2, HY_SIM_TAG, vlan_fields),
	LAYER(IPV4, ipv4, 3, HY_SIM_IP4, ip4_fields),
	LAYER(IPV6, ipv6, 3, HY_SIM_IP6, no_fields),
	LAYER(UDP, udp, 4, HY_SIM_UDP, udp_fields),
	LAYER(TCP, tcp, 4, HY_SIM_TCP, tcp_fields),
	LAYER(SCTP, sctp, 4, HY_SIM_SCTP, sctp_fields),
	LAYER(VXLAN, vxlan, 5, HY_SIM_VXLAN, vxlan_fields),
};

static const struct layer *
layer_of(enum rte_flow_item_type type)
{
	for (size_t i = 0; i < RTE_DIM(layers); i++)
		if (layers[i].type == type)
			return &layers[i];
	return NULL;
}

/* The bits that say whether another VLAN tag follows are no bytes of a header. */
static void
tag_bits(const struct rte_flow_item *item, const void *mask, struct hy_sim_wish *wish)
{
	uint32_t bit = 0;
	bool wanted = false;

	if (item->type == RTE_FLOW_ITEM_TYPE_ETH &&
		((const struct rte_flow_item_eth *)mask)->has_vlan) {
		bit = HY_SIM_TAG;
		wanted = ((const struct rte_flow_item_eth *)item->spec)->has_vlan;
	} else if (item->type == RTE_FLOW_ITEM_TYPE_VLAN &&
		((const struct rte_flow_item_vlan *)mask)->has_more_vlan) {
		bit = HY_SIM_TAGS;
		wanted = ((const struct rte_flow_item_vlan *)item->spec)->has_more_vlan;
	}
	wish->mask.layers |= bit;
	wish->value.layers |= wanted ? bit : 0;
}

/* Copies the fields; what is left of the mask after that cannot be matched on. */
static int
item_fields(const struct layer *layer, const struct rte_flow_item *item, struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	const uint8_t *mask = item->mask != NULL ? item->mask : layer->mask, *spec = item->spec;
	uint8_t left[64], *to_mask = (uint8_t *)&wish->mask, *to_value = (uint8_t *)&wish->value;

	RTE_BUILD_BUG_ON(sizeof(struct rte_flow_item_ipv4) > sizeof(left));
	memcpy(left, mask, layer->size);
	tag_bits(item, mask, wish);
	if (layer->type == RTE_FLOW_ITEM_TYPE_ETH)
		((struct rte_flow_item_eth *)left)->has_vlan = 0;
	if (layer->type == RTE_FLOW_ITEM_TYPE_VLAN)
		((struct rte_flow_item_vlan *)left)->has_more_vlan = 0;
	for (const struct field *f = layer->fields; f->size != 0; f++) {
		memset(left + f->in_item, 0, f->size);
		for (uint16_t i = 0; i < f->size; i++) {
			to_mask[f->in_key + i] |= mask[f->in_item + i];
			to_value[f->in_key + i] |= spec[f->in_item + i] & mask[f->in_item + i];
		}
	}
	for (uint16_t i = 0; i < layer->size; i++)
		if (left[i] != 0)
			return hy_sim_bad_item(item, ENOTSUP,
				"not simulated: a match on this field of the header", error);
	return 0;
}

/* The ether type in front of a tag only announces the tag, as the VLAN item does. */
static int
type_before_tag(const struct rte_flow_item *item, struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	if (wish->mask.type != 0 &&
		wish->value.type != (RTE_BE16(RTE_ETHER_TYPE_VLAN) & wish->mask.type) &&
		wish->value.type != (RTE_BE16(RTE_ETHER_TYPE_QINQ) & wish->mask.type))
		return hy_sim_bad_item(item, EINVAL, "VLAN follows another ether type", error);
	wish->mask.type = 0;
	wish->value.type = 0;
	return 0;
}

static int
items_read(const struct rte_flow_item *items, struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	unsigned int n = 0, rank = 0;
	int rc = 0;

	for (; items->type != RTE_FLOW_ITEM_TYPE_END && rc == 0; items++) {
		const struct layer *layer = layer_of(items->type);

		if (items->type == RTE_FLOW_ITEM_TYPE_VOID)
			continue;
		if (layer == NULL)
			return hy_sim_bad_item(items, ENOTSUP, "not simulated: this item", error);
		if (layer->rank == rank || (layer->rank < rank && rank < 5))
			return hy_sim_bad_item(items, EINVAL, "items out of order", error);
		if (layer->rank < rank)
			return hy_sim_bad_item(items, ENOTSUP, "not simulated: inner headers",
				error);
		if (layer->type == RTE_FLOW_ITEM_TYPE_VLAN)
			rc = type_before_tag(items, wish, error);
		rank = layer->rank;
		wish->mask.layers |= layer->layers;
		wish->value.layers |= layer->layers;
		wish->items[n++] = *items;
		if (rc == 0 && items->spec != NULL)
			rc = item_fields(layer, items, wish, error);
	}
	return rc;
}

static int
action_read(const struct rte_flow_action *action, struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_MARK:
	case RTE_FLOW_ACTION_TYPE_JUMP:
	case RTE_FLOW_ACTION_TYPE_QUEUE:
	case RTE_FLOW_ACTION_TYPE_RSS:
		if (action->conf == NULL)
			return hy_sim_bad_action(action, EINVAL, "action without conf", error);
		break;
	case RTE_FLOW_ACTION_TYPE_FLAG:
	case RTE_FLOW_ACTION_TYPE_COUNT:
	case RTE_FLOW_ACTION_TYPE_DROP:
	case RTE_FLOW_ACTION_TYPE_PASSTHRU:
		break;
	default:
		return hy_sim_bad_action(action, ENOTSUP, "not simulated: this action", error);
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
	const struct rte_flow_action *actions, struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	unsigned int n = 0;
	int rc;

	if (attr == NULL || items == NULL || actions == NULL)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_UNSPECIFIED, EINVAL,
			"attributes, items and actions must be given", error);
	memset(wish, 0, sizeof(*wish));
	wish->attr = *attr;
	rc = items_read(items, wish, error);
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END && rc == 0; actions++) {
		if (actions->type == RTE_FLOW_ACTION_TYPE_VOID)
			continue;
		if (n + 1 == RTE_DIM(wish->actions))
			return hy_sim_bad_action(actions, ENOTSUP, "too many actions", error);
		wish->actions[n++] = *actions;
		rc = action_read(actions, wish, error);
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

bool
hy_sim_items_are(const struct hy_sim_wish *wish, const enum rte_flow_item_type *types)
{
	const struct rte_flow_item *item = wish->items;

	while (item->type == *types && *types != RTE_FLOW_ITEM_TYPE_END) {
		item++;
		types++;
	}
	return item->type == *types;
}

const char *
hy_sim_bad_queues(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish)
{
	const uint16_t n = hy_sim_queues(sim);

	for (const struct rte_flow_action *a = wish->actions; a->type != RTE_FLOW_ACTION_TYPE_END;
		a++) {
		const struct rte_flow_action_queue *queue = a->conf;
		const struct rte_flow_action_rss *rss = a->conf;

		if (a->type == RTE_FLOW_ACTION_TYPE_QUEUE && queue->index >= n)
			return "no such queue";
		if (a->type != RTE_FLOW_ACTION_TYPE_RSS)
			continue;
		if (rss->queue_num == 0)
			return "RSS over no queue";
		for (uint32_t q = 0; q < rss->queue_num; q++)
			if (rss->queue[q] >= n)
				return "no such queue";
	}
	return NULL;
}
