/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of rules by templates; see async.h. */

#include <netinet/in.h>
#include <string.h>

#include <rte_ethdev.h>

#include "async.h"

#define NONE RTE_FLOW_ITEM_TYPE_END
#define OTHER RTE_FLOW_ITEM_TYPE_RAW /* none of the items below */

/* The items of each part that follow the rule's own. */
static const struct tail {
	enum rte_flow_item_type l3, l4;
} tails[ASYNC_PARTS] = {
	{ RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_TCP },
	{ RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_UDP },
	{ RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_TCP },
	{ RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_UDP },
	{ RTE_FLOW_ITEM_TYPE_IPV4, NONE },
	{ RTE_FLOW_ITEM_TYPE_IPV6, NONE },
	{ NONE, NONE },
};

#define TYPES_IP4 \
	(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP | \
		RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_SCTP | \
		RTE_ETH_RSS_NONFRAG_IPV4_OTHER)
#define TYPES_IP6 \
	(RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_TCP | \
		RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_NONFRAG_IPV6_SCTP | \
		RTE_ETH_RSS_NONFRAG_IPV6_OTHER | RTE_ETH_RSS_IPV6_EX | RTE_ETH_RSS_IPV6_TCP_EX | \
		RTE_ETH_RSS_IPV6_UDP_EX)

/* What a protocol of layer 4 that the IP header names is. */
static enum rte_flow_item_type
l4_of(uint8_t proto)
{
	return proto == IPPROTO_TCP    ? RTE_FLOW_ITEM_TYPE_TCP
		: proto == IPPROTO_UDP ? RTE_FLOW_ITEM_TYPE_UDP
				       : OTHER;
}

/* The layers 3 and 4 that a rule asks for, by items or by the protocol of IP. */
static struct tail
headers_of(const struct rte_flow_item *items, unsigned int *n)
{
	struct tail known = { NONE, NONE };

	for (*n = 0; items[*n].type != RTE_FLOW_ITEM_TYPE_END; (*n)++) {
		const struct rte_flow_item_ipv4 *ip4 = items[*n].spec, *ip4_mask = items[*n].mask;
		const struct rte_flow_item_ipv6 *ip6 = items[*n].spec, *ip6_mask = items[*n].mask;
		const struct rte_flow_item_eth *eth = items[*n].mask;
		const struct rte_flow_item_vlan *vlan = items[*n].mask;

		switch (items[*n].type) {
		case RTE_FLOW_ITEM_TYPE_ETH:
			if (eth != NULL && eth->hdr.ether_type != 0)
				known.l3 = OTHER;
			break;
		case RTE_FLOW_ITEM_TYPE_VLAN:
			if (vlan != NULL && vlan->hdr.eth_proto != 0)
				known.l3 = OTHER;
			break;
		case RTE_FLOW_ITEM_TYPE_IPV4:
			known.l3 = items[*n].type;
			if (ip4_mask != NULL && ip4_mask->hdr.next_proto_id == UINT8_MAX)
				known.l4 = l4_of(ip4->hdr.next_proto_id);
			break;
		case RTE_FLOW_ITEM_TYPE_IPV6:
			known.l3 = items[*n].type;
			if (ip6_mask != NULL && ip6_mask->hdr.proto == UINT8_MAX)
				known.l4 = l4_of(ip6->hdr.proto);
			break;
		case RTE_FLOW_ITEM_TYPE_ICMP:
		case RTE_FLOW_ITEM_TYPE_ICMP6:
			known.l4 = OTHER;
			break;
		case RTE_FLOW_ITEM_TYPE_TCP:
		case RTE_FLOW_ITEM_TYPE_UDP:
			known.l4 = items[*n].type;
			break;
		default:
			break;
		}
	}
	return known;
}

/* The RSS types that apply to packets of these layers. */
static uint64_t
types_of(uint64_t types, const struct tail *layers)
{
	if (layers->l3 == RTE_FLOW_ITEM_TYPE_IPV4)
		types &= ~TYPES_IP6;
	if (layers->l3 == RTE_FLOW_ITEM_TYPE_IPV6)
		types &= ~TYPES_IP4;
	if (layers->l4 != RTE_FLOW_ITEM_TYPE_TCP)
		types &= ~RTE_ETH_RSS_TCP;
	if (layers->l4 != RTE_FLOW_ITEM_TYPE_UDP)
		types &= ~RTE_ETH_RSS_UDP;
	/* "Source only" of a layer that is not hashed is refused: mlx5_validate_action_rss(). */
	if ((types & RTE_ETH_RSS_IP) == 0)
		types &= ~(RTE_ETH_RSS_L3_SRC_ONLY | RTE_ETH_RSS_L3_DST_ONLY);
	if ((types & (RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP)) == 0)
		types &= ~(RTE_ETH_RSS_L4_SRC_ONLY | RTE_ETH_RSS_L4_DST_ONLY);
	return types;
}

static const struct rte_flow_action_rss *
rss_of(const struct rte_flow_action *actions, unsigned int *n)
{
	const struct rte_flow_action_rss *rss = NULL;

	for (*n = 0; actions[*n].type != RTE_FLOW_ACTION_TYPE_END; (*n)++)
		if (actions[*n].type == RTE_FLOW_ACTION_TYPE_RSS)
			rss = actions[*n].conf;
	return rss;
}

static void
part_make(struct async_part *part, const struct hy_flow_request *rule, unsigned int nb_items,
	unsigned int nb_actions, const struct tail *more, const struct tail *layers)
{
	struct rte_flow_item *item = &part->items[nb_items];

	memset(part->items, 0, sizeof(part->items));
	memcpy(part->items, rule->items, nb_items * sizeof(part->items[0]));
	if (more->l3 != NONE)
		(item++)->type = more->l3;
	if (more->l4 != NONE)
		(item++)->type = more->l4;
	item->type = RTE_FLOW_ITEM_TYPE_END;
	memcpy(part->actions, rule->actions, (nb_actions + 1) * sizeof(part->actions[0]));
	part->rss = *rss_of(rule->actions, &nb_actions);
	part->rss.types = types_of(part->rss.types, layers);
	/*
	 * No type applies: use one queue, like the port. 0 would mean the driver's default types.
	 */
	if (part->rss.types == 0 && rss_of(rule->actions, &nb_actions)->types != 0)
		part->rss.queue_num = 1;
	for (unsigned int a = 0; a < nb_actions; a++)
		if (part->actions[a].type == RTE_FLOW_ACTION_TYPE_RSS)
			part->actions[a].conf = &part->rss;
	part->attr = *rule->attr;
	part->attr.priority = 3 * rule->attr->priority +
		(layers->l4 != NONE                  ? 0
				: layers->l3 != NONE ? 1
						     : 2);
	part->request = (struct hy_flow_request){
		.attr = &part->attr, .items = part->items, .actions = part->actions
	};
}

unsigned int
hy_async_expand(const struct hy_flow_request *rule, struct async_part *parts)
{
	unsigned int nb_items, nb_actions, n = 0;
	const struct rte_flow_action_rss *rss = rss_of(rule->actions, &nb_actions);
	const struct tail known = headers_of(rule->items, &nb_items);

	if (rule->attr->group == 0 || rss == NULL || nb_items + 3 > ASYNC_ITEMS ||
		nb_actions + 1 > ASYNC_ACTIONS) {
		parts[0].attr = *rule->attr;
		parts[0].attr.priority *= rule->attr->group > 0 ? 3 : 1;
		parts[0].request = *rule;
		parts[0].request.attr = &parts[0].attr;
		return 1;
	}
	for (unsigned int t = 0; t < ASYNC_PARTS; t++) {
		struct tail more = tails[t];
		const struct tail layers = { known.l3 != NONE ? known.l3 : more.l3,
			known.l4 != NONE ? known.l4 : more.l4 };

		/* Skip parts that contradict or repeat the rule's own items. */
		if ((known.l3 != NONE && more.l3 != (known.l3 == OTHER ? NONE : known.l3)) ||
			(known.l4 != NONE && more.l4 != NONE))
			continue;
		if (known.l3 != NONE)
			more.l3 = NONE;
		part_make(&parts[n++], rule, nb_items, nb_actions, &more, &layers);
	}
	return n;
}
